// Command docgen prints the pages under docs/ that are derived from the code.
//
//	go run ./internal/docgen events > docs/events.md
//
// A test of this package fails when a page in the repository is stale, so that
// it cannot say anything that the code does not.
package main

// Package oteltest records the spans and metrics of a test in memory, as a tree
// that can be searched and a text that can be compared with a golden one.
//
// It owns what a test needs to say "this is what is traced": ids that are the
// same in every run, an order of siblings that does not depend on scheduling, a
// rendering without times and process ids, and the list of spans that somebody
// forgot to end. It exports nothing and starts no goroutine.
package oteltest

// Package printer has the output formats of the command: plain text, one JSON
// object, a line of JSON for each thing that happens, and the view of a terminal.
//
// A printer is told the session's events and how each turn ended, in order and by
// one goroutine, and decides nothing. Its errors say that nobody can see it any
// more.
package printer

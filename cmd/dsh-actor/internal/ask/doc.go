// Package ask puts questions of permission to the person at a terminal: once,
// always for this session, or no.
//
// One question is open at a time. What was typed before a question could be read
// does not answer it. A question whose call was cancelled is taken back.
//
// It refuses to know rules and modes: what a question says, and what "always" would
// add, comes with it.
package ask

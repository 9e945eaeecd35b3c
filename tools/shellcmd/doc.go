// Package shellcmd reads shell command lines as far as the runtime must
// understand them before they run: which programs a line runs, whether it only
// reads, and whether it is known to print nothing.
//
// It never runs anything, and it is conservative: what it does not understand
// may do everything. An answer that a line only reads is relied on to run it
// without asking; so whatever could write, start another program or depend on
// something that is not in the line (a variable, a substitution, an expansion
// that could turn into an option) is answered with no.
package shellcmd

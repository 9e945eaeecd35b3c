// Package shellcmd reads shell command lines as far as the runtime must
// understand them before they run: which programs a line runs, whether it only
// reads, and whether it is known to print nothing.
//
// It never runs anything, and it is conservative: what it does not understand
// may do everything. A line that only reads may run beside others and be run
// again; so whatever could write, start another program or depend on
// something that is not in the line (a variable, a substitution, an expansion
// that could turn into an option) is answered with no.
package shellcmd

// Package outcome says how a turn looks to somebody who cannot see its log: the
// fields of a result line and the exit code of the command (SPEC table R).
//
// It owns [Turn], which collects what a session's events say about one turn, and
// the table itself ([Of]). Both are functions of the log and of the signal that
// the process was sent, and of nothing else: the texts that scripts compare are
// here and nowhere else.
//
// It refuses to know where results are printed, and in which format.
package outcome

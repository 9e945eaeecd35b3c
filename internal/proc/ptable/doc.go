// Package ptable reads the process table of the machine: who is whose child,
// in which group and session, since when.
//
// It owns the reading and the notion of a process's identity. A process id
// alone names nothing for long, because the kernel gives it away again; an
// [ID] is a process id together with the start time, and two reads that agree
// on both speak of one process.
//
// A [Table] is one reading. It is not atomic: a process that was started while
// the reading was under way may be missing, so a caller that must end a tree
// reads again until nothing of it is left. A Table is immutable; the index of
// environment marks is filled once, on first use, and may be read by any
// number of goroutines.
//
// The package refuses to know why somebody looks for a process, and it sends
// no signals.
package ptable

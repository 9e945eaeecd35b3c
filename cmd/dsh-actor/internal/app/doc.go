// Package app has the commands of dsh-actor: their flags, their help, and the
// messages of what is wrong with a command line.
//
// It owns the translation of a command line into the options of package host and the
// choice of a printer, and it is where a process's streams, environment and signals
// come in: everything else gets them from here. What can go wrong before a session
// runs is told in one line on standard error, which names the input and the cause,
// and exit code 1.
//
// It refuses to know how a turn runs and how it looks.
package app

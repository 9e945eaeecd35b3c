//go:build unix

package app

import (
	"os"
	"os/signal"
	"syscall"
)

// ignorePipe keeps a write to a broken standard output from killing the process.
func ignorePipe(ch chan<- os.Signal) { signal.Notify(ch, syscall.SIGPIPE) }

//go:build !unix

package app

import "os"

// ignorePipe does nothing: there is no such signal.
func ignorePipe(chan<- os.Signal) {}

package app

import (
	"crypto/rand"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"sync"
	"syscall"

	"github.com/dsh-actor/dsh-actor/cmd/dsh-actor/internal/outcome"
	"github.com/dsh-actor/dsh-actor/cmd/dsh-actor/internal/stdio"
)

// System is the process as the commands see it.
type System struct {
	In       *stdio.Input
	Out, Err *stdio.Output
	// Environ are NAME=value entries.
	Environ []string
	// Dir is the working directory.
	Dir string
	// Signals begins to take the signals that ask for an end; stop gives them back.
	Signals func() (signals <-chan outcome.Cause, stop func())
	// NewUUID mints ids.
	NewUUID func() string
	// Version is that of the program.
	Version string
}

// Process returns the system of this process.
func Process() (System, error) {
	dir, err := os.Getwd()
	if err != nil {
		return System{}, fmt.Errorf("working directory: %w", err)
	}
	return System{
		In: stdio.NewInput(os.Stdin), Out: stdio.NewOutput(os.Stdout), Err: stdio.NewOutput(os.Stderr),
		Environ: os.Environ(), Dir: dir, Signals: signals, NewUUID: newUUID, Version: version(),
	}, nil
}

// Getenv returns a variable of the environment, the last of its name.
func (s *System) Getenv(name string) string {
	for i := len(s.Environ) - 1; i >= 0; i-- {
		if k, v, ok := strings.Cut(s.Environ[i], "="); ok && k == name {
			return v
		}
	}
	return ""
}

// signals takes SIGINT, SIGTERM and SIGHUP. A write to a pipe that nobody reads
// becomes an error of the write: the session must end before the process does.
func signals() (causes <-chan outcome.Cause, stop func()) {
	in := make(chan os.Signal, 8)
	out := make(chan outcome.Cause)
	quit := make(chan struct{})
	signal.Notify(in, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	pipe := make(chan os.Signal, 1)
	ignorePipe(pipe)
	var wg sync.WaitGroup
	wg.Go(func() {
		for {
			select {
			case s := <-in:
				select {
				case out <- causeOf(s):
				case <-quit:
					return
				}
			case <-quit:
				return
			}
		}
	})
	return out, func() {
		signal.Stop(in)
		signal.Stop(pipe)
		close(quit)
		wg.Wait()
	}
}

func causeOf(s os.Signal) outcome.Cause {
	switch s {
	case syscall.SIGTERM:
		return outcome.Terminated
	case syscall.SIGHUP:
		return outcome.HungUp
	default:
		return outcome.Interrupted
	}
}

// newUUID returns a random (version 4) UUID.
func newUUID() string {
	var u [16]byte
	_, _ = rand.Read(u[:]) // never fails; crypto/rand crashes the program instead
	u[6], u[8] = u[6]&0x0f|0x40, u[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", u[0:4], u[4:6], u[6:8], u[8:10], u[10:16])
}

// isUUID reports whether s is a UUID in its usual form.
func isUUID(s string) bool {
	if len(s) != 36 {
		return false
	}
	for i, c := range s {
		switch {
		case i == 8 || i == 13 || i == 18 || i == 23:
			if c != '-' {
				return false
			}
		case !strings.ContainsRune("0123456789abcdefABCDEF", c):
			return false
		}
	}
	return true
}

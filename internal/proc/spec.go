package proc

import (
	"fmt"
	"io"
	"strings"
	"time"
)

// Spec says what to run and how. The zero value of a field is its default; a
// Spec is not changed by a run and may be used again.
type Spec struct {
	// Argv is the program and its arguments, run without a shell. A program
	// without a path separator is looked up in the PATH of the child's own
	// environment, absolute entries only; a relative path is relative to Dir.
	Argv []string
	// Shell, such as {"/bin/sh", "-c"}, runs Command as its last argument.
	// Exactly one of Argv and Shell is given.
	Shell   []string
	Command string

	// Dir is the working directory; empty is the caller's.
	Dir string
	Env Env

	// Stdin is written to the child, which then sees the end of the file. Nil
	// means /dev/null; an empty slice is a pipe that ends at once. The bytes
	// must not change before the run is over. That the child does not read
	// them never changes the outcome.
	Stdin []byte
	// StdinPipe gives the child a pipe that stays open, see [Process.Stdin].
	// Stdin must then be nil.
	StdinPipe bool
	Stdout    Capture
	Stderr    Capture
	// Sockets makes every standard stream that would be a pipe one end of a
	// pair of unix sockets, which cannot be opened again by name (such as
	// /dev/stdin). It has no effect on Windows.
	Sockets bool

	// Timeout ends the run when that much time has passed since its start.
	// Zero or less is no limit.
	Timeout time.Duration
	// Grace is the time between SIGTERM and SIGKILL when the run is ended.
	// With zero or less SIGKILL comes at once.
	Grace time.Duration
	// PipeWait is how long standard output and error are read after the child
	// has exited while some other process holds them open. Zero takes what is
	// there; less than zero waits for their end, and then Timeout still
	// applies.
	PipeWait time.Duration
	// Background says what becomes of processes that the child leaves behind.
	Background Background
}

// Capture says what is kept of one output stream.
type Capture struct {
	// Limit is the number of bytes that are kept; 0 is [DefaultLimit], less
	// than 0 keeps none. What is lost is counted.
	Limit int
	// Keep chooses the end of the stream that is kept.
	Keep Keep
	// Spill has a stream that does not fit written to a file.
	Spill Spill
	// Tee is given all bytes of the stream as they are read, until the run is
	// over. It is called by one goroutine at a time and holds up the child
	// while it runs. Its first error ends the copying and nothing else.
	Tee io.Writer
	// Pipe hands the stream to the caller instead, see [Process.Stdout]. All
	// other fields are then ignored.
	Pipe bool
}

// DefaultLimit is the number of bytes kept of a stream by default.
const DefaultLimit = 64_000

// Keep chooses which end of a stream that is too long is kept.
type Keep uint8

const (
	KeepHead Keep = iota // the first bytes
	KeepTail             // the last bytes
)

// Spill has the whole of a stream that exceeds its capture written to a
// private file. The zero value spills nothing.
type Spill struct {
	// Dir is the directory for the file. It is made, private to the user, if
	// it is missing; one that others can enter is refused.
	Dir string
	// Limit is the size up to which a stream is written; one that is longer
	// leaves no file. Zero is [DefaultSpillLimit].
	Limit int64
	// Prefix begins the file's name; the rest is random.
	Prefix string
}

// DefaultSpillLimit is the longest stream that is spilled by default.
const DefaultSpillLimit = 64 << 20

// Background says what becomes of the processes that a child leaves behind
// when it exits by itself. A run that is ended takes all of them with it.
type Background uint8

const (
	// BackgroundOwned leaves them alone until the owner is drained.
	BackgroundOwned Background = iota
	// BackgroundEnd ends them as a part of the run.
	BackgroundEnd
	// BackgroundKeep leaves them alone for good: a drain lets go of their
	// pipes and does not touch them.
	BackgroundKeep
)

// argv returns the command line, or an error for a Spec that has none.
func (s *Spec) argv() ([]string, error) {
	switch {
	case len(s.Argv) > 0 && len(s.Shell) > 0:
		return nil, specError("both a program and a shell are given")
	case len(s.Shell) > 0:
		argv := make([]string, len(s.Shell)+1)
		argv[copy(argv, s.Shell)] = s.Command
		return argv, s.check(argv)
	case len(s.Argv) > 0:
		return s.Argv, s.check(s.Argv)
	}
	return nil, specError("there is nothing to run")
}

func (s *Spec) check(argv []string) error {
	if argv[0] == "" {
		return specError("the program's name is empty")
	}
	if s.StdinPipe && s.Stdin != nil {
		return specError("standard input is both data and a pipe")
	}
	for i, a := range argv {
		if strings.IndexByte(a, 0) >= 0 {
			return specError(fmt.Sprintf("argument %d holds a zero byte", i))
		}
	}
	return nil
}

func (c *Capture) limit() int {
	switch {
	case c.Limit == 0:
		return DefaultLimit
	case c.Limit < 0:
		return 0
	}
	return c.Limit
}

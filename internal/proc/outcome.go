package proc

import (
	"syscall"
	"time"

	"github.com/dsh-actor/dsh-actor/internal/proc/ptable"
)

// Outcome is what became of a run. Its fields are facts that do not exclude
// each other unless it is said; none of them is an error of the caller.
type Outcome struct {
	// Started tells whether there was a process. If not, either LaunchErr says
	// why, or Cancelled is set: the context was done or the owner drained
	// before, and Cause says which.
	Started   bool
	LaunchErr error // a *[LaunchError]
	PID       int   // also the id of its group and session

	// Exited tells whether the process ended by exiting, with ExitCode.
	Exited   bool
	ExitCode int
	// Signal is the signal that ended it, or 0.
	Signal syscall.Signal
	// WaitErr is why it is not known how the process ended: some other part of
	// the program has taken its status. Without it, a process that neither
	// exited nor was signalled could not be ended, and is in Left.
	WaitErr error

	// TimedOut and Cancelled say why the run was ended. Never both: the first
	// cause counts, and a process that has exited is not ended for
	// another (except while its pipes are waited for).
	TimedOut  bool
	Cancelled bool
	// Cause is why it was cancelled: the context's cause, the argument of
	// [Process.Kill], or [ErrDrained].
	Cause error
	// Killed tells whether the end took SIGKILL.
	Killed bool

	Stdout, Stderr Captured
	// StdinWritten is how many bytes of standard input the child's pipe took.
	StdinWritten int64
	// PipesHeld tells that standard output or error was still open somewhere
	// when the run was over, so that later output is not in the outcome.
	PipesHeld bool

	// Survivors are the processes that the run left behind by exiting. Under
	// [BackgroundEnd] they have been ended.
	Survivors []Member
	// Left are the processes that could not be ended. They stay owned.
	Left []Member

	// Ran is the time from the start to the exit of the process, Took that
	// from the start to the end of the run, and CPU the processor time that
	// the process and its reaped children used.
	Ran, Took, CPU time.Duration
}

// Captured is what was read of one output stream.
type Captured struct {
	Data []byte // the kept bytes, as they came
	// Total counts the bytes that were read. Truncated is set if it is more
	// than is in Data.
	Total     int64
	Truncated bool
	// SpillPath is the file with the whole stream, if it was spilled, and
	// SpillErr why one that should have been was not.
	SpillPath string
	SpillErr  error
}

// Lost is the number of bytes that were read and not kept.
func (c *Captured) Lost() int64 { return c.Total - int64(len(c.Data)) }

// Member is a process of a run.
type Member struct {
	ptable.ID
	Name string
}

package proc

import (
	"errors"
	"fmt"
)

var (
	// ErrDrained is the cause of a run that was ended by [Owner.Drain], and of
	// one that was not started because its owner had been drained.
	ErrDrained = errors.New("the owner of the process was drained")
	// ErrKilled is the cause of a run that was ended by [Process.Kill] without
	// one.
	ErrKilled = errors.New("the process was killed")
)

// LaunchKind says what was in the way of a start.
type LaunchKind string

const (
	LaunchSpec        LaunchKind = "spec"        // the Spec is not one
	LaunchDir         LaunchKind = "dir"         // the working directory
	LaunchProgram     LaunchKind = "program"     // the program: missing, no program, not permitted
	LaunchShell       LaunchKind = "shell"       // the same, for a Spec with a shell
	LaunchInterpreter LaunchKind = "interpreter" // what the first line of a script names
	LaunchSize        LaunchKind = "size"        // arguments and environment are too large
	LaunchSystem      LaunchKind = "system"      // no more files, processes or memory
)

// LaunchError says why a process was not started.
type LaunchError struct {
	Kind LaunchKind
	Path string // the directory, program, shell or script
	Err  error  // the cause; errors.Is finds fs.ErrNotExist and the like
}

// Error names the path and the cause.
func (e *LaunchError) Error() string {
	switch e.Kind {
	case LaunchSpec:
		return fmt.Sprintf("start a process: %v", e.Err)
	case LaunchDir:
		return fmt.Sprintf("start a process: working directory %q: %v", e.Path, e.Err)
	case LaunchShell:
		return fmt.Sprintf("start a process: shell %q: %v", e.Path, e.Err)
	case LaunchInterpreter:
		return fmt.Sprintf("start a process: the interpreter of %q: %v", e.Path, e.Err)
	case LaunchSize:
		return fmt.Sprintf("start a process: arguments and environment of %q: %v", e.Path, e.Err)
	}
	return fmt.Sprintf("start a process: program %q: %v", e.Path, e.Err)
}

// Unwrap returns the cause.
func (e *LaunchError) Unwrap() error { return e.Err }

// NotStartedError says that a process was not started because its context was
// done or its owner drained. Cause is the context's cause, or [ErrDrained].
type NotStartedError struct{ Cause error }

// Error names the cause.
func (e *NotStartedError) Error() string {
	return fmt.Sprintf("start a process: cancelled before: %v", e.Cause)
}

// Unwrap returns the cause.
func (e *NotStartedError) Unwrap() error { return e.Cause }

func specError(text string) error {
	return &LaunchError{Kind: LaunchSpec, Err: errors.New(text)}
}

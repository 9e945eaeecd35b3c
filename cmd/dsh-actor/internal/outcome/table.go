package outcome

import (
	"fmt"
	"strconv"

	"github.com/dsh-actor/dsh-actor/messages"
)

// Subtypes of a result.
const (
	Success   = "success"
	MaxTurns  = "error_max_turns"
	Execution = "error_during_execution"
)

// Terminal reasons.
const (
	Completed     = "completed"
	MaxTurnsEnd   = "max_turns"
	HookStopped   = "hook_stopped"
	StopPrevented = "stop_hook_prevented"
	APIError      = "api_error"
	OtherError    = "error"
	AbortedTools  = "aborted_tools"
	AbortedStream = "aborted_streaming"
	Aborted       = "aborted"
)

// Cause says why the process cancelled the turn.
type Cause uint8

// Causes. [Requested] is a cancellation that was asked for on standard input.
const (
	NoCause Cause = iota
	Requested
	Interrupted // SIGINT
	Terminated  // SIGTERM
	HungUp      // SIGHUP: the terminal has gone
)

// ExitCode is the exit code of a process that was told to end and had nothing to
// end: 0 on SIGINT, 128 and the signal's number on the others.
func (c Cause) ExitCode() int {
	switch c {
	case Interrupted:
		return 0
	case Terminated:
		return 143
	case HungUp:
		return 129
	default:
		return 1
	}
}

// Result is one row of the table, with the texts filled in. An empty StopReason
// or TerminalReason is an absent one.
type Result struct {
	Subtype        string
	IsError        bool
	StopReason     string
	TerminalReason string
	ExitCode       int
	// Text is the result's text; HasText tells "" from absent, which it is for all
	// subtypes but success.
	Text    string
	HasText bool
	// Errors say what went wrong, if not Text does.
	Errors []string
}

// Of returns the row of the table for a turn that has ended. Cause is why the
// process cancelled it, if it did.
func Of(t *Turn, cause Cause) Result {
	switch r := t.Reason; r.Kind {
	case messages.EndCompleted:
		return succeeded(t.Text, "end_turn", Completed)
	case messages.EndMaxTokens:
		return succeeded(t.Text, "max_tokens", Completed)
	case messages.EndRejected:
		return succeeded(r.Reason, "", "")
	case messages.EndHalted:
		return halted(t)
	case messages.EndMaxSteps:
		return Result{
			Subtype: MaxTurns, IsError: true, StopReason: "end_turn", TerminalReason: MaxTurnsEnd, ExitCode: 1,
			Errors: []string{"reached the maximum number of turns (" + strconv.Itoa(r.Limit) + ")"},
		}
	case messages.EndError:
		return failed(r)
	case messages.EndAborted:
		return aborted(t, cause)
	case messages.EndDisposed:
		return broken(Aborted, "the session was closed before the turn had ended")
	case messages.EndInterrupted:
		return broken(Aborted, "the turn was interrupted by the end of its process")
	default:
		return broken(OtherError, fmt.Sprintf("the turn ended in a way that is not known here: %q", r.Kind))
	}
}

// Dropped is the result of a prompt that was cancelled before its turn began.
func Dropped(cause Cause) Result { return aborted(&Turn{}, cause) }

func succeeded(text, stop, terminal string) Result {
	return Result{Subtype: Success, Text: text, HasText: true, StopReason: stop, TerminalReason: terminal}
}

func halted(t *Turn) Result {
	switch t.Reason.At {
	case messages.HaltAtTool:
		return succeeded("", "tool_use", HookStopped)
	case messages.HaltAtStop:
		return succeeded(t.Text, "end_turn", StopPrevented)
	default:
		return succeeded("Operation stopped by hook: "+t.Reason.Reason, "", "")
	}
}

func failed(r messages.EndReason) Result {
	if r.Failure.IsZero() {
		return broken(OtherError, r.Message)
	}
	return Result{
		Subtype: Success, IsError: true, StopReason: "stop_sequence", TerminalReason: APIError, ExitCode: 1,
		Text: "API Error: " + FailureText(r.Failure), HasText: true,
	}
}

// FailureText is what a failed request says to a person: the status, if there is
// one, and the message.
func FailureText(f messages.Failure) string {
	if f.Status == 0 {
		return f.Message
	}
	return strconv.Itoa(f.Status) + " " + f.Message
}

func aborted(t *Turn, cause Cause) Result {
	r := broken(AbortedStream, "the turn was cancelled")
	if t.InTools {
		r.StopReason, r.TerminalReason = "tool_use", AbortedTools
	}
	r.ExitCode = cause.ExitCode()
	return r
}

func broken(terminal, message string) Result {
	return Result{
		Subtype: Execution, IsError: true, TerminalReason: terminal, ExitCode: 1, Errors: []string{message},
	}
}

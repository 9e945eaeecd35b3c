package otel

import (
	"context"
	"errors"
	"strconv"

	"github.com/dsh-actor/dsh-actor/messages"
)

// Decision is what a seam, a listener or a hook decided (SPEC table V).
type Decision string

// Decisions.
const (
	DecisionNone  Decision = "none"
	DecisionAllow Decision = "allow"
	DecisionAsk   Decision = "ask"
	DecisionDeny  Decision = "deny"
	DecisionBlock Decision = "block"
	DecisionStop  Decision = "stop"
)

// Outcome is how a piece of work went, apart from what it decided (SPEC table
// V): a hook that says deny with exit code 2 is OutcomeOK and DecisionDeny.
type Outcome string

// Outcomes.
const (
	OutcomeOK           Outcome = "ok"
	OutcomeFailed       Outcome = "failed"
	OutcomeTimedOut     Outcome = "timed_out"
	OutcomeLaunchFailed Outcome = "launch_failed"
	OutcomeBadOutput    Outcome = "bad_output"
	OutcomeSignaled     Outcome = "signaled"
	OutcomeCancelled    Outcome = "cancelled"
	OutcomeSkipped      Outcome = "skipped"
	OutcomeInterrupted  Outcome = "interrupted"
)

// Failed reports whether the outcome makes a span an error. Cancelled and
// skipped do not: somebody wanted them.
func (o Outcome) Failed() bool {
	switch o {
	case "", OutcomeOK, OutcomeCancelled, OutcomeSkipped:
		return false
	}
	return true
}

// DecisionOf returns the word for a decision of package messages (Z-29, Z-30).
// Accepting a result allows it; continuing a turn is no decision of the
// vocabulary, it shows as dsh.continue. Anything else, nil included, is
// DecisionNone.
func DecisionOf(d any) Decision {
	switch d := d.(type) {
	case Decision:
		return d
	case messages.PromptAllow, messages.ToolAllow, messages.ResultAccept, messages.ApprovalOnce:
		return DecisionAllow
	case messages.ToolAsk:
		return DecisionAsk
	case messages.ToolDeny, messages.ApprovalRejected:
		return DecisionDeny
	case messages.PromptBlock, messages.ResultBlock:
		return DecisionBlock
	case messages.TurnStop, messages.Stop, messages.Halt:
		return DecisionStop
	}
	return DecisionNone
}

// reasonOf returns the decision's reason in words, if it has one that is text.
func reasonOf(d any) string {
	switch d := d.(type) {
	case messages.PromptBlock:
		return d.Reason
	case messages.ToolDeny:
		return d.Reason
	case messages.ToolAsk:
		return d.Reason
	case messages.ApprovalRejected:
		return d.Reason
	case messages.Halt:
		return d.Reason
	}
	return ""
}

// ErrorType returns the value of error.type for an error, and "" for nil. It is
// of low cardinality: what the error (or a cause of it) names itself by a method
// ErrorType() string, else context_canceled or timeout, else the HTTP status of
// a failed model request, else the code of SPEC V-12, else _OTHER. It never
// contains the error's message.
func ErrorType(err error) string {
	if err == nil {
		return ""
	}
	var named interface{ ErrorType() string }
	if errors.As(err, &named) {
		if typ := named.ErrorType(); typ != "" {
			return typ
		}
	}
	var cause messages.CancelCause
	switch {
	case errors.Is(err, context.Canceled), errors.As(err, &cause):
		return ErrCanceled
	case errors.Is(err, context.DeadlineExceeded):
		return ErrTimeout
	}
	var failure messages.Failure
	if errors.As(err, &failure) {
		return failureType(failure)
	}
	return codeType(messages.CodeOf(err))
}

// failureType returns error.type for a failed model request.
func failureType(f messages.Failure) string {
	if f.Status >= 400 && f.Status <= 599 {
		return strconv.Itoa(f.Status)
	}
	return codeType(f.Code)
}

func codeType(code messages.Code) string {
	switch code {
	case "", messages.CodeUnknown:
		return ErrOther
	case messages.CodeToolTimeout:
		return ErrTimeout
	case messages.CodeAborted, messages.CodeAbortedBeforeDispatch:
		return ErrCanceled
	}
	return clean(string(code))
}

// ToolOutcome returns the outcome and error.type of a tool's result. A call that
// never started is skipped, one that was aborted is cancelled; one whose outcome
// is unknown was interrupted. Results do not say that policy denied the call: a
// caller who knows sets [ToolEnd].Decision.
func ToolOutcome(r *messages.Result) (Outcome, string) {
	if r == nil {
		return OutcomeInterrupted, ErrInterrupted
	}
	if !r.IsError() {
		return OutcomeOK, ""
	}
	switch code := r.Info().Code; code {
	case messages.CodeAborted, messages.CodeAbortedBeforeDispatch:
		return OutcomeCancelled, ErrCanceled
	case messages.CodeToolTimeout:
		return OutcomeTimedOut, ErrTimeout
	case messages.CodeToolNotStarted:
		return OutcomeSkipped, ""
	case messages.CodeToolOutcomeUnknown:
		return OutcomeInterrupted, ErrInterrupted
	case "":
		return OutcomeFailed, ErrToolFailed
	default:
		return OutcomeFailed, codeType(code)
	}
}

// Ending says how a piece of work ended. The zero value is success. Fields that
// are not given follow from the others.
type Ending struct {
	// Outcome defaults to ok without an error, cancelled for a cancelled context,
	// timed_out for a passed deadline, and failed otherwise.
	Outcome Outcome
	// Err is what went wrong. Only its type is recorded.
	Err error
	// ErrorType is the value of error.type; the default is ErrorType(Err).
	ErrorType string
}

func (e Ending) resolve() (Outcome, string) {
	typ := e.ErrorType
	if typ == "" {
		typ = ErrorType(e.Err)
	}
	outcome := e.Outcome
	if outcome == "" {
		switch typ {
		case "":
			outcome = OutcomeOK
		case ErrCanceled:
			outcome = OutcomeCancelled
		case ErrTimeout:
			outcome = OutcomeTimedOut
		default:
			outcome = OutcomeFailed
		}
	}
	switch {
	case outcome == OutcomeOK || outcome == OutcomeSkipped:
		typ = "" // error.type is never set on success
	case typ == "":
		typ = outcomeType(outcome)
	}
	return outcome, typ
}

// outcomeType is the error.type of an outcome that came without one.
func outcomeType(o Outcome) string {
	switch o {
	case OutcomeTimedOut:
		return ErrTimeout
	case OutcomeCancelled:
		return ErrCanceled
	case OutcomeLaunchFailed:
		return ErrSpawnFailed
	case OutcomeBadOutput:
		return ErrInvalidOutput
	case OutcomeInterrupted:
		return ErrInterrupted
	case OutcomeFailed, OutcomeSignaled:
		return ErrOther
	}
	return ""
}

package pipeline

import "github.com/dsh-actor/dsh-actor/messages"

// Seams is the interception surface of one scope. Registering on the runtime's
// reaches every session; a session's reaches that session only.
type Seams struct {
	// SessionStart tells that a session came to life. It cannot delay or refuse the
	// start: its listeners run as tasks, and the first turn waits for them for a
	// moment only (S-2, Z-22).
	SessionStart Parallel[*SessionStart]
	// PromptSubmit decides on a claimed prompt (S-3).
	PromptSubmit Waterfall[*PromptSubmit, messages.PromptDecision]
	// PreStep runs before each step; it may wait, inject, fail the turn or halt
	// the run (S-4, Z-21).
	PreStep Serial[*Step, messages.StepVerdict]
	// PostStep runs after each step's batch; it may wait, inject or fail the turn.
	PostStep Sequence[*Step]
	// SessionPrefix composes the messages before the history, once per activation
	// (S-5).
	SessionPrefix Waterfall[*SessionPrefix, *messages.List[messages.Message]]
	// Request shapes the configuration of a request; a replacement is sticky (S-5).
	Request Waterfall[*Request, *messages.RequestConfig]
	// StepResult may rewrite the model's answer before it is logged (S-5, T-8).
	StepResult Waterfall[*StepResult, *messages.Message]
	// RequestError decides on a failed model request (T-10).
	RequestError Waterfall[*RequestError, messages.RequestErrorDecision]
	// TurnContinuation decides after every successful step whether another
	// follows (S-6).
	TurnContinuation Waterfall[*Continuation, messages.ContinuationDecision]
	// TurnStop can make the end of a turn final or halt the run; the first verdict
	// ends the seam (S-7).
	TurnStop Serial[*Continuation, messages.StepVerdict]
	// CancelRequested tells, after the fact, that a turn was cancelled (Z-46).
	CancelRequested Notification[*CancelRequested]
	// SessionEnd tells that a session ends, after its last turn; it is waited for
	// (Z-37).
	SessionEnd Parallel[*SessionEnd]

	// PreExecute allows, denies or asks (P-8).
	PreExecute Waterfall[*Call, messages.PreToolDecision]
	// Approval answers an ask (Z-50).
	Approval Waterfall[*ApprovalRequest, messages.ApprovalAnswer]
	// Execute wraps dispatch: time out, retry, measure, answer instead (P-13).
	Execute Waterfall[*Call, *messages.Result]
	// PostExecute inspects and transforms the outcome (P-22).
	PostExecute Waterfall[*Outcome, messages.PostToolDecision]
	// Result tells the final, frozen outcome (P-26).
	Result Notification[*Outcome]
}

type (
	// SessionStart is the event of agent/session-start.
	SessionStart struct {
		Agent  Agent
		Source messages.SessionStartSource
	}
	// PromptSubmit is the event of agent/prompt-submit.
	PromptSubmit struct {
		Agent    Agent
		Turn     int
		Message  messages.MessageID
		Content  messages.Content
		Source   messages.Source
		Contexts messages.List[messages.Context] // attached by the sender
		Meta     messages.JSON
	}
	// Step is the event of agent/pre-step and agent/post-step.
	Step struct {
		Agent      Agent
		Turn, Step int
	}
	// SessionPrefix is the event of agent/session-prefix. The default answer is no
	// prefix.
	SessionPrefix struct{ Agent Agent }
	// Request is the event of agent/request. Config is the seed: the agent's own
	// for the first request of an activation, then what was last sent.
	Request struct {
		Agent      Agent
		Turn, Step int
		Config     messages.RequestConfig
	}
	// StepResult is the event of agent/step-result.
	StepResult struct {
		Agent      Agent
		Turn, Step int
		Message    messages.Message
		Finish     messages.FinishReason
	}
	// RequestError is the event of agent/request-error. Retried are the failures
	// that were already retried in this run of failures; a success resets it.
	RequestError struct {
		Agent      Agent
		Turn, Step int
		Failure    messages.Failure
		Retried    messages.List[messages.Failure]
	}
	// Continuation is the event of agent/turn-continuation and agent/turn-stop.
	Continuation struct {
		Agent      Agent
		Turn, Step int
		// Default is what happens if no listener decides otherwise (T-11).
		Default messages.ContinuationDecision
		// SteeringPending says that steering waits and will force another step.
		SteeringPending bool
		// ToolCalls is the number of calls of the step's batch.
		ToolCalls int
		// Message is the model's answer of the step.
		Message messages.Content
	}
	// CancelRequested is the event of agent/cancel-requested.
	CancelRequested struct {
		Agent Agent
		Turn  int // 0 if no turn was open
		Cause messages.CancelCause
	}
	// SessionEnd is the event of agent/session-end. Reason is "close" or
	// "shutdown".
	SessionEnd struct {
		Agent  Agent
		Reason string
	}
	// Outcome is the event of tools/post-execute and tools/result.
	Outcome struct {
		Call   *Call
		Result *messages.Result
	}
	// ApprovalRequest is the event of tools/approval.
	ApprovalRequest struct {
		ID     messages.ApprovalID
		Call   *Call
		Reason string
		Origin messages.AskOrigin
	}
)

// newSeams makes the seams of a scope. A session's hand on what its runtime's
// have.
func newSeams(seq *sequence, warn func(error), parent *Seams) *Seams {
	s := &Seams{}
	from := parent
	if from == nil {
		from = s
	}
	s.SessionStart.init("agent/session-start", seq, &from.SessionStart.set)
	s.PromptSubmit.init("agent/prompt-submit", seq, &from.PromptSubmit.set)
	s.PreStep.init("agent/pre-step", seq, &from.PreStep.set)
	s.PostStep.init("agent/post-step", seq, &from.PostStep.set)
	s.SessionPrefix.init("agent/session-prefix", seq, &from.SessionPrefix.set)
	s.Request.init("agent/request", seq, &from.Request.set)
	s.StepResult.init("agent/step-result", seq, &from.StepResult.set)
	s.RequestError.init("agent/request-error", seq, &from.RequestError.set)
	s.TurnContinuation.init("agent/turn-continuation", seq, &from.TurnContinuation.set)
	s.TurnStop.init("agent/turn-stop", seq, &from.TurnStop.set)
	s.CancelRequested.init("agent/cancel-requested", seq, &from.CancelRequested.set)
	s.SessionEnd.init("agent/session-end", seq, &from.SessionEnd.set)
	s.PreExecute.init("tools/pre-execute", seq, &from.PreExecute.set)
	s.Approval.init("tools/approval", seq, &from.Approval.set)
	s.Execute.init("tools/execute", seq, &from.Execute.set)
	s.PostExecute.init("tools/post-execute", seq, &from.PostExecute.set)
	s.Result.init("tools/result", seq, &from.Result.set)
	s.TurnStop.firstFinal = true
	s.CancelRequested.warn, s.Result.warn = warn, warn
	return s
}

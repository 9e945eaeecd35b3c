package pipeline

import "github.com/dsh-actor/dsh-actor/messages"

// The events of the seams: what a listener is told. Listeners must not change
// them (D-4).
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
	// Outcome is the event of tools/post-execute and tools/result. It is passed by
	// value, so that no listener can change what another one reads (P-26).
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

package pipeline

import "github.com/dsh-actor/dsh-actor/messages"

// Seams is the interception surface of one scope. Registering on the runtime's
// reaches every session; a session's reaches that session only.
type Seams struct {
	// SessionCreated and AgentCreated tell that a session is about to be published:
	// an error vetoes it, and the creation is rolled back.
	SessionCreated Sequence[*SessionStart]
	AgentCreated   Sequence[*SessionStart]
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
	PostExecute Waterfall[Outcome, messages.PostToolDecision]
	// Result tells the final, frozen outcome (P-26).
	Result Notification[Outcome]
}

// newSeams makes the seams of a scope under those of its parent, nil for the
// outermost.
func newSeams(root *shared, parent *Seams) *Seams {
	s := &Seams{}
	from := parent
	if from == nil {
		from = s // a seam under itself is an outermost one
	}
	s.SessionCreated.attach("session/created", root, &from.SessionCreated.seam)
	s.AgentCreated.attach("agent/created", root, &from.AgentCreated.seam)
	s.SessionStart.attach("agent/session-start", root, &from.SessionStart.seam)
	s.PromptSubmit.attach("agent/prompt-submit", root, &from.PromptSubmit.seam)
	s.PreStep.attach("agent/pre-step", root, &from.PreStep.seam)
	s.PostStep.attach("agent/post-step", root, &from.PostStep.seam)
	s.SessionPrefix.attach("agent/session-prefix", root, &from.SessionPrefix.seam)
	s.Request.attach("agent/request", root, &from.Request.seam)
	s.StepResult.attach("agent/step-result", root, &from.StepResult.seam)
	s.RequestError.attach("agent/request-error", root, &from.RequestError.seam)
	s.TurnContinuation.attach("agent/turn-continuation", root, &from.TurnContinuation.seam)
	s.TurnStop.attach("agent/turn-stop", root, &from.TurnStop.seam)
	s.CancelRequested.attach("agent/cancel-requested", root, &from.CancelRequested.seam)
	s.SessionEnd.attach("agent/session-end", root, &from.SessionEnd.seam)
	s.PreExecute.attach("tools/pre-execute", root, &from.PreExecute.seam)
	s.Approval.attach("tools/approval", root, &from.Approval.seam)
	s.Execute.attach("tools/execute", root, &from.Execute.seam)
	s.PostExecute.attach("tools/post-execute", root, &from.PostExecute.seam)
	s.Result.attach("tools/result", root, &from.Result.seam)

	s.PromptSubmit.known = knownPrompt
	s.PreStep.known = knownPreStep
	s.RequestError.known = knownRequestError
	s.TurnContinuation.known = knownContinuation
	s.TurnStop.known, s.TurnStop.firstFinal = knownTurnStop, true
	s.PreExecute.known, s.PreExecute.note = knownPreTool, noteToolDecision
	s.Approval.known = knownApproval
	s.PostExecute.known = knownPostTool
	return s
}

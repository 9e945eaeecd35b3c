package pipeline

import "github.com/dsh-actor/dsh-actor/messages"

// What each seam knows as a decision (Z-1). The interfaces of package messages
// are sealed, but a pointer to a decision has its methods too: it is of no known
// kind, so that nothing that policy code forgets to match is ever an allow.

func knownPrompt(d messages.PromptDecision) bool {
	switch d.(type) {
	case messages.PromptAllow, messages.PromptBlock:
		return true
	}
	return false
}

func knownPreTool(d messages.PreToolDecision) bool {
	switch d.(type) {
	case messages.ToolAllow, messages.ToolDeny, messages.ToolAsk:
		return true
	}
	return false
}

func knownApproval(a messages.ApprovalAnswer) bool {
	switch a.(type) {
	case messages.ApprovalOnce, messages.ApprovalRejected, messages.ApprovalCancelled, messages.ApprovalUnavailable:
		return true
	}
	return false
}

func knownPostTool(d messages.PostToolDecision) bool {
	switch d.(type) {
	case messages.ResultAccept, messages.ResultBlock:
		return true
	}
	return false
}

func knownContinuation(d messages.ContinuationDecision) bool {
	switch d.(type) {
	case messages.TurnContinue, messages.TurnStop:
		return true
	}
	return false
}

func knownRequestError(d messages.RequestErrorDecision) bool {
	switch d.(type) {
	case messages.RequestRetry, messages.RequestFail:
		return true
	}
	return false
}

// knownPreStep leaves out Stop, which only agent/turn-stop knows.
func knownPreStep(v messages.StepVerdict) bool {
	_, ok := v.(messages.Halt)
	return ok
}

func knownTurnStop(v messages.StepVerdict) bool {
	switch v.(type) {
	case messages.Halt, messages.Stop:
		return true
	}
	return false
}

package messages

// A decision is a small sealed interface per seam (DESIGN 5, Z-29), so that an
// answer of the wrong kind does not compile. A nil decision without an error is
// a listener failure in every policy seam (Z-1).

// PromptDecision answers agent/prompt-submit.
type PromptDecision interface{ promptDecision() }

type (
	// PromptAllow lets the prompt pass. Content replaces the prompt's content if
	// it is not absent. Contexts are all that will be attached: an outer listener
	// that leaves out what an inner one attached drops it (S-3).
	PromptAllow struct {
		Content  Content
		Contexts List[Context]
	}
	// PromptBlock refuses the prompt: a zero-step turn that ends rejected.
	PromptBlock struct{ Reason string }
)

func (PromptAllow) promptDecision() {}
func (PromptBlock) promptDecision() {}

// PreToolDecision answers tools/pre-execute.
type PreToolDecision interface{ preToolDecision() }

type (
	// ToolAllow lets the call go on to the guards.
	ToolAllow struct{}
	// ToolDeny refuses the call. Without a reason the model reads
	// [DefaultDenyReason] (Z-1).
	ToolDeny struct{ Reason string }
	// ToolAsk sends the call to the approval seam. Origin says who asks; it
	// defaults to [AskByListener].
	ToolAsk struct {
		Reason string
		Origin AskOrigin
	}
)

func (ToolAllow) preToolDecision() {}
func (ToolDeny) preToolDecision()  {}
func (ToolAsk) preToolDecision()   {}

// DefaultDenyReason is the reason of a denial that gave none (Z-1).
const DefaultDenyReason = "denied by policy"

// AskOrigin says what made a call need approval (Z-50).
type AskOrigin string

// Ask origins.
const (
	AskByMode     AskOrigin = "mode"
	AskByRule     AskOrigin = "rule"
	AskByHook     AskOrigin = "hook"
	AskByListener AskOrigin = "listener"
)

// ApprovalAnswer answers tools/approval (Z-50).
type ApprovalAnswer interface{ approvalAnswer() }

type (
	// ApprovalOnce allows this one call.
	ApprovalOnce struct{}
	// ApprovalRejected refuses it. A reason becomes the denial reason.
	ApprovalRejected struct{ Reason string }
	// ApprovalCancelled says that the question was withdrawn.
	ApprovalCancelled struct{}
	// ApprovalUnavailable says that nobody can answer; the default.
	ApprovalUnavailable struct{}
)

func (ApprovalOnce) approvalAnswer()        {}
func (ApprovalRejected) approvalAnswer()    {}
func (ApprovalCancelled) approvalAnswer()   {}
func (ApprovalUnavailable) approvalAnswer() {}

// ApprovalOutcome returns the word that approval/decided records for an answer.
func ApprovalOutcome(a ApprovalAnswer) string {
	switch a.(type) {
	case ApprovalOnce:
		return "allowed-once"
	case ApprovalRejected:
		return "rejected"
	case ApprovalCancelled:
		return "cancelled"
	default:
		return "unavailable"
	}
}

// PostToolDecision answers tools/post-execute.
type PostToolDecision interface{ postToolDecision() }

type (
	// ResultAccept keeps the result. Content replaces what the model sees; Value
	// replaces the canonical value, which is validated and rendered again; giving
	// both is a failure (P-22). Contexts are added after the result's own.
	ResultAccept struct {
		Content  Content
		Value    JSON
		Contexts List[Context]
	}
	// ResultBlock turns the result into a failure that reads Feedback. Contexts
	// of the result are dropped; only these remain.
	ResultBlock struct {
		Feedback Content
		Contexts List[Context]
	}
)

func (ResultAccept) postToolDecision() {}
func (ResultBlock) postToolDecision()  {}

// ContinuationDecision answers agent/turn-continuation.
type ContinuationDecision interface{ continuationDecision() }

type (
	// TurnContinue opens another step. A reason becomes steering of the same
	// turn (T-12); it has no place for durable context.
	TurnContinue struct {
		Reason Content
		Source Source
	}
	// TurnStop lets the turn end, unless steering is pending (T-11).
	TurnStop struct{}
)

func (TurnContinue) continuationDecision() {}
func (TurnStop) continuationDecision()     {}

// RequestErrorDecision answers agent/request-error (T-10).
type RequestErrorDecision interface{ requestErrorDecision() }

type (
	// RequestRetry opens a new step with the same history. The listener has done
	// any waiting itself.
	RequestRetry struct{}
	// RequestFail ends the turn with the failure; the default.
	RequestFail struct{}
)

func (RequestRetry) requestErrorDecision() {}
func (RequestFail) requestErrorDecision()  {}

// StepVerdict answers the serial seams agent/pre-step and agent/turn-stop. Nil
// lets the turn go on.
type StepVerdict interface{ stepVerdict() }

type (
	// Halt ends the run without a further model request (Z-21).
	Halt struct{ Reason string }
	// Stop makes the end of the turn final: pending steering is discarded (S-7).
	// Only agent/turn-stop knows it.
	Stop struct{}
)

func (Halt) stepVerdict() {}
func (Stop) stepVerdict() {}

package messages

import "time"

// Verbs are plain data (DESIGN 3, rule 9): what acts on a session carries the
// session's id and no pointer, channel, closure or context, so that a verb can
// reach a session on another machine unchanged. Every verb is answered at once
// by [Accepted] or an [Error] with a code.

// VerbHeader is common to all verbs.
type VerbHeader struct {
	Session SessionID `json:"session"`
	// IdempotencyKey makes a repeated verb take effect once; "" is no key.
	IdempotencyKey string `json:"idempotencyKey,omitzero"`
	// TraceParent is the W3C trace context of the sender.
	TraceParent string    `json:"traceParent,omitzero"`
	Deadline    time.Time `json:"deadline,omitzero"`
}

// Delivery says which queue a prompt enters and whether it wakes the agent
// (A-1, Z-14).
type Delivery string

// Deliveries.
const (
	// Followup joins the queue and wakes the agent: the next turn.
	Followup Delivery = "followup"
	// Queue joins the queue without waking the agent.
	Queue Delivery = "queue"
	// Steer joins the running turn at its next step; while the agent is not
	// running it is a followup.
	Steer Delivery = "steer"
)

type (
	// Prompt asks for a turn, or steers the running one.
	Prompt struct {
		VerbHeader
		Delivery Delivery      `json:"delivery"`
		Content  Content       `json:"content"`
		Source   Source        `json:"source,omitzero"` // default: the user (V-5)
		Contexts List[Context] `json:"contexts,omitzero"`
		Meta     JSON          `json:"meta,omitzero"`
	}
	// Inject adds context without a model request.
	Inject struct {
		VerbHeader
		Context Context `json:"context"` // default source: plugin "" (V-5)
	}
	// Cancel aborts the open turn and, unless KeepInbox, drops what is queued
	//
	Cancel struct {
		VerbHeader
		Cause     CancelCause `json:"cause"` // default: user
		KeepInbox bool        `json:"keepInbox,omitzero"`
	}
	// AnswerAsk answers a pending approval request.
	AnswerAsk struct {
		VerbHeader
		ID      ApprovalID `json:"id"`
		Outcome string     `json:"outcome"` // as ApprovalOutcome
		Reason  string     `json:"reason,omitzero"`
	}
)

// Accepted answers a verb. A queued message has an id; a verb that appended has
// the sequence number of its last event, otherwise -1.
type Accepted struct {
	Message MessageID `json:"message,omitzero"`
	Seq     int64     `json:"seq"`
	// Duplicate says that the idempotency key was known and nothing was done.
	Duplicate bool `json:"duplicate,omitzero"`
}

// InboxItem is one queued prompt as notifications, stores and the claim see it.
type InboxItem struct {
	ID       MessageID     `json:"id"`
	Key      string        `json:"key,omitzero"` // idempotency key
	Content  Content       `json:"content"`
	Source   Source        `json:"source"`
	Contexts List[Context] `json:"contexts,omitzero"`
	Meta     JSON          `json:"meta,omitzero"`
	Steering bool          `json:"steering,omitzero"`
	Wake     bool          `json:"wakeup,omitzero"`
	// TraceParent is the trace context of the prompt, so that the turn's trace
	// continues the sender's.
	TraceParent string `json:"traceParent,omitzero"`
	// Enqueued is when the prompt was accepted, in ms since the Unix epoch.
	Enqueued int64 `json:"enqueued"`
}

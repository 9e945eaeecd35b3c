package messages

import (
	"github.com/go-json-experiment/json/jsontext"
)

// The core session events (E-8). Every payload is a plain value: copy it
// freely, it never changes.
type (
	// TurnStart opens a turn.
	TurnStart struct {
		Turn    int         `json:"turn"`
		Trigger TurnTrigger `json:"trigger"`
	}
	// TurnEnd closes a turn.
	TurnEnd struct {
		Turn   int       `json:"turn"`
		Reason EndReason `json:"reason"`
	}
	// StepStart opens a step: one model request and its tool batch.
	StepStart struct {
		Turn int `json:"turn"`
		Step int `json:"step"`
	}
	// StepEnd closes a step.
	StepEnd struct {
		Turn int `json:"turn"`
		Step int `json:"step"`
	}
	// UserMessage is a prompt, or context of a plugin (the seed's
	// context/message): then the source is not the user.
	UserMessage struct {
		Content  Content        `json:"content"`
		Source   Source         `json:"source"`
		Envelope PromptEnvelope `json:"envelope,omitzero"`
		Meta     JSON           `json:"meta,omitzero"`
	}
	// SteeringMessage is input that joined a running turn.
	SteeringMessage struct {
		Turn     int            `json:"turn"`
		Content  Content        `json:"content"`
		Source   Source         `json:"source"`
		Envelope PromptEnvelope `json:"envelope,omitzero"`
		Meta     JSON           `json:"meta,omitzero"`
	}
	// PromptBlocked records a prompt that policy refused, as it was given.
	PromptBlocked struct {
		Content Content `json:"content"`
		Source  Source  `json:"source"`
		Reason  string  `json:"reason"`
	}
	// RequestHeaderEvent records the part of a request that is not history, when
	// it is first sent and when it changes (T-6).
	RequestHeaderEvent struct {
		Header RequestHeader `json:"header"`
		Reason HeaderReason  `json:"reason"`
	}
	// AssistantChunk is one piece of a model's stream.
	AssistantChunk struct {
		Turn  int   `json:"turn"`
		Step  int   `json:"step"`
		Chunk Chunk `json:"chunk"`
	}
	// AssistantMessage is the model's whole answer of a step.
	AssistantMessage struct {
		Turn       int        `json:"turn"`
		Step       int        `json:"step"`
		Content    Content    `json:"content"`
		Provenance Provenance `json:"provenance"`
		Usage      Usage      `json:"usage,omitzero"`
	}
	// ToolCall records a call before any policy ran. Arguments is the model's
	// raw text.
	ToolCall struct {
		Turn      int    `json:"turn"`
		Step      int    `json:"step"`
		CallID    CallID `json:"callId"`
		Name      string `json:"name"`
		Arguments string `json:"arguments"`
	}
	// ToolResult is the outcome of a call as the model sees it. Error is set only
	// for errors with a code (P-30).
	ToolResult struct {
		Turn    int       `json:"turn"`
		Step    int       `json:"step"`
		CallID  CallID    `json:"callId"`
		Content Content   `json:"content"`
		IsError bool      `json:"isError"`
		Error   ErrorInfo `json:"error,omitzero"`
		Meta    JSON      `json:"meta,omitzero"`
	}
	// ApprovalAsked records that a person was asked.
	ApprovalAsked struct {
		ID       ApprovalID `json:"id"`
		ToolName string     `json:"toolName"`
		CallID   CallID     `json:"callId,omitzero"`
		Reason   string     `json:"reason,omitzero"`
	}
	// ApprovalDecided records the answer: allowed-once, rejected, cancelled or
	// unavailable.
	ApprovalDecided struct {
		ID      ApprovalID `json:"id"`
		Outcome string     `json:"outcome"`
	}
	// ApprovalPolicy records a change of the approval policy: ask or never.
	ApprovalPolicy struct {
		Policy string `json:"policy"`
	}
)

// EventType returns the wire name.
func (TurnStart) EventType() string          { return "turn/start" }
func (TurnEnd) EventType() string            { return "turn/end" }
func (StepStart) EventType() string          { return "step/start" }
func (StepEnd) EventType() string            { return "step/end" }
func (UserMessage) EventType() string        { return "user/message" }
func (SteeringMessage) EventType() string    { return "steering/message" }
func (PromptBlocked) EventType() string      { return "prompt/blocked" }
func (RequestHeaderEvent) EventType() string { return "request/header" }
func (AssistantChunk) EventType() string     { return "assistant/chunk" }
func (AssistantMessage) EventType() string   { return "assistant/message" }
func (ToolCall) EventType() string           { return "tool/call" }
func (ToolResult) EventType() string         { return "tool/result" }
func (ApprovalAsked) EventType() string      { return "approval/asked" }
func (ApprovalDecided) EventType() string    { return "approval/decided" }
func (ApprovalPolicy) EventType() string     { return "approval/policy" }

// ErrorInfo is the structured identity of a tool error (V-12).
type ErrorInfo struct {
	Name string `json:"name"`
	Code Code   `json:"code"`
}

// IsZero reports whether there is no identity.
func (e ErrorInfo) IsZero() bool { return e == ErrorInfo{} }

// HeaderReason says why a request header was logged (T-6).
type HeaderReason string

// Header reasons.
const (
	HeaderInitial HeaderReason = "initial"
	HeaderResume  HeaderReason = "resume"
	HeaderChange  HeaderReason = "change"
)

// PromptEnvelope keeps what a prompt looked like before prompt-prefix contexts
// were baked into it (E-9, T-3).
type PromptEnvelope struct {
	DisplayContent Content             `json:"displayContent"`
	PrefixContexts List[PrefixContext] `json:"prefixContexts"`
}

// IsZero reports whether there is no envelope.
func (e PromptEnvelope) IsZero() bool {
	return e.DisplayContent.IsZero() && e.PrefixContexts.IsZero()
}

func (e PromptEnvelope) appendJSON(dst []byte) ([]byte, error) {
	dst, err := e.DisplayContent.appendJSON(append(dst, `{"displayContent":`...))
	if err != nil {
		return dst, err
	}
	dst = append(dst, `,"prefixContexts":[`...)
	for i, c := range e.PrefixContexts.items {
		if i > 0 {
			dst = append(dst, ',')
		}
		if dst, err = c.Source.appendJSON(append(dst, `{"source":`...)); err != nil {
			return dst, err
		}
		if dst, err = closeObject(appendOptional(dst, `,"meta":`, c.Meta)); err != nil {
			return dst, err
		}
	}
	return append(dst, "]}"...), nil
}

// PrefixContext names one baked context.
type PrefixContext struct {
	Source Source `json:"source"`
	Meta   JSON   `json:"meta,omitzero"`
}

// MarshalJSONTo writes {turn, step, chunk}.
func (c AssistantChunk) MarshalJSONTo(enc *jsontext.Encoder) error { return writeAppended(enc, c) }

func (c AssistantChunk) appendJSON(dst []byte) ([]byte, error) {
	dst = append(appendTurnStep(dst, c.Turn, c.Step), `,"chunk":`...)
	return closeObject(appendChunk(dst, c.Chunk))
}

// UnmarshalJSONFrom reads {turn, step, chunk}.
func (c *AssistantChunk) UnmarshalJSONFrom(dec *jsontext.Decoder) error { return unmarshalView(dec, c) }

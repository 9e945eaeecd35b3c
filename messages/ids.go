package messages

// SessionID names one session. It is chosen by the caller or minted by the
// runtime (V-2); an agent's id always equals its session's id (V-1).
type SessionID string

// CallID is the model's own id of a tool call. Models repeat ids, so nothing
// is keyed by it; see [CallToken].
type CallID string

// MessageID names one accepted prompt (a UUID).
type MessageID string

// RequestID is the model provider's id of one request.
type RequestID string

// ApprovalID names one approval request.
type ApprovalID string

// CallToken is the opaque identity of one tool execution, minted per call and
// never durable (P-4, P-30). A nested call carries its parent's token. The zero
// token is "no call".
type CallToken uint64

// Epoch counts the activations of a session: each owner takes a new one, and a
// store refuses writes of an older one.
type Epoch uint64

package messages

import (
	"errors"
	"fmt"

	"github.com/go-json-experiment/json/jsontext"
)

// TurnTrigger says what opened a turn (V-10). The union is open: an object of
// another kind that has more than a source is kept raw.
type TurnTrigger struct {
	Kind   string
	Source Source
	raw    JSON
}

// Trigger kinds.
const (
	TriggerMessage   = "message"
	TriggerInjection = "injection"
)

// MarshalJSONTo writes {kind, source}, or the object of an unknown kind.
func (t TurnTrigger) MarshalJSONTo(enc *jsontext.Encoder) error { return writeAppended(enc, t) }

func (t TurnTrigger) appendJSON(dst []byte) ([]byte, error) {
	if t.raw != "" {
		return appendRaw(dst, t.raw)
	}
	dst = appendMember(dst, `{"kind":`, t.Kind)
	if t.Source.IsZero() {
		return append(dst, '}'), nil
	}
	return closeObject(t.Source.appendJSON(append(dst, `,"source":`...)))
}

// UnmarshalJSONFrom reads a trigger of any kind.
func (t *TurnTrigger) UnmarshalJSONFrom(dec *jsontext.Decoder) error { return unmarshalView(dec, t) }

func (t *TurnTrigger) decodeView(raw JSON) error {
	kind, err := discriminator(raw, "kind")
	if err != nil {
		return fmt.Errorf("turn trigger: %w", err)
	}
	out := TurnTrigger{Kind: kind}
	err = decodeFields(raw, "kind", []field{{name: "source", into: &out.Source, optional: true}})
	switch {
	case err == nil:
		*t = out
	case kind == TriggerMessage || kind == TriggerInjection:
		return fmt.Errorf("turn trigger %q: %w", kind, err)
	default:
		*t = TurnTrigger{Kind: kind, raw: raw.keep()}
	}
	return nil
}

// EndKind is the discriminator of an [EndReason].
type EndKind string

// End kinds (V-11, Z-17, Z-21). The union is open on the wire.
const (
	EndCompleted   EndKind = "completed"
	EndAborted     EndKind = "aborted"
	EndDisposed    EndKind = "disposed"
	EndMaxTokens   EndKind = "max-tokens"
	EndRejected    EndKind = "rejected"
	EndInterrupted EndKind = "interrupted" // only repair writes it
	EndError       EndKind = "error"
	EndHalted      EndKind = "halted"
	EndMaxSteps    EndKind = "max-steps"
)

// HaltPoint says where a run was halted (Z-21).
type HaltPoint string

// Halt points.
const (
	HaltAtPrompt HaltPoint = "prompt"
	HaltAtTool   HaltPoint = "tool"
	HaltAtStop   HaltPoint = "stop"
)

// EndReason says how a turn ended (V-11). Which fields are set depends on Kind:
//
//	rejected    Reason
//	halted      Reason, At
//	max-steps   Limit
//	error       Step, and either Failure (a model request) or Message and Code
//
// All other kinds have none.
type EndReason struct {
	Kind    EndKind
	Reason  string
	At      HaltPoint
	Limit   int
	Step    int
	Failure Failure
	Message string
	Code    Code
	raw     JSON
}

// MarshalJSONTo writes exactly the keys of the kind.
func (r EndReason) MarshalJSONTo(enc *jsontext.Encoder) error { return writeAppended(enc, r) }

func (r EndReason) appendJSON(dst []byte) ([]byte, error) {
	if r.raw != "" {
		return appendRaw(dst, r.raw)
	}
	dst = appendMember(dst, `{"kind":`, string(r.Kind))
	switch r.Kind {
	case EndRejected:
		dst = appendMember(dst, `,"reason":`, r.Reason)
	case EndHalted:
		dst = appendMember(dst, `,"reason":`, r.Reason)
		dst = appendMember(dst, `,"at":`, string(r.At))
	case EndMaxSteps:
		dst = appendInt(dst, `,"limit":`, r.Limit)
	case EndError:
		dst = appendInt(dst, `,"step":`, r.Step)
		if !r.Failure.IsZero() {
			dst = r.Failure.appendJSON(append(dst, `,"failure":`...))
			break
		}
		dst = appendMember(dst, `,"message":`, r.Message)
		if r.Code != "" {
			dst = appendMember(dst, `,"code":`, string(r.Code))
		}
	}
	return append(dst, '}'), nil
}

// UnmarshalJSONFrom reads an end reason. A known kind with other keys than its
// own is refused (V-11); an unknown kind is kept.
func (r *EndReason) UnmarshalJSONFrom(dec *jsontext.Decoder) error { return unmarshalView(dec, r) }

func (r *EndReason) decodeView(raw JSON) error {
	kind, err := discriminator(raw, "kind")
	if err != nil {
		return fmt.Errorf("turn end reason: %w", err)
	}
	out := EndReason{Kind: EndKind(kind)}
	switch out.Kind {
	case EndCompleted, EndAborted, EndDisposed, EndMaxTokens, EndInterrupted:
		err = decodeFields(raw, "kind", nil)
	case EndRejected:
		err = decodeFields(raw, "kind", []field{{name: "reason", into: &out.Reason}})
	case EndHalted:
		err = decodeFields(raw, "kind", []field{{name: "reason", into: &out.Reason}, {name: "at", into: (*string)(&out.At)}})
	case EndMaxSteps:
		err = decodeFields(raw, "kind", []field{{name: "limit", into: &out.Limit}})
	case EndError:
		err = out.decodeError(raw)
	default:
		out.raw = rest(raw, "kind")
	}
	if err != nil {
		return fmt.Errorf("turn end reason %q: %w", kind, err)
	}
	*r = out
	return nil
}

// decodeError reads the members of an error: step, and either failure or
// message and maybe code.
func (r *EndReason) decodeError(raw JSON) error {
	fields := []field{
		{name: "step", into: &r.Step},
		{name: "failure", into: &r.Failure, optional: true},
		{name: "message", into: &r.Message, optional: true},
		{name: "code", into: (*string)(&r.Code), optional: true},
	}
	if err := decodeFields(raw, "kind", fields); err != nil {
		return err
	}
	failure, message, code := fields[1].seen, fields[2].seen, fields[3].seen
	if failure == message || failure && code {
		return errors.New("needs either failure or message")
	}
	return nil
}

// Status is what an agent is doing (V-14).
type Status string

// Statuses. Disposed is terminal.
const (
	StatusIdle     Status = "idle"
	StatusRunning  Status = "running"
	StatusDisposed Status = "disposed"
)

// SessionStartSource says how a session came to life (V-13).
type SessionStartSource string

// Start sources. Clear and compact are reserved.
const (
	StartStartup SessionStartSource = "startup"
	StartResume  SessionStartSource = "resume"
	StartClear   SessionStartSource = "clear"
	StartCompact SessionStartSource = "compact"
)

// CancelCause is the cause of a cancelled turn's context (V-14, Z-10). It is an
// error with a stable text.
type CancelCause string

// Cancel causes.
const (
	CancelUser     CancelCause = "user"
	CancelParent   CancelCause = "parent"
	CancelDisposed CancelCause = "disposed"
)

// Error returns "turn cancelled: " and the kind.
func (c CancelCause) Error() string { return "turn cancelled: " + string(c) }

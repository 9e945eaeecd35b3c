package messages

import (
	"fmt"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// TurnTrigger says what opened a turn (V-10).
type TurnTrigger struct {
	Kind   string `json:"kind"`
	Source Source `json:"source,omitzero"`
}

// Trigger kinds.
const (
	TriggerMessage   = "message"
	TriggerInjection = "injection"
)

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
func (r EndReason) MarshalJSONTo(enc *jsontext.Encoder) error {
	type kindOnly struct {
		Kind EndKind `json:"kind"`
	}
	switch r.Kind {
	case EndRejected:
		return marshalTo(enc, rejectedWire{r.Kind, &r.Reason})
	case EndHalted:
		return marshalTo(enc, haltedWire{r.Kind, &r.Reason, &r.At})
	case EndMaxSteps:
		return marshalTo(enc, maxStepsWire{r.Kind, &r.Limit})
	case EndError:
		w := errorWire{Kind: r.Kind, Step: &r.Step, Code: r.Code}
		if r.Failure.IsZero() {
			w.Message = &r.Message
		} else {
			w.Failure = &r.Failure
		}
		return marshalTo(enc, w)
	}
	if r.raw != "" {
		return enc.WriteValue(r.raw.Bytes())
	}
	return marshalTo(enc, kindOnly{r.Kind})
}

type (
	rejectedWire struct {
		Kind   EndKind `json:"kind"`
		Reason *string `json:"reason"`
	}
	haltedWire struct {
		Kind   EndKind    `json:"kind"`
		Reason *string    `json:"reason"`
		At     *HaltPoint `json:"at"`
	}
	maxStepsWire struct {
		Kind  EndKind `json:"kind"`
		Limit *int    `json:"limit"`
	}
	errorWire struct {
		Kind    EndKind  `json:"kind"`
		Step    *int     `json:"step"`
		Failure *Failure `json:"failure,omitzero"`
		Message *string  `json:"message,omitzero"`
		Code    Code     `json:"code,omitzero"`
	}
)

// UnmarshalJSONFrom reads an end reason. A known kind with other keys than its
// own is refused (V-11); an unknown kind is kept.
func (r *EndReason) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	v, err := dec.ReadValue()
	if err != nil {
		return err
	}
	raw := JSON(v)
	kind, err := discriminator(raw, "kind")
	if err != nil {
		return fmt.Errorf("turn end reason: %w", err)
	}
	out := EndReason{Kind: EndKind(kind)}
	strict := json.RejectUnknownMembers(true)
	missing := fmt.Errorf("turn end reason %q lacks a required member", kind)
	switch out.Kind {
	case EndCompleted, EndAborted, EndDisposed, EndMaxTokens, EndInterrupted:
		err = raw.Unmarshal(&struct {
			Kind EndKind `json:"kind"`
		}{}, strict)
	case EndRejected:
		var w rejectedWire
		if err = raw.Unmarshal(&w, strict); err == nil {
			if w.Reason == nil {
				return missing
			}
			out.Reason = *w.Reason
		}
	case EndHalted:
		var w haltedWire
		if err = raw.Unmarshal(&w, strict); err == nil {
			if w.Reason == nil || w.At == nil {
				return missing
			}
			out.Reason, out.At = *w.Reason, *w.At
		}
	case EndMaxSteps:
		var w maxStepsWire
		if err = raw.Unmarshal(&w, strict); err == nil {
			if w.Limit == nil {
				return missing
			}
			out.Limit = *w.Limit
		}
	case EndError:
		var w errorWire
		if err = raw.Unmarshal(&w, strict); err == nil {
			if w.Step == nil || (w.Failure == nil) == (w.Message == nil) || (w.Failure != nil && w.Code != "") {
				return fmt.Errorf("turn end reason %q needs step and either failure or message", kind)
			}
			out.Step, out.Code = *w.Step, w.Code
			if w.Failure != nil {
				out.Failure = *w.Failure
			} else {
				out.Message = *w.Message
			}
		}
	default:
		out.raw = raw
	}
	if err != nil {
		return fmt.Errorf("turn end reason %q: %w", kind, err)
	}
	*r = out
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

func marshalTo(enc *jsontext.Encoder, v any) error {
	return json.MarshalEncode(enc, v, marshalOptions)
}

func unmarshalStrict(dec *jsontext.Decoder, v any) error {
	return json.UnmarshalDecode(dec, v, json.RejectUnknownMembers(true))
}

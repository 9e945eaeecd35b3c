package messages

import (
	"fmt"
	"slices"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Event is one entry of a session log (E-1). Sequence numbers are contiguous
// from 0; Time is milliseconds since the Unix epoch.
type Event struct {
	Seq     int64
	Time    int64
	Data    EventData
	Surface SurfaceOp   // set on surface events only (E-4)
	Sources List[int64] // sourceEventSeqs (E-5)
	// HasSources tells "no sources" from "sources: []", which an
	// assistant/message without chunks carries (E-5).
	HasSources bool
}

// EventData is the payload of an event. Implementations are plain values; the
// core ones are in this package, other packages declare log-only types through
// a [Registry].
type EventData interface {
	// EventType is the wire name, such as "turn/start".
	EventType() string
}

// Type returns the event's wire name.
func (e Event) Type() string { return e.Data.EventType() }

// SurfaceKind says how a surface event changes the derived history (E-5).
type SurfaceKind uint8

// Surface kinds. Log-only events have [SurfaceNone].
const (
	SurfaceNone SurfaceKind = iota
	SurfaceAppend
	SurfaceReplace
)

// SurfaceOp is an event's effect on the derived history (E-5). Start and End
// are the sequence numbers of the first and last replaced node, inclusive.
type SurfaceOp struct {
	Kind       SurfaceKind
	Start, End int64
}

// AppendOp adds a node at the end of the history.
var appendOp = SurfaceOp{Kind: SurfaceAppend}

// AppendOp returns the op that adds a node at the end of the history.
func AppendOp() SurfaceOp { return appendOp }

// ReplaceOp returns the op that replaces the nodes from start to end.
func ReplaceOp(start, end int64) SurfaceOp { return SurfaceOp{SurfaceReplace, start, end} }

// MarshalJSONTo writes "append" or {op, start, end}.
func (o SurfaceOp) MarshalJSONTo(enc *jsontext.Encoder) error {
	if o.Kind == SurfaceReplace {
		return json.MarshalEncode(enc, surfaceReplaceWire{"replace", o.Start, o.End})
	}
	return enc.WriteToken(jsontext.String("append"))
}

type surfaceReplaceWire struct {
	Op    string `json:"op"`
	Start int64  `json:"start"`
	End   int64  `json:"end"`
}

// UnmarshalJSONFrom reads "append" or {op, start, end} with exactly these keys.
func (o *SurfaceOp) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	raw, err := dec.ReadValue()
	if err != nil {
		return err
	}
	if raw.Kind() == '"' {
		if string(raw) != `"append"` {
			return fmt.Errorf("unknown surfaceOp %s", raw)
		}
		*o = appendOp
		return nil
	}
	var w struct {
		Op    string `json:"op"`
		Start *int64 `json:"start"`
		End   *int64 `json:"end"`
	}
	if err := json.Unmarshal(raw, &w, json.RejectUnknownMembers(true)); err != nil {
		return fmt.Errorf("surfaceOp: %w", err)
	}
	if w.Op != "replace" || w.Start == nil || w.End == nil {
		return fmt.Errorf("surfaceOp must be \"append\" or {op:\"replace\", start, end}")
	}
	*o = ReplaceOp(*w.Start, *w.End)
	return nil
}

// surfaceTypes are the events that carry a surface op (E-4).
var surfaceTypes = [...]string{"user/message", "assistant/message", "tool/result", "steering/message"}

// IsSurfaceType reports whether events of the type must carry a surface op; no
// other type may (E-4).
func IsSurfaceType(typ string) bool { return slices.Contains(surfaceTypes[:], typ) }

// MarshalJSONTo writes the envelope {type, seq, time, data, surfaceOp?,
// sourceEventSeqs?}.
func (e Event) MarshalJSONTo(enc *jsontext.Encoder) error {
	w := eventWire[EventData]{Type: e.Data.EventType(), Seq: e.Seq, Time: e.Time, Data: e.Data}
	if e.Surface.Kind != SurfaceNone {
		w.Surface = &e.Surface
	}
	if e.HasSources {
		w.Sources = &e.Sources
	}
	return json.MarshalEncode(enc, &w, marshalOptions)
}

type eventWire[D any] struct {
	Type    string       `json:"type"`
	Seq     int64        `json:"seq"`
	Time    int64        `json:"time"`
	Data    D            `json:"data"`
	Surface *SurfaceOp   `json:"surfaceOp,omitzero"`
	Sources *List[int64] `json:"sourceEventSeqs,omitzero"`
}

// OtherEvent is the payload of an event whose type is not declared in the
// registry that read it. It is written back unchanged.
type OtherEvent struct {
	Name string
	Raw  JSON
}

// EventType returns the wire name.
func (e OtherEvent) EventType() string { return e.Name }

// MarshalJSONTo writes the payload as it was read.
func (e OtherEvent) MarshalJSONTo(enc *jsontext.Encoder) error { return e.Raw.MarshalJSONTo(enc) }

package messages

import (
	"errors"
	"slices"

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
func (o SurfaceOp) MarshalJSONTo(enc *jsontext.Encoder) error { return writeAppended(enc, o) }

func (o SurfaceOp) appendJSON(dst []byte) ([]byte, error) {
	if o.Kind != SurfaceReplace {
		return append(dst, `"append"`...), nil
	}
	dst = appendInt64(dst, `{"op":"replace","start":`, o.Start)
	return append(appendInt64(dst, `,"end":`, o.End), '}'), nil
}

// UnmarshalJSONFrom reads "append" or {op, start, end} with exactly these keys.
func (o *SurfaceOp) UnmarshalJSONFrom(dec *jsontext.Decoder) error { return unmarshalView(dec, o) }

func (o *SurfaceOp) decodeView(raw JSON) error {
	bad := errors.New(`must be "append" or {op:"replace", start, end}`)
	switch raw.Kind() {
	case '"':
		if raw.text() != "append" {
			return bad
		}
		*o = appendOp
		return nil
	case '{':
	default:
		return bad
	}
	var (
		op  string
		out = SurfaceOp{Kind: SurfaceReplace}
	)
	err := decodeFields(raw, "", []field{{name: "op", into: &op}, {name: "start", into: &out.Start}, {name: "end", into: &out.End}})
	if err != nil {
		return err
	}
	if op != "replace" {
		return bad
	}
	*o = out
	return nil
}

// surfaceTypes are the events that carry a surface op (E-4).
var surfaceTypes = [...]string{"user/message", "assistant/message", "tool/result", "steering/message"}

// IsSurfaceType reports whether events of the type must carry a surface op; no
// other type may (E-4).
func IsSurfaceType(typ string) bool { return slices.Contains(surfaceTypes[:], typ) }

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

package messages

import (
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/go-json-experiment/json/jsontext"
)

// Enclosure says where in a log an event type may stand (E-7, Z-19).
type Enclosure uint8

// Enclosures.
const (
	// InStep events lie inside the open step.
	InStep Enclosure = iota + 1
	// InTurn events lie inside the open turn.
	InTurn
	// Anywhere events may also stand between turns, as records of a plugin with
	// turn 0 (Z-19).
	Anywhere
	// boundary events open or close a turn or a step.
	boundary
)

// EventType declares one type of event.
type EventType struct {
	Name      string
	Enclosure Enclosure
	// Doc is one sentence for the generated catalogue.
	Doc string
	// Sample is a value of the payload's Go type, for documentation.
	Sample EventData
	decode func(JSON) (EventData, error)
}

// Define declares the event type of payload T. Payloads are decoded strictly: a
// member that T does not have is an error. A member that the text does not have
// is zero, so that a type can grow.
func Define[T EventData](enclosure Enclosure, doc string) EventType {
	var zero T
	return EventType{
		Name: zero.EventType(), Enclosure: enclosure, Doc: doc, Sample: zero,
		decode: func(j JSON) (EventData, error) {
			if tooDeep(j) {
				return nil, errTooDeep
			}
			var v T
			if j.Kind() == 'n' { // would decode as the zero value
				return nil, errors.New("must not be null")
			}
			if err := unmarshalStrict(j, &v); err != nil {
				return nil, err
			}
			return v, nil
		},
	}
}

// defineCore declares a type of E-8. Its members are fixed: a missing one is an
// error too (E-14).
func defineCore[T EventData, P interface {
	*T
	viewDecoder
}](enclosure Enclosure, doc string) EventType {
	t := Define[T](enclosure, doc)
	t.decode = func(j JSON) (EventData, error) {
		// The limit on depth is for the values in the payload, not for what holds
		// them: each was checked when it entered.
		if v := jsontext.Value(j.Bytes()); !v.IsValid() {
			return nil, explainJSON(v)
		}
		var v T
		if err := P(&v).decodeView(j); err != nil {
			return nil, err
		}
		return v, nil
	}
	return t
}

// coreTypes returns the catalogue of E-8.
func coreTypes() []EventType {
	return []EventType{
		defineCore[TurnStart](boundary, "Opens a turn."),
		defineCore[TurnEnd](boundary, "Closes a turn and says how it ended."),
		defineCore[StepStart](boundary, "Opens a step: one model request and its tool batch."),
		defineCore[StepEnd](boundary, "Closes a step."),
		defineCore[UserMessage](InTurn, "A prompt, or context added by a plugin (then the source is not the user)."),
		defineCore[SteeringMessage](InTurn, "Input that joined the running turn."),
		defineCore[PromptBlocked](InTurn, "A prompt that policy refused, as it was given."),
		defineCore[RequestHeaderEvent](InStep, "The part of a model request that is not history, when first sent and when it changes."),
		defineCore[AssistantChunk](InStep, "One piece of the model's stream."),
		defineCore[AssistantMessage](InStep, "The model's whole answer of a step."),
		defineCore[ToolCall](InStep, "A tool call as the model made it, before any policy ran."),
		defineCore[ToolResult](InStep, "The outcome of a tool call as the model sees it."),
		defineCore[ApprovalAsked](InTurn, "A person was asked about a tool call."),
		defineCore[ApprovalDecided](InTurn, "The answer to an approval request."),
		defineCore[ApprovalPolicy](InTurn, "The approval policy changed."),
	}
}

// Registry maps event names to types: the core ones, and what other packages
// declare. Packages other than the core can declare log-only types only. It is
// safe for concurrent use; looking a name up takes no lock.
type Registry struct {
	mu    sync.Mutex // serializes Declare
	types atomic.Pointer[map[string]EventType]
}

// NewRegistry returns a registry that knows the core types and the given ones.
// It panics if a type cannot be declared; that is a bug of the caller.
func NewRegistry(types ...EventType) *Registry {
	r := new(Registry)
	known := map[string]EventType{}
	for _, t := range coreTypes() {
		known[t.Name] = t
	}
	r.types.Store(&known)
	if err := r.Declare(types...); err != nil {
		panic(err)
	}
	return r
}

// Declare adds log-only event types. It fails without effect if a type is not
// fit for a log-only event, or if a name is taken by another Go type or with
// another enclosure; declaring the same type again is fine.
func (r *Registry) Declare(types ...EventType) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	known := maps.Clone(*r.types.Load())
	for _, t := range types {
		old, taken := known[t.Name]
		switch {
		case t.Name == "" || t.decode == nil:
			return errors.New("declare event type: made without messages.Define, or without a name")
		case t.Enclosure < InStep || t.Enclosure > Anywhere || IsSurfaceType(t.Name):
			return fmt.Errorf("declare event type %q: only log-only types can be declared", t.Name)
		case !taken:
			known[t.Name] = t
		case reflect.TypeOf(old.Sample) != reflect.TypeOf(t.Sample):
			return fmt.Errorf("declare event type %q: already declared as %T", t.Name, old.Sample)
		case old.Enclosure != t.Enclosure:
			return fmt.Errorf("declare event type %q: already declared with another enclosure", t.Name)
		}
	}
	r.types.Store(&known)
	return nil
}

// Lookup returns the type of a name.
func (r *Registry) Lookup(name string) (EventType, bool) {
	t, ok := (*r.types.Load())[name]
	return t, ok
}

// Types returns all declared types, sorted by name.
func (r *Registry) Types() []EventType {
	return slices.SortedFunc(maps.Values(*r.types.Load()), func(a, b EventType) int {
		return strings.Compare(a.Name, b.Name)
	})
}

// DecodeEvent reads one event from its JSON text. Unknown envelope members,
// non-integer seq or time and malformed payloads of known types are errors;
// payloads of unknown types become [OtherEvent] (E-14).
func (r *Registry) DecodeEvent(text JSON) (Event, error) {
	e, typ, data, err := decodeEnvelope(text)
	if err != nil {
		return Event{}, fmt.Errorf("session event: %w", err)
	}
	if e.Data, err = r.DecodeData(typ, data); err != nil {
		return Event{}, err
	}
	return e, nil
}

// decodeEnvelope reads all of an event but its payload. It scans text that was
// not checked, and therefore checks every part of it but data, which the
// payload's decoder does.
func decodeEnvelope(text JSON) (e Event, typ string, data JSON, err error) {
	s := text.Scan()
	if !s.Take('{') {
		return e, "", "", errors.New("must be an object")
	}
	var has struct{ typ, seq, time, data, surface, sources bool }
	once := func(seen *bool, name string) error {
		if *seen {
			return fmt.Errorf("duplicate member %q", name)
		}
		*seen = true
		return nil
	}
	more, closed := s.Next('}', true)
	for ; more; more, closed = s.Next('}', false) {
		name, ok := s.Name()
		value := s.Value()
		if !ok || value == "" {
			return e, "", "", errors.New("not a JSON object")
		}
		switch name {
		case "type":
			if err = once(&has.typ, name); err == nil {
				typ, err = envelopeString(value)
			}
		case "seq":
			if err = once(&has.seq, name); err == nil {
				e.Seq, err = envelopeInt(value)
			}
		case "time":
			if err = once(&has.time, name); err == nil {
				e.Time, err = envelopeInt(value)
			}
		case "data":
			err = once(&has.data, name)
			data = value
		case "surfaceOp":
			if err = once(&has.surface, name); err == nil {
				if err = CheckJSON(value); err == nil {
					var op SurfaceOp
					err = op.decodeView(value)
					e.Surface = op
				}
			}
		case "sourceEventSeqs":
			if err = once(&has.sources, name); err == nil {
				var sources List[int64]
				err = value.Unmarshal(&sources)
				e.Sources, e.HasSources = sources, true
			}
		default:
			err = errors.New("unknown member")
		}
		if err != nil {
			return e, "", "", fmt.Errorf("member %q: %w", name, err)
		}
	}
	switch {
	case !closed || !s.End():
		return e, "", "", errors.New("not a JSON object")
	case !has.typ || !has.seq || !has.time || !has.data:
		return e, "", "", errors.New("type, seq, time and data are required")
	}
	return e, typ, data, nil
}

func envelopeString(value JSON) (string, error) {
	if value.Kind() != '"' {
		return "", errors.New("must be a string")
	}
	if err := CheckJSON(value); err != nil {
		return "", err
	}
	return value.unquote(), nil
}

func envelopeInt(value JSON) (int64, error) {
	if digits := strings.TrimPrefix(string(value), "-"); len(digits) > 1 && digits[0] == '0' {
		return 0, errors.New("must be an integer") // 01 is no JSON number
	}
	return decodeInt(value, 64)
}

// DecodeData reads one payload. The result may share memory with data.
func (r *Registry) DecodeData(typ string, data JSON) (EventData, error) {
	t, ok := r.Lookup(typ)
	if !ok {
		if err := CheckJSON(data); err != nil {
			return nil, fmt.Errorf("session event %q: %w", typ, err)
		}
		return OtherEvent{typ, data}, nil
	}
	v, err := t.decode(data)
	if err != nil {
		return nil, fmt.Errorf("session event %q: %w", typ, err)
	}
	return v, nil
}

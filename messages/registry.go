package messages

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/go-json-experiment/json"
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
// member that T does not have is an error.
func Define[T EventData](enclosure Enclosure, doc string) EventType {
	var zero T
	return EventType{
		Name: zero.EventType(), Enclosure: enclosure, Doc: doc, Sample: zero,
		decode: func(j JSON) (EventData, error) {
			var v T
			if err := j.Unmarshal(&v, json.RejectUnknownMembers(true)); err != nil {
				return nil, err
			}
			return v, nil
		},
	}
}

// coreTypes returns the catalogue of E-8.
func coreTypes() []EventType {
	return []EventType{
		Define[TurnStart](boundary, "Opens a turn."),
		Define[TurnEnd](boundary, "Closes a turn and says how it ended."),
		Define[StepStart](boundary, "Opens a step: one model request and its tool batch."),
		Define[StepEnd](boundary, "Closes a step."),
		Define[UserMessage](InTurn, "A prompt, or context added by a plugin (then the source is not the user)."),
		Define[SteeringMessage](InTurn, "Input that joined the running turn."),
		Define[PromptBlocked](InTurn, "A prompt that policy refused, as it was given."),
		Define[RequestHeaderEvent](InStep, "The part of a model request that is not history, when first sent and when it changes."),
		Define[AssistantChunk](InStep, "One piece of the model's stream."),
		Define[AssistantMessage](InStep, "The model's whole answer of a step."),
		Define[ToolCall](InStep, "A tool call as the model made it, before any policy ran."),
		Define[ToolResult](InStep, "The outcome of a tool call as the model sees it."),
		Define[ApprovalAsked](InTurn, "A person was asked about a tool call."),
		Define[ApprovalDecided](InTurn, "The answer to an approval request."),
		Define[ApprovalPolicy](InTurn, "The approval policy changed."),
	}
}

// Registry maps event names to types: the core ones, and what other packages
// declare. Packages other than the core can declare log-only types only. It is
// safe for concurrent use.
type Registry struct {
	mu    sync.RWMutex
	types map[string]EventType
	core  int
}

// NewRegistry returns a registry that knows the core types and the given ones.
// It panics if a type is declared twice; that is a bug of the caller.
func NewRegistry(types ...EventType) *Registry {
	r := &Registry{types: map[string]EventType{}}
	for _, t := range coreTypes() {
		r.types[t.Name] = t
	}
	r.core = len(r.types)
	if err := r.Declare(types...); err != nil {
		panic(err)
	}
	return r
}

// Declare adds log-only event types. It fails without effect if a name is taken
// by another Go type or a type is not fit for a log-only event; declaring the
// same type again is fine.
func (r *Registry) Declare(types ...EventType) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, t := range types {
		old, taken := r.types[t.Name]
		switch {
		case t.Name == "" || t.decode == nil:
			return errors.New("declare event type: made without messages.Define")
		case t.Enclosure == boundary || IsSurfaceType(t.Name):
			return fmt.Errorf("declare event type %q: only log-only types can be declared", t.Name)
		case taken && fmt.Sprintf("%T", old.Sample) != fmt.Sprintf("%T", t.Sample):
			return fmt.Errorf("declare event type %q: already declared as %T", t.Name, old.Sample)
		}
	}
	for _, t := range types {
		r.types[t.Name] = t
	}
	return nil
}

// Lookup returns the type of a name.
func (r *Registry) Lookup(name string) (EventType, bool) {
	r.mu.RLock()
	defer r.mu.RUnlock()
	t, ok := r.types[name]
	return t, ok
}

// Types returns all declared types, sorted by name.
func (r *Registry) Types() []EventType {
	r.mu.RLock()
	defer r.mu.RUnlock()
	out := slices.Collect(maps.Values(r.types))
	slices.SortFunc(out, func(a, b EventType) int {
		switch {
		case a.Name < b.Name:
			return -1
		case a.Name > b.Name:
			return 1
		}
		return 0
	})
	return out
}

// DecodeEvent reads one event from its JSON text. Unknown envelope members,
// non-integer seq or time and malformed payloads of known types are errors;
// payloads of unknown types become [OtherEvent] (E-14).
func (r *Registry) DecodeEvent(text JSON) (Event, error) {
	var w struct {
		Type    *string      `json:"type"`
		Seq     *int64       `json:"seq"`
		Time    *int64       `json:"time"`
		Data    JSON         `json:"data"`
		Surface SurfaceOp    `json:"surfaceOp"`
		Sources *List[int64] `json:"sourceEventSeqs"`
	}
	if err := text.Unmarshal(&w, json.RejectUnknownMembers(true)); err != nil {
		return Event{}, fmt.Errorf("session event: %w", err)
	}
	if w.Type == nil || w.Seq == nil || w.Time == nil || w.Data == "" {
		return Event{}, errors.New("session event: type, seq, time and data are required")
	}
	data, err := r.DecodeData(*w.Type, w.Data)
	if err != nil {
		return Event{}, err
	}
	e := Event{Seq: *w.Seq, Time: *w.Time, Data: data, Surface: w.Surface}
	if w.Sources != nil {
		e.Sources, e.HasSources = *w.Sources, true
	}
	return e, nil
}

// DecodeData reads one payload.
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

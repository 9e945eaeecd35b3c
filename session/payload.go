package session

import (
	"errors"
	"reflect"

	"github.com/dsh-actor/dsh-actor/messages"
)

// coreTypes is the catalogue of E-8. Nothing is ever declared in it.
var coreTypes = messages.NewRegistry()

var errNoPayload = errors.New("session event without a payload")

// CheckPayload reports whether JSON can hold the payload without loss (E-2,
// J-2, Z-11). It encodes the payload, so it is for the border where a value of
// foreign code enters; the error is a [*DataError].
func CheckPayload(data messages.EventData) error {
	if data == nil {
		return errNoPayload
	}
	if other, ok := data.(messages.OtherEvent); ok {
		return dataError(data, messages.CheckJSON(other.Raw))
	}
	_, err := messages.MarshalJSON(data)
	return dataError(data, err)
}

func dataError(data messages.EventData, err error) error {
	if err == nil {
		return nil
	}
	return &DataError{Type: data.EventType(), Err: err}
}

// checkAppended is step 1 of E-2 as an append does it: payloads of the core
// types hold only JSON because package messages builds them so, all others are
// checked.
func checkAppended(data messages.EventData) error {
	switch data.(type) {
	case messages.AssistantChunk, messages.AssistantMessage, messages.ToolCall, messages.ToolResult,
		messages.StepStart, messages.StepEnd, messages.TurnStart, messages.TurnEnd,
		messages.UserMessage, messages.SteeringMessage, messages.RequestHeaderEvent,
		messages.PromptBlocked, messages.ApprovalAsked, messages.ApprovalDecided,
		messages.ApprovalPolicy:
		return nil
	}
	return CheckPayload(data)
}

// TurnNumbered is implemented by declared payloads that say in which turn they
// were written. The log then checks the number: the open turn's, or 0 between
// turns (E-7, Z-19).
type TurnNumbered interface {
	messages.EventData
	// EventTurn returns the payload's turn number.
	EventTurn() int
}

// declaredEnclosure returns where an event of another package may stand. The
// payload must have the Go type under which its name was declared, so that
// nothing passes the checks of a core type by carrying its name. An event that
// was read without its declaration (OtherEvent) has the enclosure that was
// declared since, and may stand anywhere if none was.
func declaredEnclosure(types *messages.Registry, e *messages.Event) (messages.Enclosure, error) {
	name := e.Data.EventType()
	declared, core := coreTypes.Lookup(name)
	known := core
	if !core {
		declared, known = types.Lookup(name)
	}
	_, other := e.Data.(messages.OtherEvent)
	switch {
	case name == "":
		return 0, broken("E-1", e, "the event has no type")
	case !known && other:
		return messages.Anywhere, nil
	case !known:
		return 0, broken("E-8", e, "the type is not declared")
	case (core || !other) && reflect.TypeOf(declared.Sample) != reflect.TypeOf(e.Data):
		return 0, broken("E-8", e, "declared as Go type %T, not %T", declared.Sample, e.Data)
	case declared.Enclosure > messages.Anywhere || messages.IsSurfaceType(name):
		return 0, broken("E-8", e, "only log-only types can be declared")
	}
	return declared.Enclosure, nil
}

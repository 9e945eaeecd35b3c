package session

import (
	"iter"

	"github.com/dsh-actor/dsh-actor/messages"
)

// Verify reads a whole log and returns the first rule that it breaks, or nil.
// It checks what every append checks (E-4, E-5, E-7, Z-19), that sequence
// numbers are the indices (E-14), and C-7, which is the runtime's duty: nothing
// that the model reads lies between the first tool/call and the last
// tool/result of a step's batch.
//
// The error is a [*SeedError] with the index; if a rule is broken it wraps a
// [*RuleError] with the rule and the event. An open turn at the end is no
// violation. Types are the declared event types; nil: none.
func Verify(types *messages.Registry, events iter.Seq2[messages.Event, error]) error {
	l := New(Config{Types: types})
	var b adjacency
	return l.load(events, func(e *messages.Event) error {
		if err := CheckPayload(e.Data); err != nil {
			return err
		}
		return b.add(e)
	})
}

// adjacency is C-7 for the step that is open.
type adjacency struct {
	called bool            // the batch has begun
	stray  *messages.Event // the first message after that
}

func (b *adjacency) add(e *messages.Event) error {
	switch d := e.Data.(type) {
	case messages.StepStart, messages.StepEnd, messages.TurnEnd:
		*b = adjacency{}
	case messages.ToolCall:
		b.called = true
	case messages.UserMessage, messages.SteeringMessage:
		if b.called && b.stray == nil {
			stray := *e
			b.stray = &stray
		}
	case messages.ToolResult:
		if b.stray != nil && e.Surface.Kind == messages.SurfaceAppend {
			return broken("C-7", b.stray, "lies between a tool/call and the tool/result of %q at seq %d", d.CallID, e.Seq)
		}
	}
	return nil
}

package otel

import (
	"context"
	"time"
)

// Wait says what a piece of work waits for.
type Wait string

// Waits.
const (
	WaitPermission Wait = "permission" // a person
	WaitTurnSlot   Wait = "turn_slot"
	WaitHookSlot   Wait = "hook_slot"
	WaitToolSlot   Wait = "tool_slot"
)

// WaitSpan is the span of time in which nothing was done.
type WaitSpan struct {
	Span
	what Wait
}

// StartWait starts "dsh.wait <what>". It is meant for callers that have to wait:
// one who is admitted at once does not call it.
func (t *Tracer) StartWait(ctx context.Context, what Wait) (context.Context, WaitSpan) {
	if t == nil {
		return ctx, WaitSpan{}
	}
	return t.startWait(ctx, what)
}

func (t *Tracer) startWait(ctx context.Context, what Wait) (context.Context, WaitSpan) {
	ws := WaitSpan{what: what}
	if !t.records(ctx) {
		ws.Span = t.silent(time.Time{})
		return ctx, ws
	}
	a := make(attrs, 0, 1)
	a.word(KeyWait, string(what))
	ctx, ws.Span = t.begin(ctx, t.names.wait.name(string(what)), a)
	return ctx, ws
}

// End ends the wait. Its status stays unset, also if the wait was given up.
func (s WaitSpan) End(in Ending) {
	if s.t == nil {
		return
	}
	s.end(in)
}

func (s WaitSpan) end(in Ending) {
	outcome, errType := in.resolve()
	var a attrs
	if s.span != nil {
		a = make(attrs, 0, 2)
		a.word(KeyOutcome, string(outcome))
		a.str(KeyErrorType, errType)
	}
	took := s.finish(false, a)
	if m := s.t.meters; m != nil {
		m.wait(s, outcome, took)
	}
}

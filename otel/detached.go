package otel

import (
	"context"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"

	"github.com/dsh-actor/dsh-actor/messages"
)

// DetachedStart describes work that outlives what started it: an asynchronous
// hook, a background shell, a continuation.
type DetachedStart struct {
	// Name is of low cardinality, such as the hook point; it is part of the span
	// name.
	Name    string
	Session messages.SessionID
	// Origin is the span that started the work; the run gets a link to it.
	Origin Origin
}

// DetachedSpan is the root span of a detached run.
type DetachedSpan struct{ Span }

// StartDetached starts "dsh.detached <name>" as the root of a trace of its own,
// whatever span ctx has.
func (t *Tracer) StartDetached(ctx context.Context, in DetachedStart) (context.Context, DetachedSpan) {
	if t == nil {
		return ctx, DetachedSpan{}
	}
	return t.startDetached(ctx, in)
}

func (t *Tracer) startDetached(ctx context.Context, in DetachedStart) (context.Context, DetachedSpan) {
	if t.tracer == nil {
		return ctx, DetachedSpan{}
	}
	a := make(attrs, 0, 4)
	a = append(a, attribute.Bool(KeyDetached, true))
	a.str(KeyDetachedName, in.Name)
	a.str(KeyConversation, string(in.Session))
	a.str(KeySessionID, string(in.Session))
	ctx, s := t.begin(ctx, t.names.detached.name(in.Name), a, append(in.Origin.link(), trace.WithNewRoot())...)
	return ctx, DetachedSpan{s}
}

// End ends the run. Its status stays unset: a process that failed in it has a
// span of its own.
func (s DetachedSpan) End(in Ending) {
	if s.t == nil {
		return
	}
	s.end(in)
}

func (s DetachedSpan) end(in Ending) {
	var a attrs
	if s.span != nil {
		outcome, errType := in.resolve()
		a = make(attrs, 0, 2)
		a.word(KeyOutcome, string(outcome))
		a.str(KeyErrorType, errType)
	}
	s.finish(false, a)
}

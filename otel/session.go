package otel

import (
	"context"

	"github.com/dsh-actor/dsh-actor/messages"
)

// SessionOpenStart describes the opening of a session.
type SessionOpenStart struct {
	Session messages.SessionID
	Source  messages.SessionStartSource
	Epoch   messages.Epoch
}

// SessionOpenSpan is the span of a session's opening.
type SessionOpenSpan struct{ Span }

// StartSessionOpen starts "dsh.session.open": loading, repair and setup.
func (t *Tracer) StartSessionOpen(ctx context.Context, in SessionOpenStart) (context.Context, SessionOpenSpan) {
	if t == nil {
		return ctx, SessionOpenSpan{}
	}
	return t.startSessionOpen(ctx, in)
}

func (t *Tracer) startSessionOpen(ctx context.Context, in SessionOpenStart) (context.Context, SessionOpenSpan) {
	if !t.records(ctx) {
		return ctx, SessionOpenSpan{}
	}
	a := make(attrs, 0, 4)
	a.str(KeyConversation, string(in.Session))
	a.str(KeySessionID, string(in.Session))
	a.word(KeyOpenSource, string(in.Source))
	a.num(KeyOpenEpoch, int(in.Epoch))
	ctx, s := t.begin(ctx, SpanSessionOpen, a)
	return ctx, SessionOpenSpan{s}
}

// SessionOpenEnd says what was opened.
type SessionOpenEnd struct {
	// Events is the length of the log, Repaired whether it ended in the middle.
	Events   int
	Repaired bool
	Ending
}

// End ends the opening. Its status stays unset; whoever asked for the session
// gets the error.
func (s SessionOpenSpan) End(in SessionOpenEnd) {
	if s.t == nil {
		return
	}
	s.end(in)
}

func (s SessionOpenSpan) end(in SessionOpenEnd) {
	var a attrs
	if s.span != nil {
		outcome, errType := in.resolve()
		a = make(attrs, 0, 4)
		a.num(KeyOpenEvents, in.Events)
		a.flag(KeyOpenRepaired, in.Repaired)
		a.word(KeyOutcome, string(outcome))
		a.str(KeyErrorType, errType)
	}
	s.finish(false, a)
}

// SessionWarm counts the sessions that are in memory: +1 when one becomes warm,
// -1 when it is given up.
func (t *Tracer) SessionWarm(delta int) {
	if t == nil || t.meters == nil {
		return
	}
	t.meters.sessionsWarm.Add(context.Background(), int64(delta))
}

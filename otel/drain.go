package otel

import (
	"context"

	"go.opentelemetry.io/otel/trace"

	"github.com/dsh-actor/dsh-actor/messages"
)

// maxLeftovers bounds the events of one drain; the count is exact.
const maxLeftovers = 32

// DrainSpan is the span of a Close, Drain or Shutdown.
type DrainSpan struct{ Span }

// StartDrain starts "dsh.drain". Owner is what is being ended, such as "runtime"
// or "session s-1".
func (t *Tracer) StartDrain(ctx context.Context, owner string) (context.Context, DrainSpan) {
	if t == nil {
		return ctx, DrainSpan{}
	}
	return t.startDrain(ctx, owner)
}

func (t *Tracer) startDrain(ctx context.Context, owner string) (context.Context, DrainSpan) {
	if !t.records(ctx) {
		return ctx, DrainSpan{}
	}
	a := make(attrs, 0, 1)
	a.str(KeyDrainOwner, owner)
	ctx, s := t.begin(ctx, SpanDrain, a)
	return ctx, DrainSpan{s}
}

// End ends the drain. What is still alive is an event each, for the first 32;
// the outcome is ok only for a quiet report. The status stays unset.
func (s DrainSpan) End(report messages.Report) {
	if s.t == nil {
		return
	}
	s.end(report)
}

func (s DrainSpan) end(report messages.Report) {
	var a attrs
	if s.span != nil {
		ended := 0
		for _, n := range report.Ended {
			ended += n
		}
		a = make(attrs, 0, 5)
		a.num(KeyDrainEnded, ended)
		a.num(KeyDrainLeftovers, len(report.Leftovers))
		a.count(KeyDrainDiscarded, len(report.Discarded))
		a.count(KeyDrainErrors, len(report.Errors))
		outcome := OutcomeOK
		if !report.Quiet() {
			outcome = OutcomeFailed
		}
		a.word(KeyOutcome, string(outcome))
		for _, l := range report.Leftovers[:min(len(report.Leftovers), maxLeftovers)] {
			ev := make(attrs, 0, 4)
			ev.str(KeyLeftoverKind, l.Kind)
			ev.str(KeyLeftoverName, l.Name)
			ev.str(KeyToolCallID, string(l.CallID))
			ev.count(KeyProcessPID, l.PID)
			opts := []trace.EventOption{trace.WithAttributes(ev...)}
			if s.t.stamp {
				opts = append(opts, trace.WithTimestamp(s.t.now()))
			}
			s.span.AddEvent(EventLeftover, opts...)
		}
	}
	s.finish(false, a)
}

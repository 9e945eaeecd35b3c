package otel

import "context"

// StepSpan is the span of a step: one model request and its tool batch.
type StepSpan struct{ Span }

// StartStep starts "dsh.step".
func (t *Tracer) StartStep(ctx context.Context, turn, step int) (context.Context, StepSpan) {
	if t == nil {
		return ctx, StepSpan{}
	}
	return t.startStep(ctx, turn, step)
}

func (t *Tracer) startStep(ctx context.Context, turn, step int) (context.Context, StepSpan) {
	if !t.records(ctx) {
		return ctx, StepSpan{}
	}
	a := make(attrs, 0, 2)
	a.num(KeyTurn, turn)
	a.num(KeyStep, step)
	ctx, s := t.begin(ctx, SpanStep, a)
	return ctx, StepSpan{s}
}

// StepEnd says how a step ended.
type StepEnd struct {
	ToolCalls int
	Ending
}

// End ends the step. Its status stays unset: a failure is the model request's,
// the tool's or the turn's.
func (s StepSpan) End(in StepEnd) {
	if s.t == nil {
		return
	}
	s.end(in)
}

func (s StepSpan) end(in StepEnd) {
	var a attrs
	if s.span != nil {
		outcome, errType := in.resolve()
		a = make(attrs, 0, 3)
		a.num(KeyToolCalls, in.ToolCalls)
		a.word(KeyOutcome, string(outcome))
		a.word(KeyErrorType, errType)
	}
	s.finish(false, a)
}

package otel

import (
	"context"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"

	"github.com/dsh-actor/dsh-actor/messages"
)

// SeamSpan is the span of one run of a seam.
type SeamSpan struct {
	Span
	seam string
}

// StartSeam starts "dsh.seam <seam>", the seam named as in DESIGN section 5. It
// is meant for seams that have a listener; one without is not worth a span.
func (t *Tracer) StartSeam(ctx context.Context, seam string) (context.Context, SeamSpan) {
	if t == nil {
		return ctx, SeamSpan{}
	}
	return t.startSeam(ctx, seam)
}

func (t *Tracer) startSeam(ctx context.Context, seam string) (context.Context, SeamSpan) {
	ss := SeamSpan{seam: seam}
	if !t.records(ctx) {
		ss.Span = t.silent(time.Time{})
		return ctx, ss
	}
	a := make(attrs, 0, 1)
	a.str(KeySeam, seam)
	ctx, ss.Span = t.begin(ctx, t.names.seam.name(seam), a)
	return ctx, ss
}

// SeamEnd says how a seam's run ended.
type SeamEnd struct {
	// Decision is the answer: a decision of package messages, a [Decision], or
	// nil.
	Decision any
	// Changed says that the answer differs from what the seam was given: a
	// rewritten prompt, a replaced result.
	Changed bool
	// Listeners is how many ran or could have run.
	Listeners int
	Ending
}

// End ends the seam's run. Its status stays unset: what fails inside has a span
// of its own, and the seam turns it into its documented failure.
func (s SeamSpan) End(in SeamEnd) {
	if s.t == nil {
		return
	}
	s.end(in)
}

func (s SeamSpan) end(in SeamEnd) {
	decision := DecisionOf(in.Decision)
	outcome, errType := in.resolve()
	var a attrs
	if s.span != nil {
		a = make(attrs, 0, 7)
		a = decisionAttrs(a, in.Decision, decision)
		a.flag(KeyRewritten, in.Changed)
		a.count(KeyListeners, in.Listeners)
		a.word(KeyOutcome, string(outcome))
		a.str(KeyErrorType, errType)
	}
	took := s.finish(false, a)
	if m := s.t.meters; m != nil {
		m.seam(s, decision, outcome, took)
	}
}

// decisionAttrs adds the word, the reason, and what only some seams answer.
func decisionAttrs(a attrs, d any, word Decision) attrs {
	a.word(KeyDecision, string(word))
	a.str(KeyReason, reasonOf(d))
	switch d := d.(type) {
	case messages.TurnContinue:
		a = append(a, attribute.Bool(KeyContinue, true))
	case messages.TurnStop:
		a = append(a, attribute.Bool(KeyContinue, false))
	case messages.ApprovalAnswer:
		a.word(KeyApproval, messages.ApprovalOutcome(d))
	}
	return a
}

// ToolDecision is what policy decided about a tool call.
type ToolDecision struct {
	// Decision is a messages.PreToolDecision or a [Decision].
	Decision any
	CallID   messages.CallID
	Tool     string
	// Source says who decided: a mode, a rule, a hook, a listener, a guard, a
	// person.
	Source string
}

// ToolDecision adds the event gen_ai.tool.call.decision. It belongs on the span
// of tools/pre-execute, and says allow, deny or require_approval.
func (s SeamSpan) ToolDecision(in ToolDecision) {
	if s.span == nil {
		return
	}
	s.toolDecision(in)
}

func (s SeamSpan) toolDecision(in ToolDecision) {
	a := make(attrs, 0, 5)
	a.word(KeyToolCallDecision, callDecision(DecisionOf(in.Decision)))
	a.str(KeyToolName, in.Tool)
	a.str(KeyToolCallID, string(in.CallID))
	a.str(KeyDecisionFrom, in.Source)
	a.str(KeyReason, reasonOf(in.Decision))
	opts := []trace.EventOption{trace.WithAttributes(a...)}
	if s.t.stamp {
		opts = append(opts, trace.WithTimestamp(s.t.now()))
	}
	s.span.AddEvent(EventToolDecision, opts...)
}

// callDecision translates our word into that of the GenAI proposal. A missing
// decision is never an allow (Z-1).
func callDecision(d Decision) string {
	switch d {
	case DecisionAllow:
		return "allow"
	case DecisionAsk:
		return "require_approval"
	}
	return "deny"
}

// ListenerSpan is the span of one listener's run, the listeners inside it
// included.
type ListenerSpan struct{ Span }

// StartListener starts "dsh.listener <name>".
func (t *Tracer) StartListener(ctx context.Context, name string) (context.Context, ListenerSpan) {
	if t == nil {
		return ctx, ListenerSpan{}
	}
	return t.startListener(ctx, name)
}

func (t *Tracer) startListener(ctx context.Context, name string) (context.Context, ListenerSpan) {
	if !t.records(ctx) {
		return ctx, ListenerSpan{}
	}
	a := make(attrs, 0, 1)
	a.str(KeyListener, name)
	ctx, s := t.begin(ctx, t.names.listener.name(name), a)
	return ctx, ListenerSpan{s}
}

// ListenerEnd says how a listener's run ended.
type ListenerEnd struct {
	// Decision and Changed are as in [SeamEnd].
	Decision any
	Changed  bool
	Ending
}

// End ends the listener's run. Its status stays unset: a listener's failure is
// contained and becomes its seam's documented failure; dsh.outcome and
// error.type say what it was.
func (s ListenerSpan) End(in ListenerEnd) {
	if s.t == nil {
		return
	}
	s.end(in)
}

func (s ListenerSpan) end(in ListenerEnd) {
	var a attrs
	if s.span != nil {
		outcome, errType := in.resolve()
		a = make(attrs, 0, 6)
		a = decisionAttrs(a, in.Decision, DecisionOf(in.Decision))
		a.flag(KeyRewritten, in.Changed)
		a.word(KeyOutcome, string(outcome))
		a.str(KeyErrorType, errType)
	}
	s.finish(false, a)
}

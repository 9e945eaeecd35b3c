package otel

import (
	"context"
	"time"

	"github.com/dsh-actor/dsh-actor/messages"
)

// ToolStart describes a tool call.
type ToolStart struct {
	Name    string
	CallID  messages.CallID
	Session messages.SessionID
	// Parent is the call that this one is nested in (P-32).
	Parent messages.CallID
	Agent  string
	// Type is function, extension or datastore; the default is function.
	Type string
	// Unregistered says that no such tool exists. A model can make up any name, so
	// it is then neither in the span name nor a metric label.
	Unregistered bool
}

// ToolSpan is the span of a tool call, all phases included.
type ToolSpan struct {
	Span
	name, typ, agent string
}

// StartTool starts "execute_tool <name>".
func (t *Tracer) StartTool(ctx context.Context, in ToolStart) (context.Context, ToolSpan) {
	if t == nil {
		return ctx, ToolSpan{}
	}
	return t.startTool(ctx, in)
}

func (t *Tracer) startTool(ctx context.Context, in ToolStart) (context.Context, ToolSpan) {
	ts := ToolSpan{name: in.Name, typ: in.Type, agent: in.Agent}
	if ts.typ == "" {
		ts.typ = "function"
	}
	label := in.Name
	if in.Unregistered {
		label, ts.name = "", ErrOther
	}
	if !t.records(ctx) {
		ts.Span = t.silent(time.Time{})
		return ctx, ts
	}
	a := make(attrs, 0, 8)
	a.word(KeyOperation, opExecuteTool)
	a.str(KeyToolName, in.Name)
	a.str(KeyToolType, ts.typ)
	a.str(KeyAgent, in.Agent)
	a.str(KeyToolCallID, string(in.CallID))
	a.str(KeyConversation, string(in.Session))
	a.str(KeyParentCall, string(in.Parent))
	ctx, ts.Span = t.begin(ctx, t.names.tool.name(label), a)
	return ctx, ts
}

// ToolEnd says how a tool call ended.
type ToolEnd struct {
	// Result is what the model gets. It gives outcome and error type.
	Result *messages.Result
	// Decision is what policy decided, if it decided anything. A call that was
	// denied was skipped, and is no error.
	Decision Decision
	// Outcome and ErrorType replace what the result says.
	Outcome   Outcome
	ErrorType string
}

// End ends the call. It is an error if the tool failed.
func (s ToolSpan) End(in ToolEnd) {
	if s.t == nil {
		return
	}
	s.end(in)
}

func (s ToolSpan) end(in ToolEnd) {
	e := Ending{Outcome: in.Outcome, ErrorType: in.ErrorType}
	if e == (Ending{}) {
		if in.Decision == DecisionDeny {
			e.Outcome = OutcomeSkipped
		} else {
			e.Outcome, e.ErrorType = ToolOutcome(in.Result)
		}
	}
	outcome, errType := e.resolve()
	var a attrs
	if s.span != nil {
		a = make(attrs, 0, 3)
		a.word(KeyDecision, string(in.Decision))
		a.word(KeyOutcome, string(outcome))
		a.str(KeyErrorType, errType)
	}
	took := s.finish(outcome.Failed(), a)
	if m := s.t.meters; m != nil {
		m.tool(s, outcome, errType, took)
	}
}

// ToolBodySpan is the span of a tool's own body, without the phases around it.
type ToolBodySpan struct{ Span }

// StartToolBody starts "dsh.tool.body".
func (t *Tracer) StartToolBody(ctx context.Context) (context.Context, ToolBodySpan) {
	if t == nil {
		return ctx, ToolBodySpan{}
	}
	return t.startToolBody(ctx)
}

func (t *Tracer) startToolBody(ctx context.Context) (context.Context, ToolBodySpan) {
	if !t.records(ctx) {
		return ctx, ToolBodySpan{}
	}
	ctx, s := t.begin(ctx, SpanToolBody, nil)
	return ctx, ToolBodySpan{s}
}

// End ends the body. It is an error if the body failed.
func (s ToolBodySpan) End(in Ending) {
	if s.t == nil {
		return
	}
	s.end(in)
}

func (s ToolBodySpan) end(in Ending) {
	outcome, errType := in.resolve()
	var a attrs
	if s.span != nil {
		a = make(attrs, 0, 2)
		a.word(KeyOutcome, string(outcome))
		a.str(KeyErrorType, errType)
	}
	s.finish(outcome.Failed(), a)
}

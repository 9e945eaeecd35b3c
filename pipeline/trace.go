package pipeline

import (
	"context"

	"go.opentelemetry.io/otel/trace"

	"github.com/dsh-actor/dsh-actor/messages"
	"github.com/dsh-actor/dsh-actor/otel"
)

// callTrace is what a traced call carries. A call that is not traced has none.
type callTrace struct {
	tool     otel.ToolSpan
	span     trace.Span // of tool, to hand it to every step
	decision otel.Decision
	// before is the result that post-execute blocked: a block says nothing about
	// how the tool fared.
	before *messages.Result
}

// startTrace starts the call's span, execute_tool. It ends with Settle.
func (x *Execution) startTrace(ctx context.Context, registered bool) {
	start := otel.ToolStart{
		Name: x.call.name, CallID: x.call.id, Parent: x.call.parentID, Unregistered: !registered,
	}
	if x.call.agent != nil {
		start.Session = x.call.agent.ID()
	}
	ctx, span := x.pipeline.root.config.Tracer.StartTool(ctx, start)
	x.trace = &callTrace{tool: span, span: trace.SpanFromContext(ctx)}
}

// traced returns ctx with the call's span, so that the steps of one call are under
// it whichever context they were given.
func (x *Execution) traced(ctx context.Context) context.Context {
	if x.trace == nil || !x.trace.tool.Recording() {
		return ctx
	}
	return trace.ContextWithSpan(ctx, x.trace.span)
}

// decided notes what policy decided about the call.
func (x *Execution) decided(d otel.Decision) {
	if x.trace != nil {
		x.trace.decision = d
	}
}

// endTrace ends the call's span.
func (x *Execution) endTrace() {
	t := x.trace
	end := otel.ToolEnd{Result: x.result, Decision: t.decision}
	if t.before != nil {
		end.Outcome, end.ErrorType = otel.ToolOutcome(t.before)
	}
	t.tool.End(end)
}

// noteToolDecision adds the decision of tools/pre-execute to its span.
func noteToolDecision(span otel.SeamSpan, call *Call, d messages.PreToolDecision) {
	source := string(messages.AskByListener)
	if ask, ok := d.(messages.ToolAsk); ok && ask.Origin != "" {
		source = string(ask.Origin)
	}
	span.ToolDecision(otel.ToolDecision{Decision: d, CallID: call.id, Tool: call.name, Source: source})
}

// rewrites reports whether a decision replaces what its seam was given.
func rewrites(decision any) bool {
	switch d := decision.(type) {
	case messages.PromptAllow:
		return !d.Content.IsZero()
	case messages.ResultAccept:
		return !d.Content.IsZero() || d.Value != ""
	}
	return false
}

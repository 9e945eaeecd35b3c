package otel

import (
	"context"
	"time"

	"go.opentelemetry.io/otel/trace"

	"github.com/dsh-actor/dsh-actor/messages"
)

// TurnStart describes a turn that begins.
type TurnStart struct {
	Session messages.SessionID
	// Agent is the agent's name, of low cardinality; it is part of the span name.
	Agent   string
	Turn    int
	Trigger messages.TurnTrigger
	// TraceParent is the sender's W3C trace context: the turn continues its trace.
	TraceParent string
	// Resumes is where the session's last turn was, if another process ran it: the
	// turn gets a link to it.
	Resumes Origin
	// Model is the requested model, if the turn uses one only.
	Model string
	// QueueWait is how long the prompt waited for the turn to begin.
	QueueWait time.Duration
}

// TurnSpan is the root span of a turn.
type TurnSpan struct {
	Span
	agent, model string
}

// StartTurn starts the root span of a turn, "invoke_agent <agent>". Each turn is
// one trace: a local span in ctx is not its parent. It continues a trace only if
// TraceParent, or a remote parent in ctx, says so.
func (t *Tracer) StartTurn(ctx context.Context, in TurnStart) (context.Context, TurnSpan) {
	if t == nil {
		return ctx, TurnSpan{}
	}
	return t.startTurn(ctx, in)
}

func (t *Tracer) startTurn(ctx context.Context, in TurnStart) (context.Context, TurnSpan) {
	ts := TurnSpan{agent: in.Agent, model: in.Model}
	if t.tracer == nil {
		ts.Span = t.silent(time.Time{})
	} else {
		a := make(attrs, 0, 10)
		a.word(KeyOperation, opInvokeAgent)
		a.str(KeyAgent, in.Agent)
		a.str(KeyConversation, string(in.Session))
		a.str(KeySessionID, string(in.Session))
		a.num(KeyTurn, in.Turn)
		a.str(KeyTrigger, in.Trigger.Kind)
		a.str(KeyTriggerSource, sourceName(in.Trigger.Source))
		a.str(KeyRequestModel, in.Model)
		a.millis(KeyQueue, in.QueueWait)
		opts := in.Resumes.link()
		ctx = ContextWithRemote(ctx, in.TraceParent)
		if !trace.SpanContextFromContext(ctx).IsRemote() {
			opts = append(opts, trace.WithNewRoot())
		}
		ctx, ts.Span = t.begin(ctx, t.names.agent.name(in.Agent), a, opts...)
	}
	if t.meters != nil {
		t.meters.turnsOpen.Add(context.Background(), 1)
	}
	return ctx, ts
}

// sourceName is the kind of a source, and the plugin's name if there is one.
func sourceName(s messages.Source) string {
	if s.Kind == messages.SourceKindPlugin && s.Plugin != "" {
		return s.Kind + ":" + s.Plugin
	}
	return s.Kind
}

// TurnEnd says how a turn ended.
type TurnEnd struct {
	Reason messages.EndReason
	// Usage is the sum over the turn's model requests.
	Usage messages.Usage
	// Steps, Requests and ToolCalls count what the turn did.
	Steps, Requests, ToolCalls int
}

// End ends the turn. Its status is an error for the end kind error only (SPEC
// table R): a rejected, halted, aborted or disposed turn, or one at its step
// limit, did what somebody asked for.
func (s TurnSpan) End(in TurnEnd) {
	if s.t == nil {
		return
	}
	s.end(in)
}

func (s TurnSpan) end(in TurnEnd) {
	var errType string
	failed := in.Reason.Kind == messages.EndError
	if failed {
		errType = codeType(in.Reason.Code)
		if !in.Reason.Failure.IsZero() {
			errType = failureType(in.Reason.Failure)
		}
	}
	var a attrs
	if s.span != nil {
		a = make(attrs, 0, 10)
		a.str(KeyTurnEnd, string(in.Reason.Kind))
		a.word(KeyHaltAt, string(in.Reason.At))
		a.str(KeyReason, in.Reason.Reason)
		a.word(KeyErrorType, errType)
		a.num(KeySteps, in.Steps)
		a.num(KeyRequests, in.Requests)
		a.num(KeyToolCalls, in.ToolCalls)
		if in.Usage != (messages.Usage{}) {
			a.num(KeyInputTokens, inputTokens(in.Usage))
			a.num(KeyOutputTokens, outputTokens(in.Usage))
		}
	}
	took := s.finish(failed, a)
	if m := s.t.meters; m != nil {
		m.turn(s, in, errType, took)
	}
}

// inputTokens counts as the GenAI conventions do: cached tokens are input
// tokens. In messages.Usage the counts are disjoint (V-9).
func inputTokens(u messages.Usage) int {
	return int(u.InputTokens + u.CacheReadTokens + u.CacheWriteTokens)
}

// outputTokens counts as the GenAI conventions do: reasoning is output.
func outputTokens(u messages.Usage) int { return int(u.OutputTokens + u.ReasoningTokens) }

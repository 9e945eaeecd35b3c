package actors

import (
	"context"
	"time"

	"github.com/dsh-actor/dsh-actor/messages"
	"github.com/dsh-actor/dsh-actor/model"
	"github.com/dsh-actor/dsh-actor/otel"
)

// startTrace starts the turn's root span: one trace a turn. Everything that the
// turn runs has it in its context.
func (t *turn) startTrace() {
	tracer := t.core.rt.cfg.Tracer
	if tracer == nil {
		return
	}
	in := otel.TurnStart{
		Session: t.core.id, Agent: t.core.agent.Name, Turn: t.number,
		Trigger:     messages.TurnTrigger{Kind: messages.TriggerMessage, Source: t.item.Source},
		TraceParent: t.item.TraceParent, Model: t.core.agent.Request.Model,
	}
	if t.item.Enqueued != 0 {
		in.QueueWait = time.Duration(t.core.now()-t.item.Enqueued) * time.Millisecond
	}
	t.ctx, t.span = tracer.StartTurn(t.ctx, in)
}

// endTrace ends the root span.
func (t *turn) endTrace(reason messages.EndReason) {
	if t.core.rt.cfg.Tracer == nil {
		return
	}
	t.span.End(otel.TurnEnd{
		Reason: reason, Usage: t.usage, Steps: t.step, Requests: t.requests, ToolCalls: t.calls,
	})
}

// startStepTrace starts the span of a step; t.in is the context of what runs in it.
func (t *turn) startStepTrace() otel.StepSpan {
	in, span := t.core.rt.cfg.Tracer.StartStep(t.ctx, t.number, t.step)
	t.in = in
	return span
}

// startChat starts the span of a model request.
func (t *turn) startChat(adapter model.Model, h *messages.RequestHeader) (context.Context, otel.ChatSpan) {
	tracer := t.core.rt.cfg.Tracer
	if tracer == nil {
		return t.in, otel.ChatSpan{}
	}
	in := otel.ChatStart{Session: t.core.id, Config: h.Config, Streaming: true}
	if p, ok := adapter.(model.Placed); ok {
		place := p.Place()
		in.InProcess, in.ServerAddress, in.ServerPort = place.InProcess, place.Address, place.Port
	}
	return tracer.StartChat(t.in, in)
}

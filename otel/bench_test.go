package otel_test

import (
	"context"
	"testing"

	sdktrace "go.opentelemetry.io/otel/sdk/trace"

	"github.com/dsh-actor/dsh-actor/messages"
	"github.com/dsh-actor/dsh-actor/otel"
	"github.com/dsh-actor/dsh-actor/otel/oteltest"
)

// toolRound is what the runtime traces for one tool call: eight spans.
func toolRound(ctx context.Context, tr *otel.Tracer, result *messages.Result) {
	ctx, call := tr.StartTool(ctx, otel.ToolStart{Name: "Bash", CallID: "call_0123456789", Session: "session-1", Agent: "bot"})

	pctx, pre := tr.StartSeam(ctx, "tools/pre-execute")
	lctx, listener := tr.StartListener(pctx, "claude hooks")
	_, hook := tr.StartHook(lctx, otel.HookStart{
		Point: "PreToolUse", Dialect: "claude", Matcher: "Bash", Source: "/w/.claude/settings.json", Handler: "claude:PreToolUse:1.1",
	})
	hook.End(otel.HookEnd{
		Process:  otel.Process{PID: 4711, Executable: "sh", Exited: true},
		Decision: otel.DecisionAllow, Outcome: otel.OutcomeOK, BytesIn: 480, BytesOut: 20,
	})
	listener.End(otel.ListenerEnd{Decision: messages.ToolAllow{}})
	pre.ToolDecision(otel.ToolDecision{Decision: messages.ToolAllow{}, CallID: "call_0123456789", Tool: "Bash", Source: "hook"})
	pre.End(otel.SeamEnd{Decision: messages.ToolAllow{}, Listeners: 1})

	_, body := tr.StartToolBody(ctx)
	body.End(otel.Ending{})

	pctx, post := tr.StartSeam(ctx, "tools/post-execute")
	_, listener = tr.StartListener(pctx, "claude hooks")
	listener.End(otel.ListenerEnd{Decision: messages.ResultAccept{}})
	post.End(otel.SeamEnd{Decision: messages.ResultAccept{}, Listeners: 1})

	_, res := tr.StartSeam(ctx, "tools/result")
	res.End(otel.SeamEnd{Listeners: 1})
	call.End(otel.ToolEnd{Result: result, Decision: otel.DecisionAllow})
}

func inTurn(b *testing.B, tr *otel.Tracer) context.Context {
	ctx, turn := tr.StartTurn(context.Background(), otel.TurnStart{Session: "session-1", Agent: "bot", Turn: 1})
	b.Cleanup(func() { turn.End(otel.TurnEnd{}) })
	b.ReportAllocs()
	b.ResetTimer()
	return ctx
}

func recording() *otel.Tracer {
	return otel.New(otel.Config{TracerProvider: sdktrace.NewTracerProvider(sdktrace.WithSampler(sdktrace.AlwaysSample()))})
}

var success = messages.NewSuccess(messages.ResultFields{Value: "1"})

// BenchmarkOff is DESIGN 8: one nil check, no allocation.
func BenchmarkOff(b *testing.B) {
	var none *otel.Tracer
	b.Run("span", func(b *testing.B) {
		ctx := inTurn(b, none)
		for b.Loop() {
			_, s := none.StartSeam(ctx, "tools/pre-execute")
			s.End(otel.SeamEnd{Decision: messages.ToolAllow{}})
		}
	})
	b.Run("round of 8 spans", func(b *testing.B) {
		ctx := inTurn(b, none)
		for b.Loop() {
			toolRound(ctx, none, success)
		}
	})
}

// BenchmarkUnsampled is a turn that the sampler dropped.
func BenchmarkUnsampled(b *testing.B) {
	tr := oteltest.NewWithSampler(sdktrace.NeverSample()).Tracer()
	b.Run("span", func(b *testing.B) {
		ctx := inTurn(b, tr)
		for b.Loop() {
			_, s := tr.StartSeam(ctx, "tools/pre-execute")
			s.End(otel.SeamEnd{Decision: messages.ToolAllow{}})
		}
	})
	b.Run("round of 8 spans", func(b *testing.B) {
		ctx := inTurn(b, tr)
		for b.Loop() {
			toolRound(ctx, tr, success)
		}
	})
}

// BenchmarkOn records spans that no processor wants: the cost of the API and the
// SDK on the calling goroutine. The queue's cost is in package export.
func BenchmarkOn(b *testing.B) {
	tr := recording()
	b.Run("seam span", func(b *testing.B) {
		ctx := inTurn(b, tr)
		for b.Loop() {
			_, s := tr.StartSeam(ctx, "tools/pre-execute")
			s.End(otel.SeamEnd{Decision: messages.ToolAllow{}})
		}
	})
	b.Run("hook span", func(b *testing.B) {
		ctx := inTurn(b, tr)
		for b.Loop() {
			_, hook := tr.StartHook(ctx, otel.HookStart{Point: "PreToolUse", Dialect: "claude", Matcher: "Bash", Source: "/w/s.json", Handler: "h"})
			hook.End(otel.HookEnd{Process: otel.Process{PID: 1, Executable: "sh", Exited: true}, Decision: otel.DecisionAllow, BytesIn: 1, BytesOut: 1})
		}
	})
	b.Run("round of 8 spans", func(b *testing.B) {
		ctx := inTurn(b, tr)
		for b.Loop() {
			toolRound(ctx, tr, success)
		}
	})
}

// BenchmarkMetrics is the round with metrics alone.
func BenchmarkMetrics(b *testing.B) {
	tr := otel.New(otel.Config{MeterProvider: oteltest.NewMetrics().Provider()})
	b.Run("round of 8 spans", func(b *testing.B) {
		ctx := inTurn(b, tr)
		for b.Loop() {
			toolRound(ctx, tr, success)
		}
	})
}

package oteltest_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
	"pgregory.net/rapid"

	"github.com/dsh-actor/dsh-actor/messages"
	"github.com/dsh-actor/dsh-actor/otel"
	"github.com/dsh-actor/dsh-actor/otel/oteltest"
)

// TestText: everything that a span has is in the text, times and volatile values
// aside.
func TestText(t *testing.T) {
	rec := oteltest.New()
	tr := rec.Provider().Tracer("t")
	ctx, root := tr.Start(t.Context(), "root", trace.WithSpanKind(trace.SpanKindClient), trace.WithAttributes(
		attribute.String("text", `two "words"`), attribute.String("empty", ""), attribute.Int("n", 3), attribute.Float64("f", 0.5),
		attribute.Bool("yes", true), attribute.StringSlice("list", []string{"a", "b"}), attribute.Int(otel.KeyProcessPID, 4711)))
	root.AddEvent("event", trace.WithAttributes(attribute.String("k", "v")))
	_, child := tr.Start(ctx, "child")
	child.SetStatus(codes.Error, "why not")
	child.End()
	root.End()
	elsewhere := trace.NewSpanContext(trace.SpanContextConfig{TraceID: trace.TraceID{1}, SpanID: trace.SpanID{1}})
	_, linked := tr.Start(trace.ContextWithRemoteSpanContext(t.Context(), elsewhere), "linked",
		trace.WithLinks(trace.Link{SpanContext: child.SpanContext()}, trace.Link{SpanContext: elsewhere}))
	linked.End()
	want := `root [client] empty="" f=0.5 list=[a,b] n=3 process.pid=? text="two \"words\"" yes=true
  * event k=v
  child ERROR "why not"
linked (remote parent)
  ~ root > child
  ~ (elsewhere)
`
	if diff := cmp.Diff(want, rec.Text()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if got := rec.Find("child")[0].Text(); got != "child ERROR \"why not\"\n" {
		t.Errorf("the child's own text is %q", got)
	}
}

// TestOrderDoesNotDependOnScheduling: parallel siblings come out in one order,
// whichever started and ended first, at every depth; sequential ones stay in
// theirs.
func TestOrderDoesNotDependOnScheduling(t *testing.T) {
	record := func(seed uint64, calls int) string {
		rng := rand.New(rand.NewPCG(seed, 0))
		rec := oteltest.New()
		tr := rec.Tracer()
		ctx, turn := tr.StartTurn(t.Context(), otel.TurnStart{Agent: "bot"})
		for step := range 11 {
			ctx, s := tr.StartStep(ctx, 1, step+1)
			var ends []func()
			for _, n := range rng.Perm(calls) {
				cctx, call := tr.StartTool(ctx, otel.ToolStart{Name: "Bash", CallID: messages.CallID(fmt.Sprint("c-", n))})
				sctx, seam := tr.StartSeam(cctx, "tools/pre-execute")
				for _, h := range rng.Perm(3) {
					_, hook := tr.StartHook(sctx, otel.HookStart{Point: "PreToolUse", Handler: fmt.Sprint("h", n, ".", h)})
					hook.End(otel.HookEnd{})
				}
				seam.End(otel.SeamEnd{})
				_, after := tr.StartSeam(cctx, "tools/a-later-one-that-sorts-first")
				after.End(otel.SeamEnd{})
				ends = append(ends, func() { call.End(otel.ToolEnd{Outcome: otel.OutcomeOK}) })
			}
			for _, i := range rng.Perm(len(ends)) {
				ends[i]()
			}
			s.End(otel.StepEnd{})
		}
		turn.End(otel.TurnEnd{})
		return rec.Text()
	}
	rapid.Check(t, func(t *rapid.T) {
		calls := rapid.IntRange(0, 4).Draw(t, "calls")
		want := record(0, calls)
		got := record(rapid.Uint64().Draw(t, "seed"), calls)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("(-want +got):\n%s", diff)
		}
	})
}

// TestSearch: by name, base name and attributes.
func TestSearch(t *testing.T) {
	rec := oteltest.New()
	tr := rec.Tracer()
	ctx, turn := tr.StartTurn(t.Context(), otel.TurnStart{Agent: "bot", Turn: 3})
	for _, name := range []string{"Bash", "Write"} {
		_, call := tr.StartTool(ctx, otel.ToolStart{Name: name})
		call.End(otel.ToolEnd{Result: messages.NewSuccess(messages.ResultFields{Value: "1"})})
	}
	if got := rec.Open(); !slices.Equal(got, []string{"invoke_agent bot"}) {
		t.Errorf("open spans: %v", got)
	}
	turn.End(otel.TurnEnd{})
	if got := rec.Open(); len(got) != 0 {
		t.Errorf("open spans: %v", got)
	}
	if n := len(rec.Find("execute_tool")); n != 2 {
		t.Errorf("%d spans execute_tool", n)
	}
	call := rec.Find("execute_tool Write")[0]
	if call.Path() != "invoke_agent bot > execute_tool Write" || call.Parent.Children[1] != call || call.Parent.Parent != nil {
		t.Errorf("the call is at %q", call.Path())
	}
	root := rec.Roots()[0]
	for key, value := range map[string]any{otel.KeyTurn: 3, otel.KeyAgent: "bot"} {
		if !root.Has(key, value) {
			t.Errorf("Has(%s, %v) is false", key, value)
		}
	}
	for key, value := range map[string]any{otel.KeyTurn: "3", otel.KeyAgent: "x", otel.KeyStep: 1, otel.KeyFinishReasons: []string{"stop"}} {
		if root.Has(key, value) {
			t.Errorf("Has(%s, %v) is true", key, value)
		}
	}
	if len(rec.Spans()) != 3 {
		t.Errorf("%d spans", len(rec.Spans()))
	}
	rec.Reset()
	if rec.Text() != "" || len(rec.Find("chat")) != 0 {
		t.Error("Reset did not forget")
	}
}

// TestHasWithLists compares lists by what is in them.
func TestHasWithLists(t *testing.T) {
	n := oteltest.Node{Attributes: map[string]any{"l": []string{"a"}, "f": 0.5}}
	if !n.Has("l", []string{"a"}) || n.Has("l", []string{"b"}) || n.Has("l", "a") || !n.Has("f", 0.5) || n.Has("f", []string{"a"}) {
		t.Error("wrong")
	}
}

// TestSampler: what the sampler drops is not there.
func TestSampler(t *testing.T) {
	rec := oteltest.NewWithSampler(sdktrace.NeverSample())
	_, s := rec.Provider().Tracer("t").Start(context.Background(), "x")
	s.End()
	if rec.Text() != "" || len(rec.Open()) != 0 {
		t.Error("a dropped span was recorded")
	}
}

// TestMetricsText covers each kind of instrument.
func TestMetricsText(t *testing.T) {
	m := oteltest.NewMetrics()
	tr := otel.New(otel.Config{MeterProvider: m.Provider()})
	tr.SessionWarm(2)
	_, turn := tr.StartTurn(t.Context(), otel.TurnStart{Agent: "bot"})
	turn.End(otel.TurnEnd{Reason: messages.EndReason{Kind: messages.EndCompleted}, ToolCalls: 3})
	want := `dsh.sessions.warm = 2
dsh.turns dsh.turn.end=completed gen_ai.agent.name=bot = 1
dsh.turns.open = 0
gen_ai.invoke_agent.duration gen_ai.agent.name=bot n=1
gen_ai.invoke_agent.inference_calls gen_ai.agent.name=bot n=1 sum=0
gen_ai.invoke_agent.tool_calls gen_ai.agent.name=bot n=1 sum=3
`
	got, err := m.Text()
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestDuration: a node knows its times.
func TestDuration(t *testing.T) {
	rec := oteltest.New()
	at := time.Unix(100, 0)
	_, s := rec.Provider().Tracer("t").Start(t.Context(), "x", trace.WithTimestamp(at))
	s.End(trace.WithTimestamp(at.Add(time.Minute)))
	if d := rec.Roots()[0].Duration(); d != time.Minute {
		t.Errorf("%v", d)
	}
}

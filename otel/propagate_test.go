package otel_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.opentelemetry.io/otel/baggage"
	"go.opentelemetry.io/otel/trace"

	"github.com/dsh-actor/dsh-actor/messages"
	"github.com/dsh-actor/dsh-actor/otel"
)

const (
	remoteTrace  = "0af7651916cd43dd8448eb211c80319c"
	remoteSpan   = "b7ad6b7169203331"
	remoteParent = "00-" + remoteTrace + "-" + remoteSpan + "-01"
)

// TestTurnContinuesTheSendersTrace: the traceparent of a verb, or a remote
// parent of the context, makes the turn a part of the sender's trace; a local
// span does not (one trace per turn).
func TestTurnContinuesTheSendersTrace(t *testing.T) {
	rec, tr := newTracer(t, otel.Config{})
	start := func(ctx context.Context, traceparent string) trace.SpanContext {
		_, turn := tr.StartTurn(ctx, otel.TurnStart{Agent: "bot", TraceParent: traceparent})
		turn.End(otel.TurnEnd{})
		nodes := rec.Spans()
		last := nodes[len(nodes)-1]
		if last.SpanContext().TraceID().String() == remoteTrace && last.Parent().SpanID().String() != remoteSpan {
			t.Errorf("the parent is %s, want the sender's", last.Parent().SpanID())
		}
		return last.SpanContext()
	}
	local, outer := tr.StartSeam(t.Context(), "outer")
	defer outer.End(otel.SeamEnd{})
	if got := start(t.Context(), remoteParent).TraceID().String(); got != remoteTrace {
		t.Errorf("with a traceparent the trace is %s, want %s", got, remoteTrace)
	}
	if got := start(local, remoteParent).TraceID().String(); got != remoteTrace {
		t.Errorf("below a local span, with a traceparent, the trace is %s, want %s", got, remoteTrace)
	}
	if got := start(otel.ContextWithRemote(t.Context(), remoteParent), "").TraceID().String(); got != remoteTrace {
		t.Errorf("with a remote parent in the context the trace is %s, want %s", got, remoteTrace)
	}
	outerTrace := trace.SpanContextFromContext(local).TraceID()
	for name, traceparent := range map[string]string{"nothing": "", "garbage": "00-xyz"} {
		if got := start(local, traceparent).TraceID(); got == outerTrace || got.String() == remoteTrace {
			t.Errorf("with %s as traceparent the turn is not the root of a new trace", name)
		}
	}
}

// TestResumedTurnIsLinked: a session resumed in another process is a new trace
// with a link to the last turn's root.
func TestResumedTurnIsLinked(t *testing.T) {
	rec, tr := newTracer(t, otel.Config{})
	_, first := tr.StartTurn(t.Context(), otel.TurnStart{Agent: "bot", Turn: 1})
	last := first.TraceParent()
	first.End(otel.TurnEnd{})
	_, second := tr.StartTurn(t.Context(), otel.TurnStart{Agent: "bot", Turn: 2, Resumes: otel.OriginOf(last)})
	second.End(otel.TurnEnd{})
	roots := rec.Find("invoke_agent")
	if len(roots) != 2 || len(roots[1].Links) != 1 || roots[1].Links[0].To != roots[0] {
		t.Fatalf("the second turn is not linked to the first:\n%s", rec.Text())
	}
	if roots[0].SpanContext.TraceID() == roots[1].SpanContext.TraceID() {
		t.Error("both turns are one trace")
	}
	if !otel.OriginOf("garbage").IsZero() {
		t.Error("garbage is an origin")
	}
}

// TestDetachedRunIsItsOwnTrace: DESIGN 8.
func TestDetachedRunIsItsOwnTrace(t *testing.T) {
	rec, tr := newTracer(t, otel.Config{})
	ctx, seam := tr.StartSeam(t.Context(), "agent/session-start")
	_, run := tr.StartDetached(ctx, otel.DetachedStart{Name: "SessionStart", Session: "s", Origin: tr.Origin(ctx)})
	run.End(otel.Ending{})
	seam.End(otel.SeamEnd{})
	_, lonely := tr.StartDetached(ctx, otel.DetachedStart{Name: "orphan"})
	lonely.End(otel.Ending{})
	n := only(t, rec, "dsh.detached SessionStart")
	if n.Parent != nil || n.Links[0].To.Name != "dsh.seam agent/session-start" || !n.Has(otel.KeyDetached, true) {
		t.Errorf("not a linked root:\n%s", rec.Text())
	}
	if l := only(t, rec, "dsh.detached orphan").Links; len(l) != 0 {
		t.Errorf("a run without origin has links: %v", l)
	}
}

// TestEnvCarrier: OTEL.md 2. What a child reads back is what the parent had.
func TestEnvCarrier(t *testing.T) {
	member, err := baggage.NewMemberRaw("tenant", "a b")
	if err != nil {
		t.Fatal(err)
	}
	bag, err := baggage.New(member)
	if err != nil {
		t.Fatal(err)
	}
	state, err := trace.ParseTraceState("vendor=1")
	if err != nil {
		t.Fatal(err)
	}
	sc := trace.SpanContextFromContext(otel.ContextWithRemote(context.Background(), remoteParent)).WithTraceState(state)
	ctx := baggage.ContextWithBaggage(trace.ContextWithSpanContext(context.Background(), sc), bag)

	env := otel.EnvCarrier(ctx)
	want := []string{"TRACEPARENT=" + remoteParent, "TRACESTATE=vendor=1", "BAGGAGE=tenant=a%20b"}
	if diff := cmp.Diff(want, env); diff != "" {
		t.Fatalf("entries (-want +got):\n%s", diff)
	}
	child := otel.ContextFromEnv(context.Background(), func(name string) string {
		for _, e := range env {
			if k, v, _ := strings.Cut(e, "="); k == name {
				return v
			}
		}
		return ""
	})
	if diff := cmp.Diff(want, otel.EnvCarrier(child)); diff != "" {
		t.Errorf("the child has other entries (-want +got):\n%s", diff)
	}
	if got := otel.EnvCarrier(context.Background()); got != nil {
		t.Errorf("without a trace there are entries: %v", got)
	}
	if got := otel.ContextFromEnv(t.Context(), func(string) string { return "" }); got != t.Context() {
		t.Error("an empty environment changes the context")
	}
	if n := testing.AllocsPerRun(100, func() { otel.EnvCarrier(context.Background()); otel.TraceParent(context.Background()) }); n != 0 {
		t.Errorf("%v allocations without a trace, want 0", n)
	}
}

// TestStripEnv: OTEL.md 2, a child must not export under our name, nor continue
// the trace that we were started with.
func TestStripEnv(t *testing.T) {
	in := []string{"PATH=/bin", "OTEL_EXPORTER_OTLP_HEADERS=auth=x", "otel_service_name=a", "TRACEPARENT=old", "TRACESTATE=", "BAGGAGE=b", "OTELIER=1", "TRACEPARENTS=2"}
	before := slices.Clone(in)
	got := otel.StripEnv(in)
	if diff := cmp.Diff([]string{"PATH=/bin", "OTELIER=1", "TRACEPARENTS=2"}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if !slices.Equal(in, before) {
		t.Error("the input was changed")
	}
}

// TestTraceParentOfSpans: the text of a span names the span.
func TestTraceParentOfSpans(t *testing.T) {
	_, tr := newTracer(t, otel.Config{})
	ctx, turn := tr.StartTurn(t.Context(), otel.TurnStart{TraceParent: remoteParent})
	defer turn.End(otel.TurnEnd{Reason: messages.EndReason{Kind: messages.EndCompleted}})
	got := otel.TraceParent(ctx)
	if got != turn.TraceParent() {
		t.Errorf("context says %q, span %q", got, turn.TraceParent())
	}
	if !strings.HasPrefix(got, "00-"+remoteTrace+"-") || !strings.HasSuffix(got, "-01") || strings.Contains(got, remoteSpan) {
		t.Errorf("traceparent is %q", got)
	}
}

// FuzzTraceParent: any text gives either nothing or a valid parent that reads
// back as itself.
func FuzzTraceParent(f *testing.F) {
	for _, s := range []string{"", remoteParent, "00-" + remoteTrace + "-" + remoteSpan + "-00", "ff-" + remoteTrace + "-" + remoteSpan + "-01", "01-" + remoteTrace + "-" + remoteSpan + "-01-more", "00-00000000000000000000000000000000-" + remoteSpan + "-01"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		ctx := otel.ContextWithRemote(context.Background(), s)
		back := otel.TraceParent(ctx)
		if back == "" {
			if ctx != context.Background() {
				t.Errorf("%q changed the context and is no parent", s)
			}
			return
		}
		if len(back) != 55 {
			t.Errorf("%q reads back as %q", s, back)
		}
		if again := otel.TraceParent(otel.ContextWithRemote(context.Background(), back)); again != back {
			t.Errorf("%q reads back as %q and then %q", s, back, again)
		}
	})
}

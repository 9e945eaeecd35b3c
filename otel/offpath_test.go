package otel_test

import (
	"context"
	"reflect"
	"testing"
	"time"

	sdktrace "go.opentelemetry.io/otel/sdk/trace"

	"github.com/dsh-actor/dsh-actor/messages"
	"github.com/dsh-actor/dsh-actor/otel"
	"github.com/dsh-actor/dsh-actor/otel/oteltest"
)

// offCalls is one call of every method of *Tracer and of the spans, with values
// that the compiler cannot know.
func offCalls(t *otel.Tracer, in *inputs) map[string]func() {
	ctx := in.ctx
	return map[string]func(){
		"Tracer.StartTurn":        func() { _, s := t.StartTurn(ctx, in.turn); in.turnSpan = s },
		"Tracer.StartStep":        func() { _, s := t.StartStep(ctx, in.n, in.n); in.stepSpan = s },
		"Tracer.StartChat":        func() { _, s := t.StartChat(ctx, in.chat); in.chatSpan = s },
		"Tracer.StartTool":        func() { _, s := t.StartTool(ctx, in.tool); in.toolSpan = s },
		"Tracer.StartToolBody":    func() { _, s := t.StartToolBody(ctx); in.bodySpan = s },
		"Tracer.StartSeam":        func() { _, s := t.StartSeam(ctx, in.text); in.seamSpan = s },
		"Tracer.StartListener":    func() { _, s := t.StartListener(ctx, in.text); in.listenerSpan = s },
		"Tracer.StartHook":        func() { _, s := t.StartHook(ctx, in.hook); in.hookSpan = s },
		"Tracer.StartWait":        func() { _, s := t.StartWait(ctx, otel.WaitPermission); in.waitSpan = s },
		"Tracer.StartDetached":    func() { _, s := t.StartDetached(ctx, in.detached); in.detachedSpan = s },
		"Tracer.StartSessionOpen": func() { _, s := t.StartSessionOpen(ctx, in.open); in.openSpan = s },
		"Tracer.StartDrain":       func() { _, s := t.StartDrain(ctx, in.text); in.drainSpan = s },
		"Tracer.SessionWarm":      func() { t.SessionWarm(in.n) },
		"Tracer.Origin":           func() { in.detached.Origin = t.Origin(ctx) },
		"Tracer.AnnotateHooks":    func() { t.AnnotateHooks(ctx, in.counts) },
		"Tracer.AnnotateProcess":  func() { t.AnnotateProcess(ctx, in.hookEnd.Process) },
		"Tracer.AnnotateMCP":      func() { t.AnnotateMCP(ctx, in.mcp) },

		"TurnSpan.End":          func() { in.turnSpan.End(in.turnEnd) },
		"StepSpan.End":          func() { in.stepSpan.End(in.stepEnd) },
		"ChatSpan.Chunk":        func() { in.chatSpan.Chunk() },
		"ChatSpan.Attempt":      func() { in.chatSpan.Attempt(in.n, in.failure, time.Second) },
		"ChatSpan.End":          func() { in.chatSpan.End(in.chatEnd) },
		"ToolSpan.End":          func() { in.toolSpan.End(in.toolEnd) },
		"ToolBodySpan.End":      func() { in.bodySpan.End(in.ending) },
		"SeamSpan.ToolDecision": func() { in.seamSpan.ToolDecision(otel.ToolDecision{Decision: in.decision, Tool: in.text}) },
		"SeamSpan.End":          func() { in.seamSpan.End(otel.SeamEnd{Decision: in.decision, Ending: in.ending}) },
		"ListenerSpan.End":      func() { in.listenerSpan.End(otel.ListenerEnd{Decision: in.decision, Ending: in.ending}) },
		"HookSpan.End":          func() { in.hookSpan.End(in.hookEnd) },
		"WaitSpan.End":          func() { in.waitSpan.End(in.ending) },
		"DetachedSpan.End":      func() { in.detachedSpan.End(in.ending) },
		"SessionOpenSpan.End":   func() { in.openSpan.End(in.openEnd) },
		"DrainSpan.End":         func() { in.drainSpan.End(in.report) },
		"Span.Recording":        func() { in.flag = in.seamSpan.Recording() },
		"Span.TraceParent":      func() { in.text2 = in.turnSpan.TraceParent() },
	}
}

type inputs struct {
	ctx      context.Context
	n        int
	text     string
	text2    string
	flag     bool
	turn     otel.TurnStart
	chat     otel.ChatStart
	tool     otel.ToolStart
	hook     otel.HookStart
	detached otel.DetachedStart
	open     otel.SessionOpenStart
	counts   otel.HookCounts
	mcp      otel.MCPCall
	turnEnd  otel.TurnEnd
	stepEnd  otel.StepEnd
	chatEnd  otel.ChatEnd
	toolEnd  otel.ToolEnd
	hookEnd  otel.HookEnd
	openEnd  otel.SessionOpenEnd
	ending   otel.Ending
	report   messages.Report
	failure  messages.Failure
	decision messages.PreToolDecision

	turnSpan     otel.TurnSpan
	stepSpan     otel.StepSpan
	chatSpan     otel.ChatSpan
	toolSpan     otel.ToolSpan
	bodySpan     otel.ToolBodySpan
	seamSpan     otel.SeamSpan
	listenerSpan otel.ListenerSpan
	hookSpan     otel.HookSpan
	waitSpan     otel.WaitSpan
	detachedSpan otel.DetachedSpan
	openSpan     otel.SessionOpenSpan
	drainSpan    otel.DrainSpan
}

func someInputs() *inputs {
	return &inputs{
		ctx: context.Background(), n: 3, text: "tools/pre-execute",
		turn: otel.TurnStart{Session: "s-1", Agent: "bot", Turn: 1, Trigger: messages.TurnTrigger{Kind: "message", Source: messages.UserSource()}},
		chat: otel.ChatStart{Session: "s-1", Config: messages.RequestConfig{Provider: "scripted", Model: "m"}, Streaming: true},
		tool: otel.ToolStart{Name: "Bash", CallID: "c-1", Session: "s-1"},
		hook: otel.HookStart{Point: "PreToolUse", Dialect: "claude", Handler: "claude:PreToolUse:1.1"},
		hookEnd: otel.HookEnd{
			Process:  otel.Process{PID: 7, Exited: true, ExitCode: 2},
			Decision: otel.DecisionDeny, QueueWait: time.Millisecond,
		},
		turnEnd:  otel.TurnEnd{Reason: messages.EndReason{Kind: messages.EndCompleted}},
		decision: messages.ToolDeny{Reason: "no"},
	}
}

// TestOffPathAllocatesNothing: DESIGN 8, with no tracer the instrumentation
// costs one nil check and no allocation. The table must have every method.
func TestOffPathAllocatesNothing(t *testing.T) {
	var none *otel.Tracer
	in := someInputs()
	calls := offCalls(none, in)
	for name, call := range calls {
		t.Run(name, func(t *testing.T) {
			if n := testing.AllocsPerRun(100, call); n != 0 {
				t.Errorf("%v allocations without a tracer, want 0", n)
			}
		})
	}
	for _, name := range methodNames() {
		if calls[name] == nil {
			t.Errorf("%s is not covered", name)
		}
	}
}

// methodNames are the methods of everything that instrumented code calls.
func methodNames() (names []string) {
	in := inputs{}
	types := []reflect.Type{reflect.TypeFor[*otel.Tracer]()}
	v := reflect.ValueOf(in)
	shared := reflect.TypeFor[otel.Span]()
	for i := range v.NumField() {
		if f := v.Type().Field(i).Type; f.Kind() == reflect.Struct {
			if _, ok := f.FieldByName("Span"); ok {
				types = append(types, reflect.PointerTo(f))
			}
		}
	}
	for _, typ := range types {
		for i := range typ.NumMethod() {
			name := typ.Method(i).Name
			if _, inherited := shared.MethodByName(name); inherited {
				continue
			}
			names = append(names, typ.Elem().Name()+"."+name)
		}
	}
	for i := range shared.NumMethod() {
		names = append(names, "Span."+shared.Method(i).Name)
	}
	return names
}

type mark struct{}

// TestOffPathGivesTheContextBack: nothing is added to a context that nobody
// traces.
func TestOffPathGivesTheContextBack(t *testing.T) {
	var none *otel.Tracer
	ctx := context.WithValue(t.Context(), mark{}, 1)
	if got, _ := none.StartTurn(ctx, otel.TurnStart{TraceParent: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"}); got != ctx {
		t.Error("StartTurn returned another context")
	}
	if got, _ := none.StartTool(ctx, otel.ToolStart{}); got != ctx {
		t.Error("StartTool returned another context")
	}
}

// TestNewWithoutProviders: nothing to record to is no tracer.
func TestNewWithoutProviders(t *testing.T) {
	if otel.New(otel.Config{Version: "1"}) != nil {
		t.Error("a tracer without providers is not nil")
	}
	if otel.New(otel.Config{TracerProvider: noopTracers(), MeterProvider: noopMeters()}) != nil {
		t.Error("a tracer over the API's no-op providers is not nil")
	}
}

// TestUnsampledTurnSkipsInnerSpans: OTEL.md 5 (6). Below an unsampled root the
// SDK is not asked again, and nothing is allocated.
func TestUnsampledTurnSkipsInnerSpans(t *testing.T) {
	asked := &countingSampler{}
	rec := oteltest.NewWithSampler(asked)
	tr := rec.Tracer()
	ctx, turn := tr.StartTurn(t.Context(), otel.TurnStart{Session: "s", Agent: "bot", Turn: 1})
	if turn.Recording() {
		t.Fatal("the turn is recorded although the sampler dropped it")
	}
	if otel.TraceParent(ctx) == "" {
		t.Error("an unsampled turn has no trace context to hand on")
	}
	in := someInputs()
	in.ctx = ctx
	inner := offCalls(tr, in)
	delete(inner, "Tracer.StartTurn")     // roots ask the sampler
	delete(inner, "Tracer.StartDetached") // again
	for name, call := range inner {
		if n := testing.AllocsPerRun(100, call); n != 0 {
			t.Errorf("%s: %v allocations below an unsampled turn, want 0", name, n)
		}
	}
	turn.End(otel.TurnEnd{Reason: messages.EndReason{Kind: messages.EndCompleted}})
	if asked.n != 1 {
		t.Errorf("the sampler was asked %d times, want once", asked.n)
	}
	if got := rec.Text(); got != "" {
		t.Errorf("recorded:\n%s", got)
	}
}

// countingSampler drops everything and counts.
type countingSampler struct{ n int }

func (s *countingSampler) ShouldSample(sdktrace.SamplingParameters) sdktrace.SamplingResult {
	s.n++
	return sdktrace.SamplingResult{Decision: sdktrace.Drop}
}

func (s *countingSampler) Description() string { return "counting" }

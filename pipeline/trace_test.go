package pipeline_test

import (
	"context"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.opentelemetry.io/otel/trace"

	"github.com/dsh-actor/dsh-actor/messages"
	"github.com/dsh-actor/dsh-actor/otel"
	"github.com/dsh-actor/dsh-actor/otel/oteltest"
	"github.com/dsh-actor/dsh-actor/pipeline"
)

// tree shows the recorded spans by name, with what they say of decision and
// outcome.
func tree(r *oteltest.Recorder) string {
	var b strings.Builder
	var show func(depth int, nodes []*oteltest.Node)
	show = func(depth int, nodes []*oteltest.Node) {
		for _, n := range nodes {
			b.WriteString(strings.Repeat("  ", depth) + n.Name)
			for _, key := range []string{otel.KeyDecision, otel.KeyOutcome, otel.KeyErrorType} {
				if v, ok := n.Attributes[key].(string); ok && v != "none" && v != "ok" {
					b.WriteString(" " + v)
				}
			}
			if n.Error {
				b.WriteString(" ERROR")
			}
			b.WriteString("\n")
			show(depth+1, n.Children)
		}
	}
	show(0, r.Roots())
	return b.String()
}

func expectTree(t *testing.T, r *oteltest.Recorder, want string) {
	t.Helper()
	if diff := cmp.Diff(strings.TrimLeft(want, "\n"), tree(r)); diff != "" {
		t.Errorf("spans (-want +got):\n%s", diff)
	}
	if open := r.Open(); len(open) > 0 {
		t.Errorf("spans were not ended: %q", open)
	}
}

func tracedPipeline(t *testing.T, tools ...pipeline.Tool) (*pipeline.Pipeline, *oteltest.Recorder) {
	r := oteltest.New()
	p := pipeline.New(pipeline.Config{Tracer: r.Tracer()})
	register(t, p, tools...)
	return p, r
}

// DESIGN 8: one span for the call, every seam that has a listener, every listener,
// the body; nested calls under the body.
func TestSpansOfCall(t *testing.T) {
	p, r := tracedPipeline(t,
		rawTool("Inner", constant("1")),
		rawTool("Outer", func(_ context.Context, inv *pipeline.Invocation) (messages.JSON, error) {
			// Even a context without the body's span: the nested call is still under it.
			return inv.Execute(context.Background(), "Inner", "").Value(), nil
		}))
	s := p.Seams()
	s.PreExecute.Use(func(ctx context.Context, _ *pipeline.Call, next nextPre) (messages.PreToolDecision, error) {
		return next(ctx)
	}, pipeline.Named("outer"))
	s.PreExecute.Use(func(ctx context.Context, _ *pipeline.Call, next nextPre) (messages.PreToolDecision, error) {
		return next(ctx)
	}, pipeline.Named("inner"))
	s.PostExecute.Use(post(messages.ResultAccept{Content: messages.Text("x")}, nil), pipeline.Named("changer"))
	s.Result.Use(func(context.Context, pipeline.Outcome) {}, pipeline.Named("observer"))
	p.Execute(t.Context(), pipeline.Input{ID: "c", Name: "Outer", Agent: &fakeAgent{}})
	expectTree(t, r, `
execute_tool Outer allow
  dsh.seam tools/pre-execute allow
    dsh.listener outer allow
      dsh.listener inner allow
  dsh.tool.body
    execute_tool Inner allow
      dsh.seam tools/pre-execute allow
        dsh.listener outer allow
          dsh.listener inner allow
      dsh.tool.body
      dsh.seam tools/post-execute allow
        dsh.listener changer allow
      dsh.seam tools/result
        dsh.listener observer
  dsh.seam tools/post-execute allow
    dsh.listener changer allow
  dsh.seam tools/result
    dsh.listener observer
`)
	tools := r.Find("execute_tool")
	if !tools[0].Has(otel.KeyToolCallID, "c") || !tools[0].Has(otel.KeyConversation, "s-1") || !tools[1].Has(otel.KeyParentCall, "c") {
		t.Errorf("attributes %v and %v", tools[0].Attributes, tools[1].Attributes)
	}
	seams := r.Find("dsh.seam tools/pre-execute")
	if !seams[0].Has(otel.KeyListeners, 2) || len(seams[0].Events) != 1 || seams[0].Events[0].Name != otel.EventToolDecision {
		t.Errorf("pre-execute: %v, events %v", seams[0].Attributes, seams[0].Events)
	}
	if changed := r.Find("dsh.seam tools/post-execute"); !changed[0].Has(otel.KeyRewritten, true) {
		t.Errorf("post-execute: %v", changed[0].Attributes)
	}
}

// SPEC table V: the words of every way a call can go.
func TestSpanWords(t *testing.T) {
	named := pipeline.Named("L")
	tests := []struct {
		name  string
		tool  string
		setup func(*pipeline.Seams, *pipeline.Pipeline)
		event string // the decision event's outcome and source
		want  string
	}{
		{name: "no listeners", tool: "T", want: `
execute_tool T allow
  dsh.tool.body
`},
		{name: "body fails", tool: "Fails", want: `
execute_tool Fails allow failed tool_error ERROR
  dsh.tool.body failed _OTHER ERROR
`},
		{name: "body panics", tool: "Panics", want: `
execute_tool Panics allow failed tool_error ERROR
  dsh.tool.body failed panic ERROR
`},
		{name: "unknown tool", tool: "Nobody", want: `
execute_tool allow failed UNKNOWN_TOOL ERROR
`},
		{name: "refused arguments: no body", tool: "Typed", want: `
execute_tool Typed allow failed INVALID_ARGS ERROR
`},
		{
			name: "deny", tool: "T", event: "deny listener",
			setup: func(s *pipeline.Seams, _ *pipeline.Pipeline) {
				s.PreExecute.Use(pre(messages.ToolDeny{Reason: "no"}, nil), named)
			},
			want: `
execute_tool T deny skipped
  dsh.seam tools/pre-execute deny
    dsh.listener L deny
`},
		{
			name: "guard", tool: "T",
			setup: func(_ *pipeline.Seams, p *pipeline.Pipeline) { p.Guard(denying("no")) },
			want: `
execute_tool T deny skipped
`},
		{
			name: "ask, once", tool: "T", event: "require_approval rule",
			setup: func(s *pipeline.Seams, _ *pipeline.Pipeline) {
				s.PreExecute.Use(pre(messages.ToolAsk{Origin: messages.AskByRule}, nil), named)
				s.Approval.Use(answer(messages.ApprovalOnce{}, nil), named)
			},
			want: `
execute_tool T allow
  dsh.seam tools/pre-execute ask
    dsh.listener L ask
  dsh.wait permission
    dsh.seam tools/approval allow
      dsh.listener L allow
  dsh.tool.body
`},
		{
			name: "ask, rejected", tool: "T", event: "require_approval listener",
			setup: func(s *pipeline.Seams, _ *pipeline.Pipeline) {
				s.PreExecute.Use(pre(messages.ToolAsk{}, nil), named)
				s.Approval.Use(answer(messages.ApprovalRejected{}, nil), named)
			},
			want: `
execute_tool T deny skipped
  dsh.seam tools/pre-execute ask
    dsh.listener L ask
  dsh.wait permission
    dsh.seam tools/approval deny
      dsh.listener L deny
`},
		{
			name: "a listener fails", tool: "T",
			setup: func(s *pipeline.Seams, _ *pipeline.Pipeline) { s.PreExecute.Use(pre(nil, errBoom), named) },
			want: `
execute_tool T failed tool_error ERROR
  dsh.seam tools/pre-execute failed _OTHER
    dsh.listener L failed _OTHER
`},
		{
			name: "blocked: says nothing of the tool", tool: "T",
			setup: func(s *pipeline.Seams, _ *pipeline.Pipeline) {
				s.PostExecute.Use(post(messages.ResultBlock{}, nil), named)
			},
			want: `
execute_tool T block
  dsh.tool.body
  dsh.seam tools/post-execute block
    dsh.listener L block
`},
		{
			name: "an observer panics", tool: "T",
			setup: func(s *pipeline.Seams, _ *pipeline.Pipeline) {
				s.Result.Use(func(context.Context, pipeline.Outcome) { panic("ouch") }, named)
			},
			want: `
execute_tool T allow
  dsh.tool.body
  dsh.seam tools/result
    dsh.listener L failed panic
`},
	}
	type in struct {
		N int `json:"n"`
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p, r := tracedPipeline(t,
				rawTool("T", constant("1")),
				rawTool("Fails", func(context.Context, *pipeline.Invocation) (messages.JSON, error) { return "", errBoom }),
				rawTool("Panics", func(context.Context, *pipeline.Invocation) (messages.JSON, error) { panic("ouch") }),
				pipeline.MustDefine(pipeline.Definition[in, int]{
					Name: "Typed", Run: func(context.Context, *pipeline.Invocation, in) (int, error) { return 0, nil },
				}))
			if tt.setup != nil {
				tt.setup(p.Seams(), p)
			}
			p.Execute(t.Context(), pipeline.Input{ID: "c", Name: tt.tool, Agent: &fakeAgent{}})
			expectTree(t, r, tt.want)
			event := ""
			for _, seam := range r.Find("dsh.seam tools/pre-execute") {
				for _, e := range seam.Events {
					event = e.Attributes[otel.KeyToolCallDecision].(string) + " " + e.Attributes[otel.KeyDecisionFrom].(string)
				}
			}
			if event != tt.event {
				t.Errorf("decision event %q", event)
			}
		})
	}
}

// DESIGN 8: the step's context need not be the one that the call began with.
func TestSpanIsHandedToEveryStep(t *testing.T) {
	p, r := tracedPipeline(t, rawTool("T", constant("1")))
	for _, use := range []func(){
		func() {
			p.Seams().PreExecute.Use(func(ctx context.Context, _ *pipeline.Call, next nextPre) (messages.PreToolDecision, error) {
				return next(context.Background()) // loses nothing
			}, pipeline.Named("a"))
		},
		func() { p.Seams().PreExecute.Use(pre(messages.ToolAllow{}, nil), pipeline.Named("b")) },
		func() { p.Seams().PostExecute.Use(post(messages.ResultAccept{}, nil), pipeline.Named("c")) },
	} {
		use()
	}
	x := p.Begin(t.Context(), pipeline.Input{Name: "T"})
	if !x.Policy(context.Background()) {
		t.Fatal("not allowed")
	}
	done := make(chan struct{})
	go x.DispatchContained(context.Background(), func() { close(done) })
	<-done
	x.Settle(context.Background())
	expectTree(t, r, `
execute_tool T allow
  dsh.seam tools/pre-execute allow
    dsh.listener a allow
      dsh.listener b allow
  dsh.tool.body
  dsh.seam tools/post-execute allow
    dsh.listener c allow
`)
}

// DESIGN 8: the other kinds of seams.
func TestSpansOfSeams(t *testing.T) {
	p, r := tracedPipeline(t)
	s := p.Seams()
	run := func() {
		ctx, step := r.Tracer().StartStep(t.Context(), 1, 1)
		defer step.End(otel.StepEnd{})
		_, _ = s.PreStep.Run(ctx, &pipeline.Step{})
		_, _ = s.TurnStop.Run(ctx, &pipeline.Continuation{})
		_ = s.PostStep.Run(ctx, &pipeline.Step{})
		s.CancelRequested.Run(ctx, &pipeline.CancelRequested{})
		_ = s.SessionEnd.Run(ctx, &pipeline.SessionEnd{})
		_, _ = s.PromptSubmit.Run(ctx, &pipeline.PromptSubmit{}, func(context.Context, *pipeline.PromptSubmit) (messages.PromptDecision, error) {
			return messages.PromptAllow{}, nil
		})
	}
	run()
	expectTree(t, r, "dsh.step\n") // a seam without a listener is not worth a span

	named := pipeline.Named("L")
	s.PreStep.Use(func(context.Context, *pipeline.Step) (messages.StepVerdict, error) {
		return messages.Halt{Reason: "h"}, nil
	}, named)
	s.TurnStop.Use(func(context.Context, *pipeline.Continuation) (messages.StepVerdict, error) { return nil, errBoom }, named)
	s.PostStep.Use(func(context.Context, *pipeline.Step) error { panic("ouch") }, named)
	s.CancelRequested.Use(func(context.Context, *pipeline.CancelRequested) {}, named)
	s.SessionEnd.Use(func(context.Context, *pipeline.SessionEnd) error { return errBoom }, named)
	s.PromptSubmit.Use(func(context.Context, *pipeline.PromptSubmit, pipeline.Next[messages.PromptDecision]) (messages.PromptDecision, error) {
		return messages.PromptBlock{Reason: "no"}, nil
	}, named)
	r.Reset()
	run()
	expectTree(t, r, `
dsh.step
  dsh.seam agent/pre-step stop
    dsh.listener L stop
  dsh.seam agent/turn-stop failed _OTHER
    dsh.listener L failed _OTHER
  dsh.seam agent/post-step failed panic
    dsh.listener L failed panic
  dsh.seam agent/cancel-requested
    dsh.listener L
  dsh.seam agent/session-end failed _OTHER
    dsh.listener L failed _OTHER
  dsh.seam agent/prompt-submit block
    dsh.listener L block
`)
	if seam := r.Find("dsh.seam agent/prompt-submit"); !seam[0].Has(otel.KeyReason, "no") {
		t.Errorf("attributes %v", seam[0].Attributes)
	}
}

// Every span is ended also when foreign code ends the goroutine.
func TestSpansEndOnGoexit(t *testing.T) {
	setups := map[string]func(*pipeline.Pipeline){
		"pre": func(p *pipeline.Pipeline) {
			p.Seams().PreExecute.Use(func(context.Context, *pipeline.Call, nextPre) (messages.PreToolDecision, error) {
				goexit()
				return nil, nil
			})
		},
		"approval": func(p *pipeline.Pipeline) {
			p.Seams().PreExecute.Use(pre(messages.ToolAsk{}, nil))
			p.Seams().Approval.Use(func(context.Context, *pipeline.ApprovalRequest, nextAnswer) (messages.ApprovalAnswer, error) {
				goexit()
				return nil, nil
			})
		},
		"body": func(*pipeline.Pipeline) {},
		"post": func(p *pipeline.Pipeline) {
			p.Seams().PostExecute.Use(func(context.Context, pipeline.Outcome, nextPost) (messages.PostToolDecision, error) {
				goexit()
				return nil, nil
			})
		},
		"result": func(p *pipeline.Pipeline) {
			p.Seams().Result.Use(func(context.Context, pipeline.Outcome) { goexit() })
		},
	}
	for name, setup := range setups {
		t.Run(name, func(t *testing.T) {
			tool := rawTool("T", constant("1"))
			if name == "body" {
				tool = rawTool("T", func(context.Context, *pipeline.Invocation) (messages.JSON, error) { goexit(); return "", nil })
			}
			p, r := tracedPipeline(t, tool)
			setup(p)
			inGoroutine(func() { p.Execute(t.Context(), pipeline.Input{Name: "T", Agent: &fakeAgent{}}) })
			if open := r.Open(); len(open) > 0 || len(r.Find("execute_tool")) != 1 {
				t.Errorf("open spans %q, %d calls", open, len(r.Find("execute_tool")))
			}
			if body := r.Find("dsh.tool.body"); name == "body" && !body[0].Error {
				t.Error("the body's span says that it went well")
			}
		})
	}
}

// DESIGN 8: off costs one nil check and no allocation.
func TestTracingOffAllocatesNothing(t *testing.T) {
	allocs := func(cfg pipeline.Config, ctx context.Context) float64 {
		p := pipeline.New(cfg)
		register(t, p, rawTool("T", constant("1")))
		p.Seams().PreExecute.Use(pre(messages.ToolAllow{}, nil))
		p.Seams().Result.Use(func(context.Context, pipeline.Outcome) {})
		in := pipeline.Input{ID: "c", Name: "T"}
		return testing.AllocsPerRun(200, func() { p.Execute(ctx, in) })
	}
	ctx := t.Context()
	off := allocs(pipeline.Config{}, ctx)
	if nothing := allocs(pipeline.Config{Tracer: otel.New(otel.Config{})}, ctx); nothing != off {
		t.Errorf("%v allocations with a tracer that records nothing, %v without", nothing, off)
	}
	if on := allocs(pipeline.Config{Tracer: oteltest.New().Tracer()}, ctx); on <= off {
		t.Errorf("%v allocations with tracing, %v without: the comparison is blind", on, off)
	}
}

// A call in a trace that is not sampled makes no spans and loses no context.
func TestUnsampledCall(t *testing.T) {
	p, r := tracedPipeline(t, rawTool("T", func(ctx context.Context, _ *pipeline.Invocation) (messages.JSON, error) {
		if !trace.SpanContextFromContext(ctx).IsValid() {
			t.Error("the parent's span context is lost")
		}
		return "1", nil
	}))
	parent := trace.NewSpanContext(trace.SpanContextConfig{TraceID: trace.TraceID{1}, SpanID: trace.SpanID{2}})
	r0 := p.Execute(trace.ContextWithSpanContext(t.Context(), parent), pipeline.Input{Name: "T"})
	if r0.IsError() || len(r.Spans()) > 0 {
		t.Errorf("result failed: %v, %d spans", r0.IsError(), len(r.Spans()))
	}
}

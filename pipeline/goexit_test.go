package pipeline_test

import (
	"context"
	"runtime"
	"testing"

	"github.com/dsh-actor/dsh-actor/messages"
	"github.com/dsh-actor/dsh-actor/pipeline"
)

func goexit() { runtime.Goexit() }

// inGoroutine runs fn on a goroutine of its own and returns when it has ended,
// however it ended.
func inGoroutine(fn func()) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		fn()
	}()
	<-done
}

// PAIN 82: a call reaches tools/result exactly once also when foreign code ends
// the goroutine in any phase; the outcome is a failure, and the tool has its last
// word.
func TestGoexitInEveryPhase(t *testing.T) {
	const text = "the goroutine was ended by runtime.Goexit"
	tests := []struct {
		phase string
		setup func(*pipeline.Pipeline)
		tool  string
		want  outcome
	}{
		{"pre-execute", func(p *pipeline.Pipeline) {
			p.Seams().PreExecute.Use(func(context.Context, *pipeline.Call, nextPre) (messages.PreToolDecision, error) {
				goexit()
				return nil, nil
			})
		}, "T", failure(text)},
		{"guard", func(p *pipeline.Pipeline) {
			p.Guard(func(*pipeline.Call) (string, bool) { goexit(); return "", false })
		}, "T", failure(text)},
		{"approval", func(p *pipeline.Pipeline) {
			p.Seams().PreExecute.Use(pre(messages.ToolAsk{}, nil))
			p.Seams().Approval.Use(func(context.Context, *pipeline.ApprovalRequest, nextAnswer) (messages.ApprovalAnswer, error) {
				goexit()
				return nil, nil
			})
		}, "T", failure(text)},
		{"execute", func(p *pipeline.Pipeline) {
			p.Seams().Execute.Use(func(context.Context, *pipeline.Call, nextExec) (*messages.Result, error) { goexit(); return nil, nil })
		}, "T", failure(text)},
		{"execute after the body", func(p *pipeline.Pipeline) {
			p.Seams().Execute.Use(func(ctx context.Context, _ *pipeline.Call, next nextExec) (*messages.Result, error) {
				_, _ = next(ctx)
				goexit()
				return nil, nil
			})
		}, "T", failure(text, "deferred")}, // Z-5
		{"body", func(*pipeline.Pipeline) {}, "Gone", failure(text, "deferred")},
		{"post-execute", func(p *pipeline.Pipeline) {
			p.Seams().PostExecute.Use(func(context.Context, pipeline.Outcome, nextPost) (messages.PostToolDecision, error) {
				goexit()
				return nil, nil
			})
		}, "T", failure(text, "deferred")},
		{"finalize", func(*pipeline.Pipeline) {}, "LastWord", failure(text, "deferred")},
		{"result", func(p *pipeline.Pipeline) {
			p.Seams().Result.Use(func(context.Context, pipeline.Outcome) { goexit() }, pipeline.Prepend())
		}, "T", outcome{Text: "1", Value: "1", Contexts: []string{"deferred"}}},
	}
	for _, tt := range tests {
		t.Run(tt.phase, func(t *testing.T) {
			deferring := func(then func()) body {
				return func(_ context.Context, inv *pipeline.Invocation) (messages.JSON, error) {
					inv.DeferContext(note("deferred"))
					then()
					return "1", nil
				}
			}
			finalized := 0
			last := rawTool("LastWord", deferring(func() {}))
			last.FinalizeContent = func(*pipeline.Call, *messages.Result) (messages.Content, bool) {
				finalized++
				goexit()
				return messages.Content{}, false
			}
			ordinary := rawTool("T", deferring(func() {}))
			ordinary.FinalizeContent = func(*pipeline.Call, *messages.Result) (messages.Content, bool) {
				finalized++
				return messages.Content{}, false
			}
			gone := rawTool("Gone", deferring(goexit))
			gone.FinalizeContent = ordinary.FinalizeContent
			p := pipeline.New(pipeline.Config{})
			register(t, p, ordinary, gone, last)
			tt.setup(p)
			var results []outcome
			p.Seams().Result.Use(func(_ context.Context, o pipeline.Outcome) { results = append(results, outcomeOf(o.Result)) })
			returned := false
			inGoroutine(func() {
				p.Execute(t.Context(), pipeline.Input{Name: tt.tool, Agent: &fakeAgent{}})
				returned = true
			})
			if returned || len(results) != 1 || finalized != 1 {
				t.Fatalf("returned %v, %d results, finalized %d times", returned, len(results), finalized)
			}
			results[0].expect(t, tt.want)
		})
	}
}

// A dispatch on a goroutine of its own settles its outcome and reports it, however
// the goroutine ends (DESIGN 3, rule 4).
func TestDispatchContained(t *testing.T) {
	for _, name := range []string{"Fine", "Gone", "Panics"} {
		t.Run(name, func(t *testing.T) {
			p := newPipeline(t,
				rawTool("Fine", constant("1")),
				rawTool("Gone", func(context.Context, *pipeline.Invocation) (messages.JSON, error) { goexit(); return "", nil }),
				rawTool("Panics", func(context.Context, *pipeline.Invocation) (messages.JSON, error) { panic("ouch") }),
			)
			x := p.Begin(t.Context(), pipeline.Input{Name: name})
			if !x.Policy(t.Context()) {
				t.Fatal("not allowed")
			}
			done := make(chan struct{})
			go x.DispatchContained(t.Context(), func() { close(done) }) // closing twice would panic
			<-done
			r := x.Settle(t.Context())
			if failed := name != "Fine"; r.IsError() != failed || x.Call().BodyFailed() != failed || !x.Call().BodyInvoked() {
				t.Errorf("failed %v, body failed %v, invoked %v", r.IsError(), x.Call().BodyFailed(), x.Call().BodyInvoked())
			}
		})
	}
}

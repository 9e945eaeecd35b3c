package pipeline_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/dsh-actor/dsh-actor/messages"
	"github.com/dsh-actor/dsh-actor/pipeline"
)

// D-4: the outermost answer is the result; not calling next vetoes everything
// inside, the default included; a failure passes outward.
func TestWaterfallVeto(t *testing.T) {
	var j journal
	p := pipeline.New(pipeline.Config{})
	p.Seams().PreExecute.Use(func(ctx context.Context, _ *pipeline.Call, next nextPre) (messages.PreToolDecision, error) {
		d, err := next(ctx)
		j.add(fmt.Sprintf("inner said %v %v", d, err))
		return messages.ToolAllow{}, nil
	})
	remove := p.Seams().PreExecute.Use(pre(messages.ToolDeny{Reason: "no"}, nil))
	if d, err := j.runPre(t, p); d != (messages.ToolAllow{}) || err != nil {
		t.Errorf("decision %v, error %v", d, err)
	}
	j.expect(t, "inner said {no} <nil>")
	remove()
	p.Seams().PreExecute.Use(pre(messages.ToolAllow{}, errBoom))
	if _, err := j.runPre(t, p); err != nil {
		t.Errorf("error %v", err)
	}
	// A decision beside an error is not one.
	j.expect(t, "inner said <nil> boom")
}

// Z-1: nothing, and a decision of no known kind, is a failure in every policy
// seam, never an allow.
func TestMissingDecisions(t *testing.T) {
	p := pipeline.New(pipeline.Config{})
	s := p.Seams()
	named := pipeline.Named("L")
	s.PromptSubmit.Use(func(context.Context, *pipeline.PromptSubmit, pipeline.Next[messages.PromptDecision]) (messages.PromptDecision, error) {
		return nil, nil
	}, named)
	s.PreExecute.Use(pre(&messages.ToolAllow{}, nil), named)
	s.Approval.Use(func(context.Context, *pipeline.ApprovalRequest, nextAnswer) (messages.ApprovalAnswer, error) {
		return &messages.ApprovalOnce{}, nil
	}, named)
	s.Execute.Use(execute(nil, nil), named)
	s.PostExecute.Use(post((*messages.ResultAccept)(nil), nil), named)
	s.TurnContinuation.Use(func(context.Context, *pipeline.Continuation, pipeline.Next[messages.ContinuationDecision]) (messages.ContinuationDecision, error) {
		return &messages.TurnStop{}, nil
	}, named)
	s.RequestError.Use(func(context.Context, *pipeline.RequestError, pipeline.Next[messages.RequestErrorDecision]) (messages.RequestErrorDecision, error) {
		return &messages.RequestRetry{}, nil
	}, named)
	s.Request.Use(func(context.Context, *pipeline.Request, pipeline.Next[*messages.RequestConfig]) (*messages.RequestConfig, error) {
		return nil, nil
	}, named)
	tests := []struct {
		run  func() error
		want string
	}{
		{func() error { _, err := s.PromptSubmit.Run(t.Context(), nil, nil); return err }, "agent/prompt-submit: listener L returned no decision"},
		{func() error { _, err := s.PreExecute.Run(t.Context(), nil, nil); return err }, "tools/pre-execute: listener L returned a decision of unknown kind *messages.ToolAllow"},
		{func() error { _, err := s.Approval.Run(t.Context(), nil, nil); return err }, "tools/approval: listener L returned a decision of unknown kind *messages.ApprovalOnce"},
		{func() error { _, err := s.Execute.Run(t.Context(), nil, nil); return err }, "tools/execute: listener L returned no decision"},
		{func() error { _, err := s.PostExecute.Run(t.Context(), pipeline.Outcome{}, nil); return err }, "tools/post-execute: listener L returned a decision of unknown kind *messages.ResultAccept"},
		{func() error { _, err := s.TurnContinuation.Run(t.Context(), nil, nil); return err }, "agent/turn-continuation: listener L returned a decision of unknown kind *messages.TurnStop"},
		{func() error { _, err := s.RequestError.Run(t.Context(), nil, nil); return err }, "agent/request-error: listener L returned a decision of unknown kind *messages.RequestRetry"},
		{func() error { _, err := s.Request.Run(t.Context(), nil, nil); return err }, "agent/request: listener L returned no decision"},
	}
	for _, tt := range tests {
		t.Run(tt.want, func(t *testing.T) {
			if err := tt.run(); err == nil || err.Error() != tt.want {
				t.Errorf("error %v", err)
			}
		})
	}
}

// Z-1: the failure is that of the listener: an outer one sees it as an error.
func TestMissingDecisionReachesOuterListenerAsError(t *testing.T) {
	p := pipeline.New(pipeline.Config{})
	p.Seams().PreExecute.Use(func(ctx context.Context, _ *pipeline.Call, next nextPre) (messages.PreToolDecision, error) {
		d, err := next(ctx)
		if d != nil || !errorIs(err, "returned no decision") {
			t.Errorf("decision %v, error %v", d, err)
		}
		return d, nil // forgets the error: still no allow
	})
	p.Seams().PreExecute.Use(pre(nil, nil))
	var j journal
	if d, err := j.runPre(t, p); d != nil || err == nil {
		t.Errorf("decision %v, error %v", d, err)
	}
}

// Z-12: calling next again runs the inner listeners again (the reference skips
// them, D-5).
func TestNextAgain(t *testing.T) {
	var j journal
	p := pipeline.New(pipeline.Config{})
	p.Seams().PreExecute.Use(func(ctx context.Context, _ *pipeline.Call, next nextPre) (messages.PreToolDecision, error) {
		j.add("a")
		if _, err := next(ctx); err != nil {
			return nil, err
		}
		return next(ctx)
	})
	p.Seams().PreExecute.Use(j.say("b"))
	p.Seams().PreExecute.Use(j.say("c"))
	if _, err := j.runPre(t, p); err != nil {
		t.Fatal(err)
	}
	j.expect(t, "a", "b", "c", "default", "b", "c", "default")
}

// Z-12: next after the listener returned is an error value, and nothing runs.
func TestNextAfterReturn(t *testing.T) {
	var j journal
	p := pipeline.New(pipeline.Config{})
	var late nextPre
	p.Seams().PreExecute.Use(func(ctx context.Context, _ *pipeline.Call, next nextPre) (messages.PreToolDecision, error) {
		late = next
		return messages.ToolAllow{}, nil
	})
	if _, err := j.runPre(t, p); err != nil {
		t.Fatal(err)
	}
	if d, err := late(t.Context()); d != nil || !errors.Is(err, pipeline.ErrNextAfterReturn) {
		t.Errorf("decision %v, error %v", d, err)
	}
	j.expect(t)
}

// P-15, Z-13: a listener that returns while its next is under way is not done: the
// seam waits for that next and drops its answer.
func TestNextUnderWayIsAwaited(t *testing.T) {
	release := make(chan struct{})
	for _, how := range []string{"returns", "panics", "exits"} {
		t.Run(how, func(t *testing.T) {
			var j journal
			p := pipeline.New(pipeline.Config{})
			entered := make(chan struct{})
			p.Seams().PreExecute.Use(func(ctx context.Context, _ *pipeline.Call, next nextPre) (messages.PreToolDecision, error) {
				go func() {
					d, err := next(ctx)
					j.add(fmt.Sprintf("next answered %v %v", d, err))
				}()
				<-entered
				switch how {
				case "panics":
					panic("ouch")
				case "exits":
					goexit()
				}
				return messages.ToolDeny{Reason: "too slow"}, nil
			})
			p.Seams().PreExecute.Use(func(context.Context, *pipeline.Call, nextPre) (messages.PreToolDecision, error) {
				close(entered)
				<-release
				j.add("inner returned")
				return messages.ToolAllow{}, nil
			})
			answered := make(chan struct{})
			go func() {
				defer close(answered)
				defer j.add("seam returned")
				d, err := j.runPre(t, p)
				if how == "returns" && (d != messages.ToolDeny{Reason: "too slow"} || err != nil) || how == "panics" && err == nil {
					t.Errorf("decision %v, error %v", d, err)
				}
			}()
			select {
			case <-answered:
				t.Error("the seam did not wait")
			case release <- struct{}{}:
			}
			<-answered
			lines := j.take()
			if len(lines) < 2 || lines[0] != "inner returned" {
				t.Errorf("order %q", lines)
			}
		})
	}
}

// Z-12: next may be called concurrently; every call runs the inner listeners.
func TestNextConcurrently(t *testing.T) {
	var j journal
	p := pipeline.New(pipeline.Config{})
	const n = 8
	p.Seams().PreExecute.Use(func(ctx context.Context, _ *pipeline.Call, next nextPre) (messages.PreToolDecision, error) {
		answers := make(chan error, n)
		for range n {
			go func() {
				_, err := next(ctx)
				answers <- err
			}()
		}
		for range n {
			if err := <-answers; err != nil {
				return nil, err
			}
		}
		return messages.ToolAllow{}, nil
	})
	p.Seams().PreExecute.Use(j.say("inner"))
	if _, err := j.runPre(t, p); err != nil {
		t.Fatal(err)
	}
	if got := j.count("inner"); got != n {
		t.Errorf("inner ran %d times", got)
	}
}

type key string

// foreignContext is a context that cannot be compared.
type foreignContext struct {
	context.Context
	_ []int
}

// Z-12, P-15: whatever context a listener passes on, the caller's cancellation,
// its cause, its deadline and its values stay in force.
func TestNextKeepsCallersContext(t *testing.T) {
	tests := []struct {
		name string
		pass func(context.Context) context.Context
	}{
		{"as it is", func(ctx context.Context) context.Context { return ctx }},
		{"nil", func(context.Context) context.Context { return nil }},
		{"background", func(context.Context) context.Context { return context.Background() }},
		{"without cancel", context.WithoutCancel},
		{"with a value", func(ctx context.Context) context.Context { return context.WithValue(ctx, key("new"), "yes") }},
		{"a later deadline", func(context.Context) context.Context {
			ctx, cancel := context.WithDeadline(context.Background(), time.Now().Add(24*time.Hour))
			t.Cleanup(cancel)
			return ctx
		}},
		{"background with a value", func(context.Context) context.Context {
			return context.WithValue(context.Background(), key("new"), "yes")
		}},
		{"incomparable", func(ctx context.Context) context.Context { return foreignContext{Context: ctx} }},
	}
	for _, tt := range tests {
		for _, cancellable := range []bool{true, false} {
			t.Run(fmt.Sprintf("%s, cancellable=%v", tt.name, cancellable), func(t *testing.T) {
				p := newPipeline(t)
				caller := context.WithValue(context.WithoutCancel(t.Context()), key("mark"), "kept")
				cancel := func(error) {}
				var deadline time.Time
				if cancellable {
					var stop context.CancelFunc
					deadline = time.Now().Add(time.Hour)
					caller, stop = context.WithDeadline(caller, deadline)
					defer stop()
					caller, cancel = context.WithCancelCause(caller)
				}
				for range 2 { // two wrappers, each of which tries
					p.Seams().Execute.Use(func(ctx context.Context, _ *pipeline.Call, next nextExec) (*messages.Result, error) {
						return next(tt.pass(ctx))
					})
				}
				register(t, p, rawTool("T", func(ctx context.Context, _ *pipeline.Invocation) (messages.JSON, error) {
					if ctx.Value(key("mark")) != "kept" {
						t.Error("the caller's value is lost")
					}
					if d, ok := ctx.Deadline(); cancellable && (!ok || !d.Equal(deadline)) {
						t.Errorf("deadline %v %v", d, ok)
					}
					if !cancellable {
						return "1", nil
					}
					cancel(messages.CancelUser)
					<-ctx.Done()
					if cause := context.Cause(ctx); cause != messages.CancelUser {
						t.Errorf("cause %v", cause)
					}
					return "1", nil
				}))
				r := p.Execute(caller, pipeline.Input{Name: "T"})
				want := outcome{Text: "1", Value: "1"}
				if cancellable {
					want = abortedAfter()
				}
				outcomeOf(r).expect(t, want)
			})
		}
	}
}

// P-15: what a wrapper adds is in force, and its cause is kept.
func TestNextAddsCancellation(t *testing.T) {
	p := newPipeline(t, rawTool("T", func(ctx context.Context, _ *pipeline.Invocation) (messages.JSON, error) {
		<-ctx.Done()
		return "", context.Cause(ctx)
	}))
	p.Seams().Execute.Use(func(_ context.Context, _ *pipeline.Call, next nextExec) (*messages.Result, error) {
		ctx, cancel := context.WithCancelCause(context.Background())
		cancel(errBoom)
		return next(ctx)
	})
	x := p.Begin(t.Context(), pipeline.Input{Name: "T"})
	if !x.Policy(t.Context()) {
		t.Fatal("not allowed")
	}
	x.Dispatch(t.Context())
	// The fused signal was aborted before the body: it is never entered (P-15).
	outcomeOf(x.Settle(t.Context())).expect(t, abortedBefore())
	if x.Call().BodyInvoked() {
		t.Error("the body ran")
	}
}

// PAIN 44: a listener that only passes on erases nothing of its sibling, whatever
// the order.
func TestSilentListenerErasesNothing(t *testing.T) {
	silent := func(ctx context.Context, _ pipeline.Outcome, next nextPost) (messages.PostToolDecision, error) {
		return next(ctx)
	}
	modifier := func(ctx context.Context, _ pipeline.Outcome, next nextPost) (messages.PostToolDecision, error) {
		return messages.ResultAccept{Content: messages.Text("changed"), Contexts: notes("added")}, nil
	}
	var got []outcome
	for _, order := range [][]pipeline.Handler[pipeline.Outcome, messages.PostToolDecision]{{silent, modifier}, {modifier, silent}} {
		p := newPipeline(t, rawTool("T", constant("1")))
		for _, l := range order {
			p.Seams().PostExecute.Use(l)
		}
		got = append(got, outcomeOf(p.Execute(t.Context(), pipeline.Input{Name: "T"})))
	}
	if diff := cmp.Diff(got[0], got[1]); diff != "" {
		t.Errorf("order matters:\n%s", diff)
	}
	got[0].expect(t, outcome{
		Text: "changed", Value: "1", Contexts: []string{"added"},
		Meta: `{"original":[{"type":"text","text":"1"}]}`,
	})
}

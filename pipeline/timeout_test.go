package pipeline_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/dsh-actor/dsh-actor/messages"
	"github.com/dsh-actor/dsh-actor/pipeline"
)

// P-31: a tool's declared timeout, on a clock of its own. The body is awaited, and
// whichever of deadline and caller came first names the outcome.
func TestTimeout(t *testing.T) {
	tool := messages.ErrorInfo{Name: "ToolTimeoutError", Code: messages.CodeToolTimeout}
	timeout := failure("tool call timed out after 1500ms", "deferred").coded(tool.Name, tool.Code)
	tests := []struct {
		name   string
		caller time.Duration // cancels after it; 0: never
		body   func(ctx context.Context) (messages.JSON, error)
		want   outcome
		after  time.Duration
		failed bool
	}{
		{
			name: "in time", after: time.Second,
			body: func(context.Context) (messages.JSON, error) { time.Sleep(time.Second); return "1", nil },
			want: outcome{Text: "1", Value: "1", Contexts: []string{"deferred"}},
		},
		{
			name: "the body obeys", after: 1500 * time.Millisecond, failed: true,
			body: func(ctx context.Context) (messages.JSON, error) { <-ctx.Done(); return "", ctx.Err() },
			want: timeout,
		},
		{
			name: "the body succeeds after the deadline", after: 4 * time.Second, failed: true,
			body: func(context.Context) (messages.JSON, error) { time.Sleep(4 * time.Second); return "1", nil },
			want: timeout,
		},
		{
			name: "the body panics after the deadline", after: 2 * time.Second, failed: true,
			body: func(context.Context) (messages.JSON, error) { time.Sleep(2 * time.Second); panic("ouch") },
			want: timeout,
		},
		{
			name: "the body fails in time", after: time.Second, failed: true,
			body: func(context.Context) (messages.JSON, error) { time.Sleep(time.Second); return "", errBoom },
			want: failure("boom", "deferred"),
		},
		{
			name: "deadline first, caller during the cleanup", caller: 2 * time.Second, after: 3 * time.Second, failed: true,
			body: func(context.Context) (messages.JSON, error) { time.Sleep(3 * time.Second); return "1", nil },
			want: timeout,
		},
		{
			name: "caller first, deadline during the cleanup", caller: time.Second, after: 3 * time.Second, failed: true,
			body: func(context.Context) (messages.JSON, error) { time.Sleep(3 * time.Second); return "1", nil },
			want: abortedAfter("deferred"),
		},
		{
			name: "caller first, the body fails with it", caller: time.Second, after: time.Second, failed: true,
			body: func(ctx context.Context) (messages.JSON, error) { <-ctx.Done(); return "", errors.New("stopped") },
			want: failure("stopped", "deferred"), // P-15
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				started := time.Now()
				raw := rawTool("T", func(ctx context.Context, inv *pipeline.Invocation) (messages.JSON, error) {
					if d, ok := ctx.Deadline(); !ok || !d.Equal(started.Add(1500*time.Millisecond)) {
						t.Errorf("the body sees the deadline %v %v", d, ok)
					}
					inv.DeferContext(note("deferred"))
					return tt.body(ctx)
				})
				raw.Timeout = 1500 * time.Millisecond
				p := newPipeline(t, raw)
				ctx, cancel := context.WithCancelCause(t.Context())
				defer cancel(nil)
				if tt.caller > 0 {
					time.AfterFunc(tt.caller, func() { cancel(messages.CancelUser) })
				}
				x := p.Begin(ctx, pipeline.Input{Name: "T"})
				if !x.Policy(ctx) {
					t.Fatal("not allowed")
				}
				x.Dispatch(ctx)
				outcomeOf(x.Settle(ctx)).expect(t, tt.want)
				if took := time.Since(started); took != tt.after {
					t.Errorf("took %v", took)
				}
				if x.Call().BodyFailed() != tt.failed {
					t.Errorf("body failed: %v", x.Call().BodyFailed())
				}
			})
		})
	}
}

// P-31: the timeout is each run's; a wrapper that retries gets it anew.
func TestTimeoutOfEachRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		runs := 0
		raw := rawTool("T", func(ctx context.Context, _ *pipeline.Invocation) (messages.JSON, error) {
			if runs++; runs == 1 {
				<-ctx.Done()
				return "", ctx.Err()
			}
			time.Sleep(800 * time.Millisecond)
			return "2", nil
		})
		raw.Timeout = time.Second
		p := newPipeline(t, raw)
		p.Seams().Execute.Use(func(ctx context.Context, _ *pipeline.Call, next nextExec) (*messages.Result, error) {
			r, err := next(ctx)
			if err == nil && r.Info().Code == messages.CodeToolTimeout {
				return next(ctx)
			}
			return r, err
		})
		outcomeOf(p.Execute(t.Context(), pipeline.Input{Name: "T"})).expect(t, outcome{Text: "2", Value: "2"})
	})
}

// P-31: a wrapper's shorter deadline is not the tool's timeout.
func TestWrapperDeadlineIsNotTheTools(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		raw := rawTool("T", func(ctx context.Context, _ *pipeline.Invocation) (messages.JSON, error) {
			<-ctx.Done()
			return "1", nil
		})
		raw.Timeout = time.Minute
		p := newPipeline(t, raw)
		p.Seams().Execute.Use(func(ctx context.Context, _ *pipeline.Call, next nextExec) (*messages.Result, error) {
			ctx, cancel := context.WithTimeout(ctx, time.Second)
			defer cancel()
			return next(ctx)
		})
		outcomeOf(p.Execute(t.Context(), pipeline.Input{Name: "T"})).expect(t, abortedAfter())
	})
}

func TestTimeoutText(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		raw := rawTool("T", func(ctx context.Context, _ *pipeline.Invocation) (messages.JSON, error) {
			<-ctx.Done()
			return "1", nil
		})
		raw.Timeout = 2500 * time.Microsecond
		p := newPipeline(t, raw)
		if r := p.Execute(t.Context(), pipeline.Input{Name: "T"}); r.Message() != "tool call timed out after 2.5ms" {
			t.Error(r.Message())
		}
	})
}

package actors_test

import (
	"context"
	"os"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/dsh-actor/dsh-actor/actors"
	"github.com/dsh-actor/dsh-actor/messages"
	"github.com/dsh-actor/dsh-actor/model/scripted"
	"github.com/dsh-actor/dsh-actor/otel/oteltest"
	"github.com/dsh-actor/dsh-actor/pipeline"
)

// TestTrace holds the tree of spans of a turn under every kind of listener: names,
// attributes, decisions and status (DESIGN 8, SPEC tables V and R).
func TestTrace(t *testing.T) {
	rec := oteltest.New()
	rt := start(t, scripted.New(
		scripted.Answer{Text: "Let me look.", Tools: []scripted.Tool{named("c1", "Work"), named("c2", "Denied")}, Usage: messages.Usage{InputTokens: 7, OutputTokens: 3}},
		scripted.Answer{Text: "done", Usage: messages.Usage{InputTokens: 9, OutputTokens: 1}},
	), func(c *actors.Config) {
		c.Tracer = rec.Tracer()
		var ms atomic.Int64 // every event a millisecond later: no wait rounds to nothing
		c.Now = func() time.Time { return time.UnixMilli(ms.Add(1)) }
	})
	w := &world{t, rt}
	w.tool(noop("Work", true, nil))
	w.tool(noop("Denied", true, nil))
	seams := rt.Seams()
	seams.PromptSubmit.Use(func(ctx context.Context, _ *pipeline.PromptSubmit, next pipeline.Next[messages.PromptDecision]) (messages.PromptDecision, error) {
		return next(ctx)
	}, pipeline.Named("prompt policy"))
	seams.PreStep.Use(func(context.Context, *pipeline.Step) (messages.StepVerdict, error) { return nil, nil }, pipeline.Named("pre"))
	seams.PreExecute.Use(func(ctx context.Context, c *pipeline.Call, next pipeline.Next[messages.PreToolDecision]) (messages.PreToolDecision, error) {
		if c.Name() == "Denied" {
			return messages.ToolDeny{Reason: "not today"}, nil
		}
		return next(ctx)
	}, pipeline.Named("gate"))
	seams.TurnContinuation.Use(func(ctx context.Context, _ *pipeline.Continuation, next pipeline.Next[messages.ContinuationDecision]) (messages.ContinuationDecision, error) {
		return next(ctx)
	}, pipeline.Named("goal"))
	s := w.open(agent(), "s")
	w.prompt(s, "go")
	must(t, second(rt.Shutdown(context.Background())))
	if open := rec.Open(); len(open) > 0 {
		t.Errorf("spans without an end: %v", open)
	}
	golden(t, "testdata/trace.txt", rec.Text())
}

// golden compares text with a file, and writes the file if GOLDEN is set.
func golden(t *testing.T, path, got string) {
	t.Helper()
	if os.Getenv("GOLDEN") != "" {
		must(t, os.WriteFile(path, []byte(got), 0o644))
	}
	want, err := os.ReadFile(path)
	must(t, err)
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (-want +got)\n%s", path, diff)
	}
}

package pipeline_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/dsh-actor/dsh-actor/messages"
	"github.com/dsh-actor/dsh-actor/pipeline"
)

// BenchmarkSeam is one run of each kind of seam, with listeners that do nothing.
func BenchmarkSeam(b *testing.B) {
	kinds := []struct {
		name string
		use  func(*pipeline.Seams)
		run  func(context.Context, *pipeline.Seams)
	}{
		{"waterfall", func(s *pipeline.Seams) {
			s.PreExecute.Use(func(ctx context.Context, _ *pipeline.Call, next nextPre) (messages.PreToolDecision, error) {
				return next(ctx)
			})
		}, func(ctx context.Context, s *pipeline.Seams) { _, _ = s.PreExecute.Run(ctx, nil, allow) }},
		{"serial", func(s *pipeline.Seams) {
			s.PreStep.Use(func(context.Context, *pipeline.Step) (messages.StepVerdict, error) { return nil, nil })
		}, func(ctx context.Context, s *pipeline.Seams) { _, _ = s.PreStep.Run(ctx, nil) }},
		{"sequence", func(s *pipeline.Seams) {
			s.PostStep.Use(func(context.Context, *pipeline.Step) error { return nil })
		}, func(ctx context.Context, s *pipeline.Seams) { _ = s.PostStep.Run(ctx, nil) }},
		{"notification", func(s *pipeline.Seams) {
			s.CancelRequested.Use(func(context.Context, *pipeline.CancelRequested) {})
		}, func(ctx context.Context, s *pipeline.Seams) { s.CancelRequested.Run(ctx, nil) }},
		{"parallel", func(s *pipeline.Seams) {
			s.SessionEnd.Use(func(context.Context, *pipeline.SessionEnd) error { return nil })
		}, func(ctx context.Context, s *pipeline.Seams) { _ = s.SessionEnd.Run(ctx, nil) }},
	}
	for _, k := range kinds {
		for _, n := range []int{0, 1, 4} {
			b.Run(fmt.Sprintf("%s/listeners=%d", k.name, n), func(b *testing.B) {
				p := pipeline.New(pipeline.Config{})
				for range n {
					k.use(p.Seams())
				}
				ctx, s := b.Context(), p.Seams()
				b.ReportAllocs()
				for b.Loop() {
					k.run(ctx, s)
				}
			})
		}
	}
}

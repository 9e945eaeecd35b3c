package pipeline_test

import (
	"context"
	"testing"

	"github.com/dsh-actor/dsh-actor/messages"
	"github.com/dsh-actor/dsh-actor/pipeline"
)

type echoIn struct {
	Text  string `json:"text"`
	Times int    `json:"times,omitzero"`
}

type echoOut struct {
	Text string `json:"text"`
}

func echoTool() pipeline.Tool {
	return pipeline.MustDefine(pipeline.Definition[echoIn, echoOut]{
		Name: "Echo", Description: "Repeats text.",
		Run: func(_ context.Context, _ *pipeline.Invocation, in echoIn) (echoOut, error) {
			return echoOut{in.Text}, nil
		},
		Render: func(_ echoIn, out echoOut) messages.Content { return messages.Text(out.Text) },
	})
}

// BenchmarkPipeline is one tool call through all five phases, without an actor:
// arguments validated and decoded, a typed body, its value encoded and rendered.
func BenchmarkPipeline(b *testing.B) {
	run := func(b *testing.B, p *pipeline.Pipeline) {
		if _, err := p.Tools().Register(echoTool()); err != nil {
			b.Fatal(err)
		}
		ctx, in := b.Context(), pipeline.Input{ID: "c1", Name: "Echo", Arguments: `{"text":"hello, world"}`}
		b.ReportAllocs()
		for b.Loop() {
			if r := p.Execute(ctx, in); r.IsError() {
				b.Fatal(r.Message())
			}
		}
	}
	b.Run("listeners=0", func(b *testing.B) { run(b, pipeline.New(pipeline.Config{})) })
	b.Run("listeners=4+guard", func(b *testing.B) {
		p := pipeline.New(pipeline.Config{})
		s := p.Seams()
		s.PreExecute.Use(func(ctx context.Context, _ *pipeline.Call, next pipeline.Next[messages.PreToolDecision]) (messages.PreToolDecision, error) {
			return next(ctx)
		})
		s.Execute.Use(func(ctx context.Context, _ *pipeline.Call, next pipeline.Next[*messages.Result]) (*messages.Result, error) {
			return next(ctx)
		})
		s.PostExecute.Use(func(ctx context.Context, _ pipeline.Outcome, next pipeline.Next[messages.PostToolDecision]) (messages.PostToolDecision, error) {
			return next(ctx)
		})
		s.Result.Use(func(context.Context, pipeline.Outcome) {})
		p.Guard(func(*pipeline.Call) (string, bool) { return "", false })
		run(b, p)
	})
	b.Run("plain", func(b *testing.B) {
		// The same work as plain calls: decode, body, encode, render.
		b.ReportAllocs()
		args := messages.JSON(`{"text":"hello, world"}`)
		for b.Loop() {
			if err := messages.CheckJSON(args); err != nil {
				b.Fatal(err)
			}
			var in echoIn
			if err := args.Unmarshal(&in); err != nil {
				b.Fatal(err)
			}
			value, err := messages.MarshalJSON(echoOut{in.Text})
			if err != nil {
				b.Fatal(err)
			}
			_ = messages.NewSuccess(messages.ResultFields{Value: value, Content: messages.Text(in.Text)})
		}
	})
}

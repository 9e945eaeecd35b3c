package pipeline_test

import (
	"context"
	"testing"

	"github.com/dsh-actor/dsh-actor/messages"
	"github.com/dsh-actor/dsh-actor/pipeline"
)

// Z-5: contexts that a body deferred survive whatever happens to the call after
// it, in order, before what a wrapper added; contexts of decisions do not survive
// a failure, and a block drops everything but its own (P-22).
func TestContextsOfWorkThatRan(t *testing.T) {
	adds := wrap(func(r *messages.Result) (*messages.Result, error) {
		return r.With(func(f *messages.ResultFields) { f.Contexts = notes("wrapper's") }), nil
	})
	tests := []struct {
		name  string
		tool  string
		setup func(p *pipeline.Pipeline, cancel context.CancelFunc)
		want  outcome
	}{
		{name: "success", tool: "T", want: outcome{Text: "1", Value: "1", Contexts: []string{"a", "b", "c"}}},
		{name: "body fails", tool: "Fails", want: failure("boom", "a", "b", "c")}, // P-20
		{name: "body panics", tool: "Panics", want: failure("boom", "a", "b", "c")},
		{name: "body returns an invalid value", tool: "Invalid", want: failure(`tool "Invalid" returned invalid output: "value" must be a string`, "a", "b", "c").coded("ToolOutputError", messages.CodeInvalidToolOutput)},
		{
			name: "wrapper fails", tool: "T",
			setup: func(p *pipeline.Pipeline, _ context.CancelFunc) {
				p.Seams().Execute.Use(wrap(func(*messages.Result) (*messages.Result, error) { return nil, errBoom }))
			},
			want: failure("boom", "a", "b", "c"),
		},
		{
			name: "wrapper panics", tool: "T",
			setup: func(p *pipeline.Pipeline, _ context.CancelFunc) {
				p.Seams().Execute.Use(wrap(func(*messages.Result) (*messages.Result, error) { panic(errBoom) }))
			},
			want: failure("boom", "a", "b", "c"),
		},
		{
			name: "wrapper answers nothing", tool: "T",
			setup: func(p *pipeline.Pipeline, _ context.CancelFunc) {
				p.Seams().Execute.Use(wrap(func(*messages.Result) (*messages.Result, error) { return nil, nil }), pipeline.Named("L"))
			},
			want: failure("tools/execute: listener L returned no decision", "a", "b", "c"),
		},
		{
			name: "wrapper's own come after", tool: "T",
			setup: func(p *pipeline.Pipeline, _ context.CancelFunc) { p.Seams().Execute.Use(adds) },
			want:  outcome{Text: "1", Value: "1", Contexts: []string{"a", "b", "c", "wrapper's"}},
		},
		{
			name: "post-execute fails", tool: "T",
			setup: func(p *pipeline.Pipeline, _ context.CancelFunc) {
				p.Seams().Execute.Use(adds)
				p.Seams().PostExecute.Use(post(messages.ResultAccept{Contexts: notes("decision's")}, errBoom))
			},
			want: failure("boom", "a", "b", "c", "wrapper's"),
		},
		{
			name: "post-execute contradicts itself", tool: "T",
			setup: func(p *pipeline.Pipeline, _ context.CancelFunc) {
				p.Seams().PostExecute.Use(post(messages.ResultAccept{Value: "1", Content: messages.Text("x"), Contexts: notes("decision's")}, nil))
			},
			want: failure("tools/post-execute accept decision cannot replace both value and content", "a", "b", "c"),
		},
		{
			name: "finalizer fails after an accept", tool: "BadLastWord",
			setup: func(p *pipeline.Pipeline, _ context.CancelFunc) {
				p.Seams().PostExecute.Use(post(messages.ResultAccept{Contexts: notes("decision's")}, nil))
			},
			want: failure("last", "a", "b", "c"),
		},
		{
			name: "finalizer fails after a block", tool: "BadLastWord",
			setup: func(p *pipeline.Pipeline, _ context.CancelFunc) {
				p.Seams().PostExecute.Use(post(messages.ResultBlock{Feedback: messages.Text("no"), Contexts: notes("decision's")}, nil))
			},
			want: failure("last"),
		},
		{
			name: "block", tool: "T",
			setup: func(p *pipeline.Pipeline, _ context.CancelFunc) {
				p.Seams().PostExecute.Use(post(messages.ResultBlock{Feedback: messages.Text("no"), Contexts: notes("decision's")}, nil))
			},
			want: outcome{Error: true, Text: "no", Message: "no", Contexts: []string{"decision's"}},
		},
		{
			name: "caller gone", tool: "T", // P-21
			setup: func(p *pipeline.Pipeline, cancel context.CancelFunc) {
				p.Seams().Execute.Use(wrap(func(r *messages.Result) (*messages.Result, error) { cancel(); return r, nil }))
			},
			want: abortedAfter("a", "b", "c"),
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tool := func(name string, then func() (messages.JSON, error)) pipeline.Tool {
				return rawTool(name, func(_ context.Context, inv *pipeline.Invocation) (messages.JSON, error) {
					inv.DeferContext(note("a"), note("b"))
					inv.DeferContext()
					inv.DeferContext(note("c"))
					return then()
				})
			}
			one := func() (messages.JSON, error) { return "1", nil }
			last := tool("BadLastWord", one)
			last.FinalizeContent = func(*pipeline.Call, *messages.Result) (messages.Content, bool) { panic("last") }
			invalid := tool("Invalid", one)
			invalid.Output.Schema = `{"type":"string"}`
			p := newPipeline(t,
				tool("T", one), last, invalid,
				tool("Fails", func() (messages.JSON, error) { return "", errBoom }),
				tool("Panics", func() (messages.JSON, error) { panic(errBoom) }),
			)
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			if tt.setup != nil {
				tt.setup(p, cancel)
			}
			outcomeOf(p.Execute(ctx, pipeline.Input{Name: tt.tool})).expect(t, tt.want)
		})
	}
}

// P-33: the list is read right after the execute waterfall: what a wrapper lets the
// invocation add before that counts, what comes later does not.
func TestDeferContextLate(t *testing.T) {
	var inv *pipeline.Invocation
	p := newPipeline(t, rawTool("T", func(_ context.Context, i *pipeline.Invocation) (messages.JSON, error) {
		inv = i
		return "1", nil
	}))
	p.Seams().Execute.Use(wrap(func(r *messages.Result) (*messages.Result, error) {
		inv.DeferContext(note("before the waterfall ended"))
		return r, nil
	}))
	p.Seams().PostExecute.Use(func(ctx context.Context, _ pipeline.Outcome, next nextPost) (messages.PostToolDecision, error) {
		inv.DeferContext(note("too late"))
		return next(ctx)
	})
	outcomeOf(p.Execute(t.Context(), pipeline.Input{Name: "T"})).expect(t,
		outcome{Text: "1", Value: "1", Contexts: []string{"before the waterfall ended"}})
}

// P-28: no empty lists, no nil content; the parts of both kinds.
func TestResultParts(t *testing.T) {
	p := newPipeline(t, postTools()...)
	remove := p.Seams().PostExecute.Use(post(messages.ResultBlock{}, nil))
	if r := p.Execute(t.Context(), pipeline.Input{Name: "T"}); !r.Contexts().IsZero() || r.Value() != "" || r.Meta() != "" || !r.Info().IsZero() {
		t.Errorf("a blocked result keeps %+v", r.Fields())
	}
	remove()
	if r := p.Execute(t.Context(), pipeline.Input{Name: "T"}); r.Message() != "" || !r.Info().IsZero() {
		t.Errorf("a success has an error: %+v", r.Fields())
	}
}

package pipeline_test

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/dsh-actor/dsh-actor/messages"
	"github.com/dsh-actor/dsh-actor/pipeline"
)

// TestPhaseVisibility is the matrix of P-34: which phases a call passes on every
// path. The finalizer is always captured, except for a tool that is unknown. Each
// row also has what the model reads.
func TestPhaseVisibility(t *testing.T) {
	listener := func(p *pipeline.Pipeline) *pipeline.Seams { return p.Seams() }
	tests := []struct {
		row   string
		input string // arguments; default {}
		tool  string // default T
		ctx   func(testing.TB) context.Context
		setup func(*pipeline.Pipeline, context.CancelFunc)
		want  []string
		out   outcome
	}{
		{
			row:  "normal",
			want: []string{"pre", "guard", "execute", "body", "post", "finalize", "result"},
			out:  outcome{Text: "1", Value: "1"},
		},
		{
			row: "bad arguments", input: `{"a":1,"a":2}`, // P-6
			want: []string{"finalize", "result"},
			out:  failure("tool execution arguments must be losslessly JSON-serializable"),
		},
		{
			row: "bad arguments win over a pre-aborted signal", input: `{"a":1,"a":2}`, ctx: cancelled, // P-6
			want: []string{"finalize", "result"},
			out:  failure("tool execution arguments must be losslessly JSON-serializable"),
		},
		{
			row: "pre-aborted", ctx: cancelled, // P-7
			want: []string{"finalize", "result"},
			out:  abortedBefore(),
		},
		{
			row: "pre deny", // P-12
			setup: func(p *pipeline.Pipeline, _ context.CancelFunc) {
				listener(p).PreExecute.Use(pre(messages.ToolDeny{Reason: "no"}, nil))
			},
			want: []string{"pre", "post", "finalize", "result"},
			out:  failure("no"),
		},
		{
			row: "ask denied", // P-9
			setup: func(p *pipeline.Pipeline, _ context.CancelFunc) {
				listener(p).PreExecute.Use(pre(messages.ToolAsk{}, nil))
			},
			want: []string{"pre", "post", "finalize", "result"},
			out:  failure(`tool "T" requires approval (not yet supported)`),
		},
		{
			row: "guard deny", // P-10
			setup: func(p *pipeline.Pipeline, _ context.CancelFunc) {
				p.Guard(func(*pipeline.Call) (string, bool) { return "guarded", true })
			},
			want: []string{"pre", "guard", "post", "finalize", "result"},
			out:  failure("guarded"),
		},
		{
			row: "pre throws", // P-14
			setup: func(p *pipeline.Pipeline, _ context.CancelFunc) {
				listener(p).PreExecute.Use(pre(nil, errBoom))
			},
			want: []string{"pre", "finalize", "result"},
			out:  failure("boom"),
		},
		{
			row: "pre panics", // P-14
			setup: func(p *pipeline.Pipeline, _ context.CancelFunc) {
				listener(p).PreExecute.Use(func(context.Context, *pipeline.Call, nextPre) (messages.PreToolDecision, error) { panic("boom") })
			},
			want: []string{"pre", "finalize", "result"},
			out:  failure("boom"),
		},
		{
			row: "guard throws", // P-14
			setup: func(p *pipeline.Pipeline, _ context.CancelFunc) {
				p.Guard(func(*pipeline.Call) (string, bool) { panic(errBoom) })
			},
			want: []string{"pre", "guard", "finalize", "result"},
			out:  failure("boom"),
		},
		{
			row: "cancelled during pre", // P-11
			setup: func(p *pipeline.Pipeline, cancel context.CancelFunc) {
				listener(p).PreExecute.Use(func(ctx context.Context, _ *pipeline.Call, next nextPre) (messages.PreToolDecision, error) {
					cancel()
					return next(ctx)
				})
			},
			want: []string{"pre", "guard", "post", "finalize", "result"},
			out:  abortedBefore(),
		},
		{
			row: "unknown tool", tool: "Nobody",
			want: []string{"pre", "guard", "execute", "post", "result"},
			out:  failure(`unknown tool "Nobody"`).coded("ToolNotFoundError", messages.CodeUnknownTool),
		},
		{
			row: "execute wrapper throws before the body", // P-14
			setup: func(p *pipeline.Pipeline, _ context.CancelFunc) {
				listener(p).Execute.Use(execute(nil, errBoom))
			},
			want: []string{"pre", "guard", "execute", "finalize", "result"},
			out:  failure("boom"),
		},
		{
			row: "execute wrapper throws after the body", // P-14, Z-5
			setup: func(p *pipeline.Pipeline, _ context.CancelFunc) {
				listener(p).Execute.Use(func(ctx context.Context, _ *pipeline.Call, next nextExec) (*messages.Result, error) {
					if _, err := next(ctx); err != nil {
						return nil, err
					}
					return nil, errBoom
				})
			},
			want: []string{"pre", "guard", "execute", "body", "finalize", "result"},
			out:  failure("boom"),
		},
		{
			row: "post throws", // P-14
			setup: func(p *pipeline.Pipeline, _ context.CancelFunc) {
				listener(p).PostExecute.Use(post(nil, errBoom))
			},
			want: []string{"pre", "guard", "execute", "body", "post", "finalize", "result"},
			out:  failure("boom"),
		},
		{
			row: "body fails", tool: "Fails",
			want: []string{"pre", "guard", "execute", "body", "post", "finalize", "result"},
			out:  failure("broken"),
		},
		{
			row: "body panics", tool: "Panics", // P-17
			want: []string{"pre", "guard", "execute", "body", "post", "finalize", "result"},
			out:  failure("ouch"),
		},
		{
			row: "invalid arguments of a typed tool", tool: "Typed", input: `{"n":"x"}`, // P-16
			want: []string{"pre", "guard", "execute", "post", "finalize", "result"},
			out:  failure(`invalid arguments: "n" must be an integer`).coded("ToolArgsError", messages.CodeInvalidArgs),
		},
	}
	for _, tt := range tests {
		t.Run(tt.row, func(t *testing.T) {
			var j journal
			p := matrixPipeline(t, &j)
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			if tt.ctx != nil {
				ctx = tt.ctx(t)
			}
			j.observe(p)
			if tt.setup != nil {
				tt.setup(p, cancel)
			}
			in := pipeline.Input{ID: "c", Name: "T", Arguments: tt.input}
			if tt.tool != "" {
				in.Name = tt.tool
			}
			r := p.Execute(ctx, in)
			if diff := cmp.Diff(tt.want, j.take()); diff != "" {
				t.Errorf("phases (-want +got):\n%s", diff)
			}
			outcomeOf(r).expect(t, tt.out)
		})
	}
}

// matrixPipeline has a tool for every way a body can go; each writes down that its
// body ran and that it had the last word.
func matrixPipeline(t *testing.T, j *journal) *pipeline.Pipeline {
	finalize := func(*pipeline.Call, *messages.Result) (messages.Content, bool) {
		j.add("finalize")
		return messages.Content{}, false
	}
	tool := func(name string, run body) pipeline.Tool {
		raw := rawTool(name, func(ctx context.Context, inv *pipeline.Invocation) (messages.JSON, error) {
			j.add("body")
			return run(ctx, inv)
		})
		raw.FinalizeContent = finalize
		return raw
	}
	type in struct {
		N int `json:"n"`
	}
	return newPipeline(t,
		tool("T", constant("1")),
		tool("Fails", func(context.Context, *pipeline.Invocation) (messages.JSON, error) {
			return "", errString("broken")
		}),
		tool("Panics", func(context.Context, *pipeline.Invocation) (messages.JSON, error) { panic("ouch") }),
		pipeline.MustDefine(pipeline.Definition[in, int]{
			Name: "Typed", FinalizeContent: finalize,
			Run: func(_ context.Context, _ *pipeline.Invocation, in in) (int, error) { j.add("body"); return in.N, nil },
		}),
	)
}

type errString string

func (e errString) Error() string { return string(e) }

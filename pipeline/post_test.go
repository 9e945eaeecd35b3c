package pipeline_test

import (
	"context"
	"testing"

	"github.com/dsh-actor/dsh-actor/messages"
	"github.com/dsh-actor/dsh-actor/pipeline"
)

// postTools are what post-execute decisions are tried on; each body defers a
// context.
func postTools() []pipeline.Tool {
	deferring := func(value messages.JSON, err error) body {
		return func(_ context.Context, inv *pipeline.Invocation) (messages.JSON, error) {
			inv.DeferContext(note("deferred"))
			return value, err
		}
	}
	bare := rawTool("Bare", deferring(`"v"`, nil))
	list := rawTool("List", deferring("1", nil))
	list.Output.Meta = func(_, _ messages.JSON) (messages.JSON, error) { return "[1]", nil }
	own := rawTool("Own", deferring("1", nil))
	own.Output.Meta = func(_, _ messages.JSON) (messages.JSON, error) { return `{"b":2,"original":"mine","a":1.0}`, nil }
	return []pipeline.Tool{
		contractTool("T", deferring("1", nil)), bare, list, own,
		contractTool("Fails", deferring("", errBoom)),
	}
}

// P-22: every decision of tools/post-execute, on every kind of result.
func TestPostExecuteDecisions(t *testing.T) {
	const original = `{"of":{},"original":[{"type":"text","text":"n=1"}]}`
	image := messages.NewContent(messages.TextBlock{Text: "line"}, messages.ImageBlock{MediaType: "image/png"}, messages.TextBlock{Text: "end"})
	success := outcome{Text: "n=1", Value: "1", Meta: `{"of":{}}`, Contexts: []string{"deferred"}}
	with := func(o outcome, change func(*outcome)) outcome { change(&o); return o }
	tests := []struct {
		name     string
		tool     string
		decision messages.PostToolDecision
		want     outcome
	}{
		{name: "accept", tool: "T", decision: messages.ResultAccept{}, want: success},
		{name: "accept a failure", tool: "Fails", decision: messages.ResultAccept{}, want: failure("boom", "deferred")},
		{
			name: "contexts follow the result's", tool: "T", decision: messages.ResultAccept{Contexts: notes("x", "y")},
			want: with(success, func(o *outcome) { o.Contexts = []string{"deferred", "x", "y"} }),
		},
		{
			name: "content", tool: "T", decision: messages.ResultAccept{Content: messages.Text("new"), Contexts: notes("x")},
			want: outcome{Text: "new", Value: "1", Meta: original, Contexts: []string{"deferred", "x"}}, // Z-25: the value is not hidden
		},
		{
			name: "empty content counts as given", tool: "T", decision: messages.ResultAccept{Content: messages.EmptyContent()},
			want: outcome{Value: "1", Meta: original, Contexts: []string{"deferred"}},
		},
		{
			name: "content without meta", tool: "Bare", decision: messages.ResultAccept{Content: messages.Text("new")},
			want: outcome{Text: "new", Value: `"v"`, Meta: `{"original":[{"type":"text","text":"\"v\""}]}`, Contexts: []string{"deferred"}},
		},
		{
			name: "content with meta that is no object", tool: "List", decision: messages.ResultAccept{Content: messages.Text("new")},
			want: outcome{Text: "new", Value: "1", Meta: `{"meta":[1],"original":[{"type":"text","text":"1"}]}`, Contexts: []string{"deferred"}},
		},
		{
			name: "content with meta that has an original", tool: "Own", decision: messages.ResultAccept{Content: messages.Text("new")},
			want: outcome{Text: "new", Value: "1", Meta: `{"b":2,"a":1.0,"original":[{"type":"text","text":"1"}]}`, Contexts: []string{"deferred"}},
		},
		{
			name: "content of a failure", tool: "Fails", decision: messages.ResultAccept{Content: messages.Text("new")},
			want: outcome{
				Error: true, Text: "new", Message: "boom", Contexts: []string{"deferred"},
				Meta: `{"original":[{"type":"text","text":"Error: boom"}]}`,
			},
		},
		{
			name: "content of an unknown tool keeps its identity", tool: "Nobody", decision: messages.ResultAccept{Content: messages.Text("new")},
			want: outcome{
				Error: true, Text: "new", Message: `unknown tool "Nobody"`, Name: "ToolNotFoundError", Code: messages.CodeUnknownTool,
				Meta: `{"original":[{"type":"text","text":"Error: unknown tool \"Nobody\""}]}`,
			},
		},
		{
			name: "value", tool: "T", decision: messages.ResultAccept{Value: "5", Contexts: notes("x")},
			want: outcome{Text: "n=5", Value: "5", Meta: `{"of":{}}`, Contexts: []string{"deferred", "x"}},
		},
		{
			name: "value of a failure", tool: "Fails", decision: messages.ResultAccept{Value: "5", Contexts: notes("x")},
			want: failure("tools/post-execute cannot replace the value of a failed result", "deferred"), // P-14, Z-5
		},
		{
			name: "invalid value", tool: "T", decision: messages.ResultAccept{Value: `"x"`},
			want: failure(`tool "T" returned invalid output: "value" must be an integer`, "deferred").
				coded("ToolOutputError", messages.CodeInvalidToolOutput),
		},
		{
			name: "value that is not JSON", tool: "T", decision: messages.ResultAccept{Value: `{"a":1,"a":2}`},
			want: failure(`tool "T" returned invalid output: value is not lossless JSON`, "deferred").
				coded("ToolOutputError", messages.CodeInvalidToolOutput),
		},
		{
			name: "both", tool: "T", decision: messages.ResultAccept{Value: "5", Content: messages.EmptyContent(), Contexts: notes("x")},
			want: failure("tools/post-execute accept decision cannot replace both value and content", "deferred"),
		},
		{
			name: "both on a failure", tool: "Fails", decision: messages.ResultAccept{Value: "5", Content: messages.Text("new")},
			want: failure("tools/post-execute accept decision cannot replace both value and content", "deferred"),
		},
		{
			name: "block", tool: "T", decision: messages.ResultBlock{Feedback: messages.Text("stop it")},
			want: outcome{Error: true, Text: "stop it", Message: "stop it"}, // value, meta and deferred contexts are gone
		},
		{
			name: "block with contexts", tool: "T", decision: messages.ResultBlock{Feedback: messages.Text("stop it"), Contexts: notes("own")},
			want: outcome{Error: true, Text: "stop it", Message: "stop it", Contexts: []string{"own"}},
		},
		{
			name: "block with other blocks", tool: "T", decision: messages.ResultBlock{Feedback: image},
			want: outcome{Error: true, Text: "line|<image>|end", Message: "line\n[image content]\nend"},
		},
		{
			name: "block with empty feedback", tool: "T", decision: messages.ResultBlock{Feedback: messages.EmptyContent()},
			want: outcome{Error: true, Message: "tool result blocked by post-execute policy"},
		},
		{
			name: "block with empty text", tool: "T", decision: messages.ResultBlock{Feedback: messages.Text("")},
			want: outcome{Error: true, Message: "tool result blocked by post-execute policy"},
		},
		{
			name: "block without feedback", tool: "T", decision: messages.ResultBlock{},
			want: outcome{Error: true, Text: "tool result blocked by post-execute policy", Message: "tool result blocked by post-execute policy"},
		},
		{
			name: "block of a failure with an identity", tool: "Nobody", decision: messages.ResultBlock{Feedback: messages.Text("stop it")},
			want: outcome{Error: true, Text: "stop it", Message: "stop it"},
		},
		{
			name: "no decision", tool: "T", decision: nil, // Z-1
			want: failure("tools/post-execute: listener L returned no decision", "deferred"),
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := newPipeline(t, postTools()...)
			p.Seams().PostExecute.Use(post(tt.decision, nil), pipeline.Named("L"))
			r := p.Execute(t.Context(), pipeline.Input{Name: tt.tool})
			outcomeOf(r).expect(t, tt.want)
			if r.Content().IsZero() {
				t.Error("the result has no content at all")
			}
		})
	}
}

// P-22: an accept that changes nothing leaves the very object.
func TestAcceptKeepsObject(t *testing.T) {
	p := newPipeline(t, postTools()...)
	var before *messages.Result
	p.Seams().PostExecute.Use(func(ctx context.Context, o pipeline.Outcome, next nextPost) (messages.PostToolDecision, error) {
		before = o.Result
		return next(ctx)
	})
	if r := p.Execute(t.Context(), pipeline.Input{Name: "T"}); r != before {
		t.Error("another object")
	}
}

// P-22: the tool is gone when its value is to be replaced.
func TestReplaceValueOfToolThatIsGone(t *testing.T) {
	p := newPipeline(t)
	remove, err := p.Tools().Register(rawTool("T", constant("1")))
	if err != nil {
		t.Fatal(err)
	}
	p.Seams().PostExecute.Use(func(context.Context, pipeline.Outcome, nextPost) (messages.PostToolDecision, error) {
		remove()
		return messages.ResultAccept{Value: "2"}, nil
	})
	outcomeOf(p.Execute(t.Context(), pipeline.Input{Name: "T"})).expect(t,
		failure(`unknown tool "T"`).coded("ToolNotFoundError", messages.CodeUnknownTool))
}

// P-23: the caller is gone during post-execute: a success is an abort, with the
// decision's contexts; a failure stays.
func TestAbortDuringPostExecute(t *testing.T) {
	tests := []struct {
		name     string
		tool     string
		decision messages.PostToolDecision
		want     outcome
	}{
		{"success", "T", messages.ResultAccept{Content: messages.Text("new"), Contexts: notes("x")}, abortedAfter("deferred", "x")},
		{"failure", "Fails", messages.ResultAccept{}, failure("boom", "deferred")},
		{"block", "T", messages.ResultBlock{Feedback: messages.Text("no")}, outcome{Error: true, Text: "no", Message: "no"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := newPipeline(t, postTools()...)
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			p.Seams().PostExecute.Use(func(context.Context, pipeline.Outcome, nextPost) (messages.PostToolDecision, error) {
				cancel()
				return tt.decision, nil
			})
			outcomeOf(p.Execute(ctx, pipeline.Input{Name: tt.tool})).expect(t, tt.want)
		})
	}
}

// P-23, P-35: a success that no body made is aborted before dispatch.
func TestAbortDuringPostExecuteWithoutBody(t *testing.T) {
	p := newPipeline(t, postTools()...)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	p.Seams().Execute.Use(execute(messages.NewSuccess(messages.ResultFields{Value: "1"}), nil))
	p.Seams().PostExecute.Use(func(ctx context.Context, _ pipeline.Outcome, next nextPost) (messages.PostToolDecision, error) {
		cancel()
		return next(ctx)
	})
	outcomeOf(p.Execute(ctx, pipeline.Input{Name: "T"})).expect(t, abortedBefore())
}

package pipeline_test

import (
	"context"
	"testing"

	"github.com/dsh-actor/dsh-actor/messages"
	"github.com/dsh-actor/dsh-actor/pipeline"
)

// P-24: what the tool's last word may do, and what comes of its failures.
func TestFinalizeContent(t *testing.T) {
	full := outcome{Text: "1", Value: "1", Meta: `{"m":1}`, Contexts: []string{"deferred"}}
	text := func(s string) outcome { o := full; o.Text = s; return o }
	tests := []struct {
		name     string
		finalize func(*pipeline.Call, *messages.Result) (messages.Content, bool)
		want     outcome
	}{
		{"keeps", func(*pipeline.Call, *messages.Result) (messages.Content, bool) {
			return messages.Text("ignored"), false
		}, full},
		{"replaces content only", func(_ *pipeline.Call, r *messages.Result) (messages.Content, bool) {
			return r.Content().Append(messages.TextBlock{Text: "checked"}), true
		}, text("1|checked")},
		{"replaces by nothing", func(*pipeline.Call, *messages.Result) (messages.Content, bool) { return messages.Content{}, true }, text("")},
		{"panics", func(*pipeline.Call, *messages.Result) (messages.Content, bool) { panic("ouch") }, failure("ouch", "deferred")}, // Z-5
		{"panics with an identity", func(*pipeline.Call, *messages.Result) (messages.Content, bool) {
			panic(messages.Errorf("CUSTOM", "ouch"))
		}, failure("ouch", "deferred").coded("HarnessError", "CUSTOM")},
		{"returns what no log can hold", func(*pipeline.Call, *messages.Result) (messages.Content, bool) {
			return messages.NewContent(nil), true
		}, failure("tool result must be losslessly JSON-serializable", "deferred")},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			calls := 0
			tool := rawTool("T", func(_ context.Context, inv *pipeline.Invocation) (messages.JSON, error) {
				inv.DeferContext(note("deferred"))
				return "1", nil
			})
			tool.Output.Meta = func(_, _ messages.JSON) (messages.JSON, error) { return `{"m":1}`, nil }
			tool.FinalizeContent = func(c *pipeline.Call, r *messages.Result) (messages.Content, bool) {
				calls++
				return tt.finalize(c, r)
			}
			p := newPipeline(t, tool)
			r := p.Execute(t.Context(), pipeline.Input{Name: "T"})
			outcomeOf(r).expect(t, tt.want)
			if calls != 1 || r.Content().IsZero() {
				t.Errorf("finalized %d times, content absent: %v", calls, r.Content().IsZero())
			}
		})
	}
}

// P-24: a failure stays a failure whatever the tool says of its content.
func TestFinalizeContentOfFailure(t *testing.T) {
	tool := rawTool("T", constant("1"))
	tool.FinalizeContent = func(*pipeline.Call, *messages.Result) (messages.Content, bool) { return messages.Text("fine"), true }
	p := newPipeline(t, tool)
	p.Seams().PreExecute.Use(pre(nil, messages.Errorf("CUSTOM", "no")))
	want := failure("no").coded("HarnessError", "CUSTOM")
	want.Text = "fine"
	outcomeOf(p.Execute(t.Context(), pipeline.Input{Name: "T"})).expect(t, want)
}

// P-25: a candidate that no log can hold is a failure, before the tool's last word;
// contexts of work that did run are kept as far as a log can hold them (Z-5).
func TestCandidateMustBeLossless(t *testing.T) {
	bad := messages.Context{Content: messages.Text("bad"), Source: messages.PluginSource("test"), Meta: `{"a":1,"a":2}`}
	odd := messages.NewContent(&messages.TextBlock{Text: "a pointer"})
	raw := func(j messages.JSON) messages.Content {
		return messages.NewContent(messages.OtherBlock{Type: "x", Raw: j})
	}
	nested := messages.NewContent(messages.ToolResultBlock{ToolCallID: "c", Content: odd})
	refused := failure("tool result must be losslessly JSON-serializable", "deferred")
	tests := []struct {
		name  string
		setup func(*pipeline.Seams)
		want  outcome
	}{
		{"lossless blocks of every kind", func(s *pipeline.Seams) {
			s.PostExecute.Use(post(messages.ResultAccept{Content: messages.NewContent(
				messages.TextBlock{}, messages.ReasoningBlock{}, messages.ToolCallBlock{}, messages.ImageBlock{},
				messages.ToolResultBlock{Content: messages.Text("x")}, messages.OtherBlock{Type: "x", Raw: ` {"type":"x"}`},
			)}, nil))
		}, outcome{
			Text: "|<reasoning>|<tool-call>|<image>|<tool-result>|<x>", Value: "1", Contexts: []string{"deferred"},
			Meta: `{"original":[{"type":"text","text":"1"}]}`,
		}},
		{"content of a decision", func(s *pipeline.Seams) { s.PostExecute.Use(post(messages.ResultAccept{Content: odd}, nil)) }, refused},
		{"raw block", func(s *pipeline.Seams) { s.PostExecute.Use(post(messages.ResultAccept{Content: raw("{")}, nil)) }, refused},
		{"raw block that is no object", func(s *pipeline.Seams) { s.PostExecute.Use(post(messages.ResultAccept{Content: raw("1")}, nil)) }, refused},
		{"nested content", func(s *pipeline.Seams) { s.PostExecute.Use(post(messages.ResultAccept{Content: nested}, nil)) }, refused},
		{"context of a decision", func(s *pipeline.Seams) {
			s.PostExecute.Use(post(messages.ResultAccept{Contexts: messages.ListOf(bad)}, nil))
		}, refused},
		{"feedback of a block", func(s *pipeline.Seams) {
			s.PostExecute.Use(post(messages.ResultBlock{Feedback: messages.NewContent(nil)}, nil))
		}, failure("tool result must be losslessly JSON-serializable")},
		{"meta of a wrapper's failure", func(s *pipeline.Seams) {
			s.Execute.Use(wrap(func(*messages.Result) (*messages.Result, error) {
				return messages.NewFailure(messages.ResultFields{Message: "m", Meta: "{"}), nil
			}))
		}, refused},
		{"content of a wrapper's failure", func(s *pipeline.Seams) {
			s.Execute.Use(wrap(func(*messages.Result) (*messages.Result, error) {
				return messages.NewFailure(messages.ResultFields{Message: "m", Content: odd}), nil
			}))
		}, refused},
		{"context of a wrapper's failure", func(s *pipeline.Seams) {
			s.Execute.Use(wrap(func(*messages.Result) (*messages.Result, error) {
				return messages.NewFailure(messages.ResultFields{Message: "m", Contexts: messages.ListOf(bad, note("good"))}), nil
			}))
		}, failure("tool result must be losslessly JSON-serializable", "deferred", "good")},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var seen outcome
			tool := rawTool("T", func(_ context.Context, inv *pipeline.Invocation) (messages.JSON, error) {
				inv.DeferContext(note("deferred"))
				return "1", nil
			})
			tool.FinalizeContent = func(_ *pipeline.Call, r *messages.Result) (messages.Content, bool) {
				seen = outcomeOf(r)
				return messages.Content{}, false
			}
			p := newPipeline(t, tool)
			tt.setup(p.Seams())
			outcomeOf(p.Execute(t.Context(), pipeline.Input{Name: "T"})).expect(t, tt.want)
			seen.expect(t, tt.want)
		})
	}
}

// P-25: a body that defers what no log can hold fails its own call.
func TestDeferredContextMustBeLossless(t *testing.T) {
	p := newPipeline(t, rawTool("T", func(_ context.Context, inv *pipeline.Invocation) (messages.JSON, error) {
		inv.DeferContext(note("good"), messages.Context{Content: messages.NewContent(nil)}, note("better"))
		return "1", nil
	}))
	outcomeOf(p.Execute(t.Context(), pipeline.Input{Name: "T"})).expect(t,
		failure("tool result must be losslessly JSON-serializable", "good", "better"))
}

// P-26: observers read the very object that the caller gets, whatever another
// observer does, and the call with its arguments.
func TestResultIsOneObject(t *testing.T) {
	for _, name := range []string{"T", "Fails", "Nobody"} {
		p := newPipeline(t, postTools()...)
		p.Seams().PostExecute.Use(post(messages.ResultAccept{Content: messages.Text("new")}, nil))
		var seen []*messages.Result
		for range 3 {
			p.Seams().Result.Use(func(_ context.Context, o pipeline.Outcome) {
				seen = append(seen, o.Result)
				if o.Call.Name() != name || o.Call.Arguments() != "{}" {
					t.Errorf("call %s %s", o.Call.Name(), o.Call.Arguments())
				}
				o.Call, o.Result = nil, nil // reaches nobody
			})
		}
		r := p.Execute(t.Context(), pipeline.Input{Name: name})
		if len(seen) != 3 || seen[0] != r || seen[1] != r || seen[2] != r {
			t.Errorf("%s: observers saw %v, the caller got %p", name, seen, r)
		}
	}
}

// P-26, D-4: an observer that fails changes nothing and is reported.
func TestObserverIsContained(t *testing.T) {
	var j journal
	p := pipeline.New(pipeline.Config{Warn: func(err error) { j.add(err.Error()) }})
	register(t, p, rawTool("T", constant("1")))
	p.Seams().Result.Use(func(context.Context, pipeline.Outcome) { panic("ouch") }, pipeline.Named("o"))
	p.Seams().Result.Use(func(context.Context, pipeline.Outcome) { j.add("told") })
	outcomeOf(p.Execute(t.Context(), pipeline.Input{Name: "T"})).expect(t, outcome{Text: "1", Value: "1"})
	j.expect(t, "tools/result: listener o: ouch", "told")
}

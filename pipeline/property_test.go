package pipeline_test

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/dsh-actor/dsh-actor/messages"
	"github.com/dsh-actor/dsh-actor/pipeline"
)

// D-1, D-2, D-3, Z-40: whatever is registered, prepended and removed on the runtime
// and on two sessions, in whatever order, a run passes exactly the listeners of its
// scope in the documented order.
func TestPropertyListenerOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		type registered struct {
			name   string
			scope  int
			remove func()
		}
		var ran []string
		root := pipeline.New(pipeline.Config{})
		scopes := []*pipeline.Pipeline{root, root.Scope(), root.Scope()}
		var model []registered // in the order in which they must run
		n := 0
		add := func(prepend bool) func(*rapid.T) {
			return func(t *rapid.T) {
				scope := rapid.IntRange(0, 2).Draw(t, "scope")
				name := fmt.Sprintf("l%d@%d", n, scope)
				n++
				var opts []pipeline.Option
				if prepend {
					opts = append(opts, pipeline.Prepend())
				}
				remove := scopes[scope].Seams().PreExecute.Use(func(ctx context.Context, _ *pipeline.Call, next nextPre) (messages.PreToolDecision, error) {
					ran = append(ran, name)
					return next(ctx)
				}, opts...)
				r := registered{name, scope, remove}
				if prepend {
					model = slices.Insert(model, 0, r)
				} else {
					model = append(model, r)
				}
			}
		}
		t.Repeat(map[string]func(*rapid.T){
			"use":     add(false),
			"prepend": add(true),
			"remove": func(t *rapid.T) {
				if len(model) == 0 {
					t.Skip("nothing to remove")
				}
				i := rapid.IntRange(0, len(model)-1).Draw(t, "which")
				model[i].remove()
				if rapid.Bool().Draw(t, "twice") {
					model[i].remove()
				}
				model = slices.Delete(model, i, i+1)
			},
			"": func(t *rapid.T) {
				for scope, p := range scopes {
					var want []string
					for _, r := range model {
						if r.scope == 0 || r.scope == scope {
							want = append(want, r.name)
						}
					}
					ran = nil
					if _, err := p.Seams().PreExecute.Run(context.Background(), nil, allow); err != nil {
						t.Fatal(err)
					}
					if !slices.Equal(ran, want) {
						t.Fatalf("scope %d ran %v, want %v", scope, ran, want)
					}
					if p.Seams().PreExecute.Empty() != (len(want) == 0) {
						t.Fatalf("scope %d is empty: %v", scope, p.Seams().PreExecute.Empty())
					}
				}
			},
		})
	})
}

func allow(context.Context, *pipeline.Call) (messages.PreToolDecision, error) {
	return messages.ToolAllow{}, nil
}

// D-4, P-8 to P-14, P-34: N pre-execute listeners that pass on, answer, fail or
// panic at random. The outermost that answers decides; the body runs only if that
// is an allow; whatever happens, the call reaches tools/result exactly once.
func TestPropertyPreExecuteDecisions(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		kinds := rapid.SliceOfN(rapid.SampledFrom([]string{
			"next", "next", "next", "next twice", "allow", "deny", "ask", "fail", "panic", "nothing", "pointer",
		}), 0, 6).Draw(t, "listeners")
		p := pipeline.New(pipeline.Config{})
		bodies, results, posts := 0, 0, 0
		if _, err := p.Tools().Register(rawTool("T", func(context.Context, *pipeline.Invocation) (messages.JSON, error) {
			bodies++
			return "1", nil
		})); err != nil {
			t.Fatal(err)
		}
		for i, kind := range kinds {
			p.Seams().PreExecute.Use(preOfKind(kind), pipeline.Named(fmt.Sprint(i)))
		}
		p.Seams().PostExecute.Use(func(ctx context.Context, _ pipeline.Outcome, next nextPost) (messages.PostToolDecision, error) {
			posts++
			return next(ctx)
		})
		p.Seams().Result.Use(func(context.Context, pipeline.Outcome) { results++ })
		r := p.Execute(context.Background(), pipeline.Input{Name: "T"})

		want, runs, reviewed := outcome{Text: "1", Value: "1"}, true, true
		for i, kind := range kinds {
			if kind == "next" || kind == "next twice" {
				continue
			}
			runs = kind == "allow"
			switch kind {
			case "deny":
				want = failure("no")
			case "ask":
				want = failure(`tool "T" requires approval (not yet supported)`)
			case "fail", "panic":
				want, reviewed = failure("boom"), false
			case "nothing":
				want, reviewed = failure(fmt.Sprintf("tools/pre-execute: listener %d returned no decision", i)), false
			case "pointer":
				want, reviewed = failure(fmt.Sprintf("tools/pre-execute: listener %d returned a decision of unknown kind *messages.ToolAllow", i)), false
			}
			break
		}
		if got := outcomeOf(r); got.Error != want.Error || got.Text != want.Text || got.Message != want.Message {
			t.Fatalf("%v: got %+v, want %+v", kinds, got, want)
		}
		if results != 1 || (bodies == 1) != runs || bodies > 1 || (posts == 1) != reviewed || posts > 1 {
			t.Fatalf("%v: %d bodies, %d reviews, %d results", kinds, bodies, posts, results)
		}
	})
}

func preOfKind(kind string) pipeline.Handler[*pipeline.Call, messages.PreToolDecision] {
	return func(ctx context.Context, _ *pipeline.Call, next nextPre) (messages.PreToolDecision, error) {
		switch kind {
		case "next twice":
			if d, err := next(ctx); err != nil {
				return d, err
			}
			return next(ctx)
		case "allow":
			return messages.ToolAllow{}, nil
		case "deny":
			return messages.ToolDeny{Reason: "no"}, nil
		case "ask":
			return messages.ToolAsk{}, nil
		case "fail":
			return messages.ToolAllow{}, errBoom
		case "panic":
			panic("boom")
		case "nothing":
			return nil, nil
		case "pointer":
			return &messages.ToolAllow{}, nil
		}
		return next(ctx)
	}
}

// PAIN 82, P-24, P-26, P-27: whatever goes wrong, wherever, several times, the call
// reaches its finalizer and tools/result exactly once, the caller gets the object
// that was observed, a log can hold it, and contexts of work that did run are there
// unless a block dropped them (Z-5).
func TestPropertyExactlyOneResult(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		flip := func(label string) bool { return rapid.IntRange(0, 3).Draw(t, label) == 0 }
		one := func(label string, of ...string) string { return rapid.SampledFrom(of).Draw(t, label) }
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		at := one("cancel at", "never", "never", "never", "start", "pre", "guard", "execute", "body", "post")
		here := func(place string) {
			if at == place {
				cancel()
			}
		}
		here("start")
		p := pipeline.New(pipeline.Config{})
		bodies, finals, blocked := 0, 0, false
		bodyKind := one("body", "value", "value", "invalid", "error", "panic", "absent")
		tool := rawTool("T", func(_ context.Context, inv *pipeline.Invocation) (messages.JSON, error) {
			bodies++
			inv.DeferContext(note(fmt.Sprintf("run %d", bodies)))
			here("body")
			switch bodyKind {
			case "invalid":
				return `"x"`, nil
			case "error":
				return "", errBoom
			case "panic":
				panic("boom")
			case "absent":
				return "", nil
			}
			return "1", nil
		})
		tool.Output.Schema = `{"type":"integer"}`
		finalKind := one("finalizer", "keep", "keep", "replace", "panic", "bad")
		tool.FinalizeContent = func(*pipeline.Call, *messages.Result) (messages.Content, bool) {
			finals++
			switch finalKind {
			case "replace":
				return messages.Text("final"), true
			case "panic":
				panic("boom")
			case "bad":
				return messages.NewContent(nil), true
			}
			return messages.Content{}, false
		}
		if _, err := p.Tools().Register(tool); err != nil {
			t.Fatal(err)
		}
		preKind := one("pre", "next", "next", "next", "deny", "ask", "fail", "panic", "nothing")
		p.Seams().PreExecute.Use(func(ctx context.Context, c *pipeline.Call, next nextPre) (messages.PreToolDecision, error) {
			here("pre")
			return preOfKind(preKind)(ctx, c, next)
		})
		p.Seams().Approval.Use(answer(messages.ApprovalOnce{}, nil))
		guardKind := one("guard", "pass", "pass", "pass", "deny", "panic")
		p.Guard(func(*pipeline.Call) (string, bool) {
			here("guard")
			if guardKind == "panic" {
				panic("boom")
			}
			return "no", guardKind == "deny"
		})
		execKind := one("execute", "next", "next", "retry", "answer", "edit", "fail", "fail after", "panic", "nothing")
		p.Seams().Execute.Use(func(ctx context.Context, _ *pipeline.Call, next nextExec) (*messages.Result, error) {
			here("execute")
			switch execKind {
			case "answer":
				return messages.NewSuccess(messages.ResultFields{Value: "5"}), nil
			case "fail":
				return nil, errBoom
			case "panic":
				panic("boom")
			case "nothing":
				return nil, nil
			}
			r, err := next(ctx)
			switch {
			case err != nil || execKind == "next":
				return r, err
			case execKind == "retry":
				return next(ctx)
			case execKind == "edit":
				return r.With(func(f *messages.ResultFields) { f.Meta = "1" }), nil
			}
			return nil, errBoom
		})
		postKind := one("post", "next", "next", "content", "value", "both", "block", "fail", "panic", "bad")
		p.Seams().PostExecute.Use(func(ctx context.Context, _ pipeline.Outcome, next nextPost) (messages.PostToolDecision, error) {
			here("post")
			switch postKind {
			case "content":
				return messages.ResultAccept{Content: messages.Text("new")}, nil
			case "value":
				return messages.ResultAccept{Value: "6"}, nil
			case "both":
				return messages.ResultAccept{Content: messages.Text("new"), Value: "6"}, nil
			case "block":
				blocked = true
				return messages.ResultBlock{Feedback: messages.Text("no")}, nil
			case "fail":
				return nil, errBoom
			case "panic":
				panic("boom")
			case "bad":
				return messages.ResultAccept{Contexts: messages.ListOf(messages.Context{Meta: "{"})}, nil
			}
			return next(ctx)
		})
		var observed []*messages.Result
		for range 2 {
			bad := flip("observer panics")
			p.Seams().Result.Use(func(_ context.Context, o pipeline.Outcome) {
				observed = append(observed, o.Result)
				if bad {
					panic("boom")
				}
			})
		}
		args := one("arguments", "{}", "{}", "{}", `{"a":1,"a":1}`)
		var agent pipeline.Agent
		if flip("agent") {
			agent = &fakeAgent{}
		}
		r := p.Execute(ctx, pipeline.Input{Name: "T", Arguments: args, Agent: agent})

		if r == nil || len(observed) != 2 || observed[0] != r || observed[1] != r || finals != 1 {
			t.Fatalf("result %v, observed %v, finalized %d times", r, observed, finals)
		}
		if r.Content().IsZero() || r.IsError() != (r.Value() == "") {
			t.Fatalf("malformed result %+v", r.Fields())
		}
		if _, err := messages.MarshalJSON(messages.ToolResult{Content: r.Content(), Meta: r.Meta()}); err != nil {
			t.Fatalf("no log can hold %+v: %v", r.Fields(), err)
		}
		want := bodies
		if blocked {
			want = 0
		}
		if got := r.Contexts().Len(); got != want {
			t.Fatalf("%d bodies ran, blocked: %v, %d contexts", bodies, blocked, got)
		}
		if ctx.Err() != nil && !r.IsError() {
			t.Fatalf("a success for a caller that is gone: %+v", r.Fields())
		}
	})
}

package pipeline_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/dsh-actor/dsh-actor/messages"
	"github.com/dsh-actor/dsh-actor/pipeline"
)

// P-32, PAIN 85: a nested call passes every phase once, under its parent's token;
// its contexts are deferred to the outer call and it has no presentation metadata.
func TestNestedCall(t *testing.T) {
	type identity struct {
		ID       messages.CallID
		Name     string
		Nested   bool
		ParentID messages.CallID
		Turn     int
		Agent    pipeline.Agent
	}
	var j journal
	agent := &fakeAgent{}
	inner := contractTool("Inner", func(_ context.Context, inv *pipeline.Invocation) (messages.JSON, error) {
		j.add("inner body")
		inv.DeferContext(note("inner deferred"))
		return "1", nil
	})
	var nested []*messages.Result
	outer := contractTool("Outer", func(ctx context.Context, inv *pipeline.Invocation) (messages.JSON, error) {
		j.add("outer body")
		inv.DeferContext(note("before"))
		for range 2 {
			nested = append(nested, inv.Execute(ctx, "Inner", `{"a":1}`))
		}
		nested = append(nested, inv.Execute(ctx, "Nobody", ""))
		inv.DeferContext(note("after"))
		if inv.Agent() != agent {
			t.Error("the invocation has another agent")
		}
		return "2", nil
	})
	p := newPipeline(t, inner, outer)
	j.observe(p)
	p.Seams().PostExecute.Use(func(_ context.Context, o pipeline.Outcome, _ nextPost) (messages.PostToolDecision, error) {
		return messages.ResultAccept{Contexts: notes("post " + string(o.Call.ID()))}, nil
	})
	var seen []identity
	var tokens []messages.CallToken
	p.Seams().Result.Use(func(_ context.Context, o pipeline.Outcome) {
		c := o.Call
		seen = append(seen, identity{c.ID(), c.Name(), c.Parent() != 0, c.ParentID(), c.Turn(), c.Agent()})
		tokens = append(tokens, c.Token(), c.Parent())
	})
	r := p.Execute(t.Context(), pipeline.Input{ID: "c", Name: "Outer", Agent: agent, Turn: 3, Step: 4})

	outcomeOf(nested[0]).expect(t, outcome{Text: "n=1", Value: "1", Contexts: []string{"inner deferred", "post c:1"}}) // no meta
	outcomeOf(r).expect(t, outcome{
		Text: "n=2", Value: "2", Meta: `{"of":{}}`,
		Contexts: []string{
			"before", "inner deferred", "post c:1", "inner deferred", "post c:2", "post c:3", "after", "post c",
		},
	})
	want := []identity{
		{"c:1", "Inner", true, "c", 3, agent}, {"c:2", "Inner", true, "c", 3, agent}, {"c:3", "Nobody", true, "c", 3, agent},
		{"c", "Outer", false, "", 3, agent},
	}
	if diff := cmp.Diff(want, seen, cmp.AllowUnexported(fakeAgent{}), cmp.Comparer(func(a, b pipeline.Agent) bool { return a == b })); diff != "" {
		t.Errorf("calls (-want +got):\n%s", diff)
	}
	outerToken := tokens[6]
	if tokens[1] != outerToken || tokens[3] != outerToken || tokens[5] != outerToken || tokens[7] != 0 || tokens[0] == tokens[2] {
		t.Errorf("tokens and parents %v", tokens)
	}
	j.expect(t,
		"pre", "guard", "execute", "outer body",
		"pre", "guard", "execute", "inner body", "post", "result",
		"pre", "guard", "execute", "inner body", "post", "result",
		"pre", "guard", "execute", "post", "result",
		"post", "result")
}

// P-32: policy holds for nested calls as for any other.
func TestNestedCallIsGuarded(t *testing.T) {
	p := newPipeline(t,
		rawTool("Inner", constant("1")),
		rawTool("Outer", func(ctx context.Context, inv *pipeline.Invocation) (messages.JSON, error) {
			r := inv.Execute(ctx, "Inner", "{}")
			return messages.QuoteJSON(r.Message()), nil
		}))
	s := p.Scope()
	s.Guard(func(c *pipeline.Call) (string, bool) { return "not within", c.Parent() != 0 })
	if r := s.Execute(t.Context(), pipeline.Input{Name: "Outer"}); r.Value() != `"not within"` {
		t.Errorf("value %s", r.Value())
	}
}

// Z-25: a nested result has no log entry, so replacing its content leaves no meta.
func TestNestedReplacedContent(t *testing.T) {
	var inner *messages.Result
	p := newPipeline(t,
		rawTool("Inner", constant("1")),
		rawTool("Outer", func(ctx context.Context, inv *pipeline.Invocation) (messages.JSON, error) {
			inner = inv.Execute(ctx, "Inner", "{}")
			return "2", nil
		}))
	p.Seams().PostExecute.Use(post(messages.ResultAccept{Content: messages.Text("x")}, nil))
	r := p.Execute(t.Context(), pipeline.Input{Name: "Outer"})
	outcomeOf(inner).expect(t, outcome{Text: "x", Value: "1"})
	outcomeOf(r).expect(t, outcome{Text: "x", Value: "2", Meta: `{"original":[{"type":"text","text":"2"}]}`})
}

// P-15: a body cannot detach a nested call from the caller's cancellation.
func TestNestedCallIsCancelledWithTheCaller(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	p := newPipeline(t,
		rawTool("Inner", func(ctx context.Context, _ *pipeline.Invocation) (messages.JSON, error) {
			cancel(messages.CancelUser)
			<-ctx.Done()
			return "", context.Cause(ctx)
		}),
		rawTool("Outer", func(_ context.Context, inv *pipeline.Invocation) (messages.JSON, error) {
			return "", errors.New(inv.Execute(context.Background(), "Inner", "{}").Message())
		}))
	outcomeOf(p.Execute(ctx, pipeline.Input{Name: "Outer"})).expect(t, failure("turn cancelled: user"))
}

// Z-13, P-15: nested calls that a body leaves behind are cancelled when it returns,
// and the outer call ends after them; later ones never start.
func TestNestedCallsEndWithTheBody(t *testing.T) {
	var j journal
	var inv *pipeline.Invocation
	started := make(chan struct{})
	p := newPipeline(t,
		rawTool("Inner", func(ctx context.Context, inv *pipeline.Invocation) (messages.JSON, error) {
			close(started)
			<-ctx.Done()
			inv.DeferContext(note("left behind"))
			j.add("inner: " + context.Cause(ctx).Error())
			return "", ctx.Err()
		}),
		rawTool("Outer", func(_ context.Context, i *pipeline.Invocation) (messages.JSON, error) {
			inv = i
			go i.Execute(context.Background(), "Inner", "{}")
			<-started
			return "1", nil
		}))
	p.Seams().Result.Use(func(_ context.Context, o pipeline.Outcome) { j.add("result " + o.Call.Name()) })
	r := p.Execute(t.Context(), pipeline.Input{Name: "Outer"})
	outcomeOf(r).expect(t, outcome{Text: "1", Value: "1", Contexts: []string{"left behind"}})
	outcomeOf(inv.Execute(t.Context(), "Inner", "{}")).expect(t, abortedBefore())
	j.expect(t, "inner: the calling tool returned", "result Inner", "result Outer")
}

// Nested calls may overlap; each has its own number and none loses its contexts.
func TestConcurrentNestedCalls(t *testing.T) {
	const n = 8
	p := newPipeline(t,
		rawTool("Inner", func(_ context.Context, inv *pipeline.Invocation) (messages.JSON, error) {
			inv.DeferContext(note(string(inv.Call().ID())))
			return "1", nil
		}),
		rawTool("Outer", func(ctx context.Context, inv *pipeline.Invocation) (messages.JSON, error) {
			done := make(chan bool)
			for range n {
				go func() { done <- inv.Execute(ctx, "Inner", "{}").IsError() }()
			}
			for range n {
				if <-done {
					return "", errBoom
				}
			}
			return "1", nil
		}))
	r := p.Execute(t.Context(), pipeline.Input{ID: "c", Name: "Outer"})
	seen := map[string]bool{}
	for _, text := range outcomeOf(r).Contexts {
		seen[text] = true
	}
	for i := range n {
		if !seen[fmt.Sprintf("c:%d", i+1)] {
			t.Errorf("contexts %v", outcomeOf(r).Contexts)
		}
	}
}

// A body that runs again for a wrapper that retries has nested calls of its own in
// every run.
func TestNestedCallsOfRetries(t *testing.T) {
	var ids []messages.CallID
	p := newPipeline(t,
		rawTool("Inner", func(_ context.Context, inv *pipeline.Invocation) (messages.JSON, error) {
			ids = append(ids, inv.Call().ID())
			return "1", nil
		}),
		rawTool("Outer", func(ctx context.Context, inv *pipeline.Invocation) (messages.JSON, error) {
			if r := inv.Execute(ctx, "Inner", "{}"); r.IsError() {
				return "", errors.New(r.Message())
			}
			return "1", nil
		}))
	p.Seams().Execute.Use(func(ctx context.Context, c *pipeline.Call, next nextExec) (*messages.Result, error) {
		if c.Name() == "Outer" {
			if _, err := next(ctx); err != nil {
				return nil, err
			}
		}
		return next(ctx)
	})
	if r := p.Execute(t.Context(), pipeline.Input{ID: "c", Name: "Outer"}); r.IsError() {
		t.Error(r.Message())
	}
	if diff := cmp.Diff([]messages.CallID{"c:1", "c:2"}, ids); diff != "" {
		t.Error(diff)
	}
}

func TestConcludeTurn(t *testing.T) {
	p := newPipeline(t, rawTool("T", func(_ context.Context, inv *pipeline.Invocation) (messages.JSON, error) {
		inv.ConcludeTurn()
		return "1", nil
	}), rawTool("U", constant("1")))
	for name, want := range map[string]bool{"T": true, "U": false} {
		x := p.Begin(t.Context(), pipeline.Input{Name: name})
		x.Policy(t.Context())
		x.Dispatch(t.Context())
		x.Settle(t.Context())
		if x.Concluded() != want {
			t.Errorf("%s concluded: %v", name, x.Concluded())
		}
	}
}

// P-18: a nested call of a typed tool has no presentation metadata either.
func TestNestedTypedCallHasNoMeta(t *testing.T) {
	var inner *messages.Result
	p := newPipeline(t,
		pipeline.MustDefine(pipeline.Definition[nothing, int]{
			Name: "Inner", Run: func(context.Context, *pipeline.Invocation, nothing) (int, error) { return 1, nil },
			Meta: func(nothing, int) messages.JSON { return `{"m":1}` },
		}),
		rawTool("Outer", func(ctx context.Context, inv *pipeline.Invocation) (messages.JSON, error) {
			inner = inv.Execute(ctx, "Inner", "{}")
			return "2", nil
		}))
	p.Execute(t.Context(), pipeline.Input{Name: "Outer"})
	outcomeOf(inner).expect(t, outcome{Text: "1", Value: "1"})
	outcomeOf(p.Execute(t.Context(), pipeline.Input{Name: "Inner"})).expect(t, outcome{Text: "1", Value: "1", Meta: `{"m":1}`})
}

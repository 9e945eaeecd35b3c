package pipeline_test

import (
	"context"
	"testing"

	"github.com/dsh-actor/dsh-actor/messages"
	"github.com/dsh-actor/dsh-actor/pipeline"
)

// say makes a guard that abstains, after doing something.
func (j *journal) guard(name string, then ...func()) pipeline.Guard {
	return func(*pipeline.Call) (string, bool) {
		j.add(name)
		for _, fn := range then {
			fn()
		}
		return "", false
	}
}

func denying(reason string) pipeline.Guard {
	return func(*pipeline.Call) (string, bool) { return reason, true }
}

// P-10, Z-40: all guards of the runtime in registration order, then the session's;
// the first reason denies; only an allow is guarded.
func TestGuardOrder(t *testing.T) {
	var j journal
	p := newPipeline(t, rawTool("T", constant("1")))
	s := p.Scope()
	s.Guard(j.guard("a1"))
	p.Guard(j.guard("g1"), pipeline.Prepend()) // ignored
	lift := p.Guard(j.guard("g2"))
	in := pipeline.Input{Name: "T"}
	if r := s.Execute(t.Context(), in); r.IsError() {
		t.Error(r.Message())
	}
	j.expect(t, "g1", "g2", "a1")

	p.Guard(denying("g3 says no"))
	outcomeOf(s.Execute(t.Context(), in)).expect(t, failure("g3 says no"))
	j.expect(t, "g1", "g2")

	lift()
	lift() // harmless
	outcomeOf(s.Execute(t.Context(), in)).expect(t, failure("g3 says no"))
	j.expect(t, "g1")

	s.Seams().PreExecute.Use(pre(messages.ToolDeny{Reason: "policy"}, nil))
	outcomeOf(s.Execute(t.Context(), in)).expect(t, failure("policy"))
	j.expect(t)
}

// P-10: an empty reason denies too.
func TestGuardEmptyReason(t *testing.T) {
	p := newPipeline(t, rawTool("T", constant("1")))
	p.Guard(denying(""))
	outcomeOf(p.Execute(t.Context(), pipeline.Input{Name: "T"})).expect(t, outcome{Error: true, Text: "Error: "})
}

// P-10, DESIGN 5: no listener can override a guard.
func TestGuardIsFinal(t *testing.T) {
	var j journal
	p := newPipeline(t, rawTool("T", constant("1")))
	j.observe(p)
	p.Guard(denying("never"))
	p.Seams().PreExecute.Use(pre(messages.ToolAllow{}, nil), pipeline.Prepend())
	outcomeOf(p.Execute(t.Context(), pipeline.Input{Name: "T"})).expect(t, failure("never"))
	j.expect(t, "guard", "post", "result")
}

// P-10: iteration is live.
func TestGuardLiveIteration(t *testing.T) {
	tests := []struct {
		name  string
		setup func(p *pipeline.Pipeline, j *journal)
		first []string
		next  []string
	}{
		{
			name: "a guard registered by an earlier one runs in the same pass",
			setup: func(p *pipeline.Pipeline, j *journal) {
				added := false
				p.Guard(j.guard("a", func() {
					if !added {
						added = true
						p.Guard(j.guard("new"))
					}
				}))
				p.Guard(j.guard("b"))
			},
			first: []string{"a", "b", "new"}, next: []string{"a", "b", "new"},
		},
		{
			name: "unless the layer became empty in between",
			setup: func(p *pipeline.Pipeline, j *journal) {
				var lift func()
				lift = p.Guard(j.guard("a", func() {
					lift()
					p.Guard(j.guard("new"))
				}))
			},
			first: []string{"a"}, next: []string{"new"},
		},
		{
			name: "a lifted guard does not run",
			setup: func(p *pipeline.Pipeline, j *journal) {
				var lift func()
				p.Guard(j.guard("a", func() { lift() }))
				lift = p.Guard(j.guard("b"))
				p.Guard(j.guard("c"))
			},
			first: []string{"a", "c"}, next: []string{"a", "c"},
		},
		{
			name: "a guard that lifts itself does not skip the next",
			setup: func(p *pipeline.Pipeline, j *journal) {
				var lift func()
				lift = p.Guard(j.guard("a", func() { lift() }))
				p.Guard(j.guard("b"))
			},
			first: []string{"a", "b"}, next: []string{"b"},
		},
		{
			name: "a guard of another layer is not of this one",
			setup: func(p *pipeline.Pipeline, j *journal) {
				s := p.Scope() // a sibling: never seen by p
				p.Guard(j.guard("a", func() { s.Guard(j.guard("sibling's")) }))
			},
			first: []string{"a"}, next: []string{"a"},
		},
		{
			name: "the same function twice counts twice and is lifted independently",
			setup: func(p *pipeline.Pipeline, j *journal) {
				same := j.guard("a")
				lift := p.Guard(same)
				p.Guard(same)
				p.Guard(j.guard("b", func() { lift() }))
			},
			first: []string{"a", "a", "b"}, next: []string{"a", "b"},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var j journal
			p := newPipeline(t, rawTool("T", constant("1")))
			tt.setup(p, &j)
			p.Execute(t.Context(), pipeline.Input{Name: "T"})
			j.expect(t, tt.first...)
			p.Execute(t.Context(), pipeline.Input{Name: "T"})
			j.expect(t, tt.next...)
		})
	}
}

// D-3: guards of a session die with it and never reach another.
func TestGuardScope(t *testing.T) {
	p := newPipeline(t, rawTool("T", constant("1")))
	a, b := p.Scope(), p.Scope()
	a.Guard(denying("only a"))
	in := pipeline.Input{Name: "T"}
	if r := a.Execute(context.Background(), in); !r.IsError() {
		t.Error("a is not guarded")
	}
	for _, other := range []*pipeline.Pipeline{p, b} {
		if r := other.Execute(t.Context(), in); r.IsError() {
			t.Error(r.Message())
		}
	}
}

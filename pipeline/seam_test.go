package pipeline_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/dsh-actor/dsh-actor/messages"
	"github.com/dsh-actor/dsh-actor/pipeline"
)

// say makes a pre-execute listener that writes its name down and goes on.
func (j *journal) say(name string) func(context.Context, *pipeline.Call, nextPre) (messages.PreToolDecision, error) {
	return func(ctx context.Context, _ *pipeline.Call, next nextPre) (messages.PreToolDecision, error) {
		j.add(name)
		return next(ctx)
	}
}

func (j *journal) runPre(t testing.TB, p *pipeline.Pipeline) (messages.PreToolDecision, error) {
	return p.Seams().PreExecute.Run(t.Context(), nil, func(context.Context, *pipeline.Call) (messages.PreToolDecision, error) {
		j.add("default")
		return messages.ToolAllow{}, nil
	})
}

// D-1, Z-40: registration order over all scopes; prepended listeners come first,
// the last prepended outermost.
func TestOrderOverScopes(t *testing.T) {
	var j journal
	p := pipeline.New(pipeline.Config{})
	s := p.Scope()
	other := p.Scope()
	s.Seams().PreExecute.Use(j.say("session"))
	p.Seams().PreExecute.Use(j.say("global"))
	other.Seams().PreExecute.Use(j.say("other session"))
	p.Seams().PreExecute.Use(j.say("prepended"), pipeline.Prepend())
	s.Seams().PreExecute.Use(j.say("session last"))
	s.Seams().PreExecute.Use(j.say("prepended later"), pipeline.Prepend())

	if _, err := j.runPre(t, s); err != nil {
		t.Fatal(err)
	}
	j.expect(t, "prepended later", "prepended", "session", "global", "session last", "default")

	// D-3: a dispatch without a session reaches only the runtime's listeners.
	if _, err := j.runPre(t, p); err != nil {
		t.Fatal(err)
	}
	j.expect(t, "prepended", "global", "default")
}

// D-1, D-3: scopes nest to any depth.
func TestScopeOfScope(t *testing.T) {
	var j journal
	p := newPipeline(t, rawTool("T", constant("1")))
	mid := p.Scope()
	leaf := mid.Scope()
	leaf.Seams().PreExecute.Use(j.say("leaf"))
	p.Seams().PreExecute.Use(j.say("root"))
	mid.Seams().PreExecute.Use(j.say("mid"))
	p.Guard(func(*pipeline.Call) (string, bool) { j.add("guard root"); return "", false })
	leaf.Guard(func(*pipeline.Call) (string, bool) { j.add("guard leaf"); return "", false })
	mid.Guard(func(*pipeline.Call) (string, bool) { j.add("guard mid"); return "", false })
	if r := leaf.Execute(t.Context(), pipeline.Input{Name: "T"}); r.IsError() {
		t.Fatal(r.Message())
	}
	j.expect(t, "leaf", "root", "mid", "guard root", "guard mid", "guard leaf")
}

// D-2: registering and removing during a run affects the next run only.
func TestSnapshotOfRun(t *testing.T) {
	var j journal
	p := pipeline.New(pipeline.Config{})
	var removeLate func()
	p.Seams().PreExecute.Use(func(ctx context.Context, _ *pipeline.Call, next nextPre) (messages.PreToolDecision, error) {
		j.add("first")
		if removeLate != nil {
			removeLate()
			removeLate() // harmless
			p.Seams().PreExecute.Use(j.say("added"))
		}
		return next(ctx)
	})
	removeLate = p.Seams().PreExecute.Use(j.say("late"))
	if _, err := j.runPre(t, p); err != nil {
		t.Fatal(err)
	}
	j.expect(t, "first", "late", "default")
	removeLate = nil
	if _, err := j.runPre(t, p); err != nil {
		t.Fatal(err)
	}
	j.expect(t, "first", "added", "default")
}

func TestSeamNames(t *testing.T) {
	p := pipeline.New(pipeline.Config{})
	s := p.Scope()
	if !s.Seams().Result.Empty() {
		t.Error("a new seam is not empty")
	}
	remove := p.Seams().Result.Use(func(context.Context, pipeline.Outcome) {}, pipeline.Named("runtime's"))
	s.Seams().Result.Use(func(context.Context, pipeline.Outcome) {})
	names := s.Seams().Result.Names()
	if len(names) != 2 || names[0] != "runtime's" || !strings.Contains(names[1], "TestSeamNames") {
		t.Errorf("names are %q", names)
	}
	if s.Seams().Result.Empty() || s.Seams().Result.Name() != "tools/result" {
		t.Errorf("seam %q, empty: %v", s.Seams().Result.Name(), s.Seams().Result.Empty())
	}
	remove()
	if p.Seams().Result.Names() == nil || !p.Seams().Result.Empty() {
		t.Error("a removed listener is still there")
	}
}

// Z-6: in serial seams every listener runs, the first verdict counts, and only an
// error stops the chain; a missing verdict is none.
func TestSerial(t *testing.T) {
	var verdict *messages.Halt
	tests := []struct {
		name    string
		answers []any
		want    messages.StepVerdict
		ran     int
		err     string
	}{
		{"no listener", nil, nil, 0, ""},
		{"nobody halts", []any{nil, nil}, nil, 2, ""},
		{"first halt counts, later listeners run", []any{nil, messages.Halt{Reason: "a"}, messages.Halt{Reason: "b"}, nil}, messages.Halt{Reason: "a"}, 4, ""},
		{"error stops the chain", []any{messages.Halt{Reason: "a"}, errBoom, nil}, nil, 2, "boom"},
		{"panic is an error", []any{"panic", nil}, nil, 1, "ouch"},
		{"stop is not for pre-step", []any{messages.Stop{}}, nil, 1, "unknown kind messages.Stop"}, // Z-1
		{"a pointer is of no known kind", []any{&messages.Halt{}}, nil, 1, "unknown kind *messages.Halt"},
		{"so is a nil pointer", []any{verdict}, nil, 1, "unknown kind *messages.Halt"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := pipeline.New(pipeline.Config{})
			ran := 0
			for _, a := range tt.answers {
				p.Seams().PreStep.Use(func(context.Context, *pipeline.Step) (messages.StepVerdict, error) {
					ran++
					switch a := a.(type) {
					case messages.StepVerdict:
						return a, nil
					case error:
						return nil, a
					case string:
						panic("ouch")
					}
					return nil, nil
				})
			}
			got, err := p.Seams().PreStep.Run(t.Context(), &pipeline.Step{})
			if got != tt.want || ran != tt.ran || !errorIs(err, tt.err) {
				t.Errorf("verdict %v, %d listeners ran, error %v", got, ran, err)
			}
		})
	}
}

// S-7: the first verdict of agent/turn-stop ends the seam.
func TestTurnStopEndsAtFirstVerdict(t *testing.T) {
	var j journal
	p := pipeline.New(pipeline.Config{})
	for _, name := range []string{"a", "b", "c"} {
		p.Seams().TurnStop.Use(func(context.Context, *pipeline.Continuation) (messages.StepVerdict, error) {
			j.add(name)
			if name == "b" {
				return messages.Stop{}, nil
			}
			return nil, nil
		})
	}
	got, err := p.Seams().TurnStop.Run(t.Context(), &pipeline.Continuation{})
	if got != (messages.Stop{}) || err != nil {
		t.Errorf("verdict %v, error %v", got, err)
	}
	j.expect(t, "a", "b")
}

func TestSequence(t *testing.T) {
	var j journal
	p := pipeline.New(pipeline.Config{})
	use := func(name string, err error) {
		p.Seams().PostStep.Use(func(context.Context, *pipeline.Step) error { j.add(name); return err })
	}
	use("a", nil)
	if err := p.Seams().PostStep.Run(t.Context(), &pipeline.Step{}); err != nil {
		t.Error(err)
	}
	use("b", errBoom)
	use("c", nil)
	if err := p.Seams().PostStep.Run(t.Context(), &pipeline.Step{}); !errors.Is(err, errBoom) {
		t.Errorf("error %v", err)
	}
	j.expect(t, "a", "a", "b")
}

// D-4: notification listeners run in order, are contained, and each is told
// exactly once, also after one that panics or ends the goroutine.
func TestNotificationContains(t *testing.T) {
	var j journal
	p := pipeline.New(pipeline.Config{Warn: func(err error) {
		j.add("warn " + err.Error())
		panic("a host that fails to listen is nobody's trouble")
	}})
	use := func(name string, fail func()) {
		p.Seams().CancelRequested.Use(func(context.Context, *pipeline.CancelRequested) { j.add(name); fail() }, pipeline.Named(name))
	}
	use("a", func() {})
	use("b", func() { panic(errBoom) })
	use("c", func() { goexit() })
	use("d", func() {})
	inGoroutine(func() { p.Seams().CancelRequested.Run(t.Context(), &pipeline.CancelRequested{}) })
	j.expect(t,
		"a",
		"b", "warn agent/cancel-requested: listener b: boom",
		"c", "warn agent/cancel-requested: listener c: the goroutine was ended by runtime.Goexit",
		"d")
}

// D-4: all listeners of a parallel seam start, all are awaited, and the first
// registered failure is returned.
func TestParallel(t *testing.T) {
	p := pipeline.New(pipeline.Config{})
	var started sync.WaitGroup
	started.Add(4)
	use := func(name string, then func() error) {
		p.Seams().SessionEnd.Use(func(context.Context, *pipeline.SessionEnd) error {
			started.Done()
			started.Wait() // deadlocks unless all have started
			return then()
		}, pipeline.Named(name))
	}
	later := make(chan struct{})
	use("fine", func() error { return nil })
	use("slow", func() error { <-later; return errBoom })
	use("quick", func() error { close(later); panic("ouch") })
	use("gone", func() error { goexit(); return nil })
	err := p.Seams().SessionEnd.Run(t.Context(), &pipeline.SessionEnd{})
	if !errors.Is(err, errBoom) || !errorIs(err, "agent/session-end: listener slow: boom") {
		t.Errorf("error %v", err)
	}
	if diff := cmp.Diff([]string{"fine", "slow", "quick", "gone"}, p.Seams().SessionEnd.Names()); diff != "" {
		t.Error(diff)
	}
}

func TestParallelGoexitAlone(t *testing.T) {
	p := pipeline.New(pipeline.Config{})
	p.Seams().SessionEnd.Use(func(context.Context, *pipeline.SessionEnd) error { goexit(); return nil })
	if err := p.Seams().SessionEnd.Run(t.Context(), nil); !errorIs(err, "runtime.Goexit") {
		t.Errorf("error %v", err)
	}
}

// errorIs reports whether err is nil for an empty text, and contains it otherwise.
func errorIs(err error, text string) bool {
	if text == "" {
		return err == nil
	}
	return err != nil && strings.Contains(err.Error(), text)
}

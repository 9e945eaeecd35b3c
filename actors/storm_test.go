package actors_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"runtime"
	"sync"
	"testing"

	"github.com/dsh-actor/dsh-actor/actors"
	"github.com/dsh-actor/dsh-actor/messages"
	"github.com/dsh-actor/dsh-actor/model/scripted"
	"github.com/dsh-actor/dsh-actor/pipeline"
)

// stormModel answers each turn with two tool calls and then a text.
func stormModel(turns int) *scripted.Script {
	var answers []scripted.Answer
	for i := range turns {
		answers = append(answers,
			scripted.Calls(named(fmt.Sprintf("a%d", i), "Work"), named(fmt.Sprintf("b%d", i), "Work")),
			scripted.Text("done"))
	}
	return scripted.New(answers...)
}

// unlucky says which sessions of a storm panic: one in ten.
func unlucky(id messages.SessionID) bool {
	var n int
	_, _ = fmt.Sscanf(string(id), "s%d", &n)
	return n%10 == 3
}

// runAll opens n sessions, sends each its turns one after another, and returns the
// rendered logs.
func runAll(w *world, n, turns int) map[messages.SessionID]string {
	var wg sync.WaitGroup
	var mu sync.Mutex
	logs := map[messages.SessionID]string{}
	a := agent()
	for i := range n {
		wg.Go(func() {
			id := messages.SessionID(fmt.Sprintf("s%d", i))
			s, err := w.rt.Create(context.Background(), actors.SessionOptions{ID: id, Agent: a})
			if err != nil {
				w.t.Error(err)
				return
			}
			for range turns {
				if _, err := s.Followup(context.Background(), messages.Text("go")); err != nil {
					w.t.Error(err)
				}
				if err := s.WhenIdle(context.Background()); err != nil {
					w.t.Error(err)
				}
			}
			text := w.log(s)
			mu.Lock()
			logs[id] = text
			mu.Unlock()
		})
	}
	wg.Wait()
	return logs
}

func TestPanicStorm(t *testing.T) { // no session takes another one down
	const sessions, turns = 1000, 3
	calm := newWorld(t, stormModel(turns))
	calm.tool(noop("Work", true, nil))
	want := runAll(calm, 1, turns)["s0"]

	w := newWorld(t, stormModel(turns))
	w.tool(noop("Work", true, func(_ context.Context, inv *pipeline.Invocation) error {
		if unlucky(inv.Agent().ID()) && rand.IntN(2) == 0 {
			panic("tool storm")
		}
		return nil
	}))
	w.rt.Seams().PreStep.Use(func(_ context.Context, e *pipeline.Step) (messages.StepVerdict, error) {
		if unlucky(e.Agent.ID()) {
			switch rand.IntN(4) {
			case 0:
				panic("listener storm")
			case 1:
				runtime.Goexit()
			}
		}
		return nil, nil
	})
	w.rt.Seams().PreExecute.Use(func(ctx context.Context, c *pipeline.Call, next pipeline.Next[messages.PreToolDecision]) (messages.PreToolDecision, error) {
		if unlucky(c.Agent().ID()) && rand.IntN(3) == 0 {
			panic("policy storm")
		}
		return next(ctx)
	})
	logs := runAll(w, sessions, turns)
	if len(logs) != sessions {
		t.Fatalf("%d logs", len(logs))
	}
	for id, got := range logs {
		if !unlucky(id) && got != want {
			t.Errorf("session %s\n got %s\nwant %s", id, got, want)
		}
	}
}

func TestTenThousandSessions(t *testing.T) { // nothing is left after Shutdown
	sessions := 10_000
	if testing.Short() || raceEnabled {
		sessions = 1000 // the race detector's own memory
	}
	const turns = 3
	before := runtime.NumGoroutine()
	rt := start(t, stormModel(turns))
	w := &world{t, rt}
	w.tool(noop("Work", true, nil))
	logs := runAll(w, sessions, turns)
	if len(logs) != sessions {
		t.Fatalf("%d of %d sessions ran", len(logs), sessions)
	}
	report, err := rt.Shutdown(deadline(t, testPatience))
	must(t, err)
	if report.Ended["sessions"] != sessions || !report.Quiet() {
		t.Errorf("report %+v", report)
	}
	w.await(func() bool { return runtime.NumGoroutine() <= before })
}

package actors_test

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/asynkron/protoactor-go/actor"
	"go.uber.org/goleak"

	"github.com/dsh-actor/dsh-actor/actors"
	"github.com/dsh-actor/dsh-actor/messages"
	"github.com/dsh-actor/dsh-actor/model"
	"github.com/dsh-actor/dsh-actor/pipeline"
	"github.com/dsh-actor/dsh-actor/session"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// world is a runtime with the tools that the tests use.
type world struct {
	t  testing.TB
	rt *actors.Runtime
}

// newWorld starts a runtime on the model; it is shut down at the end of the test,
// and must be quiet then.
func newWorld(t testing.TB, m model.Model, change ...func(*actors.Config)) *world {
	t.Helper()
	cfg := actors.Config{Models: model.Single(m)}
	for _, c := range change {
		c(&cfg)
	}
	rt, err := actors.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		report, err := rt.Shutdown(deadline(t, 10*time.Second))
		if err != nil {
			t.Errorf("shutdown: %v (%+v)", err, report)
		}
	})
	return &world{t, rt}
}

// deadline is a context that ends after d.
func deadline(t testing.TB, d time.Duration) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), d)
	t.Cleanup(cancel)
	return ctx
}

// agent is the definition that the tests' sessions share.
func agent() *actors.Agent {
	return &actors.Agent{Name: "test", Request: messages.RequestConfig{Provider: "scripted", Model: "m"}}
}

func (w *world) open(a *actors.Agent, id messages.SessionID) *actors.Session {
	w.t.Helper()
	s, err := w.rt.Create(context.Background(), actors.SessionOptions{ID: id, Agent: a})
	if err != nil {
		w.t.Fatal(err)
	}
	return s
}

func (w *world) tool(t pipeline.Tool) {
	w.t.Helper()
	if _, err := w.rt.Tools().Register(t); err != nil {
		w.t.Fatal(err)
	}
}

// prompt sends a prompt and waits for rest.
func (w *world) prompt(s *actors.Session, text string) {
	w.t.Helper()
	if _, err := s.Followup(context.Background(), messages.Text(text)); err != nil {
		w.t.Fatal(err)
	}
	w.rest(s)
}

func (w *world) rest(s *actors.Session) {
	w.t.Helper()
	if err := s.WhenIdle(deadline(w.t, 20*time.Second)); err != nil {
		w.t.Fatalf("session %s did not come to rest: %v\n%s", s.ID(), err, w.log(s))
	}
}

// events reads the whole log, and checks it.
func (w *world) events(s *actors.Session) []messages.Event {
	w.t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	var out []messages.Event
	want := s.NextSeq()
	if want == 0 {
		return nil
	}
	for e, err := range s.Events(ctx, 0) {
		if err != nil {
			w.t.Fatal(err)
		}
		out = append(out, e)
		if e.Seq == want-1 {
			break
		}
	}
	if err := session.Verify(w.rt.Events(), func(yield func(messages.Event, error) bool) {
		for _, e := range out {
			if !yield(e, nil) {
				return
			}
		}
	}); err != nil {
		w.t.Errorf("log of %s: %v", s.ID(), err)
	}
	return out
}

// log renders a log in the notation of SPEC 3.1, with runs of chunks as "…".
func (w *world) log(s *actors.Session) string {
	w.t.Helper()
	return render(w.events(s))
}

func render(events []messages.Event) string {
	var parts []string
	for _, e := range events {
		if _, chunk := e.Data.(messages.AssistantChunk); chunk {
			if len(parts) == 0 || parts[len(parts)-1] != "…" {
				parts = append(parts, "…")
			}
			continue
		}
		parts = append(parts, renderOne(e))
	}
	return strings.Join(parts, " · ")
}

func renderOne(e messages.Event) string {
	switch d := e.Data.(type) {
	case messages.TurnStart:
		return fmt.Sprintf("turn/start{%d,%s/%s}", d.Turn, d.Trigger.Kind, d.Trigger.Source.Kind)
	case messages.TurnEnd:
		return fmt.Sprintf("turn/end{%d,%s}", d.Turn, renderEnd(d.Reason))
	case messages.StepStart:
		return fmt.Sprintf("step/start{%d,%d}", d.Turn, d.Step)
	case messages.StepEnd:
		return fmt.Sprintf("step/end{%d,%d}", d.Turn, d.Step)
	case messages.UserMessage:
		if d.Source.IsUser() {
			return fmt.Sprintf("user/message(%s)", d.Content.Text())
		}
		return fmt.Sprintf("user/message(%s:%s)", d.Source.Plugin, d.Content.Text())
	case messages.SteeringMessage:
		return fmt.Sprintf("steering/message{%d,%s}", d.Turn, d.Content.Text())
	case messages.RequestHeaderEvent:
		return fmt.Sprintf("request/header{%s}", d.Reason)
	case messages.PromptBlocked:
		return fmt.Sprintf("prompt/blocked{%s,%s}", d.Content.Text(), d.Reason)
	case messages.ToolCall:
		return "tool/call " + string(d.CallID)
	case messages.ToolResult:
		if !d.IsError {
			return "tool/result " + string(d.CallID)
		}
		text := fmt.Sprintf("tool/result %s{%q", d.CallID, d.Content.Text())
		if !d.Error.IsZero() {
			text += fmt.Sprintf(",%s/%s", d.Error.Name, d.Error.Code)
		}
		return text + "}"
	default:
		return e.Type()
	}
}

func renderEnd(r messages.EndReason) string {
	switch r.Kind {
	case messages.EndRejected:
		return "rejected:" + r.Reason
	case messages.EndHalted:
		return fmt.Sprintf("halted:%s@%s", r.Reason, r.At)
	case messages.EndMaxSteps:
		return fmt.Sprintf("max-steps:%d", r.Limit)
	case messages.EndError:
		if !r.Failure.IsZero() {
			return fmt.Sprintf("error@%d:failure(%s/%s)", r.Step, r.Failure.Message, r.Failure.Code)
		}
		return fmt.Sprintf("error@%d:%s(%s)", r.Step, r.Message, r.Code)
	}
	return string(r.Kind)
}

// testPatience bounds what a test waits for; nothing waits that long when it works.
const testPatience = 20 * time.Second

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func second[A any](_ A, err error) error { return err }

func withParallel(n int) func(*actors.Config) {
	return func(c *actors.Config) { c.MaxParallelToolCalls = n }
}

// await polls a condition that nothing announces.
func (w *world) await(ok func() bool) {
	w.t.Helper()
	give := time.After(testPatience)
	for !ok() {
		select {
		case <-give:
			w.t.Fatal("the condition did not come true")
		case <-time.After(100 * time.Microsecond):
		}
	}
}

// awaitEvent follows the session until an event renders as want, or has it as its
// type.
func (w *world) awaitEvent(s *actors.Session, want string) {
	w.t.Helper()
	for e, err := range s.Events(deadline(w.t, testPatience), 0) {
		if err != nil {
			w.t.Fatalf("waiting for %s: %v", want, err)
		}
		if renderOne(e) == want || e.Type() == want {
			return
		}
	}
	w.t.Fatalf("the session ended before %s", want)
}

// stored renders what a store has of a session.
func (w *world) stored(store session.Store, id messages.SessionID) string {
	w.t.Helper()
	var events []messages.Event
	for e, err := range store.Read(context.Background(), id, 0, -1) {
		if err != nil {
			w.t.Fatal(err)
		}
		events = append(events, e)
	}
	return render(events)
}

// start starts a runtime that the test itself shuts down.
func start(t testing.TB, m model.Model, change ...func(*actors.Config)) *actors.Runtime {
	t.Helper()
	cfg := actors.Config{Models: model.Single(m)}
	for _, c := range change {
		c(&cfg)
	}
	rt, err := actors.New(cfg)
	must(t, err)
	return rt
}

// quietLogger is the logger of a host that does not want to read its actor
// system's log.
func quietLogger(*actor.ActorSystem) *slog.Logger { return slog.New(slog.DiscardHandler) }

package drive

import (
	"context"
	"errors"
	"io"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/dsh-actor/dsh-actor/actors"
	"github.com/dsh-actor/dsh-actor/cmd/dsh-actor/internal/outcome"
	"github.com/dsh-actor/dsh-actor/messages"
	"github.com/dsh-actor/dsh-actor/model"
	"github.com/dsh-actor/dsh-actor/model/scripted"
	"github.com/dsh-actor/dsh-actor/pipeline"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// open makes a runtime with one session.
func open(t *testing.T, cfg actors.Config, script *scripted.Script) (*actors.Runtime, *actors.Session) {
	t.Helper()
	cfg.Models = model.Single(script)
	rt, err := actors.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if _, err := rt.Shutdown(context.Background()); err != nil {
			t.Error(err)
		}
	})
	s, err := rt.Create(t.Context(), actors.SessionOptions{Agent: &actors.Agent{Request: messages.RequestConfig{Provider: "p", Model: "m"}}})
	if err != nil {
		t.Fatal(err)
	}
	return rt, s
}

// recorder is a printer that keeps what it is told. It calls on for each event.
type recorder struct {
	mu     sync.Mutex
	events []messages.Event
	ends   []outcome.Result
	on     func(messages.Event) error
}

func (r *recorder) Event(e messages.Event) error {
	r.mu.Lock()
	r.events = append(r.events, e)
	r.mu.Unlock()
	if r.on != nil {
		return r.on(e)
	}
	return nil
}

func (r *recorder) Turn(_ *outcome.Turn, res outcome.Result) error {
	r.ends = append(r.ends, res)
	return nil
}

// prompts is a source of texts.
func prompts(texts ...string) Source {
	return func(context.Context) (Input, error) {
		if len(texts) == 0 {
			return Input{}, io.EOF
		}
		text := texts[0]
		texts = texts[1:]
		return Input{Prompt: messages.Text(text)}, nil
	}
}

func TestTurns(t *testing.T) {
	_, s := open(t, actors.Config{}, scripted.New(scripted.Text("one"), scripted.Text("two"), scripted.Text("three")))
	r := &recorder{}
	end := Run(t.Context(), Config{Session: s, Source: prompts("a", "b", "c"), Printer: r})
	if end != (End{}) {
		t.Errorf("end %+v", end)
	}
	if len(r.ends) != 3 || r.ends[0].Text != "one" || r.ends[2].Text != "three" {
		t.Errorf("ends %+v", r.ends)
	}
	for i, e := range r.events {
		if e.Seq != int64(i) {
			t.Fatalf("event %d has number %d", i, e.Seq)
		}
	}
}

// TestQueueFull: a full inbox holds the source up, and loses nothing.
func TestQueueFull(t *testing.T) {
	_, s := open(t, actors.Config{MaxQueuedPrompts: 1}, scripted.New(scripted.Text("x")).Then(scripted.ThenRepeatLast))
	r := &recorder{}
	end := Run(t.Context(), Config{Session: s, Source: prompts("1", "2", "3", "4", "5", "6", "7", "8"), Printer: r})
	if end != (End{}) || len(r.ends) != 8 {
		t.Errorf("%d turns, end %+v", len(r.ends), end)
	}
}

// TestInjection: a turn that nobody prompted has no result.
func TestInjection(t *testing.T) {
	_, s := open(t, actors.Config{}, scripted.New(scripted.Text("one")))
	if _, err := s.Inject(t.Context(), messages.NewContext("p", "note")); err != nil {
		t.Fatal(err)
	}
	r := &recorder{}
	end := Run(t.Context(), Config{Session: s, Source: prompts("a"), Printer: r})
	if end != (End{}) || len(r.ends) != 1 || r.ends[0].Text != "one" {
		t.Errorf("ends %+v, %+v", r.ends, end)
	}
}

func TestBadInput(t *testing.T) {
	_, s := open(t, actors.Config{}, scripted.New(scripted.Text("one")))
	bad := errors.New("line 2")
	first := prompts("a")
	r := &recorder{}
	end := Run(t.Context(), Config{Session: s, Printer: r, Source: func(ctx context.Context) (Input, error) {
		in, err := first(ctx)
		if errors.Is(err, io.EOF) {
			err = bad
		}
		return in, err
	}})
	if !errors.Is(end.Err, bad) || end.ExitCode != 1 || len(r.ends) != 1 || r.ends[0].Text != "one" {
		t.Errorf("end %+v, ends %+v: what came before the error is carried out", end, r.ends)
	}
}

// TestDone: the source hears what became of its input, and can end it.
func TestDone(t *testing.T) {
	_, s := open(t, actors.Config{}, scripted.New(scripted.Text("one")))
	enough := errors.New("enough")
	inputs := []Input{
		{Interrupt: true, Done: func(err error) error { return err }}, // nothing to cancel
		{Done: func(err error) error { return err }},                  // nothing at all
		{Prompt: messages.Text("a"), Done: func(err error) error { return errors.Join(err, enough) }},
		{Prompt: messages.Text("b")},
	}
	r := &recorder{}
	end := Run(t.Context(), Config{Session: s, Printer: r, Source: func(context.Context) (Input, error) {
		in := inputs[0]
		inputs = inputs[1:]
		return in, nil
	}})
	if !errors.Is(end.Err, enough) || len(r.ends) != 1 || len(inputs) != 1 {
		t.Errorf("end %+v, %d turns, %d inputs left", end, len(r.ends), len(inputs))
	}
}

// TestBrokenOutput: nobody sees the session any more, so it ends.
func TestBrokenOutput(t *testing.T) {
	_, s := open(t, actors.Config{}, scripted.New(scripted.Hang()))
	broken := errors.New("broken pipe")
	r := &recorder{}
	r.on = func(e messages.Event) error {
		if e.Type() == "step/start" {
			return broken
		}
		return nil
	}
	end := Run(t.Context(), Config{Session: s, Source: prompts("a", "b"), Printer: r})
	if !errors.Is(end.Err, broken) || end.ExitCode != 1 || len(r.ends) != 0 {
		t.Errorf("end %+v, ends %+v", end, r.ends)
	}
	if last := r.events[len(r.events)-1].Type(); last != "step/start" {
		t.Errorf("told of %s after its error", last)
	}
}

// TestSignalBeforeTurn: the prompt was taken from the source, and never became a turn
//
func TestSignalBeforeTurn(t *testing.T) {
	_, s := open(t, actors.Config{}, scripted.New(scripted.Text("one")))
	signals := make(chan outcome.Cause)
	r := &recorder{}
	end := Run(t.Context(), Config{Session: s, Printer: r, Signals: signals, Source: func(ctx context.Context) (Input, error) {
		signals <- outcome.Terminated
		<-ctx.Done()
		return Input{Prompt: messages.Text("a")}, nil
	}})
	if end.ExitCode != 143 || end.Err != nil || len(r.ends) != 1 || r.ends[0].TerminalReason != outcome.AbortedStream {
		t.Errorf("end %+v, ends %+v", end, r.ends)
	}
}

// stubborn registers a tool that minds no context, and returns what lets it go.
func stubborn(t *testing.T, rt *actors.Runtime) (started <-chan struct{}, release func()) {
	t.Helper()
	start, let := make(chan struct{}), make(chan struct{})
	_, err := rt.Tools().Register(pipeline.Tool{
		Name: "Stubborn",
		Output: &pipeline.Output{Render: func(_, _ messages.JSON) (messages.Content, error) {
			return messages.Text("ok"), nil
		}},
		Run: func(context.Context, *pipeline.Invocation) (messages.JSON, error) {
			close(start)
			<-let
			return "{}", nil
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	return start, sync.OnceFunc(func() { close(let) })
}

// TestSeal: code that ignores its context holds the end up for the grace time, or
// until the second signal, and is named (DESIGN 3, rule 7).
func TestSeal(t *testing.T) {
	for name, second := range map[string]bool{"grace": false, "second signal": true} {
		t.Run(name, func(t *testing.T) {
			rt, s := open(t, actors.Config{}, scripted.New(scripted.Calls(scripted.Call("Stubborn", nil)), scripted.Text("x")))
			started, release := stubborn(t, rt)
			t.Cleanup(release) // before the runtime's shutdown, which waits for it
			signals := make(chan outcome.Cause)
			cfg := Config{Session: s, Source: prompts("a"), Printer: &recorder{}, Signals: signals, Grace: 50 * time.Millisecond}
			if second {
				cfg.Grace = time.Hour
			}
			var wg sync.WaitGroup
			defer wg.Wait()
			wg.Go(func() {
				<-started
				signals <- outcome.Interrupted
				if second {
					signals <- outcome.Interrupted
				}
			})
			end := Run(t.Context(), cfg)
			if !end.Sealed || end.ExitCode != 1 || end.Err == nil || !strings.Contains(end.Err.Error(), `still running: tool "Stubborn"`) {
				t.Errorf("end %+v", end)
			}
		})
	}
}

// TestTraceParent: the turn continues the trace of who sends the prompt.
func TestTraceParent(t *testing.T) {
	const parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
	rt, s := open(t, actors.Config{}, scripted.New(scripted.Text("one")))
	var got string
	rt.Observe(func(_ messages.SessionID, n messages.Notification) {
		if e, ok := n.(messages.InboxEnqueued); ok {
			got = e.Item.TraceParent
		}
	})
	if end := Run(t.Context(), Config{Session: s, Source: prompts("a"), Printer: &recorder{}, TraceParent: parent}); end != (End{}) {
		t.Errorf("end %+v", end)
	}
	if got != parent {
		t.Errorf("trace parent %q", got)
	}
}

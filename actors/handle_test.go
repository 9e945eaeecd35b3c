package actors_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/dsh-actor/dsh-actor/actors"
	"github.com/dsh-actor/dsh-actor/messages"
	"github.com/dsh-actor/dsh-actor/model/scripted"
	"github.com/dsh-actor/dsh-actor/pipeline"
	"github.com/dsh-actor/dsh-actor/session"
)

// notes collects the live notifications of a runtime, rendered.
type notes struct {
	mu   sync.Mutex
	list []string
}

func (n *notes) observe(_ messages.SessionID, note messages.Notification) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.list = append(n.list, renderNote(note))
}

func (n *notes) text() string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return strings.Join(n.list, " · ")
}

func renderNote(note messages.Notification) string {
	switch v := note.(type) {
	case messages.SessionCreated:
		return "session/created"
	case messages.AgentCreated:
		return "agent/created"
	case messages.SessionStarted:
		return "agent/session-start(" + string(v.Source) + ")"
	case messages.InboxEnqueued:
		return "inbox/enqueue(" + v.Item.Content.Text() + ")"
	case messages.InboxDequeued:
		return "inbox/dequeue(" + v.Item.Content.Text() + ")"
	case messages.InboxDiscarded:
		var texts []string
		for item := range v.Items.Values() {
			texts = append(texts, item.Content.Text())
		}
		return "inbox/discard(" + strings.Join(texts, ",") + ")"
	case messages.StatusChanged:
		return "status " + string(v.Status)
	case messages.EventAppended:
		return v.Event.Type()
	case messages.Flushed:
		return "session/flush"
	case messages.CancelRequested:
		return "cancel-requested(" + string(v.Cause) + ")"
	case messages.AgentError:
		return fmt.Sprintf("agent/error{%d,%d}", v.Turn, v.Step)
	case messages.AgentDisposed:
		return "agent/disposed"
	case messages.SessionDisposed:
		return "session/disposed"
	}
	return fmt.Sprintf("%T", note)
}

// condense drops what repeats: chunks and intermediate flushes.
func condense(s string) string {
	var out []string
	for _, p := range strings.Split(s, " · ") {
		if p == "assistant/chunk" || len(out) > 0 && out[len(out)-1] == p {
			continue
		}
		out = append(out, p)
	}
	return strings.Join(out, " · ")
}

func TestNotificationOrder(t *testing.T) { // SPEC 3.1 live order, A-6, A-13, A-14
	w := newWorld(t, scripted.New(scripted.Text("hello")))
	var n notes
	w.rt.Observe(n.observe)
	s := w.open(agent(), "s")
	w.prompt(s, "hi")
	must(t, second(s.Close(context.Background())))
	got := condense(n.text())
	want := "session/created · agent/created · agent/session-start(startup) · inbox/enqueue(hi) · status running · session/flush · " +
		"inbox/dequeue(hi) · turn/start · user/message · step/start · request/header · session/flush · assistant/message · step/end · " +
		"turn/end · session/flush · status idle · status disposed · agent/disposed · session/disposed"
	if got != want {
		t.Errorf("notifications\n got %s\nwant %s", got, want)
	}
}

func TestVerbsAfterDisposal(t *testing.T) {
	w := newWorld(t, scripted.New(scripted.Text("x")))
	s := w.open(agent(), "gone")
	must(t, second(s.Close(context.Background())))
	ctx := context.Background()
	for name, err := range map[string]error{
		"followup": second(s.Followup(ctx, messages.Text("x"))),
		"queue":    second(s.Queue(ctx, messages.Text("x"))),
		"steer":    second(s.Steer(ctx, messages.Text("x"))),
		"inject":   second(s.Inject(ctx, messages.NewContext("p", "x"))),
		"cancel":   s.Cancel(ctx),
	} {
		if !errors.Is(err, actors.ErrNotFound) {
			t.Errorf("%s after Close: %v", name, err)
		}
	}
	// What still holds the activation itself, such as a late hook, is told that it
	// is disposed.
	if _, err := s.Agent().Inject(ctx, messages.NewContext("p", "x")); err == nil || err.Error() != `agent "gone" is disposed` {
		t.Errorf("late inject: %v", err)
	}
	if err := s.WhenIdle(ctx); err != nil {
		t.Errorf("WhenIdle after Close: %v", err)
	}
	if got := s.Status(); got != messages.StatusDisposed {
		t.Errorf("status %s", got)
	}
}

func TestInvalidInputLeavesNoTrace(t *testing.T) {
	w := newWorld(t, scripted.New(scripted.Text("x")))
	var n notes
	s := w.open(agent(), "")
	w.rt.Observe(n.observe)
	ctx := context.Background()
	bad := messages.JSON(`{"a":1,"a":2}`)
	_, err := s.Followup(ctx, messages.Text("x"), actors.WithMeta(bad))
	if err == nil || err.Error() != "agent message content, source, and contexts must be losslessly JSON-serializable" {
		t.Errorf("followup: %v", err)
	}
	_, err = s.Followup(ctx, messages.Text("x"), actors.WithContexts(messages.Context{Content: messages.Text("c"), Meta: bad}))
	if messages.CodeOf(err) != messages.CodeInvalidInput {
		t.Errorf("followup with contexts: %v", err)
	}
	_, err = s.Inject(ctx, messages.Context{Content: messages.Text("x"), Meta: bad})
	if err == nil || err.Error() != "agent context must be losslessly JSON-serializable" {
		t.Errorf("inject: %v", err)
	}
	if got := n.text(); got != "" || s.NextSeq() != 0 {
		t.Errorf("left a trace: %s", got)
	}
}

func TestQuietQueueWakesNobody(t *testing.T) {
	w := newWorld(t, scripted.New(scripted.Answer{Text: "ok", Repeat: 5}))
	s := w.open(agent(), "")
	must(t, second(s.Queue(context.Background(), messages.Text("quiet"))))
	w.rest(s) // resolves at once
	if s.NextSeq() != 0 {
		t.Error("a quiet prompt ran by itself")
	}
	w.prompt(s, "loud")
	if got := w.log(s); !strings.Contains(got, "user/message(quiet)") || !strings.Contains(got, "turn/end{2,completed}") {
		t.Error(got)
	}
}

func TestCancelWithNothingToCancel(t *testing.T) {
	w := newWorld(t, scripted.New(scripted.Text("x")))
	var n notes
	s := w.open(agent(), "")
	w.rt.Observe(n.observe)
	must(t, s.Cancel(context.Background()))
	must(t, s.Cancel(context.Background(), actors.KeepInbox()))
	if got := n.text(); got != "" {
		t.Errorf("cancel of nothing told %s", got)
	}
	w.prompt(s, "hi") // it armed nothing
	if got := w.log(s); !strings.HasSuffix(got, "turn/end{1,completed}") {
		t.Error(got)
	}
}

func TestCancelDropsTheInbox(t *testing.T) { // Z-23
	w := newWorld(t, scripted.New(scripted.Hang()))
	var n notes
	s := w.open(agent(), "")
	ctx := context.Background()
	must(t, second(s.Followup(ctx, messages.Text("one"))))
	w.awaitEvent(s, "request/header")
	must(t, second(s.Followup(ctx, messages.Text("two"))))
	must(t, second(s.Queue(ctx, messages.Text("three"))))
	must(t, second(s.Steer(ctx, messages.Text("steer"))))
	w.rt.Observe(n.observe)
	must(t, s.Cancel(ctx))
	w.rest(s)
	w.await(func() bool { // the lane is behind
		return strings.HasPrefix(n.text(), "inbox/discard(two,three,steer) · cancel-requested(user)")
	})
	if got := w.log(s); !strings.HasSuffix(got, "step/end{1,1} · turn/end{1,aborted}") {
		t.Error(got)
	}
}

func TestCancelKeepsTheInbox(t *testing.T) {
	w := newWorld(t, scripted.New(scripted.Answer{Match: "two", Text: "ok"}, scripted.Answer{Match: "one", Hang: true}))
	s := w.open(agent(), "")
	ctx := context.Background()
	must(t, second(s.Followup(ctx, messages.Text("one"))))
	w.awaitEvent(s, "request/header")
	must(t, second(s.Followup(ctx, messages.Text("two"))))
	must(t, s.Cancel(ctx, actors.KeepInbox(), actors.CausedByParent()))
	w.rest(s)
	if got := w.log(s); !strings.Contains(got, "turn/end{1,aborted}") || !strings.HasSuffix(got, "turn/end{2,completed}") {
		t.Error(got)
	}
}

func TestEnqueuedByCancelListenerSurvives(t *testing.T) { // Z-23, A-9
	w := newWorld(t, scripted.New(scripted.Answer{Match: "again", Text: "ok"}, scripted.Answer{Match: "one", Hang: true}))
	s := w.open(agent(), "")
	w.rt.Seams().CancelRequested.Use(func(ctx context.Context, e *pipeline.CancelRequested) {
		if _, err := s.Followup(ctx, messages.Text("again")); err != nil {
			t.Error(err)
		}
	})
	ctx := context.Background()
	must(t, second(s.Followup(ctx, messages.Text("one"))))
	w.awaitEvent(s, "request/header")
	must(t, s.Cancel(ctx))
	w.awaitEvent(s, "turn/end{2,completed}")
}

func TestCancelAfterTheEndIsDecided(t *testing.T) { // A-11, Z-46
	w := newWorld(t, scripted.New(scripted.Text("x")))
	s := w.open(agent(), "")
	cancelled := make(chan error, 1)
	w.rt.Observe(func(_ messages.SessionID, n messages.Notification) {
		if e, ok := n.(messages.EventAppended); ok && e.Event.Type() == "turn/end" {
			cancelled <- s.Cancel(context.Background())
		}
	})
	w.prompt(s, "hi")
	must(t, <-cancelled)
	if got := w.log(s); !strings.HasSuffix(got, "turn/end{1,completed}") {
		t.Error(got)
	}
}

func TestCloseDuringTurnEndsDisposed(t *testing.T) { // A-13, T-17: disposal beats an earlier cancel
	for _, cancelFirst := range []bool{false, true} {
		t.Run(fmt.Sprintf("cancelFirst=%v", cancelFirst), func(t *testing.T) {
			store := session.NewMemoryStore()
			w := newWorld(t, scripted.New(scripted.Calls(named("c1", "Wait"))), func(c *actors.Config) { c.Store = store })
			entered, release := make(chan struct{}), make(chan struct{})
			w.tool(noop("Wait", false, func(ctx context.Context, _ *pipeline.Invocation) error {
				close(entered)
				<-ctx.Done()
				<-release
				return ctx.Err()
			}))
			s := w.open(agent(), "s")
			ctx := context.Background()
			must(t, second(s.Followup(ctx, messages.Text("go"))))
			<-entered
			must(t, second(s.Followup(ctx, messages.Text("dropped"))))
			if cancelFirst {
				must(t, s.Cancel(ctx, actors.KeepInbox()))
			}
			done := make(chan messages.Report, 1)
			go func() {
				r, _ := s.Close(ctx)
				done <- r
			}()
			w.await(func() bool { return s.Status() == messages.StatusDisposed })
			close(release)
			r := <-done
			if len(r.Discarded) != 1 || r.Ended["turns"] != 1 || !r.Quiet() {
				t.Errorf("report %+v", r)
			}
			got := w.stored(store, "s")
			if !strings.HasSuffix(got, `tool/result c1{"Error: context canceled"} · step/end{1,1} · turn/end{1,disposed}`) {
				t.Error(got)
			}
		})
	}
}

func TestCloseIsJoined(t *testing.T) { // one memoized sequence
	w := newWorld(t, scripted.New(scripted.Text("x")))
	s := w.open(agent(), "")
	w.prompt(s, "hi")
	var wg sync.WaitGroup
	reports := make([]messages.Report, 8)
	for i := range reports {
		wg.Go(func() { reports[i], _ = s.Close(context.Background()) })
	}
	wg.Wait()
	for _, r := range reports {
		if r.Owner != reports[0].Owner || r.TookMS != reports[0].TookMS || !r.Quiet() {
			t.Errorf("reports differ: %+v", reports)
		}
	}
}

func TestWouldDeadlock(t *testing.T) { // DESIGN 3, rule 9
	w := newWorld(t, scripted.New(scripted.Calls(named("c1", "Inside")), scripted.Text("done")))
	var idle, closed, shut error
	w.tool(noop("Inside", false, func(ctx context.Context, inv *pipeline.Invocation) error {
		s, _ := w.rt.Session(inv.Agent().ID())
		idle = s.WhenIdle(ctx)
		_, closed = s.Close(ctx)
		_, shut = w.rt.Shutdown(ctx)
		return nil
	}))
	s := w.open(agent(), "")
	must(t, second(s.Followup(context.Background(), messages.Text("go"))))
	<-w.rt.Done() // both were started all the same
	for name, err := range map[string]error{"WhenIdle": idle, "Close": closed, "Shutdown": shut} {
		if !errors.Is(err, actors.ErrWouldDeadlock) {
			t.Errorf("%s from inside: %v", name, err)
		}
	}
}

func TestQueueFull(t *testing.T) {
	w := newWorld(t, scripted.New(scripted.Text("x")), func(c *actors.Config) { c.MaxQueuedPrompts = 2 })
	s := w.open(agent(), "")
	ctx := context.Background()
	must(t, second(s.Queue(ctx, messages.Text("a"))))
	must(t, second(s.Queue(ctx, messages.Text("b"))))
	if err := second(s.Queue(ctx, messages.Text("c"))); !errors.Is(err, actors.ErrQueueFull) {
		t.Errorf("third prompt: %v", err)
	}
}

func TestIdempotencyKey(t *testing.T) {
	w := newWorld(t, scripted.New(scripted.Answer{Text: "ok", Repeat: 5}))
	s := w.open(agent(), "")
	ctx := context.Background()
	a, err := s.Followup(ctx, messages.Text("one"), actors.WithIdempotencyKey("k"))
	must(t, err)
	b, err := s.Followup(ctx, messages.Text("one"), actors.WithIdempotencyKey("k"))
	must(t, err)
	if !b.Duplicate || b.Message != a.Message || a.Duplicate {
		t.Errorf("%+v then %+v", a, b)
	}
	w.rest(s)
	if got := w.log(s); strings.Contains(got, "turn/start{2") {
		t.Error(got)
	}
}

func TestSessionIDInUse(t *testing.T) { // V-2, E-12
	store := session.NewMemoryStore()
	w := newWorld(t, scripted.New(scripted.Answer{Text: "ok", Repeat: 3}), func(c *actors.Config) { c.Store = store })
	a := agent()
	s := w.open(a, "session-1")
	create := func(id messages.SessionID) error {
		return second(w.rt.Create(context.Background(), actors.SessionOptions{ID: id, Agent: a}))
	}
	if err := create("session-1"); !errors.Is(err, actors.ErrExists) {
		t.Errorf("live id: %v", err)
	}
	w.prompt(s, "hi")
	must(t, second(s.Close(context.Background())))
	if err := create("session-1"); !errors.Is(err, actors.ErrExists) {
		t.Errorf("stored id: %v", err)
	}
	if minted := w.open(a, ""); minted.ID() != "session-2" {
		t.Errorf("minted %s", minted.ID())
	}
}

package actors_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/dsh-actor/dsh-actor/actors"
	"github.com/dsh-actor/dsh-actor/messages"
	"github.com/dsh-actor/dsh-actor/model"
	"github.com/dsh-actor/dsh-actor/model/scripted"
	"github.com/dsh-actor/dsh-actor/pipeline"
	"github.com/dsh-actor/dsh-actor/session"
)

// faultyStore fails commits on demand.
type faultyStore struct {
	session.Store
	mu   sync.Mutex
	fail func(session.Batch) error
}

func (f *faultyStore) Commit(ctx context.Context, b session.Batch) error {
	f.mu.Lock()
	fail := f.fail
	f.mu.Unlock()
	if fail != nil {
		if err := fail(b); err != nil {
			return err
		}
	}
	return f.Store.Commit(ctx, b)
}

func (f *faultyStore) set(fail func(session.Batch) error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.fail = fail
}

var errDisk = errors.New("disk on fire")

func onStore(s session.Store) func(*actors.Config) { return func(c *actors.Config) { c.Store = s } }

func TestPromptIsRefusedWhenTheStoreFails(t *testing.T) { // Z-36, DESIGN 3 rule 11
	store := &faultyStore{Store: session.NewMemoryStore()}
	w := newWorld(t, scripted.New(scripted.Text("x")), onStore(store))
	s := w.open(agent(), "")
	store.set(func(session.Batch) error { return errDisk })
	_, err := s.Followup(context.Background(), messages.Text("hi"))
	if !errors.Is(err, actors.ErrStoreUnavailable) || !errors.Is(err, errDisk) {
		t.Errorf("prompt: %v", err)
	}
	store.set(nil)
	w.rest(s)
	if s.NextSeq() != 0 {
		t.Error("a refused prompt ran")
	}
	w.prompt(s, "hi")
}

func TestNoTurnWhileTheStoreFails(t *testing.T) { // Z-36, DESIGN 3 rule 11: the prompt stays queued
	store := &faultyStore{Store: session.NewMemoryStore()}
	w := newWorld(t, scripted.New(scripted.Text("x")), onStore(store))
	s := w.open(agent(), "")
	var refused atomic.Int32
	store.set(func(b session.Batch) error {
		if len(b.Claim) > 0 && refused.Add(1) <= 2 {
			return errDisk
		}
		return nil
	})
	w.prompt(s, "hi")
	if refused.Load() < 3 {
		t.Errorf("claimed after %d refusals", refused.Load())
	}
	if got := w.log(s); !strings.HasPrefix(got, "turn/start{1") || !strings.HasSuffix(got, "turn/end{1,completed}") {
		t.Error(got)
	}
}

func TestContextsInjectedDuringARefusedClaimAreKept(t *testing.T) {
	store := &faultyStore{Store: session.NewMemoryStore()}
	w := newWorld(t, scripted.New(scripted.Text("x")), onStore(store))
	s := w.open(agent(), "")
	first := true
	store.set(func(b session.Batch) error {
		if len(b.Claim) > 0 && first {
			first = false
			must(t, second(s.Inject(context.Background(), messages.NewContext("p", "early"))))
			return errDisk
		}
		return nil
	})
	w.prompt(s, "hi")
	checkLog(t, w.log(s),
		"turn/start{1,injection/plugin}", "user/message(p:early)", "turn/end{1,completed}",
		"turn/start{2,message/user}", "user/message(hi)", "step/start{2,1}", "request/header{initial}", "…",
		"assistant/message", "step/end{2,1}", "turn/end{2,completed}")
}

func TestContextInjectedWhileClaimingJoinsTheTurn(t *testing.T) {
	store := &faultyStore{Store: session.NewMemoryStore()}
	w := newWorld(t, scripted.New(scripted.Text("x")), onStore(store))
	s := w.open(agent(), "")
	store.set(func(b session.Batch) error {
		if len(b.Claim) > 0 {
			must(t, second(s.Inject(context.Background(), messages.NewContext("p", "early"))))
		}
		return nil
	})
	w.prompt(s, "hi")
	if got := w.log(s); !strings.HasPrefix(got, "turn/start{1,message/user} · user/message(p:early) · user/message(hi)") {
		t.Error(got)
	}
}

func TestNoRequestAndNoBodyWithoutItsRecord(t *testing.T) { // K-6
	for _, tc := range []struct {
		name, failOn, want string
	}{
		{"request", "step/start", "turn/end{1,error@1:session \"session-1\": the store did not take the batch: disk on fire(STORE_UNAVAILABLE)}"},
		{"body", "tool/call", "STORE_UNAVAILABLE} · step/end{1,1}"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			store := &faultyStore{Store: session.NewMemoryStore()}
			var requests, bodies atomic.Int32
			w := newWorld(t, scripted.Func(func(_ context.Context, r model.Request) ([]messages.Chunk, error) {
				requests.Add(1)
				if r.Step > 1 {
					return []messages.Chunk{messages.TextDelta{Text: "done"}}, nil
				}
				return []messages.Chunk{messages.ToolCallDelta{ID: "c1", Name: "P", ArgumentsDelta: "{}"}}, nil
			}), onStore(store))
			w.tool(noop("P", true, func(context.Context, *pipeline.Invocation) error { bodies.Add(1); return nil }))
			once := true
			store.set(func(b session.Batch) error {
				for _, e := range b.Events {
					if e.Type() == tc.failOn && once {
						once = false
						return errDisk
					}
				}
				return nil
			})
			s := w.open(agent(), "")
			w.prompt(s, "hi")
			if tc.name == "request" && requests.Load() != 0 || bodies.Load() != 0 {
				t.Errorf("%d requests, %d bodies", requests.Load(), bodies.Load())
			}
			if got := w.log(s); !strings.Contains(got, tc.want) {
				t.Errorf("log %s\nlacks %s", got, tc.want)
			}
		})
	}
}

func TestFailedFlushAtTheTurnsEnd(t *testing.T) { // T-14, K-1: warned, never written, retried
	store := &faultyStore{Store: session.NewMemoryStore()}
	w := newWorld(t, scripted.New(scripted.Answer{Text: "x", Repeat: 2}), onStore(store))
	var n notes
	w.rt.Observe(n.observe)
	s := w.open(agent(), "s")
	once := true
	store.set(func(b session.Batch) error {
		if len(b.Events) > 0 && b.Events[len(b.Events)-1].Type() == "turn/end" && once {
			once = false
			return errDisk
		}
		return nil
	})
	w.prompt(s, "one")
	w.await(func() bool { return strings.Contains(n.text(), "agent/error{1,1}") }) // the lane is behind
	w.prompt(s, "two")
	if got := w.stored(store, "s"); !strings.Contains(got, "turn/end{1,completed} · turn/start{2") || !strings.HasSuffix(got, "turn/end{2,completed}") {
		t.Error(got)
	}
}

func TestNewerOwnerFencesTheOld(t *testing.T) { // DESIGN 9, Z-41
	store := session.NewMemoryStore()
	one := newWorld(t, scripted.New(scripted.Answer{Text: "x", Repeat: 9}), onStore(store))
	two := newWorld(t, scripted.New(scripted.Answer{Text: "y", Repeat: 9}), onStore(store))
	s := one.open(agent(), "s")
	one.prompt(s, "one")
	taken, err := two.rt.Resume(context.Background(), "s", agent())
	must(t, err)
	two.prompt(taken, "two")
	_, err = s.Followup(context.Background(), messages.Text("late"))
	if messages.CodeOf(err) != messages.CodeNotOwner {
		t.Errorf("late prompt of the old owner: %v", err)
	}
	_, err = s.Followup(context.Background(), messages.Text("later"))
	if messages.CodeOf(err) != messages.CodeNotOwner {
		t.Errorf("second prompt of the old owner: %v", err)
	}
	got := two.stored(store, "s")
	if strings.Contains(got, "late") || !strings.Contains(got, "request/header{resume}") || !strings.HasSuffix(got, "turn/end{2,completed}") {
		t.Error(got)
	}
}

func TestSuspendAndResume(t *testing.T) { // K-5, DESIGN 3 rule 6: Suspend keeps the inbox
	store := session.NewMemoryStore()
	w := newWorld(t, scripted.New(scripted.Answer{Match: "kept", Text: "ok"}, scripted.Answer{Match: "hang", Hang: true}), onStore(store))
	s := w.open(agent(), "s")
	ctx := context.Background()
	must(t, second(s.Followup(ctx, messages.Text("hang"))))
	w.awaitEvent(s, "request/header")
	must(t, second(s.Followup(ctx, messages.Text("kept"))))
	report, err := s.Suspend(ctx)
	if err != nil || len(report.Discarded) != 0 {
		t.Errorf("suspend: %+v, %v", report, err)
	}
	var source atomic.Pointer[messages.SessionStartSource]
	w.rt.Seams().SessionStart.Use(func(_ context.Context, e *pipeline.SessionStart) error {
		source.Store(&e.Source)
		return nil
	})
	back, err := w.rt.Resume(ctx, "s", agent())
	must(t, err)
	w.rest(back)
	if got := source.Load(); got == nil || *got != messages.StartResume {
		t.Errorf("session-start source %v", got)
	}
	got := w.log(back)
	if !strings.Contains(got, "turn/end{1,disposed} · turn/start{2,message/user} · user/message(kept)") ||
		!strings.Contains(got, "request/header{resume}") || !strings.HasSuffix(got, "turn/end{2,completed}") {
		t.Error(got)
	}
}

func TestResumeRepairsAnInterruptedTurn(t *testing.T) { // K-3, K-4, SPEC 3.1
	store := session.NewMemoryStore()
	log := session.New(session.Config{Header: session.Header{ID: "s"}})
	call := func(id messages.CallID) messages.Block {
		return messages.ToolCallBlock{ID: id, Name: "P", Arguments: "{}"}
	}
	entries := []session.Entry{
		session.LogOnly(messages.TurnStart{Turn: 1, Trigger: messages.TurnTrigger{Kind: "message", Source: messages.UserSource()}}),
		session.Add(messages.UserMessage{Content: messages.Text("go"), Source: messages.UserSource()}),
		session.LogOnly(messages.StepStart{Turn: 1, Step: 1}),
		session.Answer(messages.AssistantMessage{Turn: 1, Step: 1, Content: messages.NewContent(call("c1"), call("c2"))}, messages.List[int64]{}),
		session.LogOnly(messages.ToolCall{Turn: 1, Step: 1, CallID: "c1", Name: "P", Arguments: "{}"}),
	}
	events, err := log.AppendBatch(7, entries...)
	must(t, err)
	must(t, store.Commit(context.Background(), session.Batch{ID: "s", Epoch: 1, Create: &session.Header{ID: "s"}, Events: events.Slice()}))
	w := newWorld(t, scripted.New(scripted.Text("x")), onStore(store))
	s, err := w.rt.Resume(context.Background(), "s", agent())
	must(t, err)
	got := w.log(s)
	if !strings.Contains(got, "ToolOutcomeUnknownError/TOOL_OUTCOME_UNKNOWN} · tool/result c2") ||
		!strings.HasSuffix(got, "ToolNotStartedError/TOOL_NOT_STARTED} · step/end{1,1} · turn/end{1,interrupted}") {
		t.Error(got)
	}
	for _, e := range w.events(s)[5:] {
		if e.Time != 7 {
			t.Errorf("closer %s has time %d, want the last event's", e.Type(), e.Time)
		}
	}
	if want := w.stored(store, "s"); want != got {
		t.Error("the repair was not stored")
	}
}

func TestFork(t *testing.T) { // E-12
	w := newWorld(t, scripted.New(scripted.Answer{Text: "ok", Repeat: 9}))
	s := w.open(agent(), "parent")
	w.prompt(s, "one")
	boundary := s.NextSeq() - 1
	w.prompt(s, "two")
	ctx := context.Background()
	child, err := w.rt.Fork(ctx, "parent", boundary, actors.SessionOptions{ID: "child", Agent: agent()})
	must(t, err)
	if h := child.Header(); h.ParentSession != "parent" || h.SeedLength != boundary+1 {
		t.Errorf("header %+v", h)
	}
	w.prompt(child, "three")
	if got := w.log(child); strings.Contains(got, "two") || !strings.Contains(got, "user/message(three)") {
		t.Error(got)
	}
	for name, tc := range map[string]struct {
		parent messages.SessionID
		at     int64
		id     messages.SessionID
		want   messages.Code
	}{
		"exists":      {"parent", -1, "child", messages.CodeSessionAlreadyExists},
		"not found":   {"nobody", -1, "c2", messages.CodeSessionNotFound},
		"no boundary": {"parent", 1, "c3", messages.CodeInvalidBoundary},
	} {
		_, err := w.rt.Fork(ctx, tc.parent, tc.at, actors.SessionOptions{ID: tc.id, Agent: agent()})
		if messages.CodeOf(err) != tc.want {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestActorFailureRebuildsTheSession(t *testing.T) { // DESIGN 3, rule 8
	w := newWorld(t, scripted.New(scripted.Answer{Text: "ok", Repeat: 9}))
	s := w.open(agent(), "s")
	w.prompt(s, "one")
	epoch := s.Agent().Epoch()
	s.CrashActor()
	w.await(func() bool { return s.Broken() })
	w.prompt(s, "two") // the next verb rebuilds
	if got := w.log(s); !strings.HasSuffix(got, "turn/end{2,completed}") {
		t.Error(got)
	}
	if now := s.Agent().Epoch(); now <= epoch {
		t.Errorf("epoch %d after %d", now, epoch)
	}
}

func TestActorFailureDuringATurn(t *testing.T) { // DESIGN 3, rule 8
	w := newWorld(t, scripted.New(scripted.Answer{Match: "^on$", Text: "ok"}, scripted.Answer{Match: "^hang$", Hang: true}))
	s := w.open(agent(), "s")
	must(t, second(s.Followup(context.Background(), messages.Text("hang"))))
	w.awaitEvent(s, "request/header")
	s.CrashActor()
	w.await(func() bool { return s.Broken() })
	w.prompt(s, "on")
	got := w.log(s)
	if !strings.Contains(got, "turn/end{1,error@1:internal error: the turn's actor has stopped(UNKNOWN)}") || !strings.HasSuffix(got, "turn/end{2,completed}") {
		t.Error(got)
	}
}

func TestPanicUnderTheLockIsOneSessionsMatter(t *testing.T) { // DESIGN 3, rules 1 and 8
	w := newWorld(t, scripted.New(scripted.Answer{Text: "ok", Repeat: 9}))
	s, other := w.open(agent(), "s"), w.open(agent(), "other")
	w.prompt(s, "one")
	s.PanicUnderLock()
	w.prompt(other, "fine")
	w.prompt(s, "two")
	if got := w.log(s); !strings.HasSuffix(got, "turn/end{2,completed}") {
		t.Error(got)
	}
}

func TestQuarantine(t *testing.T) { // DESIGN 3, rule 8
	w := newWorld(t, scripted.New(scripted.Answer{Text: "ok", Repeat: 9}))
	s := w.open(agent(), "s")
	ctx := context.Background()
	for range 3 {
		s.CrashActor()
		w.await(func() bool { return s.Broken() })
		_, _ = s.Inject(ctx, messages.NewContext("p", "x"))
	}
	_, err := s.Followup(ctx, messages.Text("hi"))
	if !errors.Is(err, actors.ErrQuarantined) {
		t.Errorf("after three failures: %v", err)
	}
}

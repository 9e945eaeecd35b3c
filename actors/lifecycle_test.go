package actors_test

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/dsh-actor/dsh-actor/actors"
	"github.com/dsh-actor/dsh-actor/messages"
	"github.com/dsh-actor/dsh-actor/model"
	"github.com/dsh-actor/dsh-actor/model/scripted"
	"github.com/dsh-actor/dsh-actor/pipeline"
	"github.com/dsh-actor/dsh-actor/session"
)

func TestStuckToolIsSealedAndNamed(t *testing.T) { // Z-47, DESIGN 3 rule 7, P-15
	store := session.NewMemoryStore()
	release := make(chan struct{})
	entered := make(chan struct{})
	rt := start(t, scripted.New(scripted.Calls(named("c1", "Stuck"), named("c2", "Fine"), named("c3", "Never"))), func(c *actors.Config) {
		c.Store = store
	})
	w := &world{t, rt}
	w.tool(noop("Stuck", true, func(context.Context, *pipeline.Invocation) error {
		close(entered)
		<-release // ignores its context
		return nil
	}))
	fine := make(chan struct{})
	w.tool(noop("Fine", true, func(context.Context, *pipeline.Invocation) error { close(fine); return nil }))
	w.tool(noop("Never", false, nil))
	s := w.open(agent(), "s")
	must(t, second(s.Followup(context.Background(), messages.Text("go"))))
	<-entered
	<-fine                                                                            // the driver is past the policy of both
	must(t, second(s.Inject(context.Background(), messages.NewContext("p", "kept")))) // T-23
	expired, cancel := context.WithCancel(context.Background())
	cancel()
	report, err := rt.Shutdown(expired)
	if err == nil || !strings.Contains(err.Error(), `still running: tool "Stuck" of session s, turn 1, call c1`) {
		t.Errorf("error %v", err)
	}
	if len(report.Leftovers) == 0 || report.Leftovers[0].Name != "Stuck" {
		t.Errorf("report %+v", report)
	}
	w.await(func() bool { return len(rt.Leftovers()) == 1 }) // the other body may just have been ending
	got := w.stored(store, "s")
	for _, part := range []string{
		"ToolOutcomeUnknownError/TOOL_OUTCOME_UNKNOWN} · tool/result c2",
		"ToolNotStartedError/TOOL_NOT_STARTED} · user/message(p:kept) · step/end{1,1} · turn/end{1,disposed}",
	} {
		if !strings.Contains(got, part) {
			t.Errorf("log %s\nlacks %s", got, part)
		}
	}
	close(release)
	w.await(func() bool { return len(rt.Leftovers()) == 0 })
	if again := w.stored(store, "s"); again != got {
		t.Errorf("the late result was written: %s", again)
	}
}

func TestStuckListenerIsSealedAndNamed(t *testing.T) { // Z-47
	release, entered := make(chan struct{}), make(chan struct{})
	rt := start(t, scripted.New(scripted.Text("x")))
	w := &world{t, rt}
	rt.Seams().PreStep.Use(func(context.Context, *pipeline.Step) (messages.StepVerdict, error) {
		close(entered)
		<-release
		return nil, nil
	})
	s := w.open(agent(), "s")
	must(t, second(s.Followup(context.Background(), messages.Text("go"))))
	<-entered
	expired, cancel := context.WithCancel(context.Background())
	cancel()
	report, err := s.Close(expired)
	if err == nil || len(report.Leftovers) != 1 || report.Leftovers[0].Kind != "listener" || report.Leftovers[0].Name != "agent/pre-step" {
		t.Errorf("report %+v, error %v", report, err)
	}
	close(release)
	w.await(func() bool { return len(rt.Leftovers()) == 0 })
	must(t, second(rt.Shutdown(deadline(t, testPatience))))
}

func TestListenerThatBlocksEndsWithTheTurn(t *testing.T) { // S-1, PAIN 32
	w := newWorld(t, scripted.New(scripted.Calls(named("c1", "P")), scripted.Text("x")))
	w.tool(noop("P", true, nil))
	entered := make(chan struct{})
	w.rt.Seams().PreExecute.Use(func(ctx context.Context, _ *pipeline.Call, _ pipeline.Next[messages.PreToolDecision]) (messages.PreToolDecision, error) {
		close(entered)
		<-ctx.Done()
		return nil, context.Cause(ctx)
	})
	s := w.open(agent(), "")
	other := w.open(agent(), "other")
	must(t, second(s.Followup(context.Background(), messages.Text("go"))))
	<-entered
	must(t, second(other.Inject(context.Background(), messages.NewContext("p", "alive"))))
	must(t, s.Cancel(context.Background()))
	w.rest(s)
	if got := w.log(s); !strings.HasSuffix(got, "turn/end{1,aborted}") || !strings.Contains(got, "tool/result c1") {
		t.Error(got)
	}
}

func TestGoexit(t *testing.T) { // bad input: runtime.Goexit in foreign code
	t.Run("tool", func(t *testing.T) {
		w := newWorld(t, scripted.New(scripted.Calls(named("c1", "Exit"), named("c2", "P")), scripted.Text("done")))
		w.tool(noop("Exit", true, func(context.Context, *pipeline.Invocation) error { runtime.Goexit(); return nil }))
		w.tool(noop("P", true, nil))
		s := w.open(agent(), "")
		w.prompt(s, "go")
		got := w.log(s)
		if !strings.Contains(got, "tool/result c1{") || !strings.Contains(got, "runtime.Goexit") || !strings.HasSuffix(got, "turn/end{1,completed}") {
			t.Error(got)
		}
	})
	t.Run("policy", func(t *testing.T) { // with a body of the batch under way
		w := newWorld(t, scripted.New(scripted.Calls(named("c1", "Wait"), named("c2", "P")), scripted.Text("done")))
		entered := make(chan struct{})
		w.tool(noop("Wait", true, func(ctx context.Context, _ *pipeline.Invocation) error {
			close(entered)
			<-ctx.Done()
			return ctx.Err()
		}))
		w.tool(noop("P", true, nil))
		w.rt.Seams().PreExecute.Use(func(ctx context.Context, c *pipeline.Call, next pipeline.Next[messages.PreToolDecision]) (messages.PreToolDecision, error) {
			if c.ID() == "c2" {
				<-entered
				runtime.Goexit()
			}
			return next(ctx)
		})
		s := w.open(agent(), "")
		w.prompt(s, "go")
		if got := w.log(s); !strings.Contains(got, "tool/result c1{") || !strings.Contains(got, "turn/end{1,error@1:the turn's goroutine was ended by runtime.Goexit in tools/pre-execute(UNKNOWN)}") {
			t.Error(got)
		}
	})
	t.Run("listener", func(t *testing.T) {
		w := newWorld(t, scripted.New(scripted.Text("a"), scripted.Text("b")))
		exit := true
		w.rt.Seams().PreStep.Use(func(context.Context, *pipeline.Step) (messages.StepVerdict, error) {
			if exit {
				exit = false
				runtime.Goexit()
			}
			return nil, nil
		})
		s := w.open(agent(), "")
		w.prompt(s, "one")
		w.prompt(s, "two")
		got := w.log(s)
		if !strings.Contains(got, "turn/end{1,error@1:the turn's goroutine was ended by runtime.Goexit in agent/pre-step(UNKNOWN)}") ||
			!strings.HasSuffix(got, "turn/end{2,completed}") {
			t.Error(got)
		}
	})
}

func TestToolPanics(t *testing.T) { // P-14, P-17
	w := newWorld(t, scripted.New(scripted.Calls(named("c1", "Boom")), scripted.Text("done")))
	w.tool(noop("Boom", true, func(context.Context, *pipeline.Invocation) error { panic(errors.New("kaboom")) }))
	s := w.open(agent(), "")
	w.prompt(s, "go")
	if got := w.log(s); !strings.Contains(got, `tool/result c1{"Error: kaboom"}`) || !strings.HasSuffix(got, "turn/end{1,completed}") {
		t.Error(got)
	}
}

func TestModelPanics(t *testing.T) { // T-10: an adapter's failure is a request failure
	w := newWorld(t, scripted.Func(func(context.Context, model.Request) ([]messages.Chunk, error) { panic("adapter") }))
	s := w.open(agent(), "")
	w.prompt(s, "go")
	if got := w.log(s); !strings.HasSuffix(got, "step/end{1,1} · turn/end{1,error@1:failure(adapter/UNKNOWN)}") {
		t.Error(got)
	}
}

func TestSetupScopesAndVeto(t *testing.T) { // A-14, D-3, Z-49, P-2
	w := newWorld(t, scripted.New(scripted.Calls(named("c1", "Own"), named("c2", "P")), scripted.Text("done")))
	w.tool(noop("P", true, nil))
	a := agent()
	a.Setup = func(s *actors.Scope) error {
		if _, err := s.Tools().Register(noop("Own", true, nil)); err != nil {
			return err
		}
		s.Guard(func(c *pipeline.Call) (string, bool) { return "not here", c.Name() == "P" })
		return nil
	}
	s := w.open(a, "")
	w.prompt(s, "go")
	if got := w.log(s); !strings.Contains(got, `tool/result c1 · tool/result c2{"Error: not here"}`) {
		t.Error(got)
	}
	plain := w.open(agent(), "")
	w.prompt(plain, "go")
	if got := w.log(plain); !strings.Contains(got, `unknown tool \"Own\"`) || strings.Contains(got, "not here") {
		t.Error(got)
	}

	a.Setup = func(*actors.Scope) error { return errors.New("cannot") }
	if _, err := w.rt.Create(context.Background(), actors.SessionOptions{ID: "x", Agent: a}); err == nil || !strings.Contains(err.Error(), "cannot") {
		t.Errorf("failing setup: %v", err)
	}
	a.Setup = func(*actors.Scope) error { panic("setup") }
	if _, err := w.rt.Create(context.Background(), actors.SessionOptions{ID: "x", Agent: a}); err == nil || !strings.Contains(err.Error(), "panic: setup") {
		t.Errorf("panicking setup: %v", err)
	}

	var n notes
	w.rt.Observe(n.observe)
	remove := w.rt.Seams().AgentCreated.Use(func(context.Context, *pipeline.SessionStart) error { return errors.New("veto") })
	if _, err := w.rt.Create(context.Background(), actors.SessionOptions{ID: "x", Agent: agent()}); err == nil || !strings.Contains(err.Error(), "veto") {
		t.Errorf("vetoed creation: %v", err)
	}
	if got := n.text(); got != "session/created · agent/created · status disposed · agent/disposed · session/disposed" {
		t.Errorf("rollback told %s", got)
	}
	remove()
	w.open(agent(), "x") // the id is free again
}

func TestCreationIsAborted(t *testing.T) {
	w := newWorld(t, scripted.New(scripted.Text("x")))
	var n notes
	w.rt.Observe(n.observe)
	ctx, cancel := context.WithCancelCause(context.Background())
	cancel(errors.New("changed my mind"))
	_, err := w.rt.Create(ctx, actors.SessionOptions{ID: "x", Agent: agent()})
	if err == nil || err.Error() != "changed my mind" || n.text() != "" {
		t.Errorf("error %v, told %q", err, n.text())
	}
}

func TestSessionStartContextReachesTheFirstRequest(t *testing.T) { // S-2, Z-22
	var first atomic.Pointer[string]
	w := newWorld(t, scripted.Func(func(_ context.Context, r model.Request) ([]messages.Chunk, error) {
		if first.Load() == nil {
			text := r.History.At(0).Content.Text()
			first.Store(&text)
		}
		return []messages.Chunk{messages.TextDelta{Text: "x"}}, nil
	}))
	w.rt.Seams().SessionStart.Use(func(ctx context.Context, e *pipeline.SessionStart) error {
		_, err := e.Agent.Inject(ctx, messages.NewContext("p", "welcome"))
		return err
	})
	s := w.open(agent(), "")
	w.prompt(s, "hi")
	if *first.Load() != "welcome" {
		t.Errorf("the first request began with %q", *first.Load())
	}
	if got := w.log(s); !strings.HasPrefix(got, "turn/start{1,injection/plugin} · user/message(p:welcome) · turn/end{1,completed} · turn/start{2,message/user}") {
		t.Error(got)
	}
}

func TestSlowSessionStartDoesNotHoldTheTurn(t *testing.T) { // S-2, Z-22
	w := newWorld(t, scripted.New(scripted.Text("x")), func(c *actors.Config) { c.StartGrace = time.Millisecond })
	ended := make(chan error, 1)
	w.rt.Seams().SessionStart.Use(func(ctx context.Context, _ *pipeline.SessionStart) error {
		<-ctx.Done() // until the session closes
		ended <- ctx.Err()
		return ctx.Err()
	})
	s := w.open(agent(), "")
	w.prompt(s, "hi")
	must(t, second(s.Close(deadline(t, testPatience))))
	if len(ended) != 1 {
		t.Error("Close did not wait for the session-start listener")
	}
}

func TestSessionEndIsAwaited(t *testing.T) { // Z-37
	w := newWorld(t, scripted.New(scripted.Text("x")))
	var reasons []string
	w.rt.Seams().SessionEnd.Use(func(_ context.Context, e *pipeline.SessionEnd) error {
		reasons = append(reasons, e.Reason)
		return nil
	})
	s := w.open(agent(), "")
	w.prompt(s, "hi")
	must(t, second(s.Close(context.Background())))
	if len(reasons) != 1 || reasons[0] != "close" {
		t.Errorf("reasons %v", reasons)
	}
	w.open(agent(), "")
	must(t, second(w.rt.Shutdown(context.Background())))
	if len(reasons) != 2 || reasons[1] != "shutdown" {
		t.Errorf("reasons %v", reasons)
	}
}

// hostSystem is an actor system of a host that does not want to read its log.
func hostSystem() *actor.ActorSystem {
	return actor.NewActorSystem(
		actor.WithDeadLetterThrottleInterval(time.Millisecond),
		actor.WithLoggerFactory(quietLogger),
	)
}

func TestMountUnderHost(t *testing.T) { // DESIGN 3: mounts under a host's ActorSystem
	sys := hostSystem()
	defer sys.Shutdown()
	before := sys.ProcessRegistry.SequenceID
	rt, err := actors.New(actors.Config{Models: model.Single(scripted.New(scripted.Text("x"))), Under: sys.Root})
	must(t, err)
	w := &world{t, rt}
	s := w.open(agent(), "")
	w.prompt(s, "hi")
	must(t, second(rt.Shutdown(deadline(t, testPatience))))
	if before == sys.ProcessRegistry.SequenceID {
		t.Error("nothing was spawned under the host")
	}
	for i := range sys.ProcessRegistry.LocalPIDs.LocalPIDs {
		for item := range sys.ProcessRegistry.LocalPIDs.LocalPIDs[i].IterBuffered() {
			if strings.HasPrefix(item.Key, "$") {
				t.Errorf("actor %s is left", item.Key)
			}
		}
	}
}

func TestHostStopsTheTree(t *testing.T) { // DESIGN 3, rule 7
	sys := hostSystem()
	defer sys.Shutdown()
	store := session.NewMemoryStore()
	type started struct{ rt *actors.Runtime }
	ready := make(chan started, 1)
	host := sys.Root.Spawn(actor.PropsFromFunc(func(c actor.Context) {
		if _, ok := c.Message().(*actor.Started); ok {
			rt, err := actors.New(actors.Config{
				Models: model.Single(scripted.New(scripted.Calls(named("c1", "Stuck")))), Under: c, Store: store,
			})
			if err != nil {
				t.Error(err)
			}
			ready <- started{rt}
		}
	}))
	rt := (<-ready).rt
	w := &world{t, rt}
	entered, release := make(chan struct{}), make(chan struct{})
	w.tool(noop("Stuck", true, func(context.Context, *pipeline.Invocation) error {
		close(entered)
		<-release
		return nil
	}))
	s := w.open(agent(), "s")
	must(t, second(s.Followup(context.Background(), messages.Text("go"))))
	<-entered
	sys.Root.Stop(host)
	<-rt.Done()
	report, err := rt.Shutdown(context.Background())
	if err == nil || len(report.Leftovers) != 1 {
		t.Errorf("report %+v, error %v", report, err)
	}
	if got := w.stored(store, "s"); !strings.HasSuffix(got, "turn/end{1,disposed}") {
		t.Error(got)
	}
	close(release)
	w.await(func() bool { return len(rt.Leftovers()) == 0 })
}

type component struct {
	name    string
	order   *[]string
	drained atomic.Int32
	stuck   chan struct{}
}

func (c *component) Name() string { return c.name }

func (c *component) Start(actor.SpawnerContext) error { return nil }

func (c *component) Drain(ctx context.Context) messages.Report {
	c.drained.Add(1)
	if c.stuck != nil {
		<-c.stuck
	}
	*c.order = append(*c.order, c.name)
	r := messages.Report{Owner: c.name}
	r.Count("runs", 1)
	return r
}

func TestComponents(t *testing.T) { // Z-39
	rt := start(t, scripted.New(scripted.Text("x")))
	var order []string
	a, b, c := &component{name: "a", order: &order}, &component{name: "b", order: &order}, &component{name: "c", order: &order}
	ctx := context.Background()
	must(t, second(rt.Mount(ctx, a)))
	unmountB, err := rt.Mount(ctx, b)
	must(t, err)
	must(t, second(rt.Mount(ctx, c)))
	if r := unmountB(ctx); r.Ended["runs"] != 1 {
		t.Errorf("unmount: %+v", r)
	}
	report, err := rt.Shutdown(ctx)
	must(t, err)
	if strings.Join(order, "") != "bca" || report.Ended["runs"] != 2 || b.drained.Load() != 1 {
		t.Errorf("drained in order %v, report %+v", order, report)
	}
	if _, err := rt.Mount(ctx, a); !errors.Is(err, actors.ErrShuttingDown) {
		t.Errorf("mount after shutdown: %v", err)
	}
}

func TestStuckComponentIsNamed(t *testing.T) { // Z-39, DESIGN 3 rule 7
	rt := start(t, scripted.New(scripted.Text("x")))
	var order []string
	stuck := &component{name: "bridge", order: &order, stuck: make(chan struct{})}
	must(t, second(rt.Mount(context.Background(), stuck)))
	expired, cancel := context.WithCancel(context.Background())
	cancel()
	report, err := rt.Shutdown(expired)
	if err == nil || len(report.Leftovers) != 1 || report.Leftovers[0].Name != "bridge" {
		t.Errorf("report %+v, error %v", report, err)
	}
	close(stuck.stuck)
}

func TestSlowSubscriberLosesNothing(t *testing.T) { // DESIGN 3 rule 11: a slow one never slows the session
	w := newWorld(t, scripted.New(scripted.Answer{Text: "ok", Repeat: 50}))
	s := w.open(agent(), "")
	ctx := deadline(t, testPatience)
	next := int64(0)
	turns := 0
	w.prompt(s, "go")
	for e, err := range s.Events(ctx, 0) {
		must(t, err)
		if e.Seq != next {
			t.Fatalf("seq %d after %d", e.Seq, next-1)
		}
		next++
		if e.Type() == "turn/end" {
			if turns++; turns == 40 {
				break
			}
		}
		if next == 1 { // stops reading while 39 more turns run and leave memory
			for range 39 {
				w.prompt(s, "go")
			}
		}
	}
}

func TestGapIsTold(t *testing.T) { // a subscriber is told what it missed
	w := newWorld(t, scripted.New(scripted.Answer{Text: "ok", Repeat: 5}), func(c *actors.Config) { c.Store = session.NewDiscardStore() })
	s := w.open(agent(), "")
	w.prompt(s, "one")
	end := s.NextSeq()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	var gap *actors.GapError
	for e, err := range s.Events(ctx, 0) {
		if errors.As(err, &gap) {
			must(t, second(s.Inject(ctx, messages.NewContext("p", "x"))))
			continue
		}
		must(t, err)
		if e.Seq != end {
			t.Errorf("first event after the gap has seq %d, want %d", e.Seq, end)
		}
		break
	}
	if gap == nil || gap.From != 0 || gap.To != end {
		t.Errorf("gap %+v", gap)
	}
}

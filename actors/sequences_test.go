package actors_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/dsh-actor/dsh-actor/messages"
	"github.com/dsh-actor/dsh-actor/model/scripted"
	"github.com/dsh-actor/dsh-actor/pipeline"
)

// allowing passes a decision through.
func allowing(ctx context.Context, _ *pipeline.Call, next pipeline.Next[messages.PreToolDecision]) (messages.PreToolDecision, error) {
	return next(ctx)
}

// checkLog compares a session's whole log with a sequence in the notation of SPEC
// 3.1.
func checkLog(t *testing.T, got string, want ...string) {
	t.Helper()
	if w := strings.Join(want, " · "); got != w {
		t.Errorf("log\n got %s\nwant %s", got, w)
	}
}

func named(id, name string) scripted.Tool {
	c := scripted.Call(name, map[string]any{})
	c.ID = messages.CallID(id)
	return c
}

func TestToolTurnWithContexts(t *testing.T) { // SPEC 3.1, T-21, T-22, C-4, C-7, T-6
	w := newWorld(t, scripted.New(
		scripted.Calls(named("c1", "Slow"), named("c2", "Fast")),
		scripted.Text("done"),
	))
	release := make(chan struct{})
	w.tool(noop("Slow", true, func(context.Context, *pipeline.Invocation) error {
		<-release // the second call ends first
		return nil
	}))
	w.tool(noop("Fast", true, func(context.Context, *pipeline.Invocation) error {
		close(release)
		return nil
	}))
	w.rt.Seams().PostExecute.Use(func(ctx context.Context, o pipeline.Outcome, next pipeline.Next[messages.PostToolDecision]) (messages.PostToolDecision, error) {
		return messages.ResultAccept{Contexts: messages.ListOf(messages.NewContext("p", "ctx-"+string(o.Call.ID())))}, nil
	})
	s := w.open(agent(), "")
	w.prompt(s, "go")
	checkLog(t, w.log(s),
		"turn/start{1,message/user}", "user/message(go)", "step/start{1,1}", "request/header{initial}", "…", "assistant/message",
		"tool/call c1", "tool/call c2", "tool/result c1", "tool/result c2",
		"user/message(p:ctx-c1)", "user/message(p:ctx-c2)",
		"step/end{1,1}", "step/start{1,2}", "…", "assistant/message", "step/end{1,2}", "turn/end{1,completed}")
}

func TestBlockedPrompt(t *testing.T) { // S-3, T-1, SPEC 3.1
	w := newWorld(t, scripted.New(scripted.Text("hello")))
	w.rt.Seams().PromptSubmit.Use(func(ctx context.Context, p *pipeline.PromptSubmit, next pipeline.Next[messages.PromptDecision]) (messages.PromptDecision, error) {
		if p.Content.Text() == "bad" {
			return messages.PromptBlock{Reason: "no"}, nil
		}
		return next(ctx)
	})
	s := w.open(agent(), "")
	w.prompt(s, "bad")
	w.prompt(s, "good")
	checkLog(t, w.log(s),
		"turn/start{1,message/user}", "prompt/blocked{bad,no}", "turn/end{1,rejected:no}",
		"turn/start{2,message/user}", "user/message(good)", "step/start{2,1}", "request/header{initial}", "…",
		"assistant/message", "step/end{2,1}", "turn/end{2,completed}")
}

func TestForcedContinuation(t *testing.T) { // T-12, S-6, SPEC 3.1
	w := newWorld(t, scripted.New(scripted.Text("one"), scripted.Text("two")))
	forced := false
	w.rt.Seams().TurnContinuation.Use(func(ctx context.Context, _ *pipeline.Continuation, next pipeline.Next[messages.ContinuationDecision]) (messages.ContinuationDecision, error) {
		if forced {
			return next(ctx)
		}
		forced = true
		return messages.TurnContinue{Reason: messages.Text("go on"), Source: messages.PluginSource("p")}, nil
	})
	s := w.open(agent(), "")
	w.prompt(s, "hi")
	checkLog(t, w.log(s),
		"turn/start{1,message/user}", "user/message(hi)", "step/start{1,1}", "request/header{initial}", "…", "assistant/message",
		"step/end{1,1}", "steering/message{1,go on}", "step/start{1,2}", "…", "assistant/message", "step/end{1,2}",
		"turn/end{1,completed}")
}

func TestCancelledInsideBatch(t *testing.T) { // C-6, T-23, P-21, SPEC 3.1
	w := newWorld(t, scripted.New(scripted.Calls(named("c1", "Stop"), named("c2", "Other"))))
	w.tool(noop("Stop", false, func(ctx context.Context, inv *pipeline.Invocation) error {
		if _, err := inv.Agent().Inject(ctx, messages.NewContext("p", "injected")); err != nil {
			return err
		}
		s, _ := w.rt.Session(inv.Agent().ID())
		return s.Cancel(ctx)
	}))
	w.tool(noop("Other", false, nil))
	s := w.open(agent(), "")
	w.prompt(s, "go")
	checkLog(t, w.log(s),
		"turn/start{1,message/user}", "user/message(go)", "step/start{1,1}", "request/header{initial}", "…", "assistant/message",
		"tool/call c1", `tool/result c1{"Error: tool call aborted",AbortError/ABORTED}`,
		"tool/call c2", `tool/result c2{"Error: tool call aborted before dispatch",AbortError/ABORTED_BEFORE_DISPATCH}`,
		"user/message(p:injected)", "step/end{1,1}", "turn/end{1,aborted}")
}

func TestCancelledMidStream(t *testing.T) { // T-4, SPEC 3.1
	w := newWorld(t, scripted.New(scripted.Answer{Text: "partial", Hang: true}))
	s := w.open(agent(), "")
	ctx := deadline(t, testPatience)
	if _, err := s.Followup(ctx, messages.Text("go")); err != nil {
		t.Fatal(err)
	}
	for e, err := range s.Events(ctx, 0) {
		if err != nil {
			t.Fatal(err)
		}
		if d, ok := e.Data.(messages.AssistantChunk); ok {
			if _, ok := d.Chunk.(messages.TextDelta); ok {
				break
			}
		}
	}
	if err := s.Cancel(ctx); err != nil {
		t.Fatal(err)
	}
	w.rest(s)
	checkLog(t, w.log(s),
		"turn/start{1,message/user}", "user/message(go)", "step/start{1,1}", "request/header{initial}", "…",
		"step/end{1,1}", "turn/end{1,aborted}")
}

func TestModelFailure(t *testing.T) { // T-10, T-18, SPEC 3.1
	w := newWorld(t, scripted.New(scripted.Fail(messages.Failure{Message: "overloaded", Code: "OVERLOADED"})))
	s := w.open(agent(), "")
	w.prompt(s, "go")
	checkLog(t, w.log(s),
		"turn/start{1,message/user}", "user/message(go)", "step/start{1,1}", "request/header{initial}",
		"step/end{1,1}", "turn/end{1,error@1:failure(overloaded/OVERLOADED)}")
}

func TestRequestRetry(t *testing.T) { // T-10, Z-18
	w := newWorld(t, scripted.New(scripted.FailTimes(2, messages.Failure{Message: "busy", Code: "BUSY"}, scripted.Text("ok"))))
	var retried []int
	w.rt.Seams().RequestError.Use(func(_ context.Context, e *pipeline.RequestError, _ pipeline.Next[messages.RequestErrorDecision]) (messages.RequestErrorDecision, error) {
		retried = append(retried, e.Retried.Len())
		return messages.RequestRetry{}, nil
	})
	s := w.open(agent(), "")
	w.prompt(s, "go")
	checkLog(t, w.log(s),
		"turn/start{1,message/user}", "user/message(go)", "step/start{1,1}", "request/header{initial}", "step/end{1,1}",
		"step/start{1,2}", "step/end{1,2}", "step/start{1,3}", "…", "assistant/message", "step/end{1,3}", "turn/end{1,completed}")
	if len(retried) != 2 || retried[0] != 0 || retried[1] != 1 {
		t.Errorf("retried failures seen: %v", retried)
	}
}

func TestRequestErrorListenerFails(t *testing.T) { // T-10: a throw counts as fail
	w := newWorld(t, scripted.New(scripted.Fail(messages.Failure{Message: "busy", Code: "BUSY"})))
	w.rt.Seams().RequestError.Use(func(context.Context, *pipeline.RequestError, pipeline.Next[messages.RequestErrorDecision]) (messages.RequestErrorDecision, error) {
		panic("broken")
	})
	s := w.open(agent(), "")
	w.prompt(s, "go")
	if got := w.log(s); !strings.HasSuffix(got, "turn/end{1,error@1:failure(busy/BUSY)}") {
		t.Error(got)
	}
}

func TestPreStepFailure(t *testing.T) { // S-4, SPEC 3.1
	w := newWorld(t, scripted.New(scripted.Text("x")))
	w.rt.Seams().PreStep.Use(func(context.Context, *pipeline.Step) (messages.StepVerdict, error) {
		return nil, messages.Errorf("SOME_CODE", "no step: %w", errors.New("cause"))
	})
	s := w.open(agent(), "")
	w.prompt(s, "go")
	checkLog(t, w.log(s), "turn/start{1,message/user}", "user/message(go)", "turn/end{1,error@1:no step: cause(SOME_CODE)}")
}

func TestPromptSubmitFailure(t *testing.T) { // S-3, Z-1
	for name, tc := range map[string]struct {
		listen pipeline.Handler[*pipeline.PromptSubmit, messages.PromptDecision]
		want   string
	}{
		"error": {func(context.Context, *pipeline.PromptSubmit, pipeline.Next[messages.PromptDecision]) (messages.PromptDecision, error) {
			return nil, errors.New("no")
		}, "error@0:no()"},
		"panic": {func(context.Context, *pipeline.PromptSubmit, pipeline.Next[messages.PromptDecision]) (messages.PromptDecision, error) {
			panic("boom")
		}, "error@0:boom()"},
		"nothing": {func(context.Context, *pipeline.PromptSubmit, pipeline.Next[messages.PromptDecision]) (messages.PromptDecision, error) {
			return nil, nil
		}, "error@0:agent/prompt-submit: listener mine returned no decision()"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, scripted.New(scripted.Text("x")))
			w.rt.Seams().PromptSubmit.Use(tc.listen, pipeline.Named("mine"))
			s := w.open(agent(), "")
			w.prompt(s, "go")
			checkLog(t, w.log(s), "turn/start{1,message/user}", "turn/end{1,"+tc.want+"}")
		})
	}
}

func TestThreeInputsBeforeTheDriverWakes(t *testing.T) { // SPEC 3.1
	w := newWorld(t, scripted.New(scripted.Answer{Text: "ok", Repeat: 3}))
	s := w.open(agent(), "")
	ctx := context.Background()
	// The queued one first: it wakes nobody, so that all three are in before a
	// driver looks.
	must(t, second(s.Queue(ctx, messages.Text("a"))))
	must(t, second(s.Queue(ctx, messages.Text("b"))))
	must(t, second(s.Steer(ctx, messages.Text("c"))))
	w.rest(s)
	var prompts []string
	for _, e := range w.events(s) {
		switch d := e.Data.(type) {
		case messages.TurnStart:
			prompts = append(prompts, "turn")
		case messages.UserMessage:
			prompts = append(prompts, d.Content.Text())
		}
	}
	if got := strings.Join(prompts, " "); got != "turn a turn b turn c" {
		t.Error(got)
	}
}

func TestInputsInsideARunningBody(t *testing.T) { // T-21, SPEC 3.1
	w := newWorld(t, scripted.New(scripted.Calls(named("c1", "Tell")), scripted.Text("one"), scripted.Text("two")))
	w.tool(noop("Tell", false, func(ctx context.Context, inv *pipeline.Invocation) error {
		s, _ := w.rt.Session(inv.Agent().ID())
		if _, err := s.Steer(ctx, messages.Text("steer")); err != nil {
			return err
		}
		if _, err := s.Followup(ctx, messages.Text("next")); err != nil {
			return err
		}
		_, err := s.Inject(ctx, messages.NewContext("p", "inject"))
		return err
	}))
	s := w.open(agent(), "")
	w.prompt(s, "go")
	checkLog(t, w.log(s),
		"turn/start{1,message/user}", "user/message(go)", "step/start{1,1}", "request/header{initial}", "…", "assistant/message",
		"tool/call c1", "tool/result c1", "user/message(p:inject)", "steering/message{1,steer}", "step/end{1,1}",
		"step/start{1,2}", "…", "assistant/message", "step/end{1,2}", "turn/end{1,completed}",
		"turn/start{2,message/user}", "user/message(next)", "step/start{2,1}", "…", "assistant/message", "step/end{2,1}", "turn/end{2,completed}")
}

func TestInjectWhileIdle(t *testing.T) { // A-7, SPEC 3.1
	w := newWorld(t, scripted.New(scripted.Text("x")))
	s := w.open(agent(), "")
	a, err := s.Inject(context.Background(), messages.NewContext("p", "note"))
	must(t, err)
	if a.Seq != 2 { // the last event of its one-shot turn
		t.Errorf("seq %d", a.Seq)
	}
	w.prompt(s, "go")
	checkLog(t, w.log(s),
		"turn/start{1,injection/plugin}", "user/message(p:note)", "turn/end{1,completed}",
		"turn/start{2,message/user}", "user/message(go)", "step/start{2,1}", "request/header{initial}", "…",
		"assistant/message", "step/end{2,1}", "turn/end{2,completed}")
}

func TestSchedulerCap(t *testing.T) { // C-1, C-5
	w := newWorld(t, scripted.New(
		scripted.Calls(named("c1", "P"), named("c2", "P"), named("c3", "P"), named("c4", "P")), scripted.Text("done"),
	), withParallel(2))
	w.tool(noop("P", true, nil))
	s := w.open(agent(), "")
	w.prompt(s, "go")
	if got := w.log(s); !strings.Contains(got, "tool/call c1 · tool/call c2 · tool/result c1 · tool/call c3 · tool/result c2 · tool/call c4 · tool/result c3 · tool/result c4") {
		t.Error(got)
	}
}

func TestExclusiveCallsAreBarriers(t *testing.T) { // C-1, P-3
	w := newWorld(t, scripted.New(
		scripted.Calls(named("p1", "P"), named("p2", "P"), named("x", "X"), named("p3", "P")), scripted.Text("done"),
	))
	w.tool(noop("P", true, nil))
	w.tool(noop("X", false, nil))
	s := w.open(agent(), "")
	w.prompt(s, "go")
	if got := w.log(s); !strings.Contains(got, "tool/call p1 · tool/call p2 · tool/result p1 · tool/result p2 · tool/call x · tool/result x · tool/call p3 · tool/result p3") {
		t.Error(got)
	}
}

func TestStepLimit(t *testing.T) { // Z-17
	w := newWorld(t, scripted.New(scripted.Answer{Tools: []scripted.Tool{named("c", "P")}, Repeat: 9}))
	w.tool(noop("P", true, nil))
	a := agent()
	a.MaxStepsPerPrompt = 2
	s := w.open(a, "")
	w.prompt(s, "go")
	got := w.log(s)
	if !strings.HasSuffix(got, "step/end{1,2} · turn/end{1,max-steps:2}") {
		t.Error(got)
	}
}

func TestTurnLimit(t *testing.T) { // Z-17
	w := newWorld(t, scripted.New(scripted.Text("a"), scripted.Text("b")))
	a := agent()
	a.MaxTurnsPerSession = 1
	s := w.open(a, "")
	w.prompt(s, "one")
	_, err := s.Followup(context.Background(), messages.Text("two"))
	if messages.CodeOf(err) != messages.CodeTurnLimit {
		t.Errorf("second prompt: %v", err)
	}
}

func TestMaxTokens(t *testing.T) { // T-9
	w := newWorld(t, scripted.New(
		scripted.Answer{Text: "cut", Tools: []scripted.Tool{named("c1", "P")}, Finish: messages.FinishMaxTokens},
	))
	w.tool(noop("P", true, nil))
	s := w.open(agent(), "")
	w.prompt(s, "go")
	checkLog(t, w.log(s),
		"turn/start{1,message/user}", "user/message(go)", "step/start{1,1}", "request/header{initial}", "…", "assistant/message",
		"step/end{1,1}", "turn/end{1,max-tokens}")
	for _, e := range w.events(s) {
		if m, ok := e.Data.(messages.AssistantMessage); ok && len(m.Content.ToolCalls()) > 0 {
			t.Error("the answer kept its tool calls")
		}
	}
}

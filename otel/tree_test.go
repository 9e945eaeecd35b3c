package otel_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/dsh-actor/dsh-actor/messages"
	"github.com/dsh-actor/dsh-actor/otel"
)

// exercise traces one of everything: a session's opening, a turn of two steps
// with parallel tools and hooks, a detached run, a drain.
func exercise(t *testing.T, tr *otel.Tracer) {
	t.Helper()
	bg := t.Context()
	tr.SessionWarm(1)
	_, open := tr.StartSessionOpen(bg, otel.SessionOpenStart{Session: "s-1", Source: messages.StartResume, Epoch: 3})
	open.End(otel.SessionOpenEnd{Events: 41, Repaired: true})

	ctx, turn := tr.StartTurn(bg, otel.TurnStart{
		Session: "s-1", Agent: "bot", Turn: 7, Model: "m-large",
		Trigger:   messages.TurnTrigger{Kind: messages.TriggerMessage, Source: messages.UserSource()},
		QueueWait: 12 * time.Millisecond,
	})
	seam(ctx, tr, "agent/prompt-submit", messages.PromptAllow{Content: messages.Text("x")}, true)

	origin := otel.Origin{}
	for n := 1; n <= 2; n++ {
		ctx, step := tr.StartStep(ctx, 7, n)
		_, chat := tr.StartChat(ctx, otel.ChatStart{
			Session: "s-1", Streaming: true, ServerAddress: "api.example", ServerPort: 443,
			Config: messages.RequestConfig{
				Provider: "anthropic", Model: "m-large", Temperature: "0.5", MaxTokens: 100,
				Stop: messages.ListOf("END"),
			},
		})
		if n == 1 {
			chat.Attempt(1, messages.Failure{Message: "secret detail", Code: "OVERLOADED", Status: 529}, 2*time.Second)
		}
		chat.Chunk()
		chat.Chunk()
		chat.End(otel.ChatEnd{
			Usage:      messages.Usage{InputTokens: 10, OutputTokens: 5, CacheReadTokens: 100, CacheWriteTokens: 1, ReasoningTokens: 2},
			Finish:     messages.FinishReason{Kind: messages.FinishToolCalls},
			ResponseID: "r-1", ResponseModel: "m-large-2026",
		})
		calls := 0
		if n == 1 {
			calls = 4
			origin = tools(t, ctx, tr)
		}
		step.End(otel.StepEnd{ToolCalls: calls})
	}
	cctx, cont := tr.StartSeam(ctx, "agent/turn-continuation")
	lctx, bridge := tr.StartListener(cctx, "codex hooks")
	tr.AnnotateHooks(lctx, otel.HookCounts{Event: "Stop", Name: "Stop", Matched: 1, Success: 1})
	bridge.End(otel.ListenerEnd{Decision: messages.TurnStop{}})
	cont.End(otel.SeamEnd{Decision: messages.TurnStop{}, Listeners: 1})
	_, cont = tr.StartSeam(ctx, "agent/turn-continuation")
	cont.End(otel.SeamEnd{Decision: messages.TurnContinue{}, Listeners: 1})
	turn.End(otel.TurnEnd{
		Reason: messages.EndReason{Kind: messages.EndHalted, Reason: "enough", At: messages.HaltAtTool},
		Usage:  messages.Usage{InputTokens: 20, OutputTokens: 10, CacheReadTokens: 200},
		Steps:  2, Requests: 2, ToolCalls: 4,
	})

	dctx, run := tr.StartDetached(bg, otel.DetachedStart{Name: "SessionStart", Session: "s-1", Origin: origin})
	_, hook := tr.StartHook(dctx, otel.HookStart{Point: "SessionStart", Dialect: "codex", Handler: "codex:SessionStart:3.1"})
	hook.End(otel.HookEnd{Outcome: otel.OutcomeTimedOut, Process: otel.Process{PID: 9, Signal: "SIGKILL"}})
	run.End(otel.Ending{Outcome: otel.OutcomeTimedOut})

	_, drain := tr.StartDrain(bg, "session s-1")
	drain.End(messages.Report{
		Ended: map[string]int{"turns": 1, "runs": 2}, Discarded: []messages.MessageID{"m"},
		Leftovers: []messages.Leftover{{Kind: "tool", Name: "Bash", CallID: "c-1", PID: 12}}, Errors: []string{"flush"},
	})
	tr.SessionWarm(-1)
}

// seam traces a seam with one listener.
func seam(ctx context.Context, tr *otel.Tracer, name string, decision any, changed bool) {
	ctx, s := tr.StartSeam(ctx, name)
	_, l := tr.StartListener(ctx, "policy")
	l.End(otel.ListenerEnd{Decision: decision, Changed: changed})
	s.End(otel.SeamEnd{Decision: decision, Changed: changed, Listeners: 1})
}

// tools traces parallel calls: an allowed one with two hooks in parallel, a
// denied one, one that fails, one that does not exist.
func tools(t *testing.T, ctx context.Context, tr *otel.Tracer) (origin otel.Origin) {
	t.Helper()
	var wg sync.WaitGroup
	wg.Go(func() {
		ctx, call := tr.StartTool(ctx, otel.ToolStart{Name: "Bash", CallID: "c-1", Session: "s-1", Agent: "bot"})
		sctx, s := tr.StartSeam(ctx, "tools/pre-execute")
		origin = tr.Origin(sctx)
		lctx, l := tr.StartListener(sctx, "claude hooks")
		_, wait := tr.StartWait(lctx, otel.WaitHookSlot)
		wait.End(otel.Ending{})
		var hooks sync.WaitGroup
		for _, n := range []string{"10", "2"} {
			hooks.Go(func() {
				_, h := tr.StartHook(lctx, otel.HookStart{
					Point: "PreToolUse", Dialect: "claude", Event: "PreToolUse", Matcher: "Bash",
					Source: "/w/.claude/settings.json", Handler: "claude:PreToolUse:3." + n,
				})
				h.End(otel.HookEnd{
					Process:  otel.Process{PID: 100, Executable: "sh", Path: "/bin/sh", Args: []string{"-c", "true"}, Exited: true, ExitCode: 2},
					Decision: otel.DecisionDeny, QueueWait: time.Millisecond, BytesIn: 480, BytesOut: 20,
					Truncated: true, OriginalBytes: 4000, Reason: "because\x1b[0m\nof this",
				})
			})
		}
		hooks.Wait()
		tr.AnnotateHooks(lctx, otel.HookCounts{Event: "PreToolUse", Name: "PreToolUse:Bash", Matched: 2, Blocking: 2})
		l.End(otel.ListenerEnd{Decision: messages.ToolAsk{Reason: "sure?"}})
		s.ToolDecision(otel.ToolDecision{Decision: messages.ToolAsk{Reason: "sure?"}, CallID: "c-1", Tool: "Bash", Source: "hook"})
		s.End(otel.SeamEnd{Decision: messages.ToolAsk{Reason: "sure?"}, Listeners: 1})
		actx, approval := tr.StartSeam(ctx, "tools/approval")
		_, person := tr.StartWait(actx, otel.WaitPermission)
		person.End(otel.Ending{})
		approval.End(otel.SeamEnd{Decision: messages.ApprovalOnce{}, Listeners: 1})
		bctx, body := tr.StartToolBody(ctx)
		tr.AnnotateProcess(bctx, otel.Process{PID: 101, Executable: "bash", Exited: true})
		body.End(otel.Ending{})
		call.End(otel.ToolEnd{Result: messages.NewSuccess(messages.ResultFields{Value: "1"}), Decision: otel.DecisionAllow})
	})
	wg.Go(func() {
		ctx, call := tr.StartTool(ctx, otel.ToolStart{Name: "Write", CallID: "c-2", Session: "s-1", Agent: "bot"})
		seam(ctx, tr, "tools/pre-execute", messages.ToolDeny{Reason: "not here"}, false)
		call.End(otel.ToolEnd{Result: failure("not here", ""), Decision: otel.DecisionDeny})
	})
	wg.Go(func() {
		ctx, call := tr.StartTool(ctx, otel.ToolStart{Name: "mcp__x__y", CallID: "c-3", Session: "s-1", Agent: "bot", Type: "extension", Parent: "c-0"})
		bctx, body := tr.StartToolBody(ctx)
		tr.AnnotateMCP(bctx, otel.MCPCall{Session: "mcp-1", Protocol: "2025-11-25", RequestID: "4", StatusCode: "-32602", Transport: "pipe", ServerAddress: "h", ServerPort: 1})
		body.End(otel.Ending{Err: errors.New("boom, with a secret")})
		seam(ctx, tr, "tools/post-execute", messages.ResultBlock{}, true)
		call.End(otel.ToolEnd{Result: failure("boom", "")})
	})
	wg.Go(func() {
		_, call := tr.StartTool(ctx, otel.ToolStart{Name: "invented by the model 4711", CallID: "c-4", Session: "s-1", Agent: "bot", Unregistered: true})
		call.End(otel.ToolEnd{Result: failure("unknown tool", messages.CodeUnknownTool)})
	})
	wg.Wait()
	return origin
}

func failure(text string, code messages.Code) *messages.Result {
	return messages.NewFailure(messages.ResultFields{Message: text, Info: messages.ErrorInfo{Code: code}})
}

// TestSpanTree: DESIGN 8, OTEL.md 4 with the names of DESIGN; PAIN 89, one span
// per hook run under its seam, under its tool call. Parallel calls and hooks
// come out in the same order however they were scheduled.
func TestSpanTree(t *testing.T) {
	rec, tr := newTracer(t, otel.Config{CaptureArgs: true})
	exercise(t, tr)
	golden(t, "turn.golden", rec.Text())
}

// TestTimesComeFromTheClock: the clock is injected, and a span's duration is
// what the clock says.
func TestTimesComeFromTheClock(t *testing.T) {
	clock := newClock(time.Second)
	rec, tr := newTracer(t, otel.Config{Now: clock.Now})
	ctx, turn := tr.StartTurn(t.Context(), otel.TurnStart{Agent: "bot"}) // 1 s
	_, chat := tr.StartChat(ctx, otel.ChatStart{})                       // 2 s
	chat.Chunk()                                                         // 3 s
	chat.Attempt(1, messages.Failure{Code: "X"}, 0)                      // 4 s
	chat.End(otel.ChatEnd{})                                             // 5 s
	turn.End(otel.TurnEnd{Reason: messages.EndReason{Kind: messages.EndCompleted}})

	if d := only(t, rec, "invoke_agent").Duration(); d != 5*time.Second {
		t.Errorf("the turn took %v, want 5s", d)
	}
	c := only(t, rec, "chat")
	if d := c.Duration(); d != 3*time.Second {
		t.Errorf("the request took %v, want 3s", d)
	}
	if !c.Has(otel.KeyTimeToFirstChunk, 1.0) {
		t.Errorf("time to first chunk is %v, want 1", c.Attributes[otel.KeyTimeToFirstChunk])
	}
	if got := c.Events[0].Time.Sub(c.Start); got != 2*time.Second {
		t.Errorf("the attempt is at %v, want 2s", got)
	}
}

// TestArgsAreOptIn: a command line may carry secrets.
func TestArgsAreOptIn(t *testing.T) {
	rec, tr := newTracer(t, otel.Config{})
	_, h := tr.StartHook(t.Context(), otel.HookStart{Point: "Stop"})
	h.End(otel.HookEnd{Process: otel.Process{Args: []string{"--password", "x"}}})
	if _, there := only(t, rec, "dsh.hook Stop").Attributes[otel.KeyProcessArgs]; there {
		t.Error("the command line was recorded without being asked for")
	}
}

// TestSpansOutsideTurnsAreRoots: a hook at a session's end has no turn, and is
// still seen (PAIN 89).
func TestSpansOutsideTurnsAreRoots(t *testing.T) {
	rec, tr := newTracer(t, otel.Config{})
	ctx, s := tr.StartSeam(context.Background(), "agent/session-end")
	_, h := tr.StartHook(ctx, otel.HookStart{Point: "SessionEnd"})
	h.End(otel.HookEnd{})
	s.End(otel.SeamEnd{Listeners: 1})
	golden(t, "session-end.golden", rec.Text())
}

// TestLateChildrenAreKept: work that starts after its parent's span has ended is
// late, not invisible.
func TestLateChildrenAreKept(t *testing.T) {
	rec, tr := newTracer(t, otel.Config{})
	ctx, turn := tr.StartTurn(t.Context(), otel.TurnStart{Agent: "bot"})
	turn.End(otel.TurnEnd{Reason: messages.EndReason{Kind: messages.EndDisposed}})
	_, l := tr.StartListener(ctx, "late")
	l.End(otel.ListenerEnd{})
	if p := only(t, rec, "dsh.listener late").Path(); p != "invoke_agent bot > dsh.listener late" {
		t.Errorf("the late listener is at %q", p)
	}
}

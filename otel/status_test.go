package otel_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/dsh-actor/dsh-actor/messages"
	"github.com/dsh-actor/dsh-actor/otel"
)

// TestTurnStatus: SPEC table R, column span.
func TestTurnStatus(t *testing.T) {
	cases := []struct {
		name    string
		reason  messages.EndReason
		isError bool
		errType string
	}{
		{"completed", messages.EndReason{Kind: messages.EndCompleted}, false, ""},
		{"max tokens", messages.EndReason{Kind: messages.EndMaxTokens}, false, ""},
		{"rejected", messages.EndReason{Kind: messages.EndRejected, Reason: "no"}, false, ""},
		{"halted at the prompt", messages.EndReason{Kind: messages.EndHalted, At: messages.HaltAtPrompt}, false, ""},
		{"halted at a tool", messages.EndReason{Kind: messages.EndHalted, At: messages.HaltAtTool}, false, ""},
		{"halted at the stop", messages.EndReason{Kind: messages.EndHalted, At: messages.HaltAtStop}, false, ""},
		{"step limit", messages.EndReason{Kind: messages.EndMaxSteps, Limit: 3}, false, ""},
		{"model request, status", messages.EndReason{Kind: messages.EndError, Failure: messages.Failure{Message: "m", Code: "RATE", Status: 429}}, true, "429"},
		{"model request, code", messages.EndReason{Kind: messages.EndError, Failure: messages.Failure{Message: "m", Code: "BROKEN_STREAM"}}, true, "BROKEN_STREAM"},
		{"other error", messages.EndReason{Kind: messages.EndError, Message: "m", Code: messages.CodeStoreUnavailable}, true, "STORE_UNAVAILABLE"},
		{"other error without a code", messages.EndReason{Kind: messages.EndError, Message: "m"}, true, "_OTHER"},
		{"aborted", messages.EndReason{Kind: messages.EndAborted}, false, ""},
		{"disposed", messages.EndReason{Kind: messages.EndDisposed}, false, ""},
		{"interrupted", messages.EndReason{Kind: messages.EndInterrupted}, false, ""},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			rec, tr := newTracer(t, otel.Config{})
			_, turn := tr.StartTurn(t.Context(), otel.TurnStart{Agent: "bot"})
			turn.End(otel.TurnEnd{Reason: c.reason})
			n := only(t, rec, "invoke_agent bot")
			checkStatus(t, n.Error, n.StatusText, n.Attributes, c.isError, c.errType)
			if !n.Has(otel.KeyTurnEnd, string(c.reason.Kind)) {
				t.Errorf("dsh.turn.end is %v", n.Attributes[otel.KeyTurnEnd])
			}
		})
	}
}

func checkStatus(t *testing.T, isError bool, text string, attrs map[string]any, want bool, errType string) {
	t.Helper()
	if isError != want {
		t.Errorf("error status is %v, want %v", isError, want)
	}
	if text != "" {
		t.Errorf("the status has a description: %q", text)
	}
	got, _ := attrs[otel.KeyErrorType].(string)
	if got != errType {
		t.Errorf("error.type is %q, want %q", got, errType)
	}
}

// TestHookStatus: SPEC table V and OTEL.md 2. The exit code decides nothing.
func TestHookStatus(t *testing.T) {
	exited := func(code int) otel.Process { return otel.Process{Exited: true, ExitCode: code} }
	cases := []struct {
		name    string
		end     otel.HookEnd
		isError bool
		errType string
	}{
		{"nothing said", otel.HookEnd{}, false, ""},
		{"ok", otel.HookEnd{Outcome: otel.OutcomeOK, Process: exited(0)}, false, ""},
		{"exit code 2 blocks", otel.HookEnd{Outcome: otel.OutcomeOK, Decision: otel.DecisionBlock, Process: exited(2)}, false, ""},
		{"exit code 2 denies", otel.HookEnd{Decision: otel.DecisionDeny, Process: exited(2)}, false, ""},
		{"exit code 1 that the dialect accepts", otel.HookEnd{Outcome: otel.OutcomeOK, Process: exited(1)}, false, ""},
		{"exit code 1", otel.HookEnd{Outcome: otel.OutcomeFailed, Reason: "exit_1", Process: exited(1)}, true, "exit_1"},
		{"exit code 2 that the dialect refuses", otel.HookEnd{Outcome: otel.OutcomeFailed, Process: exited(2)}, true, "exit_2"},
		{"failed without a process", otel.HookEnd{Outcome: otel.OutcomeFailed}, true, "_OTHER"},
		{"timeout", otel.HookEnd{Outcome: otel.OutcomeTimedOut, Process: otel.Process{Signal: "SIGKILL"}}, true, "timeout"},
		{"launch", otel.HookEnd{Outcome: otel.OutcomeLaunchFailed}, true, "spawn_failed"},
		{"output", otel.HookEnd{Outcome: otel.OutcomeBadOutput, Process: exited(0)}, true, "invalid_output"},
		{"signal", otel.HookEnd{Outcome: otel.OutcomeSignaled, Process: otel.Process{Signal: "SIGSEGV"}}, true, "signal_SIGSEGV"},
		{"unknown signal", otel.HookEnd{Outcome: otel.OutcomeSignaled}, true, "_OTHER"},
		{"cancelled", otel.HookEnd{Outcome: otel.OutcomeCancelled}, false, "context_canceled"},
		{"skipped", otel.HookEnd{Outcome: otel.OutcomeSkipped, Reason: "untrusted"}, false, ""},
		{"interrupted", otel.HookEnd{Outcome: otel.OutcomeInterrupted}, true, "interrupted"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			rec, tr := newTracer(t, otel.Config{})
			_, h := tr.StartHook(t.Context(), otel.HookStart{Point: "Stop"})
			h.End(c.end)
			n := only(t, rec, "dsh.hook Stop")
			checkStatus(t, n.Error, n.StatusText, n.Attributes, c.isError, c.errType)
			if c.end.Process.Exited && !n.Has(otel.KeyProcessExitCode, c.end.Process.ExitCode) {
				t.Errorf("process.exit.code is %v", n.Attributes[otel.KeyProcessExitCode])
			}
			if !c.end.Process.Exited {
				if _, there := n.Attributes[otel.KeyProcessExitCode]; there {
					t.Error("a process that did not exit has an exit code")
				}
			}
		})
	}
}

// TestChatStatus: a failed request is an error (T-10), a cancelled one is not,
// and a failure's message stays out of the trace.
func TestChatStatus(t *testing.T) {
	broken := messages.Failure{Message: "the prompt was: secret", Code: "BROKEN"}
	cases := []struct {
		name    string
		end     otel.ChatEnd
		isError bool
		errType string
	}{
		{"stop", otel.ChatEnd{Finish: messages.FinishReason{Kind: messages.FinishStop}}, false, ""},
		{"a finish of another build", otel.ChatEnd{Finish: messages.FinishReason{Kind: "content-filter"}}, false, ""},
		{"finish error", otel.ChatEnd{Finish: messages.FinishReason{Kind: messages.FinishError, Failure: broken}}, true, "BROKEN"},
		{"finish error without a failure", otel.ChatEnd{Finish: messages.FinishReason{Kind: messages.FinishError}}, true, "_OTHER"},
		{"adapter failure", otel.ChatEnd{Failure: messages.Failure{Message: "x", Status: 503, Code: "Y"}}, true, "503"},
		{"a status that is none", otel.ChatEnd{Failure: messages.Failure{Message: "x", Status: 200, Code: "Y"}}, true, "Y"},
		{"cancelled", otel.ChatEnd{Cancelled: true, Finish: messages.FinishReason{Kind: messages.FinishAborted, Failure: broken}}, false, "context_canceled"},
		{"cancelled with an error of the adapter", otel.ChatEnd{Cancelled: true, Failure: broken}, false, "context_canceled"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			rec, tr := newTracer(t, otel.Config{})
			_, chat := tr.StartChat(t.Context(), otel.ChatStart{Config: messages.RequestConfig{Model: "m"}, InProcess: true})
			chat.Attempt(1, broken, 0) // a handled error does not mark the span
			chat.End(c.end)
			n := only(t, rec, "chat m")
			checkStatus(t, n.Error, n.StatusText, n.Attributes, c.isError, c.errType)
			if n.Kind.String() != "internal" {
				t.Errorf("a model in process is a span of kind %v", n.Kind)
			}
		})
	}
}

// TestToolStatus: P-30, P-35, K-5: what a result's code says about the span.
func TestToolStatus(t *testing.T) {
	cases := []struct {
		name    string
		end     otel.ToolEnd
		outcome otel.Outcome
		isError bool
		errType string
	}{
		{"success", otel.ToolEnd{Result: messages.NewSuccess(messages.ResultFields{Value: "1"})}, "ok", false, ""},
		{"failure", otel.ToolEnd{Result: failure("x", "")}, "failed", true, "tool_error"},
		{"arguments", otel.ToolEnd{Result: failure("x", messages.CodeInvalidArgs)}, "failed", true, "INVALID_ARGS"},
		{"timeout", otel.ToolEnd{Result: failure("x", messages.CodeToolTimeout)}, "timed_out", true, "timeout"},
		{"aborted", otel.ToolEnd{Result: failure("x", messages.CodeAborted)}, "cancelled", false, "context_canceled"},
		{"aborted before", otel.ToolEnd{Result: failure("x", messages.CodeAbortedBeforeDispatch)}, "cancelled", false, "context_canceled"},
		{"not started", otel.ToolEnd{Result: failure("x", messages.CodeToolNotStarted)}, "skipped", false, ""},
		{"outcome unknown", otel.ToolEnd{Result: failure("x", messages.CodeToolOutcomeUnknown)}, "interrupted", true, "interrupted"},
		{"no result", otel.ToolEnd{}, "interrupted", true, "interrupted"},
		{"denied", otel.ToolEnd{Result: failure("x", ""), Decision: otel.DecisionDeny}, "skipped", false, ""},
		{"allowed and failed", otel.ToolEnd{Result: failure("x", ""), Decision: otel.DecisionAllow}, "failed", true, "tool_error"},
		{"said by the caller", otel.ToolEnd{Outcome: otel.OutcomeFailed, ErrorType: "exit_3"}, "failed", true, "exit_3"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			rec, tr := newTracer(t, otel.Config{})
			_, call := tr.StartTool(t.Context(), otel.ToolStart{Name: "Bash"})
			call.End(c.end)
			n := only(t, rec, "execute_tool Bash")
			checkStatus(t, n.Error, n.StatusText, n.Attributes, c.isError, c.errType)
			if !n.Has(otel.KeyOutcome, string(c.outcome)) {
				t.Errorf("dsh.outcome is %v, want %v", n.Attributes[otel.KeyOutcome], c.outcome)
			}
		})
	}
}

// named is an error that names its type.
type named struct{}

func (named) Error() string     { return "secret" }
func (named) ErrorType() string { return "panic" }

// TestErrorType: OTEL.md 2, low cardinality and no message in it.
func TestErrorType(t *testing.T) {
	cases := []struct {
		err  error
		want string
	}{
		{nil, ""},
		{errors.New("secret 4711"), "_OTHER"},
		{fmt.Errorf("wrapped: %w", named{}), "panic"},
		{fmt.Errorf("wrapped: %w", context.Canceled), "context_canceled"},
		{messages.CancelUser, "context_canceled"},
		{context.DeadlineExceeded, "timeout"},
		{messages.Errorf(messages.CodeQueueFull, "full"), "QUEUE_FULL"},
		{messages.Errorf(messages.CodeUnknown, "?"), "_OTHER"},
		{messages.Errorf(messages.CodeToolTimeout, "late"), "timeout"},
		{messages.Failure{Message: "m", Status: 502}, "502"},
	}
	for _, c := range cases {
		if got := otel.ErrorType(c.err); got != c.want {
			t.Errorf("ErrorType(%v) = %q, want %q", c.err, got, c.want)
		}
	}
}

// TestEndings: what an Ending leaves out follows from the rest, and error.type
// is never set on success.
func TestEndings(t *testing.T) {
	cases := []struct {
		end     otel.Ending
		outcome string
		errType string
		isError bool // of a tool's body
	}{
		{otel.Ending{}, "ok", "", false},
		{otel.Ending{Err: errors.New("x")}, "failed", "_OTHER", true},
		{otel.Ending{Err: context.Canceled}, "cancelled", "context_canceled", false},
		{otel.Ending{Err: context.DeadlineExceeded}, "timed_out", "timeout", true},
		{otel.Ending{Err: named{}}, "failed", "panic", true},
		{otel.Ending{ErrorType: "exit_4"}, "failed", "exit_4", true},
		{otel.Ending{Outcome: otel.OutcomeOK, Err: errors.New("handled")}, "ok", "", false},
		{otel.Ending{Outcome: otel.OutcomeInterrupted}, "interrupted", "interrupted", true},
		{otel.Ending{Outcome: otel.OutcomeBadOutput}, "bad_output", "invalid_output", true},
	}
	for _, c := range cases {
		rec, tr := newTracer(t, otel.Config{})
		ctx, turn := tr.StartTurn(t.Context(), otel.TurnStart{})
		_, body := tr.StartToolBody(ctx)
		body.End(c.end)
		_, step := tr.StartStep(ctx, 1, 1)
		step.End(otel.StepEnd{Ending: c.end})
		_, seam := tr.StartSeam(ctx, "s")
		seam.End(otel.SeamEnd{Ending: c.end})
		_, listener := tr.StartListener(ctx, "l")
		listener.End(otel.ListenerEnd{Ending: c.end})
		_, wait := tr.StartWait(ctx, otel.WaitTurnSlot)
		wait.End(c.end)
		_, open := tr.StartSessionOpen(ctx, otel.SessionOpenStart{})
		open.End(otel.SessionOpenEnd{Ending: c.end})
		_, run := tr.StartDetached(ctx, otel.DetachedStart{})
		run.End(c.end)
		turn.End(otel.TurnEnd{})
		for _, name := range []string{"dsh.tool.body", "dsh.step", "dsh.seam", "dsh.listener", "dsh.wait", "dsh.session.open", "dsh.detached"} {
			n := only(t, rec, name)
			if !n.Has(otel.KeyOutcome, c.outcome) {
				t.Errorf("%+v: %s has the outcome %v, want %s", c.end, name, n.Attributes[otel.KeyOutcome], c.outcome)
			}
			// Only the body's own failure marks a span (OTEL.md 2): the others' is
			// handled by their seam.
			checkStatus(t, n.Error, n.StatusText, n.Attributes, c.isError && name == "dsh.tool.body", c.errType)
		}
	}
}

// TestDecisionWords: Z-30, every decision of Z-29 has its word, and what is
// missing is never an allow (Z-1).
func TestDecisionWords(t *testing.T) {
	cases := []struct {
		decision any
		word     otel.Decision
		call     string
	}{
		{nil, "none", "deny"},
		{messages.PromptAllow{}, "allow", "allow"},
		{messages.PromptBlock{Reason: "r"}, "block", "deny"},
		{messages.ToolAllow{}, "allow", "allow"},
		{messages.ToolDeny{Reason: "r"}, "deny", "deny"},
		{messages.ToolAsk{Reason: "r"}, "ask", "require_approval"},
		{messages.ResultAccept{}, "allow", "allow"},
		{messages.ResultBlock{}, "block", "deny"},
		{messages.ApprovalOnce{}, "allow", "allow"},
		{messages.ApprovalRejected{Reason: "r"}, "deny", "deny"},
		{messages.ApprovalCancelled{}, "none", "deny"},
		{messages.ApprovalUnavailable{}, "none", "deny"},
		{messages.TurnContinue{}, "none", "deny"},
		{messages.TurnStop{}, "stop", "deny"},
		{messages.Stop{}, "stop", "deny"},
		{messages.Halt{Reason: "r"}, "stop", "deny"},
		{messages.RequestRetry{}, "none", "deny"},
		{otel.DecisionAsk, "ask", "require_approval"},
		{"allow", "none", "deny"},
	}
	for _, c := range cases {
		if got := otel.DecisionOf(c.decision); got != c.word {
			t.Errorf("DecisionOf(%#v) = %q, want %q", c.decision, got, c.word)
		}
		rec, tr := newTracer(t, otel.Config{})
		_, s := tr.StartSeam(t.Context(), "tools/pre-execute")
		s.ToolDecision(otel.ToolDecision{Decision: c.decision, CallID: "c", Tool: "Bash"})
		s.End(otel.SeamEnd{Decision: c.decision})
		n := only(t, rec, "dsh.seam")
		if got := n.Events[0].Attributes[otel.KeyToolCallDecision]; got != c.call {
			t.Errorf("gen_ai.tool.call.decision of %#v is %v, want %s", c.decision, got, c.call)
		}
		if !n.Has(otel.KeyDecision, string(c.word)) {
			t.Errorf("dsh.decision of %#v is %v", c.decision, n.Attributes[otel.KeyDecision])
		}
	}
}

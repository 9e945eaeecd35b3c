package outcome

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/dsh-actor/dsh-actor/messages"
)

// play feeds events to a turn, each 10 ms after the one before.
func play(data ...messages.EventData) *Turn {
	t := &Turn{}
	for i, d := range data {
		t.Add(messages.Event{Seq: int64(i), Time: 1000 + 10*int64(i), Data: d})
	}
	return t
}

func answer(text string, tools ...string) messages.AssistantMessage {
	c := messages.EmptyContent()
	if text != "" {
		c = c.Append(messages.TextBlock{Text: text})
	}
	for _, name := range tools {
		c = c.Append(messages.ToolCallBlock{ID: messages.CallID(name), Name: name, Arguments: "{}"})
	}
	return messages.AssistantMessage{Turn: 1, Step: 1, Content: c}
}

func end(r messages.EndReason) messages.TurnEnd { return messages.TurnEnd{Turn: 1, Reason: r} }

// TestTableR covers every row of SPEC table R, and what the rows say about exit
// codes under each signal.
func TestTableR(t *testing.T) {
	start, step, stepEnd := messages.TurnStart{Turn: 1}, messages.StepStart{Turn: 1, Step: 1}, messages.StepEnd{Turn: 1, Step: 1}
	result := messages.ToolResult{Turn: 1, Step: 1, CallID: "Bash"}
	failure := messages.Failure{Status: 500, Message: "oops", Code: "SERVER_ERROR"}
	tests := []struct {
		row   string
		turn  *Turn
		cause Cause
		want  Result
		turns int
	}{
		{
			"completed", play(start, step, answer("done"), stepEnd, end(messages.EndReason{Kind: messages.EndCompleted})), NoCause,
			Result{Subtype: "success", StopReason: "end_turn", TerminalReason: "completed", Text: "done", HasText: true}, 1,
		},
		{
			"completed, with a signal that came too late", play(start, step, answer("done"), stepEnd, end(messages.EndReason{Kind: messages.EndCompleted})), Terminated,
			Result{Subtype: "success", StopReason: "end_turn", TerminalReason: "completed", Text: "done", HasText: true}, 1,
		},
		{
			"completed after a tool", play(start, step, answer("let me see", "Bash"), messages.ToolCall{}, result, stepEnd, step, answer("bye"), stepEnd,
				end(messages.EndReason{Kind: messages.EndCompleted})), NoCause,
			Result{Subtype: "success", StopReason: "end_turn", TerminalReason: "completed", Text: "bye", HasText: true}, 2,
		},
		{
			"completed with no text", play(start, step, answer(""), stepEnd, end(messages.EndReason{Kind: messages.EndCompleted})), NoCause,
			Result{Subtype: "success", StopReason: "end_turn", TerminalReason: "completed", HasText: true}, 1,
		},
		{
			"max-tokens", play(start, step, answer("half a sen"), stepEnd, end(messages.EndReason{Kind: messages.EndMaxTokens})), NoCause,
			Result{Subtype: "success", StopReason: "max_tokens", TerminalReason: "completed", Text: "half a sen", HasText: true}, 1,
		},
		{
			"rejected", play(start, messages.PromptBlocked{}, end(messages.EndReason{Kind: messages.EndRejected, Reason: "not today"})), NoCause,
			Result{Subtype: "success", Text: "not today", HasText: true}, 0,
		},
		{
			"halted by a prompt hook", play(start, end(messages.EndReason{Kind: messages.EndHalted, Reason: "SR", At: messages.HaltAtPrompt})), NoCause,
			Result{Subtype: "success", Text: "Operation stopped by hook: SR", HasText: true}, 0,
		},
		{
			"halted by a tool-phase hook", play(start, step, answer("text", "Bash"), result, stepEnd,
				end(messages.EndReason{Kind: messages.EndHalted, Reason: "SR", At: messages.HaltAtTool})), NoCause,
			Result{Subtype: "success", StopReason: "tool_use", TerminalReason: "hook_stopped", HasText: true}, 2,
		},
		{
			"halted by a Stop hook", play(start, step, answer("first"), stepEnd, end(messages.EndReason{Kind: messages.EndHalted, At: messages.HaltAtStop})), NoCause,
			Result{Subtype: "success", StopReason: "end_turn", TerminalReason: "stop_hook_prevented", Text: "first", HasText: true}, 1,
		},
		{
			"step limit", play(start, step, answer("a"), stepEnd, messages.SteeringMessage{}, step, answer("b"), stepEnd, messages.SteeringMessage{},
				step, answer("c"), stepEnd, messages.SteeringMessage{}, end(messages.EndReason{Kind: messages.EndMaxSteps, Limit: 3})), NoCause,
			Result{Subtype: "error_max_turns", IsError: true, StopReason: "end_turn", TerminalReason: "max_turns", ExitCode: 1,
				Errors: []string{"reached the maximum number of turns (3)"}}, 4,
		},
		{
			"error, model request", play(start, step, stepEnd, end(messages.EndReason{Kind: messages.EndError, Step: 1, Failure: failure})), NoCause,
			Result{Subtype: "success", IsError: true, StopReason: "stop_sequence", TerminalReason: "api_error", ExitCode: 1, Text: "API Error: 500 oops", HasText: true}, 1,
		},
		{
			"error, model request without a status", play(start, step, stepEnd, end(messages.EndReason{Kind: messages.EndError, Step: 1,
				Failure: messages.Failure{Message: "connection refused", Code: "CONNECTION"}})), NoCause,
			Result{Subtype: "success", IsError: true, StopReason: "stop_sequence", TerminalReason: "api_error", ExitCode: 1, Text: "API Error: connection refused", HasText: true}, 1,
		},
		{
			"error, other", play(start, end(messages.EndReason{Kind: messages.EndError, Message: "a listener failed"})), NoCause,
			Result{Subtype: "error_during_execution", IsError: true, TerminalReason: "error", ExitCode: 1, Errors: []string{"a listener failed"}}, 0,
		},
		{
			"aborted (user) in a tool, SIGINT", play(start, step, answer("x", "Bash"), result, stepEnd, end(messages.EndReason{Kind: messages.EndAborted})), Interrupted,
			Result{Subtype: "error_during_execution", IsError: true, StopReason: "tool_use", TerminalReason: "aborted_tools", Errors: []string{"the turn was cancelled"}}, 2,
		},
		{
			"aborted (user) in a tool, SIGTERM", play(start, step, answer("x", "Bash"), result, stepEnd, end(messages.EndReason{Kind: messages.EndAborted})), Terminated,
			Result{Subtype: "error_during_execution", IsError: true, StopReason: "tool_use", TerminalReason: "aborted_tools", ExitCode: 143, Errors: []string{"the turn was cancelled"}}, 2,
		},
		{
			"aborted (user) in the stream, SIGINT", play(start, step, stepEnd, end(messages.EndReason{Kind: messages.EndAborted})), Interrupted,
			Result{Subtype: "error_during_execution", IsError: true, TerminalReason: "aborted_streaming", Errors: []string{"the turn was cancelled"}}, 1,
		},
		{
			"aborted (user) in the stream, SIGTERM", play(start, step, stepEnd, end(messages.EndReason{Kind: messages.EndAborted})), Terminated,
			Result{Subtype: "error_during_execution", IsError: true, TerminalReason: "aborted_streaming", ExitCode: 143, Errors: []string{"the turn was cancelled"}}, 1,
		},
		{
			"aborted (user) in the stream after a tool step", play(start, step, answer("x", "Bash"), result, stepEnd, step, stepEnd,
				end(messages.EndReason{Kind: messages.EndAborted})), Interrupted,
			Result{Subtype: "error_during_execution", IsError: true, TerminalReason: "aborted_streaming", Errors: []string{"the turn was cancelled"}}, 2,
		},
		{
			"aborted (user) before the first request", play(start, end(messages.EndReason{Kind: messages.EndAborted})), Interrupted,
			Result{Subtype: "error_during_execution", IsError: true, TerminalReason: "aborted_streaming", Errors: []string{"the turn was cancelled"}}, 0,
		},
		{
			"aborted (user), hang-up", play(start, step, stepEnd, end(messages.EndReason{Kind: messages.EndAborted})), HungUp,
			Result{Subtype: "error_during_execution", IsError: true, TerminalReason: "aborted_streaming", ExitCode: 129, Errors: []string{"the turn was cancelled"}}, 1,
		},
		{
			"aborted (user), without a signal", play(start, step, stepEnd, end(messages.EndReason{Kind: messages.EndAborted})), Requested,
			Result{Subtype: "error_during_execution", IsError: true, TerminalReason: "aborted_streaming", ExitCode: 1, Errors: []string{"the turn was cancelled"}}, 1,
		},
		{
			"disposed", play(start, step, answer("x", "Bash"), result, stepEnd, end(messages.EndReason{Kind: messages.EndDisposed})), Interrupted,
			Result{Subtype: "error_during_execution", IsError: true, TerminalReason: "aborted", ExitCode: 1, Errors: []string{"the session was closed before the turn had ended"}}, 2,
		},
		{
			"interrupted", play(start, end(messages.EndReason{Kind: messages.EndInterrupted})), NoCause,
			Result{Subtype: "error_during_execution", IsError: true, TerminalReason: "aborted", ExitCode: 1, Errors: []string{"the turn was interrupted by the end of its process"}}, 0,
		},
		{
			"of a later version", play(start, end(messages.EndReason{Kind: "exploded"})), NoCause,
			Result{Subtype: "error_during_execution", IsError: true, TerminalReason: "error", ExitCode: 1, Errors: []string{`the turn ended in a way that is not known here: "exploded"`}}, 0,
		},
	}
	for _, tt := range tests {
		t.Run(tt.row, func(t *testing.T) {
			if !tt.turn.Over() {
				t.Fatal("the turn has not ended")
			}
			if diff := cmp.Diff(tt.want, Of(tt.turn, tt.cause)); diff != "" {
				t.Errorf("result (-want +got):\n%s", diff)
			}
			if got := tt.turn.Turns(); got != tt.turns {
				t.Errorf("num_turns = %d, want %d", got, tt.turns)
			}
		})
	}
}

// TestDropped is a prompt that was cancelled before its turn began.
func TestDropped(t *testing.T) {
	for cause, exit := range map[Cause]int{NoCause: 1, Requested: 1, Interrupted: 0, Terminated: 143, HungUp: 129} {
		got := Dropped(cause)
		if got.ExitCode != exit || got.TerminalReason != AbortedStream || got.Subtype != Execution || !got.IsError {
			t.Errorf("cause %d: %+v, want exit code %d", cause, got, exit)
		}
	}
}

func TestTurnCounts(t *testing.T) {
	one := answer("a", "Bash", "Read")
	one.Provenance.Model, one.Usage = "m1", messages.Usage{InputTokens: 10, OutputTokens: 2}
	two := answer("b")
	two.Provenance.Model, two.Usage = "m2", messages.Usage{InputTokens: 30, OutputTokens: 4, CacheReadTokens: 7}
	turn := play(
		messages.TurnStart{Turn: 4}, // at 1000
		messages.UserMessage{},
		messages.StepStart{}, // 1020: the request
		messages.RequestHeaderEvent{},
		one, // 1040: 20 ms
		messages.ToolCall{}, messages.ToolCall{}, messages.ToolResult{}, messages.ToolResult{},
		messages.StepEnd{},
		messages.StepStart{}, // 1100: a failed request
		messages.StepEnd{},   // 1110: 10 ms
		messages.StepStart{}, // 1120
		two,                  // 1130: 10 ms
		messages.StepEnd{},
		end(messages.EndReason{Kind: messages.EndCompleted}), // 1150
	)
	want := &Turn{
		Number: 4, Started: 1000, Ended: 1150, Reason: messages.EndReason{Kind: messages.EndCompleted},
		Requests: 3, RequestMillis: 40, Inputs: 2, ToolCalls: 2, Text: "b",
		Usage: messages.Usage{InputTokens: 40, OutputTokens: 6, CacheReadTokens: 7},
		ByModel: map[string]messages.Usage{
			"m1": {InputTokens: 10, OutputTokens: 2}, "m2": {InputTokens: 30, OutputTokens: 4, CacheReadTokens: 7},
		},
	}
	if diff := cmp.Diff(want, turn, cmp.AllowUnexported(Turn{}, messages.EndReason{})); diff != "" {
		t.Errorf("turn (-want +got):\n%s", diff)
	}
	if turn.Millis() != 150 {
		t.Errorf("Millis() = %d, want 150", turn.Millis())
	}
	turn.Add(messages.Event{Time: 2000, Data: messages.TurnStart{Turn: 5}})
	if turn.Over() || turn.Number != 5 || turn.Usage != (messages.Usage{}) || turn.Requests != 0 {
		t.Errorf("a new turn kept something of the last one: %+v", turn)
	}
}

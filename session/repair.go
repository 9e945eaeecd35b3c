package session

import (
	"fmt"

	"github.com/dsh-actor/dsh-actor/messages"
)

// What the model reads about a call that has no result of its own (K-4).
const (
	outcomeUnknownText = "Error: the outcome of this tool call is unknown: the turn was interrupted after the call " +
		"was recorded and before its result was. It may have taken effect, in whole or in part. Retry it only if it " +
		"is read-only or idempotent; otherwise verify first what it did."
	notStartedText = "Error: this tool call was not started: the turn was interrupted before it could be. " +
		"It had no effect."
)

// Closers returns the entries that end the log's open turn with the given
// reason, or none between turns (K-3, K-4, SPEC 3.1): a failed tool/result for
// every call of the open step that has none, in transcript order; step/end if a
// step is open; turn/end. A recorded call gets TOOL_OUTCOME_UNKNOWN, one that
// was not recorded TOOL_NOT_STARTED. Calls of steps that ended are left alone.
//
// It serves the repair of a loaded log, and the sealing of a live turn whose
// goroutine does not end (DESIGN 3, rule 7). The entries are meant for one
// AppendBatch with nothing appended in between.
func Closers(l *Log, reason messages.EndReason) []Entry {
	turn, open := l.OpenTurn()
	if !open {
		return nil
	}
	var out []Entry
	if step, open := l.OpenStep(); open {
		for _, p := range l.Pending() {
			out = append(out, closer(turn, step, p))
		}
		out = append(out, LogOnly(messages.StepEnd{Turn: turn, Step: step}))
	}
	return append(out, LogOnly(messages.TurnEnd{Turn: turn, Reason: reason}))
}

// closer is the result of a call that has none.
func closer(turn, step int, p PendingCall) Entry {
	result := messages.ToolResult{Turn: turn, Step: step, CallID: p.ID, IsError: true}
	if p.Seq < 0 {
		result.Content = messages.Text(notStartedText)
		result.Error = messages.ErrorInfo{Name: "ToolNotStartedError", Code: messages.CodeToolNotStarted}
		return Add(result)
	}
	result.Content = messages.Text(outcomeUnknownText)
	result.Error = messages.ErrorInfo{Name: "ToolOutcomeUnknownError", Code: messages.CodeToolOutcomeUnknown}
	return Add(result, p.Seq)
}

// Repair ends an interrupted turn of a loaded log: it appends the closers with
// the reason "interrupted" and the time of the last real event, in one batch,
// and returns what it appended, which is nothing for a log that is balanced or
// empty (K-3, K-4). The caller makes the events durable.
func Repair(l *Log) (messages.List[messages.Event], error) {
	events, err := l.AppendBatch(l.LastTime(), Closers(l, messages.EndReason{Kind: messages.EndInterrupted})...)
	if err != nil {
		return events, fmt.Errorf("repair session %s: %w", l.ID(), err)
	}
	return events, nil
}

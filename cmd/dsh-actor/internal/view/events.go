package view

import (
	"fmt"
	"strings"
	"time"

	"github.com/dsh-actor/dsh-actor/cmd/dsh-actor/internal/outcome"
	"github.com/dsh-actor/dsh-actor/messages"
)

// Event shows the session's next event. Denied says of a tool's result that policy
// refused the call.
func (v *View) Event(e messages.Event, denied bool) error {
	v.mu.Lock()
	defer v.mu.Unlock()
	switch d := e.Data.(type) {
	case messages.StepStart:
		clear(v.blocks)
		v.waitLocked("thinking")
	case messages.AssistantChunk:
		v.chunkLocked(d.Chunk)
	case messages.AssistantMessage:
		v.answerLocked(d)
	case messages.ToolCall:
		v.calls = append(v.calls, &call{id: d.CallID, name: oneLine(d.Name), subject: subject(d.Name, d.Arguments), since: e.Time})
		v.callsLocked()
	case messages.ApprovalAsked:
		v.askedEventLocked(d)
	case messages.ApprovalDecided:
		v.decidedLocked(d, e.Time)
	case messages.ToolResult:
		v.resultLocked(d, e.Time, denied)
	case messages.SteeringMessage:
		v.lineLocked(v.paint(dim, "» "+oneLine(d.Content.Text())))
	case messages.StepEnd:
		v.waitLocked("")
		v.freshLineLocked()
	case messages.TurnEnd:
		v.calls = nil
		v.waitLocked("")
		v.freshLineLocked()
	}
	return v.err
}

// Retry shows that a failed request is going to be sent again.
func (v *View) Retry(attempt, of int, delay time.Duration, f messages.Failure) error {
	v.mu.Lock()
	defer v.mu.Unlock()
	note := fmt.Sprintf("the request failed, retry %d of %d in %s: %s", attempt, of, Duration(delay), oneLine(outcome.FailureText(f)))
	v.lineLocked(v.paint(yellow, markRetry) + " " + fit(note, v.cfg.Width()-2))
	now := v.cfg.Now()
	v.waiting = wait{what: "waiting to ask again", since: now, until: now.Add(delay)}
	v.drawLocked()
	return v.err
}

func (v *View) chunkLocked(c messages.Chunk) {
	switch c := c.(type) {
	case messages.TextDelta:
		v.blocks[c.Index] = true
		v.textLocked(text, plain, c.Text)
	case messages.ReasoningDelta:
		v.blocks[c.Index] = true
		if v.cfg.Verbose {
			v.textLocked(reasoning, dim, c.Text)
		}
	case messages.BlockEnd:
		v.blockLocked(c)
	}
}

// blockLocked shows a block that came without deltas, and ends the line of one that
// came with them.
func (v *View) blockLocked(c messages.BlockEnd) {
	streamed := v.blocks[c.Index]
	v.blocks[c.Index] = true
	switch b := c.Block.(type) {
	case messages.TextBlock:
		if !streamed {
			v.textLocked(text, plain, b.Text)
		}
	case messages.ReasoningBlock:
		if !streamed && v.cfg.Verbose {
			v.textLocked(reasoning, dim, b.Text)
		}
	}
	v.freshLineLocked()
	v.drawLocked()
}

// textLocked writes a piece of text.
func (v *View) textLocked(s section, c style, piece string) {
	piece = clean(piece)
	if !v.column && v.last != s {
		piece = strings.TrimLeft(piece, "\n") // a section begins with its text
	}
	if piece == "" {
		return
	}
	v.beginLocked(s)
	v.writeLocked(v.paint(c, piece))
	v.column = !strings.HasSuffix(piece, "\n")
}

// answerLocked ends the answer. If nothing of it was streamed, as when a plugin
// wrote it, its text is shown now.
func (v *View) answerLocked(m messages.AssistantMessage) {
	if len(v.blocks) == 0 {
		v.textLocked(text, plain, m.Content.Text())
	}
	v.freshLineLocked()
	v.waitLocked("")
}

// callsLocked makes the spinner say what runs.
func (v *View) callsLocked() {
	switch len(v.calls) {
	case 0:
		v.waitLocked("")
	case 1:
		v.waitLocked(strings.TrimSpace(v.calls[0].name + " " + v.calls[0].subject))
	default:
		names := make([]string, len(v.calls))
		for i, c := range v.calls {
			names[i] = c.name
		}
		v.waitLocked(fmt.Sprintf("%d tools: %s", len(v.calls), strings.Join(names, ", ")))
	}
}

func (v *View) askedEventLocked(d messages.ApprovalAsked) {
	for _, c := range v.calls {
		if c.id == d.CallID && c.pending == "" {
			c.pending = d.ID
		}
	}
	v.waitLocked("")
	v.freshLineLocked()
	ch := v.askedLocked(d.ID)
	select {
	case <-ch:
	default:
		close(ch)
	}
}

// decidedLocked starts the call's clock again: a person's time is not the tool's.
func (v *View) decidedLocked(d messages.ApprovalDecided, at int64) {
	delete(v.asked, d.ID)
	for _, c := range v.calls {
		if c.pending == d.ID {
			c.since, c.pending = at, ""
		}
	}
	v.callsLocked()
}

func (v *View) resultLocked(r messages.ToolResult, at int64, denied bool) {
	k := &call{id: r.CallID, name: "?", since: at}
	for i, c := range v.calls {
		if c.id == r.CallID {
			k = c
			v.calls = append(v.calls[:i:i], v.calls[i+1:]...)
			break
		}
	}
	took := time.Duration(max(at-k.since, 0)) * time.Millisecond
	mark, colour, note := markDone, green, ""
	switch {
	case r.Error.Code == messages.CodeAborted || r.Error.Code == messages.CodeAbortedBeforeDispatch:
		mark, colour, note = markCancelled, yellow, "cancelled"
	case denied:
		mark, colour, note = markDenied, yellow, "denied: "+failure(r)
	case r.IsError:
		mark, colour, note = markFailed, red, failure(r)
	}
	v.lineLocked(v.toolLine(mark, colour, k, took, note))
	if v.cfg.Verbose && (mark == markDone || mark == markFailed) { // the others have no output of their own
		v.outputLocked(r)
	}
	v.callsLocked()
}

// outputLines is how much of a tool's output is shown.
const outputLines = 10

func (v *View) outputLocked(r messages.ToolResult) {
	all := strings.Split(strings.TrimRight(clean(r.Content.Text()), "\n"), "\n")
	for i, line := range all {
		if i == outputLines {
			v.writeLocked(v.paint(dim, fmt.Sprintf("  … %d more lines", len(all)-i)) + "\n")
			return
		}
		if line != "" || len(all) > 1 {
			v.writeLocked(v.paint(dim, "  "+fit(line, v.cfg.Width()-2)) + "\n")
		}
	}
}

// Result shows how a turn ended.
func (v *View) Result(t *outcome.Turn, r outcome.Result) error {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.waitLocked("")
	v.freshLineLocked()
	mark, colour, head := ending(t, r)
	v.beginLocked(nothing)
	v.writeLocked(v.paint(colour, mark+" "+head) + v.paint(dim, "  "+facts(t)) + "\n")
	v.last = lines
	return v.err
}

// ending is the last line's beginning.
func ending(t *outcome.Turn, r outcome.Result) (mark string, c style, head string) {
	switch t.Reason.Kind {
	case messages.EndCompleted:
		return markDone, green, "done"
	case messages.EndMaxTokens:
		return markDone, yellow, "the answer reached the token limit"
	case messages.EndRejected:
		return markDenied, yellow, "the prompt was blocked: " + oneLine(r.Text)
	case messages.EndHalted:
		return markDenied, yellow, "stopped by a hook: " + oneLine(t.Reason.Reason)
	case messages.EndAborted, "":
		return markCancelled, yellow, "cancelled"
	}
	if r.HasText {
		return markFailed, red, oneLine(r.Text)
	}
	return markFailed, red, oneLine(strings.Join(r.Errors, "; "))
}

func facts(t *outcome.Turn) string {
	parts := []string{Duration(time.Duration(t.Millis()) * time.Millisecond)}
	parts = append(parts, count(t.Requests, "request"))
	if t.ToolCalls > 0 {
		parts = append(parts, count(t.ToolCalls, "tool call"))
	}
	if in := t.Usage.InputTokens + t.Usage.CacheReadTokens + t.Usage.CacheWriteTokens; in+t.Usage.OutputTokens > 0 {
		parts = append(parts, fmt.Sprintf("%d tokens in, %d out", in, t.Usage.OutputTokens+t.Usage.ReasoningTokens))
	}
	return strings.Join(parts, " · ")
}

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

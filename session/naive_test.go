package session_test

import (
	"github.com/dsh-actor/dsh-actor/messages"
)

// The rules of a log written down a second time, as plainly as possible: every
// question is answered by looking at all events before. The property tests
// compare the Log with it.

type naiveNode struct {
	seq   int64
	event messages.Event
}

// naiveNodes are the surface nodes after the events, computed from scratch
// (E-5). The events are valid.
func naiveNodes(events []messages.Event) []naiveNode {
	var nodes []naiveNode
	for _, e := range events {
		switch e.Surface.Kind {
		case messages.SurfaceAppend:
			nodes = append(nodes, naiveNode{e.Seq, e})
		case messages.SurfaceReplace:
			var out []naiveNode
			inside := false
			for _, n := range nodes {
				if n.seq == e.Surface.Start {
					inside = true
					out = append(out, naiveNode{e.Seq, e})
				}
				if !inside {
					out = append(out, n)
				}
				if n.seq == e.Surface.End {
					inside = false
				}
			}
			nodes = out
		}
	}
	return nodes
}

// naiveHistory is E-6 from scratch.
func naiveHistory(events []messages.Event) []messages.Message {
	var out []messages.Message
	for _, n := range naiveNodes(events) {
		switch d := n.event.Data.(type) {
		case messages.UserMessage:
			out = append(out, messages.Message{Role: messages.RoleUser, Content: d.Content})
		case messages.SteeringMessage:
			out = append(out, messages.Message{Role: messages.RoleUser, Content: d.Content})
		case messages.AssistantMessage:
			if d.Content.Len() > 0 {
				out = append(out, messages.Message{
					Role: messages.RoleAssistant, Content: d.Content, Provenance: d.Provenance,
				})
			}
		case messages.ToolResult:
			out = append(out, messages.Message{Role: messages.RoleUser, Content: messages.NewContent(
				messages.ToolResultBlock{ToolCallID: d.CallID, Content: d.Content, IsError: d.IsError},
			)})
		}
	}
	return out
}

// place is where an event would stand.
type place struct{ lastTurn, lastStep, turn, step int } // turn and step are 0 if none is open

func placeAfter(events []messages.Event) place {
	var p place
	for _, e := range events {
		switch d := e.Data.(type) {
		case messages.TurnStart:
			p = place{lastTurn: d.Turn, turn: d.Turn}
		case messages.TurnEnd:
			p.turn = 0
		case messages.StepStart:
			p.step, p.lastStep = d.Step, d.Step
		case messages.StepEnd:
			p.step = 0
		}
	}
	return p
}

// naiveCalls counts the calls of one id in the open step: asked for and not yet
// recorded, recorded and not yet answered, and whether there was any.
func naiveCalls(events []messages.Event, id messages.CallID) (asked, running int, known bool) {
	start := 0
	for i, e := range events {
		if _, ok := e.Data.(messages.StepStart); ok {
			start = i
		}
	}
	for _, e := range events[start:] {
		switch d := e.Data.(type) {
		case messages.AssistantMessage:
			for _, b := range d.Content.ToolCalls() {
				if b.ID == id && (e.Surface.Kind == messages.SurfaceAppend || !known) {
					asked++
					known = true
				}
			}
		case messages.ToolCall:
			if d.CallID == id {
				asked = max(asked-1, 0)
				running++
				known = true
			}
		case messages.ToolResult:
			if d.CallID != id || e.Surface.Kind != messages.SurfaceAppend {
				continue
			}
			if d.Error.Code == messages.CodeToolNotStarted && asked > 0 {
				asked--
			} else if running > 0 {
				running--
			}
		}
	}
	return asked, running, known
}

// naiveAccepts reports whether e may follow the events.
func naiveAccepts(events []messages.Event, e messages.Event) bool {
	if e.Seq != int64(len(events)) {
		return false
	}
	p := placeAfter(events)
	surface := messages.IsSurfaceType(e.Type())
	if surface != (e.Surface.Kind != messages.SurfaceNone) || !surface && e.HasSources {
		return false
	}
	if surface && !naiveSurface(events, e) {
		return false
	}
	inStep := func(turn, step int) bool { return p.step != 0 && turn == p.turn && step == p.step }
	switch d := e.Data.(type) {
	case messages.TurnStart:
		return p.turn == 0 && d.Turn == p.lastTurn+1
	case messages.TurnEnd:
		return p.turn != 0 && d.Turn == p.turn && p.step == 0
	case messages.StepStart:
		return p.turn != 0 && d.Turn == p.turn && p.step == 0 && d.Step == p.lastStep+1
	case messages.StepEnd:
		return inStep(d.Turn, d.Step)
	case messages.AssistantChunk:
		return inStep(d.Turn, d.Step)
	case messages.AssistantMessage:
		return inStep(d.Turn, d.Step)
	case messages.ToolCall:
		return inStep(d.Turn, d.Step)
	case messages.ToolResult:
		if e.Surface.Kind == messages.SurfaceReplace {
			return p.turn != 0
		}
		asked, running, known := naiveCalls(events, d.CallID)
		if d.Error.Code == messages.CodeToolNotStarted {
			return inStep(d.Turn, d.Step) && (asked+running > 0 || !known)
		}
		return inStep(d.Turn, d.Step) && running > 0
	case messages.SteeringMessage:
		return p.turn != 0 && d.Turn == p.turn
	case messages.RequestHeaderEvent, inStepEvent:
		return p.step != 0
	case messages.UserMessage, messages.PromptBlocked, messages.ApprovalAsked, messages.ApprovalDecided,
		messages.ApprovalPolicy, inTurnEvent:
		return p.turn != 0
	case recordEvent:
		return d.Turn == p.turn
	case messages.OtherEvent:
		return true
	}
	return false
}

func naiveSurface(events []messages.Event, e messages.Event) bool {
	seen := map[int64]bool{}
	for _, s := range e.Sources.All() {
		if s < 0 || s >= e.Seq || seen[s] {
			return false
		}
		seen[s] = true
	}
	if e.HasSources && len(seen) == 0 && e.Type() != "assistant/message" {
		return false
	}
	if e.Surface.Kind == messages.SurfaceAppend {
		return true
	}
	from, to := -1, -1
	nodes := naiveNodes(events)
	for i, n := range nodes {
		if n.seq == e.Surface.Start {
			from = i
		}
		if n.seq == e.Surface.End {
			to = i
		}
	}
	if from < 0 || to < from {
		return false
	}
	for _, n := range nodes[from : to+1] {
		if !seen[n.seq] {
			return false
		}
	}
	d, ok := e.Data.(messages.ToolResult)
	if !ok {
		return true
	}
	old, ok := nodes[from].event.Data.(messages.ToolResult)
	return ok && from == to && old.Turn == d.Turn && old.Step == d.Step && old.CallID == d.CallID &&
		old.IsError == d.IsError && old.Error == d.Error && old.Meta == d.Meta
}

// naiveClosers says what repair must append, as show does.
func naiveClosers(events []messages.Event) []string {
	p := placeAfter(events)
	if p.turn == 0 {
		return nil
	}
	var out []string
	if p.step != 0 {
		start := 0
		for i, e := range events {
			if _, ok := e.Data.(messages.StepStart); ok {
				start = i
			}
		}
		// Of the calls of one id, those that have an outcome come first in the
		// plausible logs that this is used for, then the recorded, then the rest.
		type calls struct{ recorded, results, never int }
		byID := map[messages.CallID]*calls{}
		var order []messages.CallID
		for _, e := range events[start:] {
			switch d := e.Data.(type) {
			case messages.AssistantMessage:
				for _, b := range d.Content.ToolCalls() {
					if byID[b.ID] == nil {
						byID[b.ID] = &calls{}
					}
					order = append(order, b.ID)
				}
			case messages.ToolCall:
				byID[d.CallID].recorded++
			case messages.ToolResult:
				if e.Surface.Kind != messages.SurfaceAppend {
					continue
				}
				if d.Error.Code == messages.CodeToolNotStarted {
					byID[d.CallID].never++
				} else {
					byID[d.CallID].results++
				}
			}
		}
		seen := map[messages.CallID]int{}
		for _, id := range order {
			c, n := byID[id], seen[id]
			seen[id]++
			switch {
			case n < c.results:
			case n < c.recorded:
				out = append(out, "result "+string(id)+" TOOL_OUTCOME_UNKNOWN")
			case n < c.recorded+c.never:
			default:
				out = append(out, "result "+string(id)+" TOOL_NOT_STARTED")
			}
		}
		out = append(out, "step/end")
	}
	return append(out, "turn/end interrupted")
}

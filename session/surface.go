package session

import (
	"github.com/dsh-actor/dsh-actor/messages"
)

// checkLogOnly is E-4 for all types but the four of the surface: neither a
// surfaceOp nor sources.
func checkLogOnly(e *messages.Event) error {
	if e.Surface.Kind == messages.SurfaceNone && !e.HasSources {
		return nil
	}
	switch e.Data.(type) {
	case messages.UserMessage, messages.SteeringMessage, messages.AssistantMessage, messages.ToolResult:
		return nil
	}
	if e.HasSources {
		return broken("E-4", e, "a log-only event carries sourceEventSeqs")
	}
	return broken("E-4", e, "a log-only event carries a surfaceOp")
}

// checkSurface is E-4 for the four surface types, and what E-5 asks of the
// sources of any of them. What it asks of a replace is in view.locate.
func checkSurface(e *messages.Event, mayBeEmpty bool) error {
	switch e.Surface.Kind {
	case messages.SurfaceAppend, messages.SurfaceReplace:
	case messages.SurfaceNone:
		return broken("E-4", e, "a surface event needs a surfaceOp")
	default:
		return broken("E-5", e, "unknown surfaceOp %d", e.Surface.Kind)
	}
	n := e.Sources.Len()
	if e.HasSources && n == 0 && !mayBeEmpty {
		return broken("E-5", e, "only an assistant/message may have empty sourceEventSeqs")
	}
	ascending, last := true, int64(-1)
	for i := range n {
		switch s := e.Sources.At(i); {
		case s < 0:
			return broken("E-5", e, "negative source seq %d", s)
		case s >= e.Seq:
			return broken("E-5", e, "source seq %d is not earlier than the event", s)
		case s == last:
			return broken("E-5", e, "source seq %d is named twice", s)
		default:
			ascending = ascending && s > last
			last = s
		}
	}
	if ascending { // as chunk lists always are: then they are unique
		return nil
	}
	seen := make(map[int64]struct{}, n)
	for i := range n {
		s := e.Sources.At(i)
		if _, dup := seen[s]; dup {
			return broken("E-5", e, "source seq %d is named twice", s)
		}
		seen[s] = struct{}{}
	}
	return nil
}

package session

import (
	"fmt"

	"github.com/dsh-actor/dsh-actor/messages"
)

// state is what follows from the events of a log and is kept beside them, so
// that nothing scans the log (Z-8). It is a value: a copy can be advanced over
// a batch and thrown away.
type state struct {
	next     int64 // sequence number of the next event
	lastTime int64 // of the last event
	turn     int   // number of the last turn/start, 0 before the first
	step     int   // number of the last step/start of that turn, 0 before it

	turnOpen, stepOpen bool
	headerLogged       bool
	dropped            bool // the history is not kept

	calls   calls              // of the open step
	request messages.EventData // the last request/header, unless dropped
	view    view
}

// apply checks the next event and advances the state over it. After an error
// the state is as before: each case checks everything before it changes
// anything.
func (s *state) apply(types *messages.Registry, e *messages.Event) error {
	err := checkLogOnly(e)
	if err != nil {
		return err
	}
	switch d := e.Data.(type) {
	case messages.AssistantChunk:
		err = s.inStep(e, d.Turn, d.Step)
	case messages.AssistantMessage:
		if err = s.inStep(e, d.Turn, d.Step); err == nil {
			if err = s.show(e, AssistantNode, 0); err == nil {
				s.calls.advertise(d.Content, e.Surface.Kind == messages.SurfaceReplace)
			}
		}
	case messages.ToolCall:
		if err = s.inStep(e, d.Turn, d.Step); err == nil {
			s.calls.record(d.CallID, e.Seq)
		}
	case messages.ToolResult:
		err = s.result(e, d)
	case messages.UserMessage:
		if err = s.inTurn(e); err == nil {
			err = s.show(e, UserNode, 0)
		}
	case messages.SteeringMessage:
		if err = s.inTurnNumbered(e, d.Turn); err == nil {
			err = s.show(e, SteeringNode, 0)
		}
	case messages.RequestHeaderEvent:
		if err = s.inOpenStep(e); err == nil {
			s.headerLogged = true
			if !s.dropped {
				s.request = e.Data
			}
		}
	case messages.TurnStart:
		err = s.startTurn(e, d.Turn)
	case messages.TurnEnd:
		err = s.endTurn(e, d.Turn)
	case messages.StepStart:
		err = s.startStep(e, d.Turn, d.Step)
	case messages.StepEnd:
		if err = s.inStep(e, d.Turn, d.Step); err == nil {
			s.stepOpen = false
			s.calls.clear()
		}
	case messages.PromptBlocked, messages.ApprovalAsked, messages.ApprovalDecided, messages.ApprovalPolicy:
		err = s.inTurn(e)
	default:
		err = s.declared(types, e)
	}
	if err != nil {
		return err
	}
	s.next++
	s.lastTime = e.Time
	return nil
}

func (s *state) startTurn(e *messages.Event, turn int) error {
	switch {
	case s.turnOpen:
		return broken("E-7", e, "turn %d is still open", s.turn)
	case turn != s.turn+1:
		return broken("E-7", e, "turn %d cannot follow turn %d", turn, s.turn)
	}
	s.turn, s.turnOpen, s.step = turn, true, 0
	return nil
}

func (s *state) endTurn(e *messages.Event, turn int) error {
	if err := s.inTurnNumbered(e, turn); err != nil {
		return err
	}
	if s.stepOpen {
		return broken("E-7", e, "step %d of turn %d is still open", s.step, s.turn)
	}
	s.turnOpen = false
	return nil
}

func (s *state) startStep(e *messages.Event, turn, step int) error {
	if err := s.inTurnNumbered(e, turn); err != nil {
		return err
	}
	switch {
	case s.stepOpen:
		return broken("E-7", e, "step %d of turn %d is still open", s.step, s.turn)
	case step != s.step+1:
		return broken("E-7", e, "step %d cannot follow step %d of turn %d", step, s.step, s.turn)
	}
	s.step, s.stepOpen = step, true
	return nil
}

// result is E-7 for a tool/result, and C-7's "exactly one". A result that
// replaces an older one is a change of history and no outcome: it keeps the
// turn and step of the one it replaces, so it needs an open turn only, and it
// answers no call.
func (s *state) result(e *messages.Event, d messages.ToolResult) error {
	if e.Surface.Kind == messages.SurfaceReplace {
		if err := s.inTurn(e); err != nil {
			return err
		}
		return s.show(e, ResultNode, s.identity(d))
	}
	if err := s.inStep(e, d.Turn, d.Step); err != nil {
		return err
	}
	notStarted := d.Error.Code == messages.CodeToolNotStarted
	i := s.calls.forResult(d.CallID, e.Sources, notStarted)
	if i < 0 && (!notStarted || s.calls.knows(d.CallID)) {
		return broken("E-7", e, "no tool/call %q of step %d of turn %d waits for a result", d.CallID, s.step, s.turn)
	}
	if err := s.show(e, ResultNode, s.identity(d)); err != nil {
		return err
	}
	if i >= 0 {
		s.calls.settle(i)
	}
	return nil
}

func (s *state) identity(d messages.ToolResult) uint64 {
	if s.dropped {
		return 0 // there will be no node
	}
	return identityOf(d)
}

func (s *state) declared(types *messages.Registry, e *messages.Event) error {
	enclosure, err := declaredEnclosure(types, e)
	if err != nil {
		return err
	}
	switch enclosure {
	case messages.InStep:
		err = s.inOpenStep(e)
	case messages.InTurn:
		err = s.inTurn(e)
	}
	if err != nil {
		return err
	}
	if n, ok := e.Data.(TurnNumbered); ok {
		want := 0
		if s.turnOpen {
			want = s.turn
		}
		if got := n.EventTurn(); got != want {
			return broken("E-7", e, "names turn %d, not %d", got, want)
		}
	}
	return nil
}

// show checks a surface event and gives it its place in the history.
func (s *state) show(e *messages.Event, kind NodeKind, identity uint64) error {
	if err := checkSurface(e, kind == AssistantNode); err != nil {
		return err
	}
	if s.dropped {
		if e.Surface.Kind == messages.SurfaceReplace {
			return fmt.Errorf("replace in session history at seq %d: %w", e.Seq, ErrHistoryDropped)
		}
		return nil
	}
	at, err := s.view.locate(e, kind, identity)
	if err != nil {
		return err
	}
	s.view.put(e, at, kind, identity)
	return nil
}

// The four enclosures (E-7).

func (s *state) inTurn(e *messages.Event) error {
	if !s.turnOpen {
		return broken("E-7", e, "no turn is open")
	}
	return nil
}

func (s *state) inTurnNumbered(e *messages.Event, turn int) error {
	if err := s.inTurn(e); err != nil {
		return err
	}
	if turn != s.turn {
		return broken("E-7", e, "names turn %d, but turn %d is open", turn, s.turn)
	}
	return nil
}

func (s *state) inOpenStep(e *messages.Event) error {
	if !s.stepOpen {
		return broken("E-7", e, "no step is open")
	}
	return nil
}

func (s *state) inStep(e *messages.Event, turn, step int) error {
	if err := s.inOpenStep(e); err != nil {
		return err
	}
	if turn != s.turn || step != s.step {
		return broken("E-7", e, "names step %d of turn %d, but step %d of turn %d is open", step, turn, s.step, s.turn)
	}
	return nil
}

package actors

import (
	"github.com/asynkron/protoactor-go/actor"

	"github.com/dsh-actor/dsh-actor/messages"
)

// sessionActor owns a session's turns. It decides nothing: what to do follows
// from the core, which it looks at when it is woken.
type sessionActor struct {
	box  mailbox
	core *core
	turn *turn // the child, until it is gone
	pid  *actor.PID
}

type (
	// wakeUp says that the inbox may have work.
	wakeUp struct{}
)

func (a *sessionActor) mailbox() *mailbox { return &a.box }

// Receive implements actor.Actor.
func (a *sessionActor) Receive(c actor.Context) {
	switch m := c.Message().(type) {
	case wakeUp:
		a.next(c)
	case *actor.Stopped:
		defer func() { _ = recover() }() // a panic here would hang the parent's stop
		a.core.stopped()
	case turnOver:
		if m.turn != a.turn {
			return
		}
		c.Stop(a.pid)
		a.turn, a.pid = nil, nil
		a.core.turnOver(m.turn)
		a.next(c)
	case *actor.Terminated:
		forgetStopped(c)
		// A report of the child is ahead of its end: the child is stopped in answer
		// to it. What ends without one has failed.
		if a.pid != nil && a.pid.Equal(m.Who) {
			t := a.turn
			a.turn, a.pid = nil, nil
			a.core.turnFailed(t)
			a.next(c)
		}
	}
}

// next starts a turn if there is work and none runs.
func (a *sessionActor) next(c actor.Context) {
	if a.turn != nil {
		return
	}
	if t := a.core.nextTurn(); t != nil {
		a.turn = t
		a.pid = a.core.rt.nursery.spawn(c, &t.actor)
	}
}

// nextTurn decides under the lock whether a turn is to start; otherwise the
// session comes to rest.
func (c *core) nextTurn() *turn {
	c.lock()
	defer c.unlock()
	if c.current != nil {
		return nil
	}
	if c.phase == phaseOpen && c.sealed == nil && c.inbox.waking() && !c.rt.draining() && c.blocked == nil {
		c.current = newTurn(c)
		return c.current
	}
	c.restLocked()
	return nil
}

// restLocked is the transition to idle.
func (c *core) restLocked() {
	if c.phase != phaseOpen {
		return
	}
	c.setStatusLocked(messages.StatusIdle)
	if c.settledLocked() {
		c.releaseIdleLocked()
	}
}

// turnOver is told by the session's actor that a turn, its driver and its calls
// have ended.
func (c *core) turnOver(t *turn) {
	c.lock()
	defer c.unlock()
	c.endTurnLocked(t)
}

func (c *core) endTurnLocked(t *turn) {
	if c.current == t {
		c.current = nil
	}
	if c.turn == t {
		c.turn = nil
	}
	if t.stopFinal {
		if items := c.inbox.discardSteering(); len(items) > 0 {
			c.noteLocked(messages.InboxDiscarded{Items: messages.FrozenList(items)})
		}
	} else {
		c.inbox.requeueSteering()
	}
	if c.closing != nil {
		c.closing.turnGone()
	}
}

// stopped is told by the actor in its Stopped: its children have ended. Outside of
// closing this is the failure of an actor of ours, or the host's stop.
func (c *core) stopped() {
	c.lock()
	defer c.unlock()
	switch {
	case c.phase != phaseOpen && c.phase != phaseNew:
	case c.rt.draining(): // the host stops the tree; the shutdown closes the session
		if t := c.current; t != nil {
			c.sealTurnLocked(t, messages.EndReason{Kind: messages.EndDisposed})
			c.endTurnLocked(t)
		}
	default:
		c.breakLocked("its actor has stopped")
	}
	if c.gone != nil {
		close(c.gone)
		c.gone = nil
	}
	c.pid = nil
}

// turnFailed ends a turn whose actor died: a bug of ours. What its goroutines
// still do is refused; the log is closed as an error.
func (c *core) turnFailed(t *turn) {
	c.lock()
	defer c.unlock()
	if t != c.current {
		return // sealed by a closer
	}
	reason := messages.EndReason{
		Kind: messages.EndError, Step: t.step, Message: "internal error: the turn's actor has stopped", Code: messages.CodeUnknown,
	}
	if c.rt.draining() {
		reason = messages.EndReason{Kind: messages.EndDisposed}
	}
	c.sealTurnLocked(t, reason)
	c.endTurnLocked(t)
}

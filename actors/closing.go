package actors

import (
	"context"
	"sync"
	"time"

	"github.com/dsh-actor/dsh-actor/messages"
	"github.com/dsh-actor/dsh-actor/pipeline"
)

// closing is the end of one session: one sequence, however many ask for it.
type closing struct {
	keepInbox bool   // suspended, not closed (DESIGN 3, rule 6)
	reason    string // of agent/session-end
	started   time.Time
	done      chan struct{} // closed when the session is gone
	turnDone  chan struct{} // closed when no turn runs any more
	turnOnce  sync.Once
	seal      chan struct{} // closed at a closer's deadline
	sealOnce  sync.Once
	report    messages.Report // complete when done is closed
}

func (cl *closing) turnGone()    { cl.turnOnce.Do(func() { close(cl.turnDone) }) }
func (cl *closing) requestSeal() { cl.sealOnce.Do(func() { close(cl.seal) }) }

// await waits for done, or for the seal; done wins if both are there.
func (cl *closing) await(done <-chan struct{}) (ended bool) {
	select {
	case <-done:
		return true
	default:
	}
	select {
	case <-done:
		return true
	case <-cl.seal:
		return false
	}
}

// awaitOr is await that, once sealed, waits a moment longer: for what is quick unless
// it is broken.
func (cl *closing) awaitOr(done <-chan struct{}, grace time.Duration) (ended bool) {
	if cl.await(done) {
		return true
	}
	timer := time.NewTimer(grace)
	defer timer.Stop()
	select {
	case <-done:
		return true
	case <-timer.C:
		return false
	}
}

const (
	// storeGrace is how long a sealed session waits for the store to take its last
	// events: without them the log would end in an open turn.
	storeGrace = 2 * time.Second
	// observerGrace is how long it waits for observers to take the last notifications.
	observerGrace = 250 * time.Millisecond
)

// close ends the session and waits for it. At the end of ctx the session is sealed:
// what ignores its context is left behind and named in the report.
func (c *core) close(ctx context.Context, keepInbox bool, reason string) (messages.Report, error) {
	cl, first := c.beginClose(keepInbox, reason)
	if first {
		go c.finishClose(cl)
	}
	if inside(ctx, c) {
		return messages.Report{Owner: c.owner()}, wouldDeadlock("close", c.id)
	}
	return cl.wait(ctx)
}

func (cl *closing) wait(ctx context.Context) (messages.Report, error) {
	select {
	case <-cl.done:
	case <-ctx.Done():
		cl.requestSeal()
		<-cl.done
	}
	return cl.report, cl.report.Err()
}

func wouldDeadlock(what string, id messages.SessionID) error {
	return &messages.Error{
		Name: "HarnessError", Code: messages.CodeWouldDeadlock,
		Message: what + " of session " + string(id) + " was called from inside what it waits for; it has been started",
	}
}

func (c *core) owner() string { return "session " + string(c.id) }

// beginClose marks the session as ending, synchronously: from here on every
// delivery is refused. first is true for the caller that has to carry it
// out.
func (c *core) beginClose(keepInbox bool, reason string) (cl *closing, first bool) {
	c.lock()
	defer c.unlock()
	if c.closing != nil {
		return c.closing, false
	}
	cl = &closing{
		keepInbox: keepInbox, reason: reason, started: time.Now(),
		done: make(chan struct{}), turnDone: make(chan struct{}), seal: make(chan struct{}),
	}
	cl.report.Owner = c.owner()
	c.closing = cl
	if c.phase == phaseOpen {
		c.phase = phaseClosing
	}
	if !keepInbox {
		c.discardInboxLocked(cl)
	}
	c.unblockLocked()
	c.releaseIdleLocked()
	c.tasks.cancelLocked()
	if c.current == nil {
		cl.turnGone()
	} else {
		c.current.cancelLocked(messages.CancelDisposed)
		cl.report.Count("turns", 1)
	}
	c.setStatusLocked(messages.StatusDisposed)
	return cl, true
}

func (c *core) discardInboxLocked(cl *closing) {
	items := c.inbox.discard()
	if len(items) == 0 {
		return
	}
	for _, item := range items {
		cl.report.Discarded = append(cl.report.Discarded, item.ID)
	}
	c.noteLocked(messages.InboxDiscarded{Items: messages.FrozenList(items)})
}

// finishClose carries out what beginClose began: it waits for the turn and its
// calls, the tasks, agent/session-end, the store, the actor and the lane, in this
// order.
func (c *core) finishClose(cl *closing) {
	defer close(cl.done)
	ctx, span := c.rt.cfg.Tracer.StartDrain(context.Background(), "session")
	c.endTurns(cl)
	c.endTasks(cl)
	c.runSessionEnd(ctx, cl)
	c.lastFlush(cl)
	c.endActor() // last of all: its children have ended or were sealed
	c.dispose(cl)
	cl.report.Count("sessions", 1)
	cl.report.Leftovers = c.rt.leftovers.settle(c.id, cl.seal)
	cl.report.TookMS = time.Since(cl.started).Milliseconds()
	span.End(cl.report)
}

func (c *core) endTurns(cl *closing) {
	if cl.await(cl.turnDone) {
		return
	}
	c.lock()
	defer c.unlock()
	if t := c.current; t != nil {
		c.sealTurnLocked(t, messages.EndReason{Kind: messages.EndDisposed})
		c.endTurnLocked(t)
	}
}

func (c *core) endTasks(cl *closing) {
	c.lock()
	c.tasks.cancelLocked() // also those that were started since
	quiet := c.tasks.quietLocked()
	c.unlock()
	if !cl.await(quiet) {
		c.rt.leftovers.add(messages.Leftover{Kind: "listener", Name: "agent/session-start", Session: c.id}, quiet)
	}
}

// runSessionEnd tells agent/session-end and waits for its listeners (Z-37).
func (c *core) runSessionEnd(ctx context.Context, cl *closing) {
	seam := &c.pipe.Seams().SessionEnd
	if seam.Empty() || c.lost() {
		return
	}
	ctx, cancel := context.WithCancel(context.WithValue(ctx, insideKey{}, c))
	defer cancel()
	done := make(chan struct{})
	go func() {
		defer close(done)
		if err := seam.Run(ctx, &pipeline.SessionEnd{Agent: c, Reason: cl.reason}); err != nil {
			c.rt.cfg.Logger.Warn("agent/session-end failed", "session", c.id, "error", err)
		}
	}()
	if !cl.await(done) {
		c.rt.leftovers.add(messages.Leftover{Kind: "listener", Name: "agent/session-end", Session: c.id}, done)
	}
}

// lastFlush stores what is left, and tells the store which prompts were dropped.
func (c *core) lastFlush(cl *closing) {
	if c.lost() || !c.unflushed() {
		return
	}
	var err error
	done := make(chan struct{})
	go func() {
		defer close(done)
		err = c.flush()
	}()
	if cl.awaitOr(done, storeGrace) {
		cl.report.Fail(err)
		return
	}
	c.rt.leftovers.add(messages.Leftover{Kind: "component", Name: "store", Session: c.id}, done)
	cl.report.Fail(&messages.Error{Code: messages.CodeStoreUnavailable, Message: c.owner() + ": the store did not answer in time"})
}

func (c *core) unflushed() bool {
	c.lock()
	defer c.unlock()
	return c.stored < c.log.NextSeq() || len(c.inbox.dropped)+len(c.inbox.settled) > 0
}

// dispose takes the session out of the runtime and tells the observers.
func (c *core) dispose(cl *closing) {
	c.rt.dir.remove(c)
	c.rt.cfg.Tracer.SessionWarm(-1)
	c.lock()
	if c.phase != phaseBroken {
		c.phase = phaseClosed
	}
	c.noteLocked(messages.AgentDisposed{})
	c.noteLocked(messages.SessionDisposed{})
	dry := c.laneDryLocked()
	for _, s := range c.subs {
		s.wake()
	}
	c.unlock()
	if !cl.awaitOr(dry, observerGrace) {
		c.rt.leftovers.add(messages.Leftover{Kind: "listener", Name: "observer", Session: c.id}, dry)
	}
}

func (c *core) broken() bool {
	c.lock()
	defer c.unlock()
	return c.phase == phaseBroken
}

// lost reports that the activation must not write any more: a newer owner has the
// session, or its state is in doubt.
func (c *core) lost() bool {
	c.lock()
	defer c.unlock()
	return c.sealed != nil
}

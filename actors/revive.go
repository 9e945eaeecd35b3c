package actors

import (
	"context"
	"fmt"
	"time"

	"github.com/dsh-actor/dsh-actor/messages"
)

// maxFails is how many activations in a row may fail without a finished turn before
// the session is left alone (DESIGN 3, rule 8).
const maxFails = 3

// breakLocked marks an activation whose actor has failed: its appends are refused,
// its turn is sealed, and the next verb rebuilds the session from its log.
func (c *core) breakLocked(why string) {
	if t := c.current; t != nil {
		c.sealTurnLocked(t, messages.EndReason{
			Kind: messages.EndError, Step: t.step, Message: "internal error: " + why, Code: messages.CodeUnknown,
		})
		c.endTurnLocked(t)
	}
	if c.phase == phaseBroken {
		return
	}
	c.phase = phaseBroken
	c.fails++
	c.tasks.cancelLocked()
	c.unblockLocked()
	c.releaseIdleLocked()
	c.rt.cfg.Logger.Error("session failed", "session", c.id, "reason", why, "failures", c.fails)
	for _, s := range c.subs {
		s.wake()
	}
}

// revive rebuilds a session whose activation is broken. One caller does it; others
// wait for the outcome.
func (rt *Runtime) revive(ctx context.Context, old *core) (*core, error) {
	old.reviving.Lock()
	defer old.reviving.Unlock()
	if now := rt.dir.get(old.id); now != old {
		if now == nil {
			return nil, ErrNotFound
		}
		return now, nil
	}
	if old.superseded() {
		old.lock()
		defer old.unlock()
		return nil, old.refusalLocked()
	}
	if old.failures() >= maxFails {
		return nil, &messages.Error{
			Name: "HarnessError", Code: messages.CodeSessionQuarantined,
			Message: fmt.Sprintf("session %q failed %d times without a finished turn and is quarantined", old.id, maxFails),
		}
	}
	if err := rt.paceRevival(ctx, old.failures()); err != nil {
		return nil, err
	}
	old.endActor()
	// What the failed activation had in memory only is stored first, if it can be:
	// its log was valid when it was sealed.
	if err := old.flush(); err != nil {
		rt.cfg.Logger.Warn("unflushed events of a failed activation are lost", "session", old.id, "error", err)
	}
	return rt.rebuild(ctx, old)
}

func (rt *Runtime) rebuild(ctx context.Context, old *core) (*core, error) {
	c, err := rt.reload(ctx, old)
	if err != nil {
		return nil, fmt.Errorf("rebuild session %q: %w", old.id, err)
	}
	c.fails = old.failures()
	if err := c.setUp(ctx); err != nil {
		return nil, err
	}
	if err := rt.spawn(c); err != nil {
		return nil, err
	}
	c.lock()
	c.phase = phaseOpen
	waking := c.inbox.waking()
	c.unlock()
	rt.dir.put(c)
	if waking {
		c.wake(ctx)
	}
	return c, nil
}

// reload reads the session from the store, or starts it anew if it never got there.
func (rt *Runtime) reload(ctx context.Context, old *core) (*core, error) {
	if old.created {
		return rt.load(ctx, old.id, old.agent)
	}
	return rt.newCore(old.agent, old.log, old.epoch+1), nil
}

// endActor stops the actor of a failed activation and waits for its end: the old
// tree ends before the new one begins.
func (c *core) endActor() {
	c.lock()
	pid := c.pid
	if pid == nil {
		c.unlock()
		return
	}
	gone := make(chan struct{})
	c.gone = gone
	c.unlock()
	c.rt.root.Stop(pid)
	<-gone
}

func (c *core) failures() int {
	c.lock()
	defer c.unlock()
	return c.fails
}

// superseded reports whether the activation lost its session to a newer owner.
func (c *core) superseded() bool {
	c.lock()
	defer c.unlock()
	return messages.CodeOf(c.sealed) == messages.CodeNotOwner
}

// paceRevival bounds how fast failing sessions are rebuilt, over the whole runtime:
// the first time at once, then with growing pauses.
func (rt *Runtime) paceRevival(ctx context.Context, fails int) error {
	rt.retryMu.Lock()
	if fails <= 1 {
		rt.revival.Reset()
		rt.retryMu.Unlock()
		return nil
	}
	pause := rt.revival.NextBackOff()
	rt.retryMu.Unlock()
	timer := time.NewTimer(pause)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-rt.storeCtx.Done():
		return rt.shuttingDown()
	}
}

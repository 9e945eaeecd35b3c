package actors

import (
	"context"
	"errors"
	"fmt"

	"github.com/dsh-actor/dsh-actor/messages"
	"github.com/dsh-actor/dsh-actor/session"
)

// flush returns when every event appended so far is in the store (K-1). Callers
// that wait at the same time share one commit. A failed commit changes nothing:
// the events stay buffered, and the next flush tries again.
func (c *core) flush() error {
	c.storeMu.Lock()
	defer c.storeMu.Unlock()
	return c.flushStoring()
}

// flushStoring is flush for who holds storeMu.
func (c *core) flushStoring() error {
	b, pending := c.pendingBatch()
	if !pending {
		return nil
	}
	err := c.store(b)
	if err != nil {
		c.lock()
		defer c.unlock()
		c.inbox.settled = append(b.Claim, c.inbox.settled...)
		c.inbox.dropped = append(b.Drop, c.inbox.dropped...)
	}
	return err
}

// pendingBatch collects what the store does not have yet.
func (c *core) pendingBatch() (b session.Batch, pending bool) {
	c.lock()
	defer c.unlock()
	_, events := c.log.Events(c.stored)
	b = c.batchLocked()
	b.Events = events.Borrow()
	b.Claim, c.inbox.settled = c.inbox.settled, nil
	b.Drop, c.inbox.dropped = c.inbox.dropped, nil
	return b, len(b.Events)+len(b.Claim)+len(b.Drop) > 0
}

// batchLocked is an empty batch that continues the stored log.
func (c *core) batchLocked() session.Batch {
	b := session.Batch{ID: c.id, Epoch: c.epoch, ExpectSeq: c.stored}
	if !c.created {
		h := c.log.Header()
		b.Create = &h
	}
	return b
}

// store commits a batch and records what is durable now. storeMu is held.
func (c *core) store(b session.Batch) error {
	err := c.rt.cfg.Store.Commit(c.rt.storeCtx, b)
	c.lock()
	defer c.unlock()
	if err != nil {
		return c.storeErrorLocked(err)
	}
	c.created = true
	c.stored = b.ExpectSeq + int64(len(b.Events))
	if len(b.Events) > 0 {
		if c.rt.observed() {
			c.noteLocked(messages.Flushed{Seq: c.stored - 1})
		}
		for _, s := range c.subs {
			s.wake()
		}
	}
	return nil
}

// storeErrorLocked gives a failed commit its code. A newer owner ends this
// activation: nothing that it would append could be stored.
func (c *core) storeErrorLocked(err error) error {
	if errors.Is(err, session.ErrFenced) {
		c.supersededLocked()
		return &messages.Error{
			Name: "HarnessError", Code: messages.CodeNotOwner,
			Message: fmt.Sprintf("session %q has a newer owner", c.id), Err: err,
		}
	}
	return &messages.Error{
		Name: "HarnessError", Code: messages.CodeStoreUnavailable,
		Message: fmt.Sprintf("session %q: the store did not take the batch", c.id), Err: err,
	}
}

// supersededLocked stops an activation that has lost its session.
func (c *core) supersededLocked() {
	if c.phase == phaseClosed || c.phase == phaseBroken {
		return
	}
	c.phase = phaseBroken
	if c.sealed == nil {
		c.sealed = &messages.Error{
			Name: "HarnessError", Code: messages.CodeNotOwner,
			Message: fmt.Sprintf("session %q has a newer owner", c.id),
		}
	}
	if t := c.turn; t != nil {
		t.cancelLocked(messages.CancelDisposed)
	}
}

// flushBehind flushes on a goroutine of its own and reports a failure as
// agent/error with step 0 (A-7, T-14). Closing waits for it.
func (c *core) flushBehind(turn int) {
	c.tasks.start(c, func(context.Context) {
		if err := c.flush(); err != nil {
			c.lock()
			defer c.unlock()
			c.errorLocked(turn, 0, err)
		}
	})
}

// errorLocked reports a failure that no event records.
func (c *core) errorLocked(turn, step int, err error) {
	c.rt.cfg.Logger.Warn("agent error", "session", c.id, "turn", turn, "step", step, "error", err)
	c.noteLocked(messages.AgentError{
		Turn: turn, Step: step, Message: messages.ErrorChain(err), Code: messages.CodeOf(err),
	})
}

// forgetStored drops from memory what the store has.
func (c *core) forgetStored() {
	c.lock()
	defer c.unlock()
	c.log.Trim(c.stored)
}

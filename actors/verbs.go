package actors

import (
	"context"
	"errors"

	"github.com/dsh-actor/dsh-actor/messages"
	"github.com/dsh-actor/dsh-actor/otel"
	"github.com/dsh-actor/dsh-actor/session"
)

// Deliver carries out a verb: a messages.Prompt, Inject, Cancel or AnswerAsk. It
// answers at once, before any turn runs. Errors have a code: SESSION_NOT_FOUND,
// DISPOSED, SHUTTING_DOWN, QUEUE_FULL, TURN_LIMIT, STORE_UNAVAILABLE, NOT_OWNER,
// INVALID_INPUT. A verb whose deadline has passed is refused.
func (rt *Runtime) Deliver(ctx context.Context, verb any) (a messages.Accepted, err error) {
	defer guardVerb(&err)
	a.Seq = -1
	switch v := verb.(type) {
	case messages.Prompt:
		c, err := rt.target(ctx, v.VerbHeader)
		if err != nil {
			return a, err
		}
		return c.prompt(ctx, v)
	case messages.Inject:
		c, err := rt.target(ctx, v.VerbHeader)
		if err != nil {
			return a, err
		}
		return c.inject(v.Context)
	case messages.Cancel:
		c, err := rt.target(ctx, v.VerbHeader)
		if err != nil {
			return a, err
		}
		return a, c.cancel(v)
	default:
		return a, messages.Errorf(messages.CodeInvalidInput, "deliver: %T is not a verb", verb)
	}
}

// target finds the session of a verb.
func (rt *Runtime) target(ctx context.Context, h messages.VerbHeader) (*core, error) {
	if err := ctx.Err(); err != nil {
		return nil, context.Cause(ctx)
	}
	if !h.Deadline.IsZero() && !rt.cfg.Now().Before(h.Deadline) {
		return nil, messages.Errorf(messages.CodeInvalidInput, "the verb's deadline has passed: %w", context.DeadlineExceeded)
	}
	return rt.live(ctx, h.Session)
}

// prompt accepts a prompt: durable first, then queued (Z-36).
func (c *core) prompt(ctx context.Context, v messages.Prompt) (messages.Accepted, error) {
	item, err := c.newItem(ctx, v)
	if err != nil {
		return messages.Accepted{Seq: -1}, err
	}
	wake, err := c.accept(&item)
	if err != nil {
		var dup *session.DuplicateError
		if errors.As(err, &dup) {
			return messages.Accepted{Message: dup.Message, Seq: -1, Duplicate: true}, nil
		}
		return messages.Accepted{Seq: -1}, err
	}
	if wake {
		c.wake(ctx)
	}
	return messages.Accepted{Message: item.ID, Seq: -1}, nil
}

// accept stores and queues a prompt; the queue has the order of the store.
func (c *core) accept(item *messages.InboxItem) (wake bool, err error) {
	c.storeMu.Lock()
	defer c.storeMu.Unlock()
	b, err := c.admit(item)
	if err != nil {
		return false, err
	}
	if err := c.store(b); err != nil {
		return false, err
	}
	return c.enqueue(*item)
}

// newItem validates a prompt.
func (c *core) newItem(ctx context.Context, v messages.Prompt) (messages.InboxItem, error) {
	item := messages.InboxItem{
		ID: c.rt.cfg.NewMessageID(), Key: v.IdempotencyKey, Content: v.Content, Source: v.Source,
		Contexts: v.Contexts, Meta: v.Meta, TraceParent: v.TraceParent, Enqueued: c.now(),
	}
	if item.TraceParent == "" && c.rt.cfg.Tracer != nil {
		item.TraceParent = otel.TraceParent(ctx)
	}
	if item.Source.IsZero() {
		item.Source = messages.UserSource()
	}
	switch v.Delivery {
	case messages.Followup, "":
		item.Wake = true
	case messages.Queue:
	case messages.Steer:
		item.Steering, item.Wake = true, true
	default:
		return item, messages.Errorf(messages.CodeInvalidInput, "unknown delivery %q", v.Delivery)
	}
	ok := !item.Content.IsZero() && losslessMeta(item.Meta)
	for ctx := range item.Contexts.Values() {
		ok = ok && losslessMeta(ctx.Meta)
	}
	if !ok {
		return item, messages.Errorf(messages.CodeInvalidInput,
			"agent message content, source, and contexts must be losslessly JSON-serializable")
	}
	return item, nil
}

func losslessMeta(m messages.JSON) bool { return m == "" || messages.CheckJSON(m) == nil }

// admit decides whether the prompt may enter, and makes the batch that stores it.
// Steering while the agent does not run is an ordinary prompt.
func (c *core) admit(item *messages.InboxItem) (session.Batch, error) {
	c.lock()
	defer c.unlock()
	if err := c.refusalLocked(); err != nil {
		return session.Batch{}, err
	}
	limit := c.rt.cfg.MaxQueuedPrompts
	if limit >= 0 && c.inbox.size() >= limit {
		return session.Batch{}, messages.Errorf(messages.CodeQueueFull,
			"session %q has %d prompts queued, which is its limit", c.id, limit)
	}
	if most := c.agent.MaxTurnsPerSession; most > 0 && !item.Steering && c.log.LastTurn()+len(c.inbox.queue) >= most {
		return session.Batch{}, messages.Errorf(messages.CodeTurnLimit,
			"session %q may have %d turns", c.id, most)
	}
	if c.status != messages.StatusRunning {
		item.Steering = false
	}
	b := c.batchLocked()
	b.Add = []messages.InboxItem{*item}
	return b, nil
}

// enqueue puts a durable prompt into the queue, and says whether to wake the
// actor. A session that closed meanwhile drops it.
func (c *core) enqueue(item messages.InboxItem) (wake bool, err error) {
	c.lock()
	defer c.unlock()
	if err := c.refusalLocked(); err != nil {
		c.inbox.forget([]messages.InboxItem{item})
		return false, err
	}
	if c.status != messages.StatusRunning {
		item.Steering = false
	}
	c.inbox.push(item)
	if c.rt.observed() {
		c.noteLocked(messages.InboxEnqueued{Item: item})
	}
	return item.Wake && !item.Steering && c.current == nil, nil
}

// wake tells the session's actor to look at the inbox. An activation that has failed
// meanwhile is rebuilt, so that an accepted prompt does not wait for the next verb.
func (c *core) wake(ctx context.Context) {
	c.lock()
	pid := c.pid
	c.unlock()
	if pid != nil {
		c.rt.root.Send(pid, wakeUp{})
		return
	}
	if _, err := c.rt.live(ctx, c.id); err != nil {
		c.rt.cfg.Logger.Warn("a session with work could not be rebuilt", "session", c.id, "error", err)
	}
}

// inject adds context.
func (c *core) inject(ctx messages.Context) (a messages.Accepted, err error) {
	defer guardVerb(&err)
	if ctx.Source.IsZero() {
		ctx.Source = messages.PluginSource("")
	}
	if ctx.Content.IsZero() || !losslessMeta(ctx.Meta) {
		return messages.Accepted{Seq: -1}, messages.Errorf(messages.CodeInvalidInput,
			"agent context must be losslessly JSON-serializable")
	}
	seq, turn, err := c.injectNow(ctx)
	if err != nil {
		return messages.Accepted{Seq: -1}, err
	}
	if turn > 0 {
		c.flushBehind(turn)
	}
	return messages.Accepted{Seq: seq}, nil
}

// injectNow places the context. It returns the number of the one-shot turn that
// it opened, or 0.
func (c *core) injectNow(ctx messages.Context) (seq int64, oneShot int, err error) {
	c.lock()
	defer c.unlock()
	if c.phase != phaseOpen && !(c.phase == phaseClosing && c.turn != nil && c.turn.batch != nil) {
		return -1, 0, c.refusalOrDisposedLocked()
	}
	if c.sealed != nil {
		return -1, 0, c.sealed
	}
	if t := c.turn; t != nil && t.open {
		if t.batch != nil { // after every result of the batch (T-21, C-7)
			t.fifo = append(t.fifo, ctx)
			return -1, 0, nil
		}
		seq, err = c.commit(contextEntry(ctx))
		return seq, 0, err
	}
	if c.turn != nil && c.turn.claiming { // its turn/start is the next thing in the log
		c.turn.early = append(c.turn.early, ctx)
		return -1, 0, nil
	}
	turn := c.log.LastTurn() + 1
	seq, err = c.commit(
		session.LogOnly(messages.TurnStart{Turn: turn, Trigger: messages.TurnTrigger{
			Kind: messages.TriggerInjection, Source: ctx.Source,
		}}),
		contextEntry(ctx),
		session.LogOnly(messages.TurnEnd{Turn: turn, Reason: messages.EndReason{Kind: messages.EndCompleted}}),
	)
	return seq, turn, err
}

func (c *core) refusalOrDisposedLocked() error {
	if err := c.refusalLocked(); err != nil {
		return err
	}
	return c.disposedError()
}

// contextEntry is a context as the log has it: a user/message whose source is not
// the user (E-8).
func contextEntry(ctx messages.Context) session.Entry {
	return session.Add(messages.UserMessage{Content: ctx.Content, Source: ctx.Source, Meta: ctx.Meta})
}

// cancel aborts the open turn and drops the inbox (A-8, Z-46): it cancels and
// clears first and tells afterwards. With nothing open and nothing pending it
// does nothing.
func (c *core) cancel(v messages.Cancel) error {
	cause := v.Cause
	switch cause {
	case "":
		cause = messages.CancelUser
	case messages.CancelUser, messages.CancelParent:
	default:
		return messages.Errorf(messages.CodeInvalidInput, "unknown cancel cause %q", cause)
	}
	dropped, err := c.cancelNow(cause, v.KeepInbox)
	if err != nil || !dropped {
		return err
	}
	// The prompts must not come back after a crash.
	return c.flush()
}

func (c *core) cancelNow(cause messages.CancelCause, keepInbox bool) (dropped bool, err error) {
	c.lock()
	defer c.unlock()
	if err := c.refusalLocked(); err != nil {
		return false, err
	}
	t := c.turn
	if t != nil && t.retired {
		t = nil
	}
	pending := !keepInbox && c.inbox.size() > 0
	if t == nil && !pending {
		return false, nil
	}
	number := 0
	if t != nil {
		t.cancelLocked(cause)
		number = t.number
	}
	if pending {
		items := c.inbox.discard()
		c.noteLocked(messages.InboxDiscarded{Items: messages.FrozenList(items)})
	}
	c.noteLocked(messages.CancelRequested{Cause: cause})
	c.tellCancelLocked(number, cause)
	if c.settledLocked() {
		c.releaseIdleLocked()
	}
	return pending, nil
}

// tellCancelLocked tells agent/cancel-requested on the session's lane.
func (c *core) tellCancelLocked(turn int, cause messages.CancelCause) {
	seam := &c.pipe.Seams().CancelRequested
	if seam.Empty() {
		return
	}
	c.postLocked(func() {
		ctx := context.WithValue(context.Background(), insideKey{}, c)
		seam.Run(ctx, cancelEvent(c, turn, cause))
	})
}

package actors

import (
	"github.com/dsh-actor/dsh-actor/messages"
)

// drainSteering appends what was steered, in order (T-4, T-13). It reports whether
// there was any.
func (t *turn) drainSteering() (bool, error) {
	c := t.core
	c.lock()
	defer c.unlock()
	if t.interrupted() || len(c.inbox.steering) == 0 {
		return false, nil
	}
	if err := c.mayWrite(&t.writer); err != nil {
		return false, err
	}
	for _, item := range c.inbox.takeSteering() {
		entries := promptEntries(item.Content, item.Contexts, func(content messages.Content, env messages.PromptEnvelope) messages.EventData {
			return messages.SteeringMessage{
				Turn: t.number, Content: content, Source: item.Source, Envelope: env, Meta: item.Meta,
			}
		})
		if _, err := c.commit(entries...); err != nil {
			return false, err
		}
		if item.Enqueued != 0 {
			c.inbox.settled = append(c.inbox.settled, item.ID)
		}
		c.noteLocked(messages.InboxDequeued{Item: item})
	}
	return true, nil
}

func (t *turn) steeringPending() bool {
	t.core.lock()
	defer t.core.unlock()
	return len(t.core.inbox.steering) > 0
}

// steer puts the reason of a forced continuation into the steering FIFO (T-12).
// The store does not know it: it is appended before anything else happens, or the
// turn ends.
func (t *turn) steer(d messages.TurnContinue) {
	c := t.core
	source := d.Source
	if source.IsZero() {
		source = messages.PluginSource("")
	}
	item := messages.InboxItem{
		ID: c.rt.cfg.NewMessageID(), Content: d.Reason, Source: source, Steering: true, Wake: true,
	}
	c.lock()
	defer c.unlock()
	c.inbox.push(item)
	c.noteLocked(messages.InboxEnqueued{Item: item})
}

// discardSteering drops what was steered, and what will be until the turn is over
// (S-7, T-15).
func (t *turn) discardSteering() {
	c := t.core
	c.lock()
	defer c.unlock()
	t.stopFinal = true
	if items := c.inbox.discardSteering(); len(items) > 0 {
		c.noteLocked(messages.InboxDiscarded{Items: messages.FrozenList(items)})
	}
}

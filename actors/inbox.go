package actors

import (
	"slices"

	"github.com/dsh-actor/dsh-actor/messages"
)

// inbox holds a session's queued prompts and the steering of its running turn
// . It is behind the core's mu.
type inbox struct {
	queue    []messages.InboxItem // next-turn
	steering []messages.InboxItem // next-step
	wakes    int                  // how many of queue wake the driver
	settled  []messages.MessageID // left the inbox; the store does not know yet
	dropped  []messages.MessageID // were discarded; the store does not know yet
}

func (b *inbox) empty() bool {
	return len(b.queue)+len(b.steering)+len(b.settled)+len(b.dropped) == 0
}

// waking reports whether the queue has an item that wakes the driver.
func (b *inbox) waking() bool { return b.wakes > 0 }

// size is the number of prompts held.
func (b *inbox) size() int { return len(b.queue) + len(b.steering) }

// push adds a prompt to the end of its queue.
func (b *inbox) push(item messages.InboxItem) {
	if item.Steering {
		b.steering = append(b.steering, item)
		return
	}
	b.queue = append(b.queue, item)
	if item.Wake {
		b.wakes++
	}
}

// claim takes the first prompt of the queue, quiet or not.
func (b *inbox) claim() (messages.InboxItem, bool) {
	if len(b.queue) == 0 {
		return messages.InboxItem{}, false
	}
	item := b.queue[0]
	b.queue = b.queue[1:]
	if len(b.queue) == 0 {
		b.queue = nil
	}
	if item.Wake {
		b.wakes--
	}
	return item, true
}

// unclaim puts a claimed prompt back to the front.
func (b *inbox) unclaim(item messages.InboxItem) {
	b.queue = slices.Insert(b.queue, 0, item)
	if item.Wake {
		b.wakes++
	}
}

// takeSteering takes all steering, in order.
func (b *inbox) takeSteering() []messages.InboxItem {
	items := b.steering
	b.steering = nil
	return items
}

// requeueSteering turns steering that found no step into ordinary waking prompts
// (T-15, T-16).
func (b *inbox) requeueSteering() {
	for _, item := range b.takeSteering() {
		item.Steering, item.Wake = false, true
		b.push(item)
	}
}

// discard takes everything: queued prompts, then steering. The store is
// told by the next flush.
func (b *inbox) discard() []messages.InboxItem {
	items := append(b.queue, b.steering...)
	b.queue, b.steering, b.wakes = nil, nil, 0
	b.forget(items)
	return items
}

// discardSteering takes the steering only (S-7).
func (b *inbox) discardSteering() []messages.InboxItem {
	items := b.takeSteering()
	b.forget(items)
	return items
}

func (b *inbox) forget(items []messages.InboxItem) {
	for _, item := range items {
		if item.Enqueued != 0 { // not of our own making: the store has it
			b.dropped = append(b.dropped, item.ID)
		}
	}
}

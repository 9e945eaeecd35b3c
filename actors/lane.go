package actors

import (
	"sync"
	"sync/atomic"

	"github.com/dsh-actor/dsh-actor/messages"
)

// Observer is told of a session's live notifications, in order, on that
// session's lane. It must not block for long: it delays the session's later
// notifications (never the session itself) and its closing. A panic is
// contained.
type Observer func(id messages.SessionID, n messages.Notification)

// observers is the set of a runtime's observers.
type observers struct {
	mu   sync.Mutex
	list atomic.Pointer[[]*Observer]
}

func (o *observers) add(fn Observer) (remove func()) {
	entry := &fn
	o.mu.Lock()
	defer o.mu.Unlock()
	next := append(o.snapshot(), entry)
	o.list.Store(&next)
	return sync.OnceFunc(func() { o.remove(entry) })
}

func (o *observers) remove(entry *Observer) {
	o.mu.Lock()
	defer o.mu.Unlock()
	var next []*Observer
	for _, e := range o.snapshot() {
		if e != entry {
			next = append(next, e)
		}
	}
	if next == nil {
		o.list.Store(nil)
		return
	}
	o.list.Store(&next)
}

// snapshot returns a copy of the current list.
func (o *observers) snapshot() []*Observer {
	if p := o.list.Load(); p != nil {
		return append([]*Observer(nil), *p...)
	}
	return nil
}

// lane delivers one session's notifications in order, on a goroutine that exists
// only while there is something to deliver (DESIGN 3, rule 3). It is behind the
// core's mu.
type lane struct {
	queue   []func()
	running bool
	empty   []chan struct{} // closed when the lane has run dry
}

func (l *lane) idle() bool { return !l.running && l.queue == nil && l.empty == nil }

// noteLocked queues a notification for the observers, if there are any.
func (c *core) noteLocked(n messages.Notification) {
	if !c.rt.observed() {
		return
	}
	c.postLocked(func() { c.rt.tell(c.id, n) })
}

// postLocked queues fn on the lane.
func (c *core) postLocked(fn func()) {
	c.lane.queue = append(c.lane.queue, fn)
	if !c.lane.running {
		c.lane.running = true
		go c.runLane()
	}
}

func (c *core) runLane() {
	for batch := c.nextOnLane(); batch != nil; batch = c.nextOnLane() {
		for _, fn := range batch {
			fn()
		}
	}
}

// nextOnLane takes what is queued; with nothing queued the lane ends.
func (c *core) nextOnLane() []func() {
	c.lock()
	defer c.unlock()
	batch := c.lane.queue
	c.lane.queue = nil
	if len(batch) > 0 {
		return batch
	}
	c.lane.running = false
	for _, w := range c.lane.empty {
		close(w)
	}
	c.lane.empty = nil
	return nil
}

// laneDry returns a channel that is closed when everything queued so far has been
// delivered.
func (c *core) laneDryLocked() <-chan struct{} {
	done := make(chan struct{})
	if !c.lane.running {
		close(done)
		return done
	}
	c.lane.empty = append(c.lane.empty, done)
	return done
}

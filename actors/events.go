package actors

import (
	"context"
	"fmt"
	"iter"
	"slices"

	"github.com/dsh-actor/dsh-actor/messages"
)

// GapError tells a reader of events what it missed: those are neither in memory
// nor in the store. The reading goes on with event To.
type GapError struct {
	Session  messages.SessionID
	From, To int64 // missed: From up to, not including, To
}

// Error names the range.
func (e *GapError) Error() string {
	return fmt.Sprintf("session %q: events %d to %d are not kept", e.Session, e.From, e.To-1)
}

// wakeup tells a reader that there may be something new. Waking never blocks.
type wakeup struct{ ch chan struct{} }

func (w *wakeup) wake() {
	select {
	case w.ch <- struct{}{}:
	default:
	}
}

// maxRead bounds the events that a reader takes at once, so that it does not keep
// more of a long log alive than it looks at.
const maxRead = 256

// Events yields the session's events from sequence number from on: what is
// stored, then what is appended, until the session has ended or ctx is done (then
// the last yield is context.Cause). The reader pulls at its own pace: a slow one
// costs the session nothing, and reads from the store what memory has let go. What
// neither has is told by a [GapError], after which the reading goes on.
func (s *Session) Events(ctx context.Context, from int64) iter.Seq2[messages.Event, error] {
	return func(yield func(messages.Event, error) bool) {
		r := &reader{rt: s.rt, id: s.id, core: s.core, next: max(from, 0), wakeup: &wakeup{make(chan struct{}, 1)}}
		defer r.leave()
		r.run(ctx, yield)
	}
}

// reader is a cursor on one session's log.
type reader struct {
	rt     *Runtime
	id     messages.SessionID
	core   *core // registered with
	next   int64
	wakeup *wakeup
	joined bool
}

func (r *reader) run(ctx context.Context, yield func(messages.Event, error) bool) {
	for {
		events, stored, ended := r.memory()
		switch {
		case stored > r.next:
			if !r.store(ctx, stored, yield) {
				return
			}
			continue
		case len(events) > 0:
			for _, e := range events {
				if !yield(e, nil) {
					return
				}
				r.next = e.Seq + 1
			}
			if ctx.Err() == nil {
				continue
			}
		case ended:
			return
		}
		select {
		case <-r.wakeup.ch:
		case <-ctx.Done():
			yield(messages.Event{}, context.Cause(ctx))
			return
		}
	}
}

// memory returns what the log has in memory at the cursor. If memory starts later,
// stored is where. An activation that was rebuilt is followed.
func (r *reader) memory() (events []messages.Event, stored int64, ended bool) {
	c := r.core
	if now := r.rt.dir.get(r.id); now != nil && now != c {
		r.leave()
		r.core, c = now, now
	}
	c.lock()
	defer c.unlock()
	if !r.joined {
		r.joined = true
		c.subs = append(c.subs, r.wakeup)
	}
	first, list := c.log.Events(r.next)
	if first > r.next {
		return nil, first, false
	}
	n := min(list.Len(), maxRead)
	events = make([]messages.Event, n)
	for i := range n {
		events[i] = list.At(i)
	}
	return events, 0, c.phase == phaseClosed && n == 0
}

// store yields events from the store up to sequence number to.
func (r *reader) store(ctx context.Context, to int64, yield func(messages.Event, error) bool) bool {
	for e, err := range r.rt.cfg.Store.Read(ctx, r.id, r.next, to) {
		if err != nil || e.Seq != r.next {
			break // told as a gap below, or by the context
		}
		if !yield(e, nil) {
			return false
		}
		r.next++
	}
	if ctx.Err() != nil {
		yield(messages.Event{}, context.Cause(ctx))
		return false
	}
	if r.next < to {
		gap := &GapError{Session: r.id, From: r.next, To: to}
		r.next = to
		return yield(messages.Event{}, gap)
	}
	return true
}

// leave takes the reader off its activation.
func (r *reader) leave() {
	if !r.joined {
		return
	}
	r.core.lock()
	defer r.core.unlock()
	r.core.subs = slices.DeleteFunc(r.core.subs, func(w *wakeup) bool { return w == r.wakeup })
	if len(r.core.subs) == 0 {
		r.core.subs = nil
	}
	r.joined = false
}

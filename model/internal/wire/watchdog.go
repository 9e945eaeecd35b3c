package wire

import (
	"context"
	"sync"
	"time"
)

// watchdog cancels a request that is silent for too long. Arming it again only
// moves the deadline: the timer is left alone unless it would be late, so that a
// stream of many small reads costs no timer work.
type watchdog struct {
	cancel context.CancelCauseFunc

	mu     sync.Mutex
	timer  *time.Timer
	due    time.Time // when the timer fires
	until  time.Time // when the request is given up; zero: not watched
	cause  error
	fired  bool
	closed bool
	exited chan struct{} // closed by a firing that finds the watchdog closed
}

func newWatchdog(cancel context.CancelCauseFunc) *watchdog {
	return &watchdog{cancel: cancel, exited: make(chan struct{})}
}

// arm gives the request d more time from now on, and then ends it with cause. A
// d that is not positive is no limit.
func (w *watchdog) arm(d time.Duration, cause error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if d <= 0 {
		w.until = time.Time{}
		return
	}
	w.until, w.cause = time.Now().Add(d), cause
	switch {
	case w.closed || w.fired:
	case w.timer == nil:
		w.due = w.until
		w.timer = time.AfterFunc(d, w.fire)
	case w.due.After(w.until) || w.due.IsZero():
		w.due = w.until
		w.timer.Reset(d)
	}
}

// disarm stops the clock while nothing is expected from the provider.
func (w *watchdog) disarm() { w.arm(0, nil) }

func (w *watchdog) fire() {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch left := time.Until(w.until); {
	case w.closed:
		close(w.exited)
	case w.until.IsZero():
		w.due = time.Time{} // the next arm starts the timer again
	case left > 0:
		w.due = w.until
		w.timer.Reset(left)
	default:
		w.fired = true
		w.cancel(w.cause)
	}
}

// close ends the watch. When it has returned, nothing of it is left running.
func (w *watchdog) close() {
	w.mu.Lock()
	w.closed = true
	// A timer that could not be stopped is firing now, has fired, or is at rest
	// since a firing that found nothing to watch.
	firing := w.timer != nil && !w.timer.Stop() && !w.fired && !w.due.IsZero()
	w.mu.Unlock()
	if firing {
		<-w.exited
	}
}

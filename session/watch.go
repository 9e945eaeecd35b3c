package session

import (
	"fmt"
	"slices"

	"github.com/dsh-actor/dsh-actor/messages"
)

// Callback is called with an event of a log, on the goroutine that appends.
type Callback func(messages.Event) error

// watch has the callbacks of a log that is used by itself. Under the runtime a
// log has none: notifications are delivered after the commit, outside the
// owner's lock (Z-23).
type watch struct {
	// Replaced whole when they change, so that an append under way goes on with
	// the callbacks that it started with (D-2).
	vetoes, observers []*Callback
	publishing        bool
}

// Veto registers a callback that is asked before an event is committed (D-6).
// An error or a panic rejects the whole append; the log is not changed and
// nobody is told. A callback may read the log, which does not have the event
// yet, and must not change it. The returned function ends the registration.
func (l *Log) Veto(ask Callback) (remove func()) {
	return l.register(&ask, func(w *watch) *[]*Callback { return &w.vetoes })
}

// Observe registers a callback that is told of every committed event, in order.
// Its error or panic is contained: it is given to Config.ObserverFailed and
// changes nothing (E-2). An append from inside it gets [ErrReentrant] (E-3).
// The returned function ends the registration.
func (l *Log) Observe(tell Callback) (remove func()) {
	return l.register(&tell, func(w *watch) *[]*Callback { return &w.observers })
}

func (l *Log) register(c *Callback, list func(*watch) *[]*Callback) (remove func()) {
	if l.watch == nil {
		l.watch = &watch{}
	}
	to := list(l.watch)
	*to = append(*to, c)
	return func() {
		if l.watch == nil {
			return
		}
		from := list(l.watch)
		*from = slices.DeleteFunc(slices.Clone(*from), func(o *Callback) bool { return o == c })
		if len(l.watch.vetoes)+len(l.watch.observers) == 0 && !l.watch.publishing {
			l.watch = nil
		}
	}
}

// ask returns what the first veto says, if any.
func (w *watch) ask(events []messages.Event) error {
	w.publishing = true
	defer func() { w.publishing = false }() // also when a callback calls Goexit
	vetoes := w.vetoes
	for i := range events {
		for _, v := range vetoes {
			if err := contained(*v, events[i]); err != nil {
				return fmt.Errorf("append session event %q: %w", events[i].Type(), err)
			}
		}
	}
	return nil
}

// tell tells every observer of every event.
func (w *watch) tell(events []messages.Event, failed func(messages.Event, error)) {
	w.publishing = true
	defer func() { w.publishing = false }()
	observers := w.observers
	for i := range events {
		for _, o := range observers {
			err := contained(*o, events[i])
			if err == nil || failed == nil {
				continue
			}
			_ = contained(func(e messages.Event) error { failed(e, err); return nil }, events[i])
		}
	}
}

// contained calls a callback and turns its panic into an error.
func contained(c Callback, e messages.Event) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("panic: %s", messages.PanicText(v))
		}
	}()
	return c(e)
}

package session

import (
	"fmt"
	"iter"

	"github.com/dsh-actor/dsh-actor/messages"
)

// Seed makes a log of events of foreign origin: imported ones, or what a host
// wants a session to start with (E-14). Every event is validated exactly as an
// append would, its payload is checked to be JSON, and its sequence number must
// be its index. The error is a [*SeedError]. The events stay in memory until
// they are trimmed, because no store has them.
func Seed(cfg Config, events iter.Seq2[messages.Event, error]) (*Log, error) {
	l := New(cfg)
	err := l.load(events, func(e *messages.Event) error {
		if err := CheckPayload(e.Data); err != nil {
			return err
		}
		l.events = append(l.events, *e)
		return nil
	})
	if err != nil {
		return nil, err
	}
	return l, nil
}

// Restore makes a log of the events that a store has of the session (K-5). They
// are validated as by Seed (E-14), except that payloads are not checked again to
// be JSON: a store has them from JSON, or from a log. The error is a
// [*SeedError], also for what the reading itself yields. The events are not kept
// in memory; the history is.
//
// A log whose last turn was interrupted is restored as it is: see [Repair].
func Restore(cfg Config, events iter.Seq2[messages.Event, error]) (*Log, error) {
	l := New(cfg)
	err := l.load(events, func(e *messages.Event) error {
		if e.Data == nil {
			return errNoPayload
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	l.base = l.next
	return l, nil
}

// load advances an empty log over the events.
func (l *Log) load(events iter.Seq2[messages.Event, error], keep func(*messages.Event) error) error {
	for e, err := range events {
		if err == nil && e.Seq != l.next {
			err = fmt.Errorf("its seq is %d", e.Seq)
		}
		if err == nil {
			err = keep(&e)
		}
		if err == nil {
			err = l.apply(l.types, &e)
		}
		if err != nil {
			return &SeedError{Index: l.next, Err: err}
		}
	}
	return nil
}

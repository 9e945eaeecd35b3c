package session

import (
	"fmt"
	"iter"

	"github.com/dsh-actor/dsh-actor/messages"
)

// RebuildHistory brings a dropped history back (Z-24). The events are the
// log's, from 0, at least up to those that are still in memory; they are
// consumed before the log changes. After an error the log is as before.
//
// An owner whose lock must not be held while a store reads uses a [Derived] and
// AdoptHistory instead.
func (l *Log) RebuildHistory(events iter.Seq2[messages.Event, error]) error {
	var d Derived
	for e, err := range events {
		if err != nil {
			return fmt.Errorf("rebuild history of session %s: %w", l.ID(), err)
		}
		if err := d.Add(e); err != nil {
			return fmt.Errorf("rebuild history of session %s: %w", l.ID(), err)
		}
	}
	return l.AdoptHistory(&d)
}

// AdoptHistory makes d the log's history, after adding to d the events that the
// log has in memory beyond it. It takes d over: d is empty afterwards. It fails,
// and leaves the log as it is, if events are missing between d and those in
// memory; Next then says where to go on reading.
func (l *Log) AdoptHistory(d *Derived) error {
	switch {
	case d.next > l.next:
		return fmt.Errorf("adopt history of session %s: it has %d events and the log %d", l.ID(), d.next, l.next)
	case d.next < l.base:
		return fmt.Errorf("adopt history of session %s: events %d to %d are missing", l.ID(), d.next, l.base-1)
	}
	_, rest := l.Events(d.next)
	for i := range rest.Len() {
		if err := d.Add(rest.At(i)); err != nil {
			return fmt.Errorf("adopt history of session %s: %w", l.ID(), err)
		}
	}
	l.dropped, l.view, l.request = false, d.view, d.request
	*d = Derived{}
	return nil
}

package session

import (
	"maps"

	"github.com/dsh-actor/dsh-actor/messages"
)

// Config is what a [Log] is made with.
type Config struct {
	// Header describes the session. It is copied and frozen (E-13).
	Header Header
	// Types has the log-only event types that other packages declared. Nil: none.
	Types *messages.Registry
	// ObserverFailed is told when an observer returned an error or panicked
	// (E-2). Nil: nobody is. It must not append to the log.
	ObserverFailed func(messages.Event, error)
}

// Log is the append-only log of one session (E-1): it checks what is appended
// and keeps the state and the history that follow from it.
//
// A Log is not safe for concurrent use: its owner serializes all calls. What it
// returns is immutable and may be used by anyone afterwards.
//
// Costs: an append does not depend on the log's length (Z-8), except that a
// replace costs as much as the history that it copies. Callbacks that nobody
// registered cost nothing.
type Log struct {
	header *Header
	types  *messages.Registry
	failed func(messages.Event, error)
	watch  *watch // nil without callbacks
	events []messages.Event
	base   int64 // sequence number of events[0]
	state
}

// New returns an empty log.
func New(cfg Config) *Log {
	header := cfg.Header
	header.Labels = maps.Clone(header.Labels)
	types := cfg.Types
	if types == nil {
		types = coreTypes
	}
	return &Log{header: &header, types: types, failed: cfg.ObserverFailed}
}

// Append commits one event with the given time, in ms since the Unix epoch, and
// returns it.
//
// The steps are those of E-2: the payload is checked, an append from inside a
// callback is refused with [ErrReentrant], the surface and the enclosure are
// checked, vetoes are asked, the event is committed, observers are told. An
// error means that nothing changed: a [*DataError], a [*RuleError],
// [ErrReentrant], [ErrHistoryDropped] or what a veto said.
//
// E-2's second text, about surface metadata, has no counterpart: surface
// operations and sources are typed and cannot hold anything else than JSON can.
func (l *Log) Append(now int64, entry Entry) (messages.Event, error) {
	if l.watch != nil {
		added, err := l.AppendBatch(now, entry)
		if err != nil {
			return messages.Event{}, err
		}
		return added.At(0), nil
	}
	if err := checkAppended(entry.Data); err != nil {
		return messages.Event{}, err
	}
	e := entry.at(l.next, now)
	if err := l.apply(l.types, &e); err != nil {
		return messages.Event{}, err
	}
	if l.events == nil {
		l.events = make([]messages.Event, 0, firstEvents)
	}
	l.events = append(l.events, e)
	return e, nil
}

// AppendBatch commits several events or none, all with the same time, and
// returns them. All entries are validated, each against the log as the ones
// before it leave it, and all vetoes are asked, before the first is committed.
// Observers are told afterwards, event by event. Errors are those of Append.
func (l *Log) AppendBatch(now int64, entries ...Entry) (messages.List[messages.Event], error) {
	var none messages.List[messages.Event]
	for i := range entries {
		if err := checkAppended(entries[i].Data); err != nil {
			return none, err
		}
	}
	if l.watch != nil && l.watch.publishing {
		return none, ErrReentrant
	}
	if len(entries) == 0 {
		return none, nil
	}
	// The batch advances a copy of the state, and is written behind the end of
	// the events: nothing of it can be seen before the commit below, not even by
	// a veto that looks at the log.
	after := l.state
	after.calls.shared = true
	events := l.events
	if events == nil {
		events = make([]messages.Event, 0, max(firstEvents, len(entries)))
	}
	for i := range entries {
		e := entries[i].at(after.next, now)
		if err := after.apply(l.types, &e); err != nil {
			return none, err
		}
		events = append(events, e)
	}
	added := events[len(l.events):]
	if l.watch != nil {
		if err := l.watch.ask(added); err != nil {
			return none, err
		}
	}
	after.calls.shared = false
	l.state, l.events = after, events
	if l.watch != nil {
		l.watch.tell(added, l.failed)
	}
	return messages.FrozenList(added), nil
}

// firstEvents is the room of an event list when it starts.
const firstEvents = 16

// Events returns the events in memory from sequence number from on, and the
// sequence number of the first of them: from, or a later one if events were
// trimmed, or the next event's if there is none. The list never changes.
func (l *Log) Events(from int64) (first int64, events messages.List[messages.Event]) {
	from = min(max(from, l.base), l.next)
	return from, messages.FrozenList(l.events[from-l.base:])
}

// Trim forgets the events before sequence number before, which a store has by
// now. Lists that were handed out keep theirs. Between turns it also gives back
// the room that the turn needed.
func (l *Log) Trim(before int64) {
	before = min(before, l.next)
	if before <= l.base {
		return
	}
	dropped := int(before - l.base)
	left := len(l.events) - dropped
	l.base = before
	switch {
	case left == 0:
		l.events = nil
	case left <= dropped: // a copy is paid for by what was dropped
		l.events = append(make([]messages.Event, 0, left), l.events[dropped:]...)
	default:
		l.events = l.events[dropped:]
	}
	if !l.turnOpen {
		l.calls = calls{}
		l.view.clip()
	}
}

// Header returns the session's header. Its labels must not be written to.
func (l *Log) Header() Header { return *l.header }

// ID returns the session's id.
func (l *Log) ID() messages.SessionID { return l.header.ID }

// NextSeq is the sequence number that the next event gets: the number of events
// ever appended.
func (l *Log) NextSeq() int64 { return l.next }

// FirstSeq is the sequence number of the first event that is still in memory,
// or NextSeq if none is.
func (l *Log) FirstSeq() int64 { return l.base }

// LastTime is the time of the last event, 0 if there is none.
func (l *Log) LastTime() int64 { return l.lastTime }

// LastTurn is the number of the last turn/start, open or not, and 0 if there is
// none. The next turn has the number after it (T-1).
func (l *Log) LastTurn() int { return l.turn }

// OpenTurn returns the number of the open turn. It is false between turns.
func (l *Log) OpenTurn() (int, bool) {
	if !l.turnOpen {
		return 0, false
	}
	return l.turn, true
}

// OpenStep returns the number of the open step. It is false between steps.
func (l *Log) OpenStep() (int, bool) {
	if !l.stepOpen {
		return 0, false
	}
	return l.step, true
}

// Steps is the number of steps that the last turn has so far.
func (l *Log) Steps() int { return l.step }

// Pending returns the tool calls of the open step that a model asked for and
// that have no result, in transcript order (K-4).
func (l *Log) Pending() []PendingCall { return l.calls.pending() }

// HeaderLogged reports whether the log has a request/header: then the first one
// of a new driver has the reason "resume" (T-6).
func (l *Log) HeaderLogged() bool { return l.headerLogged }

// LastHeader returns the request header that was logged last, to which the next
// one is compared (T-6). It is false if none was logged, and while the history
// is dropped.
func (l *Log) LastHeader() (messages.RequestHeader, bool) {
	h, ok := l.request.(messages.RequestHeaderEvent)
	return h.Header, ok
}

// History returns the derived history (E-6) as of the last append, in constant
// time. The list never changes (T-5). It is false while the history is dropped.
func (l *Log) History() (messages.List[messages.Message], bool) {
	return messages.FrozenList(l.view.messages), !l.dropped
}

// Nodes returns the surface nodes that the history comes from, in its order. It
// is false while the history is dropped.
func (l *Log) Nodes() (messages.List[Node], bool) {
	return messages.FrozenList(l.view.nodes), !l.dropped
}

// DropHistory gives up the history and the last request header, to save memory
// (Z-24). The log can be appended to, but an event that replaces history is
// refused until the history was rebuilt.
func (l *Log) DropHistory() {
	l.dropped, l.view, l.request = true, view{}, nil
}

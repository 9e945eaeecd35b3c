package session

import (
	"github.com/dsh-actor/dsh-actor/messages"
)

// Entry is an event before it has a place in a log: what a caller appends. The
// log adds the sequence number and the time.
type Entry struct {
	Data    messages.EventData
	Surface messages.SurfaceOp
	// Sources are the sequence numbers of the events that this one was made of
	// (E-5).
	Sources messages.List[int64]
	// HasSources writes the list even if it is empty, which only an
	// assistant/message may do. A list that is not empty is always written.
	HasSources bool
}

// LogOnly is an entry that does not touch the derived history.
func LogOnly(data messages.EventData) Entry { return Entry{Data: data} }

// Add is an entry that puts a node at the end of the derived history.
func Add(data messages.EventData, sources ...int64) Entry {
	return Entry{Data: data, Surface: messages.AppendOp(), Sources: messages.ListOf(sources...)}
}

// Answer is the entry of a whole model answer, made of the chunks with the
// given sequence numbers, of which there may be none (E-8).
func Answer(data messages.AssistantMessage, chunks messages.List[int64]) Entry {
	return Entry{Data: data, Surface: messages.AppendOp(), Sources: chunks, HasSources: true}
}

// Replace is an entry that takes the place of the nodes from start to end,
// inclusive. The sources must name every node that it replaces (E-5).
func Replace(data messages.EventData, start, end int64, sources ...int64) Entry {
	return Entry{
		Data: data, Surface: messages.ReplaceOp(start, end),
		Sources: messages.ListOf(sources...),
	}
}

// at returns the event that the entry becomes.
func (e Entry) at(seq, time int64) messages.Event {
	return messages.Event{
		Seq: seq, Time: time, Data: e.Data, Surface: e.Surface,
		Sources: e.Sources, HasSources: e.HasSources || e.Sources.Len() > 0,
	}
}

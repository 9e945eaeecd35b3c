// Package session owns the log of one session: the append-only events, the
// checked enclosure of turns and steps, the derived history, repair of an
// interrupted tail, forks, and the Store behind it.
//
// The log is the only truth. Everything that a model sees is derived from it,
// incrementally: the cost of an append does not depend on the log's length.
//
// # Parts
//
//   - [Log] is one session in memory: it checks every append against the rules
//     of SPEC families E and Z-8, Z-19, and keeps the state and the history
//     that follow from what was appended.
//   - [Derived] is that history alone, for who has a log's events and no Log.
//   - [Seed] and [Restore] make a Log of events; [Repair] and [Closers] end what
//     a crash left open; [Verify] names the first rule that a log breaks.
//   - [Store] keeps sessions; [MemoryStore] and [DiscardStore] are in this
//     package, and package sessiontest has the suite that every Store passes.
//   - [Fork] copies a session up to a turn's end; [WriteJSONL] and [ReadJSONL]
//     carry one out and in.
//
// # Invariants
//
// An event is validated before it is committed and never changes afterwards;
// what an append refuses leaves no trace, and a batch is committed whole or
// not at all. Sequence numbers are contiguous from 0. Snapshots of events and
// history are immutable, cost nothing to take and may be read by anyone, at any
// time, without the lock of the log's owner.
//
// Payloads of this project's own types hold only what JSON can hold, because
// [messages] builds them so; whoever takes a value from foreign code checks it
// there, once, with [CheckPayload]. A Log repeats that check for payload types
// that other packages declared.
//
// # What it refuses to know
//
// It knows nothing of actors, models or tools. It starts no goroutine, takes no
// lock in a Log (the owner has one), and reads no clock: times are passed in.
package session

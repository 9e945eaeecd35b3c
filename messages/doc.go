// Package messages is the vocabulary of the runtime: ids, content blocks,
// messages and their sources, tool calls and results, session events,
// decisions, verbs, notifications and reports.
//
// It owns values only. Nothing here starts a goroutine, reads a clock or does
// I/O, and every other package of the project may import it.
//
// # Values are frozen
//
// Events, results and histories are read by listeners, hooks, stores and
// subscribers at the same time. They are therefore immutable by construction
// rather than by copying: JSON text is a string ([JSON]), block lists are
// opaque ([Content], [List]), and payloads are plain values without pointers.
// A value that comes from foreign code is copied once, when it enters
// (DESIGN 3, rule 14); after that it is shared.
//
// # JSON
//
// The wire forms follow SPEC families V and E: absent optional fields are
// absent keys (E-10), numbers keep every digit (Z-11), strings are valid UTF-8
// (Z-7). Event types, block types and cases of open unions that this build does
// not know are kept as raw JSON and written back unchanged.
//
// Reading is strict: an unknown, missing, repeated or null member of a core
// payload is an error (E-14). Writing and reading agree: what
// [Event.AppendJSON] writes, [Registry.DecodeEvent] reads as the same event.
// docs/events.md, generated from [Catalogue], describes every type.
package messages

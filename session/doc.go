// Package session owns the log of one session: the append-only events, the
// checked enclosure of turns and steps, the derived history, repair of an
// interrupted tail, forks, and the Store behind it.
//
// The log is the only truth. Everything that a model sees is derived from it,
// incrementally: the cost of an append does not depend on the log's length.
//
// It knows nothing of actors, models or tools.
package session

// Package drive takes one session from its first prompt to its end: it sends the
// prompts, hands every event to a printer, and turns signals into a user's cancel.
//
// It owns the order of things. Prompts are sent as they come, one turn each (Z-43).
// The first signal, or an output that nobody reads any more, cancels the turn and
// drops what is queued; the turn's end is waited for, printed, and then the session
// is closed. A second signal, or a turn that does not end within the grace time, has
// the session sealed at once (DESIGN 3, rules 6 and 7).
//
// Invariants: [Run] returns after the last event was printed and the session was
// closed; its goroutines have ended by then. The printer is called by one goroutine.
//
// It refuses to know formats, flags and terminals.
package drive

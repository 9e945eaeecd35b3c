// Package pipeline owns the interception surface: the seam primitives
// ([Waterfall], [Serial], [Sequence], [Notification], [Parallel]), the typed
// set of seams ([Seams]), the tool registry ([Tools]), and the five phases that
// every tool call passes:
//
//	tools/pre-execute ─► guards ─► tools/execute ─► body ─► tools/post-execute ─► finalizeContent ─► tools/result
//
// Each phase has one kind of authority (DESIGN 5). Pre-execute allows, denies or
// asks; guards only deny; execute wraps; post-execute transforms; finalizeContent
// has the last word on content; result observes. A decision is a small sealed
// interface per seam, so an answer of the wrong kind does not compile.
//
// # Scopes
//
// A [Pipeline] is the runtime's or one session's. Listeners of both interleave in
// the order in which they were registered; guards run runtime first (Z-40). The
// chain of a run is an immutable snapshot: registering during a run affects the
// next one (D-2). Guards are live (P-10).
//
// # Invariants
//
//   - A call reaches finalizeContent and tools/result exactly once, whatever
//     happened to it, and all observers read the object that the caller gets.
//   - A listener that panics, returns an error, no decision or one of unknown kind
//     fails its seam, never the process: the failure becomes the call's result
//     (P-14, Z-1). So does one that ends its goroutine; the call is settled before
//     the goroutine is gone.
//   - Nothing that was started is abandoned: a seam ends after every next that its
//     listeners called, a body after every nested call, a call after its body
//     (P-15, Z-13). Code that ignores its context is waited for.
//   - What a wrapper passes on is never less than it was given: cancellation,
//     deadline and values of the caller stay in force (Z-12).
//   - Contexts that a body deferred survive every later failure; only a block drops
//     them (Z-5, P-22).
//   - The call's identity and arguments are fixed before policy begins; everybody
//     reads the same bytes (P-4, Z-11).
//
// The package knows nothing of actors, sessions' logs or hooks: what it needs of
// a session it asks for through [Agent].
package pipeline

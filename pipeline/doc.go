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
// next one (D-2).
//
// # Failure
//
// A listener that panics, returns an error or returns no decision fails its
// seam, never the process: for a tool call the failure becomes the call's result
// (P-14). A listener that ignores its context is waited for; nothing here
// abandons running code.
//
// The package knows nothing of actors, sessions' logs or hooks: what it needs of
// a session it asks for through [Agent].
package pipeline

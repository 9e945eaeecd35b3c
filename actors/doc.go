// Package actors is the runtime: a tree of supervised actors in which every
// session, turn and tool call lives under an owner that ends after it does.
//
//	host's ActorSystem (or our own)
//	└─ Runtime supervisor
//	   ├─ session          one per warm session
//	   │  └─ turn          one per open turn; owns the driver
//	   │     └─ call       one per tool call; owns dispatch and body
//	   └─ components       mounted by bridges
//
// # What guards what
//
// A session's core (log tail, inbox, status, open turn, the batch's FIFO) sits
// behind one mutex that is held for memory work only. Verbs and appends act on it
// before they return; the mailboxes carry wake-ups and reports of children,
// never an append and never a decision (DESIGN 3, rule 1). Lock order: a
// session's storeMu before its mu; no other two locks are held together, and none
// is held across a listener, a tool, a model or an observer.
//
// # Endings
//
// Closing is one walk over different roots: refuse new work, cancel, wait for
// every child, flush, stop the actor last. Code that ignores its context is waited
// for until the closer's context ends; then its owner seals: writers are revoked,
// the log is closed, and the goroutine is named in the report (rule 7). When
// Close or Shutdown returns, nothing of the owner runs except what the report
// names.
//
// # Failure
//
// A panic of a listener or a tool is that seam's documented failure. A panic of
// this package stops the session's actor; the session is rebuilt from its log
// under a new epoch by the next verb (rule 8). No session takes another one down.
package actors

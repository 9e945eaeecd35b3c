package sessiontest

import (
	"testing"

	"github.com/dsh-actor/dsh-actor/session"
)

// Options say what a store promises beyond the interface, and how hard to try.
// The zero value is for a store that keeps events and is not durable.
type Options struct {
	// DropsEvents is set for a store that does not keep events: reading them must
	// yield a *session.GapError.
	DropsEvents bool
	// Reopen, if set, makes the suite check durability: it is given a store with
	// committed batches, must close it, or lose it as a crash would, and returns
	// one over the same data.
	Reopen func(t *testing.T, store session.Store) session.Store
	// Sessions is how many sessions the suite works on at the same time; default
	// 64.
	Sessions int
	// Commits is how many batches each concurrent worker commits; default 20.
	Commits int
}

// Run checks every sentence of the documentation of [session.Store] against the
// stores that open returns. Each test opens its own, which must be empty, and
// closes it at its end. Sub-tests may run in parallel.
func Run(t *testing.T, open func(t *testing.T) session.Store, opts Options) {
	t.Helper()
	if opts.Sessions == 0 {
		opts.Sessions = 64
	}
	if opts.Commits == 0 {
		opts.Commits = 20
	}
	for _, c := range []struct {
		name string
		run  func(*fixture)
	}{
		{"Create", testCreate},
		{"CreateRefused", testCreateRefused},
		{"Append", testAppend},
		{"Sequence", testSequence},
		{"RoundTrip", testRoundTrip},
		{"Read", testRead},
		{"ReadStops", testReadStops},
		{"ReadWhileCommitting", testReadWhileCommitting},
		{"NotFound", testNotFound},
		{"Inbox", testInbox},
		{"InboxRefused", testInboxRefused},
		{"Claim", testClaim},
		{"IdempotencyKeys", testKeys},
		{"Fencing", testFencing},
		{"FencingIsAtOnce", testFencingIsAtOnce},
		{"Owners", testOwners},
		{"FailedBatch", testFailedBatch},
		{"Precedence", testPrecedence},
		{"Copies", testCopies},
		{"List", testList},
		{"ListWhileChanging", testListWhileChanging},
		{"Delete", testDelete},
		{"DeleteWhileCommitting", testDeleteWhileCommitting},
		{"Sessions", testSessions},
		{"Cancelled", testCancelled},
		{"Fork", testFork},
		{"Reopen", testReopen},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			store := open(t)
			f := &fixture{T: t, opts: opts, store: store}
			t.Cleanup(func() {
				if err := f.store.Close(); err != nil {
					t.Errorf("close: %v", err)
				}
			})
			c.run(f)
		})
	}
}

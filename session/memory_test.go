package session_test

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/dsh-actor/dsh-actor/messages"
	"github.com/dsh-actor/dsh-actor/session"
	"github.com/dsh-actor/dsh-actor/session/sessiontest"
)

// The Store's documentation, Z-36, K-2.
func TestMemoryStore(t *testing.T) {
	sessiontest.Run(t, func(*testing.T) session.Store { return session.NewMemoryStore() }, sessiontest.Options{
		// Memory survives the owner: another one finds everything in the same store.
		Reopen: func(_ *testing.T, s session.Store) session.Store { return s },
	})
}

func TestDiscardStore(t *testing.T) {
	sessiontest.Run(t, func(*testing.T) session.Store { return session.NewDiscardStore() }, sessiontest.Options{
		DropsEvents: true,
		Reopen:      func(_ *testing.T, s session.Store) session.Store { return s },
	})
}

// BenchmarkCommit is a commit of one turn of three events, with parallel owners
// of many sessions.
func BenchmarkCommit(b *testing.B) {
	for name, store := range map[string]session.Store{
		"memory": session.NewMemoryStore(), "discard": session.NewDiscardStore(),
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			var n atomic.Int64
			b.RunParallel(func(pb *testing.PB) {
				id := messages.SessionID(fmt.Sprintf("%s-%d-%d", name, b.N, n.Add(1)))
				events := stamp([]session.Entry{turnStart(1), user("x"), turnEnd(1)})
				batch := session.Batch{ID: id, Epoch: 1, Create: &session.Header{ID: id}, Events: events}
				for pb.Next() {
					if err := store.Commit(context.Background(), batch); err != nil {
						b.Error(err)
						return
					}
					batch.Create = nil
					batch.ExpectSeq += 3
					for i := range events {
						events[i].Seq += 3
					}
				}
			})
		})
	}
}

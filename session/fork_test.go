package session_test

import (
	"context"
	"errors"
	"iter"
	"testing"

	"github.com/dsh-actor/dsh-actor/messages"
	"github.com/dsh-actor/dsh-actor/session"
	"github.com/google/go-cmp/cmp"
)

// stored makes a session in the store.
func stored(t testing.TB, store session.Store, h session.Header, entries ...session.Entry) []messages.Event {
	t.Helper()
	cfg := config()
	cfg.Header = h
	l := session.New(cfg)
	must(t, l, entries...)
	events := eventsOf(l)
	if err := store.Commit(t.Context(), session.Batch{ID: h.ID, Epoch: 1, Create: &h, Events: events}); err != nil {
		t.Fatal(err)
	}
	return events
}

func readAll(t testing.TB, store session.Store, id messages.SessionID) []messages.Event {
	t.Helper()
	var out []messages.Event
	for e, err := range store.Read(t.Context(), id, 0, -1) {
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, e)
	}
	return out
}

func twoTurns() []session.Entry {
	return []session.Entry{
		turnStart(1), user("a"), turnEnd(1), // 2
		turnStart(2), user("b"), turnEnd(2), // 5
		session.LogOnly(recordEvent{}), // 6
	}
}

// E-12: the child's header and log.
func TestFork(t *testing.T) {
	for _, c := range []struct {
		name string
		at   int64
		n    int
	}{
		{"first turn", 2, 3},
		{"second turn", 5, 6},
		{"whole log with the record after it", session.WholeLog, 7},
	} {
		t.Run(c.name, func(t *testing.T) {
			store := session.NewMemoryStore()
			parent := stored(t, store, session.Header{
				ID: "p", CreatedAt: 1, Cwd: "/w", DelegationDepth: 2, Labels: map[string]string{"k": "v"},
			}, twoTurns()...)
			h, err := session.Fork(t.Context(), store, session.ForkRequest{
				Parent: "p", Child: "c", Boundary: c.at, CreatedAt: 99,
			})
			if err != nil {
				t.Fatal(err)
			}
			want := session.Header{
				ID: "c", CreatedAt: 99, Cwd: "/w", ParentSession: "p", SeedLength: int64(c.n), DelegationDepth: 2,
				Labels: map[string]string{"k": "v"},
			}
			info, err := store.Stat(t.Context(), "c")
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, h); diff != "" {
				t.Errorf("returned header (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(session.Info{Header: want, Epoch: 1, NextSeq: int64(c.n)}, info); diff != "" {
				t.Errorf("stored child (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(texts(t, parent[:c.n]), texts(t, readAll(t, store, "c"))); diff != "" {
				t.Errorf("events (-want +got):\n%s", diff)
			}
			// T-1: the child's turn numbers continue.
			l, err := session.Restore(session.Config{Header: h, Types: testTypes()}, store.Read(t.Context(), "c", 0, -1))
			if err != nil {
				t.Fatal(err)
			}
			must(t, l, turnStart(l.LastTurn()+1))
		})
	}
}

// E-12: labels and the first epoch are the caller's to set.
func TestForkOptions(t *testing.T) {
	store := session.NewMemoryStore()
	stored(t, store, session.Header{ID: "p", Labels: map[string]string{"k": "v"}}, twoTurns()...)
	labels := map[string]string{"own": "1"}
	h, err := session.Fork(t.Context(), store, session.ForkRequest{
		Parent: "p", Child: "c", Boundary: 2, Epoch: 7, Labels: labels,
	})
	if err != nil {
		t.Fatal(err)
	}
	labels["own"] = "2"
	info, _ := store.Stat(t.Context(), "c")
	if h.Labels["own"] != "1" || info.Header.Labels["own"] != "1" || info.Epoch != 7 {
		t.Errorf("labels %v, stored %v, epoch %d", h.Labels, info.Header.Labels, info.Epoch)
	}
}

// E-12: the codes, in the order of their checks.
func TestForkRefuses(t *testing.T) {
	store := session.NewMemoryStore()
	stored(t, store, session.Header{ID: "p"}, twoTurns()...)
	stored(t, store, session.Header{ID: "open"}, turnStart(1), user("a"), turnEnd(1), turnStart(2), user("b"))
	stored(t, store, session.Header{ID: "empty"})
	stored(t, store, session.Header{ID: "records"}, session.LogOnly(recordEvent{}))
	for _, c := range []struct {
		name          string
		parent, child messages.SessionID
		at            int64
		code          messages.Code
	}{
		{"child exists", "p", "open", 2, messages.CodeSessionAlreadyExists},
		{"child exists, checked before the parent", "nobody", "open", 2, messages.CodeSessionAlreadyExists},
		{"child is the parent", "p", "p", 2, messages.CodeSessionAlreadyExists},
		{"no parent", "nobody", "c", 2, messages.CodeSessionNotFound},
		{"turn/start", "p", "c", 0, messages.CodeInvalidBoundary},
		{"inside a turn", "p", "c", 4, messages.CodeInvalidBoundary},
		{"a record between turns", "p", "c", 6, messages.CodeInvalidBoundary},
		{"beyond the log", "p", "c", 7, messages.CodeInvalidBoundary},
		{"below any", "p", "c", -2, messages.CodeInvalidBoundary},
		{"inside the open turn", "open", "c", 4, messages.CodeInvalidBoundary},
		{"whole log with an open turn", "open", "c", session.WholeLog, messages.CodeOpenTurn},
		{"whole empty log", "empty", "c", session.WholeLog, messages.CodeInvalidBoundary},
		{"boundary in an empty log", "empty", "c", 0, messages.CodeInvalidBoundary},
		{"whole log without a turn", "records", "c", session.WholeLog, messages.CodeInvalidBoundary},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := session.Fork(t.Context(), store, session.ForkRequest{Parent: c.parent, Child: c.child, Boundary: c.at})
			if got := messages.CodeOf(err); got != c.code {
				t.Errorf("code %q (%v), want %q", got, err, c.code)
			}
			if _, err := store.Stat(t.Context(), "c"); !errors.Is(err, session.ErrNotFound) {
				t.Errorf("a refused fork left a session: %v", err)
			}
		})
	}
	// A turn that ended before the open one is a boundary.
	if _, err := session.Fork(t.Context(), store, session.ForkRequest{Parent: "open", Child: "c", Boundary: 2}); err != nil {
		t.Error(err)
	}
}

// racing makes the child between the fork's check and its commit, or takes the
// parent away between its check and the reading.
type racing struct {
	session.Store
	beforeCommit, beforeRead func()
}

func (r racing) Commit(ctx context.Context, b session.Batch) error {
	if r.beforeCommit != nil {
		r.beforeCommit()
	}
	return r.Store.Commit(ctx, b)
}

func (r racing) Read(ctx context.Context, id messages.SessionID, from, to int64) iter.Seq2[messages.Event, error] {
	if r.beforeRead != nil {
		r.beforeRead()
	}
	return r.Store.Read(ctx, id, from, to)
}

// E-12: the codes hold when others act at the same time.
func TestForkRaces(t *testing.T) {
	store := session.NewMemoryStore()
	stored(t, store, session.Header{ID: "p"}, twoTurns()...)
	_, err := session.Fork(t.Context(), racing{Store: store, beforeCommit: func() {
		stored(t, store, session.Header{ID: "c"})
	}}, session.ForkRequest{Parent: "p", Child: "c", Boundary: 2})
	if got := messages.CodeOf(err); got != messages.CodeSessionAlreadyExists {
		t.Errorf("child made meanwhile: %v", err)
	}
	_, err = session.Fork(t.Context(), racing{Store: store, beforeRead: func() {
		if err := store.Delete(t.Context(), "p"); err != nil {
			t.Fatal(err)
		}
	}}, session.ForkRequest{Parent: "p", Child: "d", Boundary: 2})
	if got := messages.CodeOf(err); got != messages.CodeSessionNotFound {
		t.Errorf("parent deleted meanwhile: %v", err)
	}
}

// A store that does not keep events cannot fork, and says so.
func TestForkOfDiscarded(t *testing.T) {
	store := session.NewDiscardStore()
	stored(t, store, session.Header{ID: "p"}, twoTurns()...)
	_, err := session.Fork(t.Context(), store, session.ForkRequest{Parent: "p", Child: "c", Boundary: 2})
	var gap *session.GapError
	if !errors.As(err, &gap) {
		t.Errorf("got %v", err)
	}
}

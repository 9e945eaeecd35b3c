package sessiontest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/dsh-actor/dsh-actor/messages"
	"github.com/dsh-actor/dsh-actor/session"
)

// List yields sessions in the order of their ids, byte by byte, in pages.
func testList(f *fixture) {
	if got, err := collect(f.store.List(f.ctx(), session.ListQuery{})); err != nil || len(got) != 0 {
		f.Errorf("an empty store lists %d sessions, %v", len(got), err)
	}
	// Orders of people (locales) put these otherwise.
	names := []messages.SessionID{
		"b", "a", "B", "a-1", "a_1", "a.1", "A1", "a1", "a10", "a2", "é", "z", "日本", "~", " x", "%", "a b", "_",
	}
	for i, id := range names {
		f.commit(session.Batch{
			ID: id, Epoch: messages.Epoch(i + 1), Create: &session.Header{ID: id, CreatedAt: int64(i)},
			Events: turnsFrom(0, 1, i%3), Add: []messages.InboxItem{prompt("m", "")}[:i%2],
		})
	}
	sorted := slices.Clone(names)
	slices.Sort(sorted)
	page := func(q session.ListQuery) []messages.SessionID {
		f.Helper()
		infos, err := collect(f.store.List(f.ctx(), q))
		f.ok(err)
		var out []messages.SessionID
		for _, info := range infos {
			id := info.Header.ID
			out = append(out, id)
			i := slices.Index(names, id)
			if info.Epoch != messages.Epoch(i+1) || info.Header.CreatedAt != int64(i) ||
				info.NextSeq != int64(i%3*3) || info.Pending != i%2 {
				f.Errorf("listed %s as %+v", id, info)
			}
		}
		return out
	}
	if got := page(session.ListQuery{}); !slices.Equal(got, sorted) {
		f.Fatalf("listed %q, want %q", got, sorted)
	}
	for limit := 1; limit <= len(sorted)+1; limit++ {
		var all []messages.SessionID
		after := messages.SessionID("")
		for {
			got := page(session.ListQuery{After: after, Limit: limit})
			if len(got) > limit {
				f.Fatalf("a page of %d has %d sessions", limit, len(got))
			}
			all = append(all, got...)
			if len(got) < limit {
				break
			}
			after = got[len(got)-1]
		}
		if !slices.Equal(all, sorted) {
			f.Fatalf("pages of %d list %q, want %q", limit, all, sorted)
		}
	}
	for i, id := range sorted {
		if got := page(session.ListQuery{After: id}); !slices.Equal(got, sorted[i+1:]) {
			f.Errorf("after %q: %q, want %q", id, got, sorted[i+1:])
		}
	}
	// After need not be a session.
	if got, want := page(session.ListQuery{After: "a0"}), sorted[slices.Index(sorted, "a1"):]; !slices.Equal(got, want) {
		f.Errorf("after an id that is not there: %q, want %q", got, want)
	}
	if got := page(session.ListQuery{After: sorted[len(sorted)-1]}); len(got) != 0 {
		f.Errorf("after the last: %q", got)
	}
	// The consumer may stop, and may call the store.
	for info, err := range f.store.List(f.ctx(), session.ListQuery{}) {
		f.ok(err)
		f.stat(info.Header.ID)
		break
	}
}

// Sessions that are there all the time are listed once, whatever comes and goes.
func testListWhileChanging(f *fixture) {
	var stay []messages.SessionID
	for i := range 20 {
		id := messages.SessionID(fmt.Sprintf("stay-%02d", i))
		f.create(id, 1)
		stay = append(stay, id)
	}
	var wg sync.WaitGroup
	stop := make(chan struct{})
	wg.Go(func() {
		for i := 0; ; i = (i + 1) % 50 {
			select {
			case <-stop:
				return
			default:
			}
			id := messages.SessionID(fmt.Sprintf("stay-%02d-no", i))
			if err := f.store.Commit(f.ctx(), session.Batch{ID: id, Epoch: 1, Create: &session.Header{ID: id}}); err != nil {
				f.Errorf("create: %v", err)
				return
			}
			if err := f.store.Delete(f.ctx(), id); err != nil {
				f.Errorf("delete: %v", err)
				return
			}
		}
	})
	for range f.opts.Commits {
		for _, limit := range []int{0, 3} {
			var seen []messages.SessionID
			q := session.ListQuery{Limit: limit}
			for {
				infos, err := collect(f.store.List(f.ctx(), q))
				if err != nil {
					f.Errorf("list: %v", err)
					break
				}
				for _, info := range infos {
					q.After = info.Header.ID
					if info.NextSeq == 3 { // one that stays
						seen = append(seen, info.Header.ID)
					}
				}
				if limit == 0 || len(infos) < limit {
					break
				}
			}
			if !slices.Equal(seen, stay) {
				f.Errorf("listed %q, want %q", seen, stay)
			}
		}
	}
	close(stop)
	wg.Wait()
}

// Delete removes a session, its log, its inbox and its keys; the id is free.
func testDelete(f *fixture) {
	f.create("s", 2)
	f.create("t", 1)
	f.commit(session.Batch{ID: "s", Epoch: 1, ExpectSeq: 6, Add: []messages.InboxItem{prompt("m1", "k1")}})
	f.ok(f.store.Delete(f.ctx(), "s"))
	if _, err := f.store.Stat(f.ctx(), "s"); !errors.Is(err, session.ErrNotFound) {
		f.Errorf("stat after the delete: %v", err)
	}
	if err := f.store.Delete(f.ctx(), "s"); !errors.Is(err, session.ErrNotFound) {
		f.Errorf("second delete: %v", err)
	}
	// The owner learns of it.
	f.refuse(session.Batch{ID: "s", Epoch: 1, ExpectSeq: 6, Events: injection(6, 3)}, session.ErrNotFound)
	if _, err := collect(f.store.Read(f.ctx(), "s", 0, -1)); !errors.Is(err, session.ErrNotFound) {
		f.Errorf("read after the delete: %v", err)
	}
	infos, err := collect(f.store.List(f.ctx(), session.ListQuery{}))
	f.ok(err)
	if len(infos) != 1 || infos[0].Header.ID != "t" {
		f.Errorf("listed %+v", infos)
	}
	want := f.create("s", 1)
	f.wantEvents("s", want)
	if a := f.acquire("s"); len(a.Inbox) != 0 {
		f.Errorf("the new session has the old inbox %v", ids(a.Inbox))
	}
	f.wantEvents("t", turnsFrom(0, 1, 1))
}

// A delete during commits ends them with ErrNotFound and leaves nothing behind.
func testDeleteWhileCommitting(f *fixture) {
	for range f.opts.Commits {
		f.create("s", 0)
		var owner sync.WaitGroup
		started := make(chan struct{})
		owner.Go(func() {
			once := sync.OnceFunc(func() { close(started) })
			defer once()
			for seq := int64(0); ; seq += 3 {
				err := f.store.Commit(f.ctx(), session.Batch{
					ID: "s", Epoch: 1, ExpectSeq: seq, Events: injection(seq, int(seq)/3+1),
				})
				if err != nil {
					if !errors.Is(err, session.ErrNotFound) {
						f.Errorf("the owner got %v", err)
					}
					return
				}
				once()
			}
		})
		<-started
		f.ok(f.store.Delete(f.ctx(), "s"))
		owner.Wait()
		if _, err := f.store.Stat(f.ctx(), "s"); !errors.Is(err, session.ErrNotFound) {
			f.Fatalf("after the delete: %v", err)
		}
	}
}

// A reader sees committed batches only: whole ones, in order, and what it saw
// once it sees again.
func testReadWhileCommitting(f *fixture) {
	if f.opts.DropsEvents {
		return
	}
	const size = 5
	f.create("s", 0)
	total := int64(f.opts.Commits * 10 * size)
	var wg sync.WaitGroup
	wg.Go(func() {
		for seq := int64(0); seq < total; seq += size {
			events := make([]messages.Event, size)
			for i := range events {
				events[i] = messages.Event{Seq: seq + int64(i), Time: seq, Data: messages.OtherEvent{
					Name: "sessiontest/batch", Raw: messages.JSON(fmt.Sprint(seq)),
				}}
			}
			if err := f.store.Commit(f.ctx(), session.Batch{ID: "s", Epoch: 1, ExpectSeq: seq, Events: events}); err != nil {
				f.Errorf("commit: %v", err)
				return
			}
		}
	})
	for range 3 {
		wg.Go(func() {
			for last := int64(0); last < total; {
				info, err := f.store.Stat(f.ctx(), "s")
				if err != nil {
					f.Errorf("stat: %v", err)
					return
				}
				n := int64(0)
				for e, err := range f.store.Read(f.ctx(), "s", 0, -1) {
					if err != nil {
						f.Errorf("read: %v", err)
						return
					}
					if e.Seq != n || e.Time != n-n%size {
						f.Errorf("event %d has seq %d, time %d", n, e.Seq, e.Time)
						return
					}
					n++
				}
				if n%size != 0 || n < last || n < info.NextSeq || info.NextSeq%size != 0 {
					f.Errorf("read %d events, %d before, the session said %d", n, last, info.NextSeq)
					return
				}
				last = n
				if f.Failed() {
					return
				}
			}
		})
	}
	wg.Wait()
}

// Many sessions at the same time do not disturb each other.
func testSessions(f *fixture) {
	var wg sync.WaitGroup
	name := func(i int) messages.SessionID { return messages.SessionID(fmt.Sprintf("s-%04d", i)) }
	for i := range f.opts.Sessions {
		wg.Go(func() {
			id := name(i)
			err := f.store.Commit(f.ctx(), session.Batch{ID: id, Epoch: 1, Create: &session.Header{ID: id}})
			if err != nil {
				f.Errorf("create %s: %v", id, err)
				return
			}
			for n := range f.opts.Commits {
				seq := int64(n) * 3
				queued := messages.MessageID(fmt.Sprintf("%s-%d", id, n))
				batch := session.Batch{
					ID: id, Epoch: 1, ExpectSeq: seq, Add: []messages.InboxItem{prompt(queued, string(queued))},
				}
				err := f.store.Commit(f.ctx(), batch)
				if err == nil {
					batch.Add, batch.Claim, batch.Events = nil, []messages.MessageID{queued}, injection(seq, n+1)
					err = f.store.Commit(f.ctx(), batch)
				}
				if err != nil {
					f.Errorf("commit %d of %s: %v", n, id, err)
					return
				}
			}
		})
	}
	wg.Wait()
	want := turnsFrom(0, 1, f.opts.Commits)
	for i := range f.opts.Sessions {
		f.wantEvents(name(i), want)
	}
	infos, err := collect(f.store.List(f.ctx(), session.ListQuery{}))
	f.ok(err)
	if len(infos) != f.opts.Sessions {
		f.Errorf("%d sessions, want %d", len(infos), f.opts.Sessions)
	}
}

// A call with a context that is done fails with its error, and a commit leaves a
// whole batch or none.
func testCancelled(f *fixture) {
	f.create("s", 1)
	ctx, cancel := context.WithCancel(f.ctx())
	cancel()
	check := func(what string, err error) {
		f.Helper()
		if !errors.Is(err, context.Canceled) {
			f.Errorf("%s with a cancelled context: %v", what, err)
		}
	}
	check("commit", f.store.Commit(ctx, session.Batch{
		ID: "s", Epoch: 1, ExpectSeq: 3, Events: injection(3, 2), Add: []messages.InboxItem{prompt("m1", "k1")},
	}))
	switch info := f.stat("s"); {
	case info.NextSeq == 3 && info.Pending == 0, info.NextSeq == 6 && info.Pending == 1:
	default:
		f.Errorf("after a cancelled commit: %d events, %d prompts", info.NextSeq, info.Pending)
	}
	_, err := f.store.Acquire(ctx, "s")
	check("acquire", err)
	_, err = f.store.Stat(ctx, "s")
	check("stat", err)
	_, err = collect(f.store.Read(ctx, "s", 0, -1))
	check("read", err)
	_, err = collect(f.store.List(ctx, session.ListQuery{}))
	check("list", err)
	check("delete", f.store.Delete(ctx, "s"))
	f.stat("s")
}

// What was acknowledged survives what the store promises to survive.
func testReopen(f *fixture) {
	if f.opts.Reopen == nil {
		return
	}
	want := f.create("s", 2)
	f.commit(session.Batch{ID: "s", Epoch: 1, ExpectSeq: 6, Add: []messages.InboxItem{prompt("m1", "k1"), prompt("m2", "k2")}})
	f.commit(session.Batch{ID: "s", Epoch: 1, ExpectSeq: 6, Claim: []messages.MessageID{"m1"}, Events: injection(6, 3)})
	want = append(want, injection(6, 3)...)
	f.create("gone", 1)
	f.ok(f.store.Delete(f.ctx(), "gone"))
	owner := f.acquire("s")

	f.store = f.opts.Reopen(f.T, f.store)

	f.wantEvents("s", want)
	if _, err := f.store.Stat(f.ctx(), "gone"); !errors.Is(err, session.ErrNotFound) {
		f.Errorf("the deleted session: %v", err)
	}
	f.refuse(session.Batch{ID: "s", Epoch: 1, ExpectSeq: 9}, session.ErrFenced)
	var d *session.DuplicateError
	err := f.refuse(session.Batch{ID: "s", Epoch: owner.Epoch, ExpectSeq: 9, Add: []messages.InboxItem{prompt("m9", "k1")}}, nil)
	if !errors.As(err, &d) || d.Message != "m1" {
		f.Errorf("a key used before: %v", err)
	}
	a := f.acquire("s")
	if a.Epoch <= owner.Epoch || a.NextSeq != 9 || len(a.Inbox) != 1 || text(f, a.Inbox[0]) != text(f, prompt("m2", "k2")) {
		f.Errorf("acquired %+v", a)
	}
	f.commit(session.Batch{ID: "s", Epoch: a.Epoch, ExpectSeq: 9, Events: injection(9, 4)})
	f.wantEvents("s", append(want, injection(9, 4)...))
}

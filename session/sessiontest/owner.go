package sessiontest

import (
	"errors"
	"slices"
	"sync"

	"github.com/dsh-actor/dsh-actor/messages"
	"github.com/dsh-actor/dsh-actor/session"
)

// Acquire makes a new epoch and says what is stored; from then on older epochs
// are fenced off.
func testFencing(f *fixture) {
	f.commit(session.Batch{
		ID: "s", Epoch: 3, Create: &session.Header{ID: "s", Cwd: "/w"}, Events: injection(0, 1),
		Add: []messages.InboxItem{prompt("m1", "k1")},
	})
	a := f.acquire("s")
	if a.Epoch <= 3 || a.NextSeq != 3 || a.Header.Cwd != "/w" || !slices.Equal(ids(a.Inbox), []messages.MessageID{"m1"}) {
		f.Errorf("acquired %+v", a)
	}
	if got := f.stat("s"); got.Epoch != a.Epoch {
		f.Errorf("stored epoch %d, acquired %d", got.Epoch, a.Epoch)
	}
	next := injection(3, 2)
	f.refuse(session.Batch{ID: "s", Epoch: 3, ExpectSeq: 3, Events: next}, session.ErrFenced)
	f.refuse(session.Batch{ID: "s", Epoch: 3, ExpectSeq: 3, Add: []messages.InboxItem{prompt("m2", "")}}, session.ErrFenced)
	f.refuse(session.Batch{ID: "s", Epoch: 3, ExpectSeq: 3, Drop: []messages.MessageID{"m1"}}, session.ErrFenced)
	f.refuse(session.Batch{ID: "s", Epoch: 3, ExpectSeq: 3}, session.ErrFenced)
	f.refuse(session.Batch{ID: "s", Epoch: 0, ExpectSeq: 3, Events: next}, session.ErrFenced)
	f.refuse(session.Batch{ID: "s", Epoch: a.Epoch + 1, ExpectSeq: 3, Events: next}, session.ErrFenced)
	f.commit(session.Batch{ID: "s", Epoch: a.Epoch, ExpectSeq: 3, Events: next})

	b := f.acquire("s")
	if b.Epoch <= a.Epoch || b.NextSeq != 6 {
		f.Errorf("second owner %+v", b)
	}
	f.refuse(session.Batch{ID: "s", Epoch: a.Epoch, ExpectSeq: 6, Events: injection(6, 3)}, session.ErrFenced)
	f.commit(session.Batch{ID: "s", Epoch: b.Epoch, ExpectSeq: 6, Events: injection(6, 3)})
	f.wantEvents("s", turnsFrom(0, 1, 3))

	// Stat, List and Read take nothing from the owner.
	if _, err := collect(f.store.List(f.ctx(), session.ListQuery{})); err != nil {
		f.Error(err)
	}
	f.commit(session.Batch{ID: "s", Epoch: b.Epoch, ExpectSeq: 9, Events: injection(9, 4)})
}

// When Acquire has returned, no commit of an older owner takes effect any more,
// however many are under way.
func testFencingIsAtOnce(f *fixture) {
	f.create("s", 0)
	for range f.opts.Commits {
		start := f.acquire("s")
		var owner sync.WaitGroup
		committing := make(chan struct{})
		owner.Go(func() {
			for seq, n := start.NextSeq, 0; ; seq, n = seq+3, n+1 {
				if n == 1 {
					close(committing)
				}
				err := f.store.Commit(f.ctx(), session.Batch{
					ID: "s", Epoch: start.Epoch, ExpectSeq: seq, Events: injection(seq, int(seq)/3+1),
				})
				if err == nil {
					continue
				}
				if !errors.Is(err, session.ErrFenced) {
					f.Errorf("the old owner got %v, want ErrFenced", err)
				}
				if n < 1 {
					close(committing)
				}
				return
			}
		})
		<-committing
		a := f.acquire("s")
		if got := f.stat("s").NextSeq; got != a.NextSeq {
			f.Errorf("%d events right after an Acquire that saw %d", got, a.NextSeq)
		}
		owner.Wait()
		if got := f.stat("s").NextSeq; got != a.NextSeq {
			f.Errorf("%d events after the old owner ended, the new one saw %d", got, a.NextSeq)
		}
	}
	if f.opts.DropsEvents {
		return
	}
	for i, e := range f.read("s", 0, -1) {
		if e.Seq != int64(i) {
			f.Fatalf("event %d has seq %d", i, e.Seq)
		}
	}
}

// Two owners that take a session from each other all the time write one log:
// contiguous, with every batch that was acknowledged and no other.
func testOwners(f *fixture) {
	f.create("s", 0)
	const owners = 4
	var (
		wg     sync.WaitGroup
		mu     sync.Mutex
		acked  = map[int64]string{} // first seq of a batch → who
		epochs = map[messages.Epoch]bool{}
	)
	for i := range owners {
		wg.Go(func() {
			name := string(rune('a' + i))
			for done := 0; done < f.opts.Commits; {
				a, err := f.store.Acquire(f.ctx(), "s")
				if err != nil {
					f.Errorf("acquire: %v", err)
					return
				}
				mu.Lock()
				if epochs[a.Epoch] {
					f.Errorf("epoch %d was given twice", a.Epoch)
				}
				epochs[a.Epoch] = true
				mu.Unlock()
				for seq := a.NextSeq; done < f.opts.Commits; seq += 2 {
					events := []messages.Event{
						{Seq: seq, Time: 1, Data: messages.OtherEvent{Name: "sessiontest/by", Raw: messages.QuoteJSON(name)}},
						{Seq: seq + 1, Time: 2, Data: messages.OtherEvent{Name: "sessiontest/by", Raw: messages.QuoteJSON(name)}},
					}
					err := f.store.Commit(f.ctx(), session.Batch{ID: "s", Epoch: a.Epoch, ExpectSeq: seq, Events: events})
					if errors.Is(err, session.ErrFenced) {
						break
					}
					if err != nil {
						f.Errorf("commit of an owner: %v", err)
						return
					}
					done++
					mu.Lock()
					if who, taken := acked[seq]; taken {
						f.Errorf("seq %d was acknowledged to %s and %s", seq, who, name)
					}
					acked[seq] = name
					mu.Unlock()
				}
			}
		})
	}
	wg.Wait()
	if got, want := f.stat("s").NextSeq, int64(2*owners*f.opts.Commits); got != want {
		f.Fatalf("%d events, want %d", got, want)
	}
	if f.opts.DropsEvents {
		return
	}
	for i, e := range f.read("s", 0, -1) {
		who := acked[e.Seq&^1]
		if e.Seq != int64(i) || text(f, e.Data) != string(messages.QuoteJSON(who)) {
			f.Fatalf("event %d is %s, was acknowledged to %s", i, text(f, e), who)
		}
	}
}

// After an error nothing of the batch is stored: its events, prompts, claims and
// keys come and go together.
func testFailedBatch(f *fixture) {
	f.create("s", 1)
	f.commit(session.Batch{ID: "s", Epoch: 1, ExpectSeq: 3, Add: []messages.InboxItem{prompt("m1", "k1"), prompt("m2", "k2")}})
	good := session.Batch{
		ID: "s", Epoch: 1, ExpectSeq: 3, Events: injection(3, 2), Add: []messages.InboxItem{prompt("m3", "k3")},
		Claim: []messages.MessageID{"m1"}, Drop: []messages.MessageID{"m2"},
	}
	for name, change := range map[string]func(*session.Batch){
		"fenced":    func(b *session.Batch) { b.Epoch = 0 },
		"sequence":  func(b *session.Batch) { b.ExpectSeq = 4 },
		"events":    func(b *session.Batch) { b.Events = injection(4, 2) },
		"duplicate": func(b *session.Batch) { b.Add = append(slices.Clone(b.Add), prompt("m4", "k1")) },
		"claim":     func(b *session.Batch) { b.Claim = append(slices.Clone(b.Claim), "nobody") },
		"drop":      func(b *session.Batch) { b.Drop = append(slices.Clone(b.Drop), "nobody") },
		"exists":    func(b *session.Batch) { b.Create = &session.Header{ID: "s"} },
	} {
		f.Logf("batch: %s", name)
		bad := good
		change(&bad)
		f.refuse(bad, nil)
	}
	f.commit(good)
	if a := f.acquire("s"); a.NextSeq != 6 || !slices.Equal(ids(a.Inbox), []messages.MessageID{"m3"}) {
		f.Errorf("after the good batch: %+v", a)
	}
	f.wantEvents("s", turnsFrom(0, 1, 2))
}

// Errors are checked in the documented order: an owner that was fenced off must
// learn that, whatever else is wrong with what it believes.
func testPrecedence(f *fixture) {
	f.create("s", 1)
	f.commit(session.Batch{ID: "s", Epoch: 1, ExpectSeq: 3, Add: []messages.InboxItem{prompt("m1", "k1")}})
	f.acquire("s")
	all := session.Batch{
		ID: "s", Epoch: 1, ExpectSeq: 1, Events: injection(2, 2), Add: []messages.InboxItem{prompt("m2", "k1")},
		Claim: []messages.MessageID{"nobody"}, Create: &session.Header{ID: "s"},
	}
	f.refuse(all, session.ErrExists)
	all.Create = nil
	f.refuse(all, session.ErrFenced)
	all.Epoch = f.stat("s").Epoch
	f.refuse(all, session.ErrSequence)
	all.ExpectSeq = 3
	f.refuse(all, session.ErrSequence)
	all.Events = injection(3, 2)
	var d *session.DuplicateError
	if err := f.refuse(all, nil); !errors.As(err, &d) {
		f.Errorf("got %v, want a DuplicateError", err)
	}
	all.Add = nil
	f.refuse(all, session.ErrNotQueued)
	all.Claim = nil
	f.commit(all)
}

// A store keeps none of the batch's slices and maps, and what it returns is the
// caller's.
func testCopies(f *fixture) {
	labels := map[string]string{"k": "v"}
	header := session.Header{ID: "s", Labels: labels}
	events := injection(0, 1)
	want := slices.Clone(events)
	add := []messages.InboxItem{prompt("m1", "k1"), prompt("m2", "k2")}
	f.commit(session.Batch{ID: "s", Epoch: 1, Create: &header, Events: events, Add: add})
	spoil := func() {
		labels["k"], header.Cwd = "spoiled", "/spoiled"
		for i := range events {
			events[i] = messages.Event{Seq: 99, Data: messages.OtherEvent{Name: "sessiontest/spoiled", Raw: "null"}}
		}
		for i := range add {
			add[i] = prompt("spoiled", "spoiled")
		}
	}
	spoil()
	check := func() {
		f.Helper()
		info := f.stat("s")
		if info.Header.Labels["k"] != "v" || info.Header.Cwd != "" {
			f.Errorf("the stored header became %+v", info.Header)
		}
		a := f.acquire("s")
		if got := ids(a.Inbox); !slices.Equal(got, []messages.MessageID{"m1", "m2"}) {
			f.Errorf("the inbox became %v", got)
		}
		f.wantEvents("s", want)
		info.Header.Labels["k"], a.Header.Labels["k"] = "spoiled", "spoiled"
		a.Inbox[0] = prompt("spoiled", "")
	}
	check()
	check()
	for info, err := range f.store.List(f.ctx(), session.ListQuery{}) {
		f.ok(err)
		info.Header.Labels["k"] = "spoiled"
	}
	check()
	// The same holds for a later batch's slices.
	events, add = injection(3, 2), []messages.InboxItem{prompt("m3", "")}
	want = append(want, events...)
	f.commit(session.Batch{ID: "s", Epoch: f.stat("s").Epoch, ExpectSeq: 3, Events: events, Add: add})
	spoil()
	f.commit(session.Batch{ID: "s", Epoch: f.stat("s").Epoch, ExpectSeq: 6, Drop: []messages.MessageID{"m3"}})
	check()
}

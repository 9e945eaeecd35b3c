package sessiontest

import (
	"errors"
	"slices"

	"github.com/dsh-actor/dsh-actor/messages"
	"github.com/dsh-actor/dsh-actor/session"
)

// Z-36: the inbox keeps prompts in order, whole, until they are taken out.
func testInbox(f *fixture) {
	f.create("s", 1)
	add := func(items ...messages.InboxItem) {
		f.Helper()
		f.commit(session.Batch{ID: "s", Epoch: f.stat("s").Epoch, ExpectSeq: 3, Add: items})
	}
	want := func(wanted ...messages.MessageID) {
		f.Helper()
		if got := f.stat("s").Pending; got != len(wanted) {
			f.Errorf("%d prompts pending, want %d", got, len(wanted))
		}
		if got := ids(f.acquire("s").Inbox); !slices.Equal(got, wanted) {
			f.Errorf("inbox %v, want %v", got, wanted)
		}
	}
	take := func(claim, drop []messages.MessageID) {
		f.Helper()
		f.commit(session.Batch{ID: "s", Epoch: f.stat("s").Epoch, ExpectSeq: 3, Claim: claim, Drop: drop})
	}
	want()
	full := prompt("m2", "key")
	add(prompt("m9", ""))
	add(full, prompt("m1", ""), prompt("m5", ""))
	want("m9", "m2", "m1", "m5")
	if got := f.acquire("s").Inbox[1]; text(f, got) != text(f, full) {
		f.Errorf("prompt\n%s\nwant\n%s", text(f, got), text(f, full))
	}
	take([]messages.MessageID{"m2"}, nil) // from the middle
	want("m9", "m1", "m5")
	take(nil, []messages.MessageID{"m5", "m9"}) // not in order
	want("m1")
	add(prompt("m2", "")) // an id that left may come again
	want("m1", "m2")
	take([]messages.MessageID{"m1"}, []messages.MessageID{"m2"})
	want()
	add(prompt("m7", ""))
	want("m7")
	minimal := messages.InboxItem{ID: "m8", Content: messages.Text("x"), Source: messages.UserSource()}
	add(minimal)
	if got := f.acquire("s").Inbox[1]; text(f, got) != text(f, minimal) {
		f.Errorf("prompt\n%s\nwant\n%s", text(f, got), text(f, minimal))
	}
}

// ErrNotQueued, and the uniqueness of ids in the inbox.
func testInboxRefused(f *fixture) {
	f.create("s", 1)
	f.commit(session.Batch{ID: "s", Epoch: 1, ExpectSeq: 3, Add: []messages.InboxItem{prompt("m1", ""), prompt("m2", "")}})
	batch := func(claim, drop []messages.MessageID, add ...messages.InboxItem) session.Batch {
		return session.Batch{
			ID: "s", Epoch: 1, ExpectSeq: 3, Events: injection(3, 2), Claim: claim, Drop: drop, Add: add,
		}
	}
	one, two, none := []messages.MessageID{"m1"}, []messages.MessageID{"m1", "m1"}, []messages.MessageID{"nobody"}
	f.refuse(batch(none, nil), session.ErrNotQueued)
	f.refuse(batch(nil, none), session.ErrNotQueued)
	f.refuse(batch(two, nil), session.ErrNotQueued)
	f.refuse(batch(nil, two), session.ErrNotQueued)
	f.refuse(batch(one, one), session.ErrNotQueued)
	f.refuse(batch(slices.Concat(one, none), nil), session.ErrNotQueued)
	f.refuse(batch(nil, nil, prompt("m1", "")), nil)
	f.refuse(batch(nil, nil, prompt("m3", ""), prompt("m3", "")), nil)
	f.refuse(batch(none, nil, prompt("m3", "")), session.ErrNotQueued)
	if got, want := ids(f.acquire("s").Inbox), []messages.MessageID{"m1", "m2"}; !slices.Equal(got, want) {
		f.Errorf("inbox %v, want %v", got, want)
	}
	// Another session's inbox is another one.
	f.create("t", 1)
	f.refuse(session.Batch{ID: "t", Epoch: 1, ExpectSeq: 3, Claim: one}, session.ErrNotQueued)
	f.commit(session.Batch{ID: "t", Epoch: 1, ExpectSeq: 3, Add: []messages.InboxItem{prompt("m1", "")}})
}

// Z-36: a claim takes effect with its turn/start or not at all, and one batch can
// accept a prompt and claim it.
func testClaim(f *fixture) {
	want := f.create("s", 1)
	f.commit(session.Batch{ID: "s", Epoch: 1, ExpectSeq: 3, Add: []messages.InboxItem{prompt("m1", ""), prompt("m2", "")}})
	start := injection(3, 2)
	claim := session.Batch{ID: "s", Epoch: 1, ExpectSeq: 3, Events: start[:1], Claim: []messages.MessageID{"m1"}}

	wrong := claim
	wrong.ExpectSeq = 2
	f.refuse(wrong, session.ErrSequence)
	wrong = claim
	wrong.Claim = []messages.MessageID{"m1", "nobody"}
	f.refuse(wrong, session.ErrNotQueued)

	f.commit(claim)
	if info := f.stat("s"); info.NextSeq != 4 || info.Pending != 1 {
		f.Errorf("after the claim: %d events, %d prompts", info.NextSeq, info.Pending)
	}
	claim.ExpectSeq, claim.Events = 4, start[1:2]
	f.refuse(claim, session.ErrNotQueued) // nothing is claimed twice

	f.commit(session.Batch{
		ID: "s", Epoch: 1, ExpectSeq: 4, Events: start[1:], Add: []messages.InboxItem{prompt("m3", "k3"), prompt("m4", "")},
		Claim: []messages.MessageID{"m3"}, Drop: []messages.MessageID{"m2"},
	})
	if got, want := ids(f.acquire("s").Inbox), []messages.MessageID{"m4"}; !slices.Equal(got, want) {
		f.Errorf("inbox %v, want %v", got, want)
	}
	f.wantEvents("s", slices.Concat(want, start))
}

// *DuplicateError: keys are remembered per session, also when the prompt is gone.
func testKeys(f *fixture) {
	f.create("s", 1)
	f.create("t", 1)
	add := func(items ...messages.InboxItem) session.Batch {
		return session.Batch{ID: "s", Epoch: f.stat("s").Epoch, ExpectSeq: 3, Add: items}
	}
	duplicate := func(b session.Batch, key string, message messages.MessageID) {
		f.Helper()
		err := f.refuse(b, nil)
		var d *session.DuplicateError
		if !errors.As(err, &d) || d.Key != key || d.Message != message {
			f.Fatalf("got %v, want a DuplicateError of key %q and message %s", err, key, message)
		}
	}
	f.commit(add(prompt("m1", "k1"), prompt("m2", ""), prompt("m3", "")))
	duplicate(add(prompt("m4", "k1")), "k1", "m1")
	duplicate(add(prompt("m4", "k4"), prompt("m5", "k1")), "k1", "m1")
	duplicate(add(prompt("m6", "k6"), prompt("m7", "k6")), "k6", "m6") // twice in one batch
	f.commit(add(prompt("m4", "k4")))                                  // a refused batch used no key
	f.commit(add(prompt("m6", "k6")))

	epoch := f.acquire("s").Epoch
	f.commit(session.Batch{ID: "s", Epoch: epoch, ExpectSeq: 3, Claim: []messages.MessageID{"m1"}, Drop: []messages.MessageID{"m4"}})
	duplicate(add(prompt("m8", "k1")), "k1", "m1") // claimed
	duplicate(add(prompt("m8", "k4")), "k4", "m4") // dropped
	f.commit(session.Batch{
		ID: "s", Epoch: epoch, ExpectSeq: 3, Add: []messages.InboxItem{prompt("m8", "k8")}, Claim: []messages.MessageID{"m8"},
	})
	duplicate(add(prompt("m9", "k8")), "k8", "m8") // never in the inbox
	f.commit(session.Batch{ID: "t", Epoch: 1, ExpectSeq: 3, Add: []messages.InboxItem{prompt("m1", "k1")}})

	// Keys are compared as they are.
	f.commit(add(prompt("n1", "K1"), prompt("n2", "k1 "), prompt("n3", "ключ"), prompt("n4", "%"), prompt("n5", "k_")))
	duplicate(add(prompt("n9", "ключ")), "ключ", "n3")

	// A deleted session's keys are gone with it.
	f.ok(f.store.Delete(f.ctx(), "t"))
	f.create("t", 1)
	f.commit(session.Batch{ID: "t", Epoch: 1, ExpectSeq: 3, Add: []messages.InboxItem{prompt("m1", "k1")}})
}

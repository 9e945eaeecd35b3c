package session_test

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/dsh-actor/dsh-actor/messages"
	"github.com/dsh-actor/dsh-actor/session"
)

// FuzzRestore reads arbitrary text as a session (E-14, K-8). Whatever is
// accepted is a log: it is written back and read again unchanged, it can be
// repaired, and Verify finds nothing in it but what an append does not check.
func FuzzRestore(f *testing.F) {
	f.Add([]byte(sample))
	f.Add([]byte(sample[:len(sample)-20]))
	add := func(entries ...session.Entry) {
		l := logOf(f, entries...)
		var out bytes.Buffer
		if err := session.WriteJSONL(&out, l.Header(), seqOf(eventsOf(l))); err != nil {
			f.Fatal(err)
		}
		f.Add(out.Bytes())
	}
	add(entries(openBatch("c1", "c2"), []session.Entry{
		toolCall(1, 1, "c1"), chunk(1, 1, "x"), toolResult(1, 1, "c1", "x", 5), replaceUser("r", 1, 4, 1, 4),
		session.LogOnly(recordEvent{1}), steering(1, "s"),
	})...)
	add(turnStart(1), session.LogOnly(messages.PromptBlocked{Reason: "r"}), session.LogOnly(messages.TurnEnd{
		Turn: 1, Reason: messages.EndReason{Kind: messages.EndRejected, Reason: "r"},
	}), session.LogOnly(recordEvent{Turn: 0}))
	f.Add([]byte(strings.Replace(sample, `"seq":1`, `"seq":2`, 1)))
	f.Fuzz(func(t *testing.T, data []byte) {
		j, err := session.ReadJSONL(bytes.NewReader(data), testTypes())
		if err != nil {
			return
		}
		l, err := session.Seed(session.Config{Header: j.Header(), Types: testTypes()}, j.Events())
		if err != nil {
			var s *session.SeedError
			if !errors.As(err, &s) {
				t.Fatalf("not a SeedError: %v", err)
			}
			return
		}
		var first bytes.Buffer
		if err := session.WriteJSONL(&first, l.Header(), seqOf(eventsOf(l))); err != nil {
			t.Fatal(err)
		}
		j, err = session.ReadJSONL(bytes.NewReader(first.Bytes()), testTypes())
		if err != nil {
			t.Fatalf("what was written cannot be read: %v", err)
		}
		again, err := session.Restore(session.Config{Header: j.Header(), Types: testTypes()}, j.Events())
		if err != nil {
			t.Fatalf("what was written cannot be restored: %v", err)
		}
		if got, want := stateOf(t, again), stateOf(t, l); got != want {
			t.Fatalf("read back:\n%+v\nwant\n%+v", got, want)
		}
		var rule *session.RuleError
		if err := session.Verify(testTypes(), seqOf(eventsOf(l))); err != nil && (!errors.As(err, &rule) || rule.Rule != "C-7") {
			t.Fatalf("an accepted log does not verify: %v", err)
		}
		if _, err := session.Repair(l); err != nil {
			t.Fatal(err)
		}
		if _, open := l.OpenTurn(); open {
			t.Fatal("a repaired log has an open turn")
		}
		if _, err := l.Append(0, turnStart(l.LastTurn()+1)); err != nil {
			t.Fatal(err)
		}
	})
}

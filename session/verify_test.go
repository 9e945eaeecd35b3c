package session_test

import (
	"errors"
	"testing"

	"github.com/dsh-actor/dsh-actor/messages"
	"github.com/dsh-actor/dsh-actor/session"
)

func TestVerify(t *testing.T) {
	call := func(id messages.CallID) session.Entry { return toolCall(1, 1, id) }
	result := func(id messages.CallID) session.Entry { return toolResult(1, 1, id, "x") }
	batch := func(inside ...session.Entry) []session.Entry { return entries(openBatch("c1", "c2"), inside) }
	cases := []struct {
		name  string
		log   []session.Entry
		rule  string
		seq   int64 // of the event that breaks it
		index int64 // where that was seen
	}{
		{"empty", nil, "", 0, 0},
		{"open at the end", []session.Entry{turnStart(1), user("x")}, "", 0, 0},
		// C-7: no message lies in a batch.
		{"contexts after the batch", batch(call("c1"), call("c2"), result("c1"), result("c2"), user("c"), steering(1, "s")), "", 0, 0},
		{"a batch in pieces", batch(call("c1"), result("c1"), call("c2"), result("c2"), user("c")), "", 0, 0},
		{"log-only events in the batch", batch(call("c1"), session.LogOnly(inTurnEvent{}), result("c1"),
			session.LogOnly(recordEvent{Turn: 1}), call("c2"), result("c2")), "", 0, 0},
		{"a message before the batch", batch(user("c"), call("c1"), result("c1")), "", 0, 0},
		{"a message between call and result", batch(call("c1"), user("c"), result("c1")), "C-7", 6, 7},
		{"a message between two results", batch(call("c1"), call("c2"), result("c1"), user("c"), result("c2")), "C-7", 8, 9},
		{"a message between two pairs", batch(call("c1"), result("c1"), user("c"), call("c2"), result("c2")), "C-7", 7, 9},
		{"steering in the batch", batch(call("c1"), steering(1, "s"), result("c1")), "C-7", 6, 7},
		{"the first of two messages", batch(call("c1"), user("c"), user("d"), result("c1")), "C-7", 6, 8},
		{"a message of the step before", batch(call("c1"), result("c1"), user("c"), stepEnd(1, 1), stepStart(1, 2),
			answer(1, 2, "", "c1"), toolCall(1, 2, "c1"), toolResult(1, 2, "c1", "x")), "", 0, 0},
		{"a replaced result after the batch", batch(call("c1"), result("c1"), user("c"),
			replaceResult(1, 1, "c1", "y", 6, nil)), "", 0, 0},
		// All that an append checks.
		{"enclosure", []session.Entry{turnStart(1), turnEnd(1), user("x")}, "E-7", 2, 2},
		{"surface", []session.Entry{turnStart(1), with(user("x"), noOp)}, "E-4", 1, 1},
		{"sources", []session.Entry{turnStart(1), with(user("x"), sources(5))}, "E-5", 1, 1},
		{"the first of two violations", []session.Entry{turnStart(2), turnStart(4)}, "E-7", 0, 0},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			err := session.Verify(testTypes(), seqOf(stamp(c.log)))
			if c.rule == "" {
				if err != nil {
					t.Fatal(err)
				}
				return
			}
			r := wantRule(t, err, c.rule)
			var s *session.SeedError
			if r.Seq != c.seq || !errors.As(err, &s) || s.Index != c.index {
				t.Errorf("names seq %d, want %d: %v", r.Seq, c.seq, err)
			}
		})
	}
	// E-14
	var s *session.SeedError
	if err := session.Verify(nil, seqOf(stamp([]session.Entry{turnStart(1), turnEnd(1)})[1:])); !errors.As(err, &s) {
		t.Errorf("a log that starts at 1: %v", err)
	}
	// J-2
	bad := stamp([]session.Entry{turnStart(1), user("x")})
	bad[1].Data = messages.UserMessage{Source: messages.UserSource(), Meta: "{"}
	var d *session.DataError
	if err := session.Verify(nil, seqOf(bad)); !errors.As(err, &d) {
		t.Errorf("bad JSON: %v", err)
	}
}

package session_test

import (
	"errors"
	"testing"

	"github.com/dsh-actor/dsh-actor/messages"
	"github.com/dsh-actor/dsh-actor/session"
	"github.com/google/go-cmp/cmp"
)

// T-5: the history that a request got does not change, whatever is appended,
// replaced, dropped or refused afterwards.
func TestHistoryIsASnapshot(t *testing.T) {
	l := logOf(t, openBatch("c1")...)
	taken, _ := l.History()
	nodes, _ := l.Nodes()
	want := texts(t, taken.Slice())
	wantNodes := nodes.Slice()
	must(t, l, toolCall(1, 1, "c1"), toolResult(1, 1, "c1", "x", 5))
	for range 20 {
		must(t, l, user("more"))
		if _, err := l.AppendBatch(0, user("refused"), turnStart(1)); err == nil {
			t.Fatal("accepted")
		}
	}
	must(t, l, replaceUser("all", 1, 6, 1, 4, 6), stepEnd(1, 1), turnEnd(1))
	l.Trim(l.NextSeq())
	l.DropHistory()
	if diff := cmp.Diff(want, texts(t, taken.Slice())); diff != "" {
		t.Errorf("the history changed (-want +got):\n%s", diff)
	}
	for i, n := range nodes.All() {
		if n != wantNodes[i] {
			t.Errorf("node %d changed", i)
		}
	}
}

// T-5: two snapshots of one log are independent: adding to one is not seen in
// the other, nor in the log.
func TestHistorySnapshotsDoNotShareRoom(t *testing.T) {
	l := logOf(t, turnStart(1), user("a"))
	first, _ := l.History()
	mine := first.Append(messages.Message{Role: messages.RoleUser, Content: messages.Text("mine")})
	must(t, l, user("b"))
	if got := mine.At(1).Content.Text(); got != "mine" {
		t.Errorf("the log wrote %q into a caller's list", got)
	}
	if got := history(t, l)[1].Content.Text(); got != "b" {
		t.Errorf("a caller wrote %q into the log's list", got)
	}
}

// Z-24: a dropped history can be appended to and comes back by a rebuild.
func TestDropAndRebuild(t *testing.T) {
	first := entries(openBatch("c1"), []session.Entry{
		toolCall(1, 1, "c1"), toolResult(1, 1, "c1", "x", 5), replaceUser("r", 1, 1, 1), stepEnd(1, 1), turnEnd(1),
	})
	second := []session.Entry{
		turnStart(2), user("b"), stepStart(2, 1), header("new", messages.HeaderChange), answer(2, 1, "two", "c1"),
		toolCall(2, 1, "c1"), toolResult(2, 1, "c1", "y", 15),
	}
	whole := logOf(t, entries(first, second)...)
	want := stateOf(t, whole)
	stored := eventsOf(whole)

	for _, trim := range []int64{0, 5, int64(len(first)), int64(len(stored))} {
		l := logOf(t, first...)
		l.DropHistory()
		if _, ok := l.History(); ok {
			t.Fatal("the history is still there")
		}
		if _, ok := l.Nodes(); ok {
			t.Fatal("the nodes are still there")
		}
		if _, ok := l.LastHeader(); ok || !l.HeaderLogged() {
			t.Error("the header is still there, or forgotten")
		}
		must(t, l, second...)
		if _, ok := l.LastHeader(); ok {
			t.Error("a header was kept while the history is dropped")
		}
		if _, err := l.Append(0, replaceUser("r", 4, 4, 4)); !errors.Is(err, session.ErrHistoryDropped) {
			t.Errorf("replace without history: %v", err)
		}
		l.Trim(trim)
		if err := l.RebuildHistory(seqOf(stored[:trim])); err != nil {
			t.Fatal(err)
		}
		if got := stateOf(t, l); got != want {
			t.Errorf("rebuilt from %d events:\n%+v\nwant\n%+v", trim, got, want)
		}
		must(t, l, replaceUser("r2", 4, 6, 4, 6))
		// The rebuilt nodes know what a replacing tool/result may not change (E-5).
		_, err := l.Append(0, replaceResult(2, 2, "c1", "pruned", 16, nil))
		wantRule(t, err, "E-5")
		must(t, l, replaceResult(2, 1, "c1", "pruned", 16, nil))
	}
}

// Z-24: a rebuild that cannot be right leaves the log as it is.
func TestRebuildRefuses(t *testing.T) {
	whole := logOf(t, turnStart(1), user("a"), user("b"), turnEnd(1))
	stored := eventsOf(whole)
	broken := errors.New("disk on fire")
	l := session.New(config())
	must(t, l, turnStart(1), user("a"), user("b"), turnEnd(1))
	l.Trim(3)
	l.DropHistory()
	for name, events := range map[string][]messages.Event{
		"too few":  stored[:2],
		"none":     nil,
		"a gap":    {stored[0], stored[2], stored[3]},
		"too many": append(stored[:4:4], messages.Event{Seq: 4, Data: messages.TurnStart{Turn: 2}}),
	} {
		if err := l.RebuildHistory(seqOf(events)); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
	err := l.RebuildHistory(func(yield func(messages.Event, error) bool) { yield(messages.Event{}, broken) })
	if !errors.Is(err, broken) {
		t.Errorf("got %v", err)
	}
	if _, ok := l.History(); ok {
		t.Error("a failed rebuild set a history")
	}
	if err := l.RebuildHistory(seqOf(stored)); err != nil {
		t.Fatal(err)
	}
	if got := len(history(t, l)); got != 2 {
		t.Errorf("%d messages, want 2", got)
	}
}

// Z-24, DESIGN 3 rule 1: a history is built without the log and adopted when it
// is there; what was appended meanwhile is caught up.
func TestAdoptHistory(t *testing.T) {
	l := logOf(t, turnStart(1), user("a"), turnEnd(1))
	stored := eventsOf(l)
	l.Trim(3)
	l.DropHistory()
	var d session.Derived
	for _, e := range stored {
		if err := d.Add(e); err != nil {
			t.Fatal(err)
		}
	}
	must(t, l, turnStart(2), user("b"))
	l.Trim(4)
	if err := l.AdoptHistory(&d); err == nil || d.Next() != 3 {
		t.Fatalf("a gap was adopted (%v), or the history was lost (next %d)", err, d.Next())
	}
	if err := d.Add(messages.Event{Seq: 3, Data: messages.TurnStart{Turn: 2}}); err != nil {
		t.Fatal(err)
	}
	if err := l.AdoptHistory(&d); err != nil {
		t.Fatal(err)
	}
	if d.Next() != 0 || d.Messages().Len() != 0 {
		t.Error("the adopted history was left behind")
	}
	must(t, l, user("c"))
	var got []string
	for _, m := range history(t, l) {
		got = append(got, m.Content.Text())
	}
	if diff := cmp.Diff([]string{"a", "b", "c"}, got); diff != "" {
		t.Errorf("history (-want +got):\n%s", diff)
	}
	var ahead session.Derived
	for _, e := range stored {
		_ = ahead.Add(e)
	}
	if err := session.New(config()).AdoptHistory(&ahead); err == nil {
		t.Error("a history longer than the log was adopted")
	}
}

// E-6: Derived alone says what a log says, and refuses what has no place.
func TestDerived(t *testing.T) {
	l := logOf(t, turnStart(1), user("a"), user("b"), replaceUser("r", 1, 1, 1))
	var d session.Derived
	for _, e := range eventsOf(l) {
		if err := d.Add(e); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff(texts(t, history(t, l)), texts(t, d.Messages().Slice())); diff != "" {
		t.Errorf("history (-want +got):\n%s", diff)
	}
	if got, want := d.Nodes().Len(), len(nodeSeqs(t, l)); got != want {
		t.Errorf("%d nodes, want %d", got, want)
	}
	for name, e := range map[string]messages.Event{
		"a gap":     {Seq: 9, Data: messages.TurnEnd{Turn: 1}},
		"no node":   {Seq: 4, Data: messages.UserMessage{}, Surface: messages.ReplaceOp(1, 1), Sources: messages.ListOf[int64](1)},
		"no source": {Seq: 4, Data: messages.UserMessage{}, Surface: messages.ReplaceOp(2, 2)},
	} {
		if err := d.Add(e); err == nil || d.Next() != 4 || d.Messages().Len() != 2 {
			t.Errorf("%s: error %v, next %d", name, err, d.Next())
		}
	}
}

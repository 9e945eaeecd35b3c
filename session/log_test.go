package session_test

import (
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/dsh-actor/dsh-actor/messages"
	"github.com/dsh-actor/dsh-actor/session"
	"github.com/google/go-cmp/cmp"
)

// E-1: contiguous numbers from 0, the caller's time, the event returned.
func TestAppendStamps(t *testing.T) {
	l := session.New(config())
	for i, e := range openBatch("c1") {
		got, err := l.Append(int64(70+i), e)
		if err != nil {
			t.Fatal(err)
		}
		if got.Seq != int64(i) || got.Time != int64(70+i) || got.Type() != e.Data.EventType() {
			t.Errorf("event %d is %s at %d, time %d", i, got.Type(), got.Seq, got.Time)
		}
	}
	if l.NextSeq() != 5 || l.LastTime() != 74 {
		t.Errorf("next %d, last time %d", l.NextSeq(), l.LastTime())
	}
	first, events := l.Events(0)
	if first != 0 || events.Len() != 5 {
		t.Fatalf("%d events from %d", events.Len(), first)
	}
	for i, e := range events.All() {
		if e.Seq != int64(i) {
			t.Errorf("event %d has seq %d", i, e.Seq)
		}
	}
}

// E-1: a list of events never grows or changes.
func TestEventsAreSnapshots(t *testing.T) {
	l := logOf(t, turnStart(1), user("a"))
	_, before := l.Events(0)
	want := texts(t, before.Slice())
	must(t, l, user("b"), replaceUser("r", 1, 2, 1, 2), turnEnd(1))
	l.Trim(l.NextSeq())
	must(t, l, turnStart(2), user("c"))
	if diff := cmp.Diff(want, texts(t, before.Slice())); diff != "" {
		t.Errorf("the list changed (-want +got):\n%s", diff)
	}
}

// E-2 step 1: payloads that JSON cannot hold, with the exact text.
func TestNonJSONPayload(t *testing.T) {
	for name, data := range map[string]messages.EventData{
		"NaN":            unholdable{Number: math.NaN()},
		"infinity":       unholdable{Number: math.Inf(1)},
		"duplicate keys": unholdable{Raw: `{"a":1,"a":2}`},
		"not JSON":       unholdable{Raw: `{`},
		"two values":     unholdable{Raw: `1 2`},
		"too deep":       unholdable{Raw: messages.JSON(strings.Repeat("[", 512) + strings.Repeat("]", 512))},
	} {
		t.Run(name, func(t *testing.T) {
			l := session.New(config())
			_, err := l.Append(0, session.LogOnly(data))
			var d *session.DataError
			if !errors.As(err, &d) || d.Unwrap() == nil {
				t.Fatalf("got %v", err)
			}
			const want = `session event "test/unholdable" carries non-JSON-serializable data`
			if err.Error() != want {
				t.Errorf("text %q, want %q", err, want)
			}
			if _, err := l.AppendBatch(0, turnStart(1), session.LogOnly(data)); err == nil || err.Error() != want {
				t.Errorf("batch: %v", err)
			}
			if l.NextSeq() != 0 {
				t.Error("the log changed")
			}
		})
	}
	l := session.New(config())
	must(t, l, session.LogOnly(unholdable{Number: 1.5, Raw: `{"a":[]}`}))
	for _, raw := range []messages.JSON{"", "{", `{"a":1,"a":1}`, `"\ud83d"`} {
		if _, err := l.Append(0, session.LogOnly(messages.OtherEvent{Name: "x/y", Raw: raw})); err == nil {
			t.Errorf("raw payload %q was accepted", raw)
		}
	}
	if _, err := l.Append(0, session.Entry{}); err == nil {
		t.Error("an entry without a payload was accepted")
	}
}

// E-2, J-2, Z-11: the check that the border makes for core payloads too.
func TestCheckPayload(t *testing.T) {
	good := messages.UserMessage{Content: messages.Text("x"), Source: messages.UserSource(), Meta: `{"big":12345678901234567890}`}
	if err := session.CheckPayload(good); err != nil {
		t.Error(err)
	}
	bad := good
	bad.Meta = `{"a":1,"a":2}`
	const want = `session event "user/message" carries non-JSON-serializable data`
	if err := session.CheckPayload(bad); err == nil || err.Error() != want {
		t.Errorf("got %v", err)
	}
	deep := messages.JSON(strings.Repeat("[", messages.MaxJSONDepth+1) + strings.Repeat("]", messages.MaxJSONDepth+1))
	if err := session.CheckPayload(messages.OtherEvent{Name: "x", Raw: deep}); !errors.Is(err, messages.ErrNotLossless) {
		t.Errorf("too deep: %v", err)
	}
}

// E-2: the order of the steps, seen from the callbacks.
func TestAppendOrder(t *testing.T) {
	l := session.New(config())
	var trace []string
	note := func(who string) session.Callback {
		return func(e messages.Event) error {
			_, events := l.Events(0)
			trace = append(trace, fmt.Sprintf("%s %s #%d of %d", who, e.Type(), e.Seq, events.Len()))
			return nil
		}
	}
	l.Observe(note("observer 1"))
	l.Veto(note("veto 1"))
	l.Veto(note("veto 2"))
	l.Observe(note("observer 2"))
	must(t, l, turnStart(1))
	if _, err := l.Append(0, turnStart(7)); err == nil { // refused before any callback
		t.Fatal("accepted")
	}
	if _, err := l.AppendBatch(0, user("a"), turnEnd(1)); err != nil {
		t.Fatal(err)
	}
	want := []string{
		"veto 1 turn/start #0 of 0", "veto 2 turn/start #0 of 0",
		"observer 1 turn/start #0 of 1", "observer 2 turn/start #0 of 1",
		// A batch is asked about whole before it is committed whole.
		"veto 1 user/message #1 of 1", "veto 2 user/message #1 of 1",
		"veto 1 turn/end #2 of 1", "veto 2 turn/end #2 of 1",
		"observer 1 user/message #1 of 3", "observer 2 user/message #1 of 3",
		"observer 1 turn/end #2 of 3", "observer 2 turn/end #2 of 3",
	}
	if diff := cmp.Diff(want, trace); diff != "" {
		t.Errorf("calls (-want +got):\n%s", diff)
	}
}

// E-2, D-6: a veto rejects the append before the log changes.
func TestVeto(t *testing.T) {
	no := errors.New("not now")
	for name, veto := range map[string]session.Callback{
		"error": func(messages.Event) error { return no },
		"panic": func(messages.Event) error { panic("veto panics") },
	} {
		t.Run(name, func(t *testing.T) {
			l := logOf(t, openBatch("c1")...)
			before := stateOf(t, l)
			told := 0
			l.Observe(func(messages.Event) error { told++; return nil })
			remove := l.Veto(func(e messages.Event) error {
				if got := stateOf(t, l); got != before {
					t.Errorf("the veto sees a changed log: %+v", got)
				}
				if e.Type() == "step/end" {
					return veto(e)
				}
				return nil
			})
			// The events before the vetoed one would settle a call and show a message.
			_, err := l.AppendBatch(9, toolCall(1, 1, "c1"), toolResult(1, 1, "c1", "x", 5), user("y"), stepEnd(1, 1))
			if err == nil || name == "error" && !errors.Is(err, no) {
				t.Fatalf("got %v", err)
			}
			if after := stateOf(t, l); after != before || told != 0 {
				t.Errorf("a vetoed batch changed the log, or was told %d times:\n%+v", told, after)
			}
			remove()
			if _, err := l.AppendBatch(9, toolCall(1, 1, "c1"), toolResult(1, 1, "c1", "x", 5), stepEnd(1, 1)); err != nil {
				t.Fatal(err)
			}
			if told != 3 {
				t.Errorf("told %d times, want 3", told)
			}
		})
	}
}

// E-2: a failing observer never fails or undoes a committed append, and the
// later observers are told.
func TestObserverFailureIsContained(t *testing.T) {
	var failures []string
	cfg := config()
	cfg.ObserverFailed = func(e messages.Event, err error) {
		failures = append(failures, fmt.Sprintf("%s: %v", e.Type(), err))
		panic("the handler fails too")
	}
	l := session.New(cfg)
	told := 0
	l.Observe(func(messages.Event) error { return errors.New("broken") })
	l.Observe(func(messages.Event) error { panic("very broken") })
	l.Observe(func(messages.Event) error { told++; return nil })
	must(t, l, turnStart(1))
	if l.NextSeq() != 1 || told != 1 {
		t.Errorf("%d events, told %d times", l.NextSeq(), told)
	}
	want := []string{"turn/start: broken", "turn/start: panic: very broken"}
	if diff := cmp.Diff(want, failures); diff != "" {
		t.Errorf("failures (-want +got):\n%s", diff)
	}
}

// E-3: an append from inside a callback gets the exact error, and nothing is
// written; afterwards appends work.
func TestReentrantAppend(t *testing.T) {
	const want = "session append cannot reenter while another append is being published"
	var failures []error
	cfg := config()
	cfg.ObserverFailed = func(_ messages.Event, err error) { failures = append(failures, err) }
	l := session.New(cfg)
	remove := l.Observe(func(messages.Event) error {
		if _, err := l.AppendBatch(0, user("x"), user("y")); !errors.Is(err, session.ErrReentrant) {
			t.Errorf("batch: %v", err)
		}
		_, err := l.Append(0, user("x"))
		return err
	})
	must(t, l, turnStart(1))
	if len(failures) != 1 || !errors.Is(failures[0], session.ErrReentrant) || failures[0].Error() != want {
		t.Errorf("failures %v", failures)
	}
	// Step 1 of E-2 comes before the re-entrancy check.
	var inside error
	removeBad := l.Observe(func(messages.Event) error {
		_, inside = l.Append(0, session.LogOnly(unholdable{Number: math.NaN()}))
		return nil
	})
	must(t, l, user("a"))
	var data *session.DataError
	if !errors.As(inside, &data) {
		t.Errorf("bad data from an observer: %v", inside)
	}
	removeBad()
	removeVeto := l.Veto(func(messages.Event) error {
		_, err := l.Append(0, user("x"))
		return err
	})
	if _, err := l.Append(0, user("b")); !errors.Is(err, session.ErrReentrant) {
		t.Errorf("append from a veto: %v", err)
	}
	removeVeto()
	remove()
	must(t, l, user("b"), turnEnd(1))
	if n := l.NextSeq(); n != 4 {
		t.Errorf("%d events, want 4", n)
	}
}

// D-2: callbacks registered or removed during an append affect the next one.
func TestCallbacksAreSnapshotted(t *testing.T) {
	l := session.New(config())
	var trace []string
	var removeB func()
	l.Observe(func(e messages.Event) error {
		trace = append(trace, "a")
		if e.Seq == 0 {
			removeB()
			l.Observe(func(messages.Event) error { trace = append(trace, "c"); return nil })
		}
		return nil
	})
	removeB = l.Observe(func(messages.Event) error { trace = append(trace, "b"); return nil })
	must(t, l, turnStart(1), user("x"))
	if want := []string{"a", "b", "a", "c"}; !slices.Equal(trace, want) {
		t.Errorf("called %v, want %v", trace, want)
	}
	removeB() // again: no effect
	must(t, l, user("y"))
}

// E-3: a callback that ends its goroutine does not leave the log unusable.
func TestCallbackGoexit(t *testing.T) {
	l := session.New(config())
	remove := l.Observe(func(messages.Event) error { runtime.Goexit(); return nil })
	done := make(chan struct{})
	go func() {
		defer close(done)
		_, _ = l.Append(0, turnStart(1))
	}()
	<-done
	remove()
	must(t, l, user("x"))
	if l.NextSeq() != 2 {
		t.Errorf("%d events, want 2", l.NextSeq())
	}
}

// E-2: a batch is committed whole or not at all.
func TestBatchIsAtomic(t *testing.T) {
	base := openBatch("c1", "c2")
	good := []session.Entry{
		toolCall(1, 1, "c1"), toolResult(1, 1, "c1", "x", 5), toolCall(1, 1, "c2"), toolResult(1, 1, "c2", "y", 7),
		user("context"), replaceUser("r", 1, 4, 1, 4), stepEnd(1, 1), turnEnd(1), turnStart(2), user("next"),
		stepStart(2, 1), header("s2", messages.HeaderChange),
	}
	bad := turnStart(9)
	for n := range len(good) + 1 {
		l := logOf(t, base...)
		before := stateOf(t, l)
		if _, err := l.AppendBatch(7, append(slices.Clone(good[:n]), bad)...); err == nil {
			t.Fatal("a bad batch was accepted")
		}
		if after := stateOf(t, l); after != before {
			t.Fatalf("a refused batch of %d+1 changed the log:\n%+v\n%+v", n, before, after)
		}
		added, err := l.AppendBatch(7, good...)
		if err != nil {
			t.Fatal(err)
		}
		for i, e := range added.All() {
			if e.Seq != int64(len(base)+i) || e.Time != 7 {
				t.Errorf("event %d of the batch has seq %d, time %d", i, e.Seq, e.Time)
			}
		}
		one := logOf(t, entries(base, good)...)
		got, want := stateOf(t, l), stateOf(t, one)
		got.Time, want.Time = 0, 0
		if got != want {
			t.Fatalf("a batch and single appends differ:\n%+v\n%+v", got, want)
		}
	}
	l := logOf(t, base...)
	if added, err := l.AppendBatch(7); err != nil || added.Len() != 0 || l.NextSeq() != 5 {
		t.Errorf("empty batch: %d events, %v", added.Len(), err)
	}
}

// Z-8, T-1, T-6: what the log knows without looking at its events.
func TestState(t *testing.T) {
	l := session.New(config())
	if _, open := l.OpenTurn(); open || l.LastTurn() != 0 || l.HeaderLogged() {
		t.Error("an empty log is not empty")
	}
	must(t, l, openBatch("c1", "c2")...)
	must(t, l, toolCall(1, 1, "c1"))
	turn, turnOpen := l.OpenTurn()
	step, stepOpen := l.OpenStep()
	if turn != 1 || !turnOpen || step != 1 || !stepOpen {
		t.Errorf("turn %d %v, step %d %v", turn, turnOpen, step, stepOpen)
	}
	want := []session.PendingCall{{ID: "c1", Seq: 5}, {ID: "c2", Seq: -1}}
	if diff := cmp.Diff(want, l.Pending()); diff != "" {
		t.Errorf("pending (-want +got):\n%s", diff)
	}
	if h, ok := l.LastHeader(); !ok || h.System != "s" || !l.HeaderLogged() {
		t.Errorf("last header %q, %v", h.System, ok)
	}
	must(t, l, toolResult(1, 1, "c1", "x", 5), toolCall(1, 1, "c2"), toolResult(1, 1, "c2", "y", 7), stepEnd(1, 1))
	if _, open := l.OpenStep(); open || l.Pending() != nil || l.Steps() != 1 {
		t.Error("the step did not end")
	}
	must(t, l, stepStart(1, 2), header("t", messages.HeaderChange), stepEnd(1, 2), turnEnd(1))
	if _, open := l.OpenTurn(); open || l.LastTurn() != 1 || l.Steps() != 2 {
		t.Error("the turn did not end")
	}
	if h, _ := l.LastHeader(); h.System != "t" {
		t.Errorf("last header %q", h.System)
	}
	// A one-shot injection turn consumes a number (T-1, A-7).
	must(t, l, turnStart(2), user("x"), turnEnd(2), turnStart(3))
	if l.LastTurn() != 3 {
		t.Errorf("last turn %d", l.LastTurn())
	}
}

// Trim forgets what a store has; numbers go on.
func TestTrim(t *testing.T) {
	l := logOf(t, turnStart(1), user("a"), user("b"), user("c"), turnEnd(1))
	all := texts(t, eventsOf(l))
	want := stateOf(t, l)
	for _, before := range []int64{-5, 0, 1, 1, 4, 99, 2} {
		l.Trim(before)
		base := l.FirstSeq()
		if base < min(before, l.NextSeq()) {
			t.Errorf("Trim(%d) left seq %d", before, base)
		}
		for from := int64(-1); from <= l.NextSeq()+1; from++ {
			first, events := l.Events(from)
			if wantFirst := min(max(from, base), l.NextSeq()); first != wantFirst {
				t.Errorf("after Trim(%d), Events(%d) starts at %d, want %d", before, from, first, wantFirst)
			}
			if diff := cmp.Diff(all[first:], texts(t, events.Slice())); diff != "" && events.Len() > 0 {
				t.Errorf("after Trim(%d), Events(%d) (-want +got):\n%s", before, from, diff)
			}
			if int64(events.Len()) != l.NextSeq()-first {
				t.Errorf("after Trim(%d), Events(%d) has %d events", before, from, events.Len())
			}
		}
		if got := stateOf(t, l); got != want {
			t.Errorf("Trim(%d) changed the state", before)
		}
	}
	if l.FirstSeq() != 5 {
		t.Errorf("first seq %d, want 5", l.FirstSeq())
	}
	must(t, l, turnStart(2))
	if first, events := l.Events(0); first != 5 || events.Len() != 1 || events.At(0).Seq != 5 {
		t.Errorf("after the trim: %d events from %d", events.Len(), first)
	}
}

// E-13: the header is frozen.
func TestHeaderIsFrozen(t *testing.T) {
	cfg := config()
	cfg.Header.Labels = map[string]string{"a": "b"}
	l := session.New(cfg)
	cfg.Header.Labels["a"] = "c"
	if got := l.Header().Labels["a"]; got != "b" || l.ID() != "s-1" {
		t.Errorf("label %q, id %s", got, l.ID())
	}
}

package session_test

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/dsh-actor/dsh-actor/messages"
	"github.com/dsh-actor/dsh-actor/session"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// E-4 to E-7, T-5: plausible logs are accepted, and the incremental history
// equals the one computed from scratch, at any time.
func TestPropertyHistory(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		entries := drawLog(rt)
		events := stamp(entries)
		l := session.New(config())
		var d session.Derived
		for i, e := range entries {
			if !naiveAccepts(events[:i], events[i]) {
				rt.Fatalf("the generator made an invalid event %d: %s", i, text(t, events[i]))
			}
			if _, err := l.Append(events[i].Time, e); err != nil {
				rt.Fatal(err)
			}
			if err := d.Add(events[i]); err != nil {
				rt.Fatal(err)
			}
			if i+1 < len(entries) && !rapid.Bool().Draw(rt, "look") {
				continue
			}
			want := texts(t, naiveHistory(events[:i+1]))
			if diff := cmp.Diff(want, texts(t, history(t, l))); diff != "" {
				rt.Fatalf("history after event %d (-want +got):\n%s", i, diff)
			}
			if diff := cmp.Diff(want, texts(t, d.Messages().Slice())); diff != "" {
				rt.Fatalf("derived after event %d (-want +got):\n%s", i, diff)
			}
		}
		if diff := cmp.Diff(texts(t, events), texts(t, eventsOf(l))); diff != "" {
			rt.Fatalf("events (-want +got):\n%s", diff)
		}
		if err := session.Verify(testTypes(), seqOf(events)); err != nil {
			rt.Fatal(err)
		}
	})
}

// E-2, Z-8, Z-24: however a log came about (one by one, in batches, with vetoes
// and observers, trimmed, dropped and rebuilt, seeded, restored), it knows the
// same.
func TestPropertySameState(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		entries := drawLog(rt)
		events := stamp(entries)
		one := session.New(config())
		for i, e := range entries {
			if _, err := one.Append(events[i].Time, e); err != nil {
				rt.Fatal(err)
			}
		}
		want := stateOf(t, one)
		check := func(how string, l *session.Log, err error) {
			if err != nil {
				rt.Fatalf("%s: %v", how, err)
			}
			got := stateOf(t, l)
			got.Time = want.Time
			if got != want {
				rt.Fatalf("%s:\n%+v\nwant\n%+v", how, got, want)
			}
		}
		batched := session.New(config())
		told := int64(0)
		if rapid.Bool().Draw(rt, "callbacks") {
			batched.Veto(func(messages.Event) error { return nil })
			batched.Observe(func(e messages.Event) error {
				if e.Seq != told {
					rt.Errorf("told of event %d where %d was due", e.Seq, told)
				}
				told++
				return nil
			})
		}
		for at := 0; at < len(entries); {
			n := rapid.IntRange(1, len(entries)-at).Draw(rt, "batch")
			if rapid.IntRange(0, 3).Draw(rt, "bad batch") == 0 {
				bad := append(slices.Clone(entries[at:at+n]), session.LogOnly(messages.StepEnd{Turn: -1}))
				if _, err := batched.AppendBatch(1, bad...); err == nil {
					rt.Fatal("a bad batch was accepted")
				}
			}
			if _, err := batched.AppendBatch(1, entries[at:at+n]...); err != nil {
				rt.Fatal(err)
			}
			at += n
			batched.Trim(int64(rapid.IntRange(0, at).Draw(rt, "trim")))
			if rapid.IntRange(0, 3).Draw(rt, "drop") == 0 {
				batched.DropHistory()
				if err := batched.RebuildHistory(seqOf(events[:rapid.IntRange(int(batched.FirstSeq()), at).Draw(rt, "read")])); err != nil {
					rt.Fatal(err)
				}
			}
		}
		check("in batches", batched, nil)
		seeded, err := session.Seed(config(), seqOf(events))
		check("seeded", seeded, err)
		restored, err := session.Restore(config(), seqOf(events))
		check("restored", restored, err)
	})
}

// E-4, E-5, E-7, E-14: a changed log is refused exactly where the plain reading
// of the rules refuses it, and not elsewhere.
func TestPropertyMutations(t *testing.T) {
	refused, accepted := 0, 0
	rapid.Check(t, func(rt *rapid.T) {
		events := stamp(drawLog(rt))
		if len(events) == 0 {
			return
		}
		for range rapid.IntRange(1, 3).Draw(rt, "mutations") {
			events = mutate(rt, events)
		}
		want := -1
		for i := range events {
			if !naiveAccepts(events[:i], events[i]) {
				want = i
				break
			}
		}
		l, err := session.Restore(config(), seqOf(events))
		if want < 0 {
			accepted++
			if err != nil {
				rt.Fatalf("refused a valid log: %v", err)
			}
			if diff := cmp.Diff(texts(t, naiveHistory(events)), texts(t, history(t, l))); diff != "" {
				rt.Fatalf("history (-want +got):\n%s", diff)
			}
			return
		}
		refused++
		var s *session.SeedError
		if !errors.As(err, &s) || s.Index != int64(want) {
			rt.Fatalf("want a refusal at %d (%s), got %v", want, text(t, events[want]), err)
		}
	})
	if !t.Failed() && (refused == 0 || accepted == 0) {
		t.Errorf("%d refused, %d accepted: the mutations test one side only", refused, accepted)
	}
}

func mutate(t *rapid.T, events []messages.Event) []messages.Event {
	out := slices.Clone(events)
	if len(out) == 0 {
		return out
	}
	i := rapid.IntRange(0, len(out)-1).Draw(t, "at")
	e := &out[i]
	small := func(what string) int { return rapid.IntRange(-1, 1).Draw(t, what) }
	switch rapid.IntRange(0, 9).Draw(t, "mutation") {
	case 0: // lose an event
		out = renumber(slices.Delete(out, i, i+1))
	case 1: // write one twice
		out = renumber(slices.Insert(out, i, *e))
	case 2: // swap neighbours
		if i+1 < len(out) {
			out[i], out[i+1] = out[i+1], out[i]
			out = renumber(out)
		}
	case 3: // wrong numbers
		switch d := e.Data.(type) {
		case messages.TurnStart:
			d.Turn += small("turn")
			e.Data = d
		case messages.TurnEnd:
			d.Turn += small("turn")
			e.Data = d
		case messages.StepStart:
			d.Step += small("step")
			e.Data = d
		case messages.StepEnd:
			d.Turn += small("turn")
			d.Step += small("step")
			e.Data = d
		case messages.AssistantChunk:
			d.Step += small("step")
			e.Data = d
		case messages.AssistantMessage:
			d.Turn += small("turn")
			e.Data = d
		case messages.ToolCall:
			d.CallID = "z"
			e.Data = d
		case messages.ToolResult:
			d.Step += small("step")
			d.IsError = rapid.Bool().Draw(t, "isError")
			e.Data = d
		case recordEvent:
			d.Turn += small("turn")
			e.Data = d
		default:
			e.Seq += int64(small("seq"))
		}
	case 4: // another call's result, or one that did not start
		if d, ok := e.Data.(messages.ToolResult); ok {
			d.CallID = rapid.SampledFrom([]messages.CallID{"a", "b", "c"}).Draw(t, "id")
			if rapid.Bool().Draw(t, "not started") {
				d.Error = messages.ErrorInfo{Name: "ToolNotStartedError", Code: messages.CodeToolNotStarted}
			}
			e.Data = d
		}
	case 5: // lose or gain the surface op
		if e.Surface.Kind == messages.SurfaceNone {
			e.Surface = messages.AppendOp()
		} else {
			e.Surface = messages.SurfaceOp{}
		}
	case 6: // sources
		n := int64(len(out))
		e.Sources = messages.ListOf(rapid.SliceOfN(rapid.Int64Range(-1, n), 0, 3).Draw(t, "sources")...)
		e.HasSources = e.Sources.Len() > 0 || rapid.Bool().Draw(t, "has sources")
	case 7: // replace something
		n := int64(len(out))
		start := rapid.Int64Range(0, n).Draw(t, "start")
		end := rapid.Int64Range(start, n).Draw(t, "end")
		e.Surface = messages.ReplaceOp(start, end)
		var all []int64
		for s := range e.Seq {
			all = append(all, s)
		}
		e.Sources, e.HasSources = messages.ListOf(all...), len(all) > 0
	case 8: // another event in its place
		e.Data = rapid.SampledFrom([]messages.EventData{
			messages.TurnStart{Turn: 1}, messages.StepEnd{Turn: 1, Step: 1}, inStepEvent{}, recordEvent{},
			messages.OtherEvent{Name: "later/type", Raw: `{}`}, undeclared{},
		}).Draw(t, "type")
	case 9: // the time is not checked: any is fine
		e.Time = rapid.Int64().Draw(t, "time")
	}
	return out
}

func renumber(events []messages.Event) []messages.Event {
	for i := range events {
		events[i].Seq = int64(i)
	}
	return events
}

// K-3, K-4, C-7: a valid log that is cut anywhere is balanced after its repair,
// and valid as a whole.
func TestPropertyRepair(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		events := stamp(drawLog(rt))
		for cut := range len(events) + 1 {
			l, err := session.Restore(config(), seqOf(events[:cut]))
			if err != nil {
				rt.Fatal(err)
			}
			closers, err := session.Repair(l)
			if err != nil {
				rt.Fatalf("cut at %d: %v", cut, err)
			}
			if _, open := l.OpenTurn(); open {
				rt.Fatalf("cut at %d: the turn is open", cut)
			}
			var got []string
			for _, e := range closers.All() {
				switch d := e.Data.(type) {
				case messages.ToolResult:
					got = append(got, fmt.Sprintf("result %s %s", d.CallID, d.Error.Code))
				default:
					got = append(got, show(e))
				}
				if e.Time != events[cut-1].Time {
					rt.Fatalf("cut at %d: closer at time %d", cut, e.Time)
				}
			}
			if diff := cmp.Diff(naiveClosers(events[:cut]), got); diff != "" {
				rt.Fatalf("closers of a cut at %d (-want +got):\n%s", cut, diff)
			}
			whole := append(slices.Clone(events[:cut]), closers.Slice()...)
			if err := session.Verify(testTypes(), seqOf(whole)); err != nil {
				rt.Fatalf("cut at %d: %v", cut, err)
			}
			// Cut again inside the closers, as a crash during the repair would.
			if closers.Len() > 1 {
				again := rapid.IntRange(cut, len(whole)-1).Draw(rt, "second cut")
				l, err := session.Restore(config(), seqOf(whole[:again]))
				if err != nil {
					rt.Fatal(err)
				}
				rest, err := session.Repair(l)
				if err != nil {
					rt.Fatal(err)
				}
				twice := append(slices.Clone(whole[:again]), rest.Slice()...)
				if diff := cmp.Diff(texts(t, whole), texts(t, twice)); diff != "" {
					rt.Fatalf("repaired in two parts (-want +got):\n%s", diff)
				}
			}
		}
	})
}

// E-12: a fork succeeds at exactly the turn/ends, and the child is a valid,
// balanced log.
func TestPropertyFork(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		events := stamp(drawLog(rt))
		cut := rapid.IntRange(0, len(events)).Draw(rt, "cut") // the parent may be in the middle of a turn
		events = events[:cut]
		store := session.NewMemoryStore()
		h := session.Header{ID: "p", CreatedAt: 1, Cwd: "/w"}
		if err := store.Commit(t.Context(), session.Batch{ID: "p", Epoch: 3, Create: &h, Events: events}); err != nil {
			rt.Fatal(err)
		}
		ended := false
		for at := range events {
			_, ends := events[at].Data.(messages.TurnEnd)
			ended = ended || ends
			id := messages.SessionID(fmt.Sprintf("c-%d", at))
			child, err := session.Fork(t.Context(), store, session.ForkRequest{Parent: "p", Child: id, Boundary: int64(at)})
			if !ends {
				if messages.CodeOf(err) != messages.CodeInvalidBoundary {
					rt.Fatalf("fork at %d, a %s: %v", at, events[at].Type(), err)
				}
				continue
			}
			if err != nil || child.SeedLength != int64(at+1) {
				rt.Fatalf("fork at %d: %+v, %v", at, child, err)
			}
			if err := session.Verify(testTypes(), store.Read(t.Context(), id, 0, -1)); err != nil {
				rt.Fatal(err)
			}
			l, err := session.Restore(config(), store.Read(t.Context(), id, 0, -1))
			if err != nil {
				rt.Fatal(err)
			}
			if closers, err := session.Repair(l); err != nil || closers.Len() != 0 {
				rt.Fatalf("the child needs %d closers (%v)", closers.Len(), err)
			}
		}
		want := messages.Code("")
		switch {
		case placeAfter(events).turn != 0:
			want = messages.CodeOpenTurn
		case !ended:
			want = messages.CodeInvalidBoundary
		}
		_, err := session.Fork(t.Context(), store, session.ForkRequest{Parent: "p", Child: "whole", Boundary: session.WholeLog})
		if messages.CodeOf(err) != want || (want == "") != (err == nil) {
			rt.Fatalf("fork of the whole log: %v, want code %q", err, want)
		}
	})
}

// K-7, K-8: any log survives its form as JSON lines, also torn.
func TestPropertyJSONL(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		events := stamp(drawLog(rt))
		var out bytes.Buffer
		if err := session.WriteJSONL(&out, config().Header, seqOf(events)); err != nil {
			rt.Fatal(err)
		}
		whole := out.Bytes()
		cut := rapid.IntRange(bytes.IndexByte(whole, '\n')+1, len(whole)).Draw(rt, "cut")
		j, err := session.ReadJSONL(bytes.NewReader(whole[:cut]), testTypes())
		if err != nil {
			rt.Fatal(err)
		}
		l, err := session.Seed(config(), j.Events())
		if err != nil {
			rt.Fatal(err)
		}
		n := bytes.Count(whole[:cut], []byte("\n")) - 1
		if diff := cmp.Diff(texts(t, events[:n]), texts(t, eventsOf(l))); diff != "" {
			rt.Fatalf("events (-want +got):\n%s", diff)
		}
		direct, err := session.Restore(config(), seqOf(events[:n]))
		if err != nil {
			rt.Fatal(err)
		}
		if got, want := stateOf(t, l), stateOf(t, direct); got != want {
			rt.Fatalf("read:\n%+v\nwant\n%+v", got, want)
		}
	})
}

package session_test

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/dsh-actor/dsh-actor/messages"
	"github.com/dsh-actor/dsh-actor/session"
)

// E-14, K-5: a restored log is in the state of the one that was written.
func TestSeedAndRestore(t *testing.T) {
	whole := logOf(t, entries(openBatch("c1", "c2"), []session.Entry{
		toolCall(1, 1, "c1"), toolResult(1, 1, "c1", "x", 5), replaceUser("r", 1, 4, 1, 4),
	})...)
	want := stateOf(t, whole)
	stored := eventsOf(whole)

	seeded, err := session.Seed(config(), seqOf(stored))
	if err != nil {
		t.Fatal(err)
	}
	if got := stateOf(t, seeded); got != want {
		t.Errorf("seeded:\n%+v\nwant\n%+v", got, want)
	}
	if first, events := seeded.Events(0); first != 0 || events.Len() != len(stored) {
		t.Errorf("a seeded log has %d events from %d", events.Len(), first)
	}

	restored, err := session.Restore(config(), seqOf(stored))
	if err != nil {
		t.Fatal(err)
	}
	if got := stateOf(t, restored); got != want {
		t.Errorf("restored:\n%+v\nwant\n%+v", got, want)
	}
	if restored.FirstSeq() != int64(len(stored)) {
		t.Errorf("a restored log keeps events from %d", restored.FirstSeq())
	}
	must(t, restored, toolCall(1, 1, "c2"))
	if first, events := restored.Events(0); first != int64(len(stored)) || events.Len() != 1 {
		t.Errorf("after an append: %d events from %d", events.Len(), first)
	}

	for _, load := range []func(session.Config, []messages.Event) (*session.Log, error){seed, restore} {
		empty, err := load(config(), nil)
		if err != nil || empty.NextSeq() != 0 {
			t.Errorf("empty: %v", err)
		}
	}
}

func seed(cfg session.Config, events []messages.Event) (*session.Log, error) {
	return session.Seed(cfg, seqOf(events))
}

func restore(cfg session.Config, events []messages.Event) (*session.Log, error) {
	return session.Restore(cfg, seqOf(events))
}

// E-14: each event is validated as an append would, plus seq == index; the
// error names the index.
func TestSeedRefuses(t *testing.T) {
	good := stamp([]session.Entry{turnStart(1), user("a"), stepStart(1, 1), stepEnd(1, 1), turnEnd(1)})
	change := func(i int, f func(*messages.Event)) []messages.Event {
		out := append([]messages.Event(nil), good...)
		f(&out[i])
		return out
	}
	cases := []struct {
		name   string
		events []messages.Event
		index  int64
		says   string
	}{
		{"first seq is not 0", good[1:], 0, "its seq is 1"},
		{"gap", append(good[:2:2], good[3:]...), 2, "its seq is 3"},
		{"repeated", append(good[:2:2], good[1:]...), 2, "its seq is 1"},
		{"enclosure", change(3, func(e *messages.Event) { e.Data = messages.StepEnd{Turn: 1, Step: 2} }), 3, "E-7"},
		{"surface", change(1, func(e *messages.Event) { e.Surface = messages.SurfaceOp{} }), 1, "E-4"},
		{"sources", change(1, func(e *messages.Event) { e.Sources, e.HasSources = messages.ListOf[int64](4), true }), 1, "E-5"},
		{"type", change(1, func(e *messages.Event) { e.Data = undeclared{}; e.Surface = messages.SurfaceOp{} }), 1, "E-8"},
		{"no payload", change(1, func(e *messages.Event) { e.Data = nil }), 1, "without a payload"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			for _, load := range []func(session.Config, []messages.Event) (*session.Log, error){seed, restore} {
				_, err := load(config(), c.events)
				var s *session.SeedError
				if !errors.As(err, &s) || s.Index != c.index {
					t.Fatalf("want a SeedError of index %d, got %v", c.index, err)
				}
				if !strings.Contains(err.Error(), fmt.Sprintf("index %d", c.index)) || !strings.Contains(err.Error(), c.says) {
					t.Errorf("text %q", err)
				}
			}
		})
	}
	// Payloads of foreign origin are checked to be JSON.
	bad := change(1, func(e *messages.Event) {
		e.Data = messages.UserMessage{Content: messages.Text("x"), Source: messages.UserSource(), Meta: `{`}
	})
	var d *session.DataError
	if _, err := seed(config(), bad); !errors.As(err, &d) {
		t.Errorf("seed of bad JSON: %v", err)
	}
	nan := change(1, func(e *messages.Event) {
		e.Data, e.Surface = unholdable{Number: math.NaN()}, messages.SurfaceOp{}
	})
	if _, err := seed(config(), nan); !errors.As(err, &d) {
		t.Errorf("seed of NaN: %v", err)
	}
}

// E-14: what the reading yields is reported with the index that it has.
func TestRestorePassesReadErrors(t *testing.T) {
	broken := errors.New("disk on fire")
	good := stamp([]session.Entry{turnStart(1), user("a")})
	_, err := session.Restore(config(), func(yield func(messages.Event, error) bool) {
		for _, e := range good {
			if !yield(e, nil) {
				return
			}
		}
		yield(messages.Event{}, broken)
	})
	var s *session.SeedError
	if !errors.Is(err, broken) || !errors.As(err, &s) || s.Index != 2 {
		t.Errorf("got %v", err)
	}
}

package sessiontest

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"testing"

	"github.com/dsh-actor/dsh-actor/messages"
	"github.com/dsh-actor/dsh-actor/session"
)

// fixture is one test's store with what tests need of it.
type fixture struct {
	*testing.T
	opts  Options
	store session.Store
}

func (f *fixture) ctx() context.Context { return f.Context() }

// ok fails the test at once unless err is nil.
func (f *fixture) ok(err error) {
	f.Helper()
	if err != nil {
		f.Fatal(err)
	}
}

func (f *fixture) commit(b session.Batch) {
	f.Helper()
	f.ok(f.store.Commit(f.ctx(), b))
}

// refuse commits a batch that must fail with the error and change nothing.
func (f *fixture) refuse(b session.Batch, want error) error {
	f.Helper()
	before := f.dump(b.ID)
	err := f.store.Commit(f.ctx(), b)
	switch {
	case err == nil:
		f.Fatalf("the batch was accepted; want %v", want)
	case want != nil && !errors.Is(err, want):
		f.Fatalf("got %v, want %v", err, want)
	}
	if after := f.dump(b.ID); after != before {
		f.Fatalf("a batch that failed with %v changed the store:\n%s\nbefore:\n%s", err, after, before)
	}
	return err
}

// dump is all that the store says about a session without acquiring it.
func (f *fixture) dump(id messages.SessionID) string {
	f.Helper()
	info, err := f.store.Stat(f.ctx(), id)
	if err != nil {
		return err.Error()
	}
	out := fmt.Sprintf("%+v epoch %d, %d events, %d prompts\n", info.Header, info.Epoch, info.NextSeq, info.Pending)
	if f.opts.DropsEvents {
		return out
	}
	for _, e := range f.read(id, 0, -1) {
		out += text(f, e) + "\n"
	}
	return out
}

func (f *fixture) acquire(id messages.SessionID) session.Acquired {
	f.Helper()
	a, err := f.store.Acquire(f.ctx(), id)
	f.ok(err)
	return a
}

func (f *fixture) stat(id messages.SessionID) session.Info {
	f.Helper()
	info, err := f.store.Stat(f.ctx(), id)
	f.ok(err)
	return info
}

func (f *fixture) read(id messages.SessionID, from, to int64) []messages.Event {
	f.Helper()
	events, err := collect(f.store.Read(f.ctx(), id, from, to))
	f.ok(err)
	return events
}

func collect[T any](seq iter.Seq2[T, error]) ([]T, error) {
	var out []T
	for v, err := range seq {
		if err != nil {
			return out, err
		}
		out = append(out, v)
	}
	return out, nil
}

// wantEvents fails unless the store has exactly these events, and nothing else,
// of the session.
func (f *fixture) wantEvents(id messages.SessionID, want []messages.Event) {
	f.Helper()
	if got := f.stat(id).NextSeq; got != int64(len(want)) {
		f.Fatalf("session %s has %d events, want %d", id, got, len(want))
	}
	if f.opts.DropsEvents {
		f.wantGap(id, 0, -1, 0, int64(len(want)))
		return
	}
	f.same(f.read(id, 0, -1), want)
}

func (f *fixture) same(got, want []messages.Event) {
	f.Helper()
	if len(got) != len(want) {
		f.Fatalf("read %d events, want %d", len(got), len(want))
	}
	for i := range want {
		if g, w := text(f, got[i]), text(f, want[i]); g != w {
			f.Fatalf("event %d is\n%s\nwant\n%s", i, g, w)
		}
	}
}

// wantGap fails unless reading a range yields one GapError over the given one,
// or nothing if that is empty.
func (f *fixture) wantGap(id messages.SessionID, from, to, gapFrom, gapTo int64) {
	f.Helper()
	events, err := collect(f.store.Read(f.ctx(), id, from, to))
	if len(events) > 0 {
		f.Fatalf("read %d events of a store that drops them", len(events))
	}
	if gapFrom == gapTo {
		f.ok(err)
		return
	}
	var gap *session.GapError
	if !errors.As(err, &gap) {
		f.Fatalf("got %v, want a GapError", err)
	}
	if want := (session.GapError{ID: id, From: gapFrom, To: gapTo}); *gap != want {
		f.Fatalf("got %v, want %v", gap, &want)
	}
}

// wantHeader fails unless the headers are equal; a session without labels may
// have none or an empty map.
func (f *fixture) wantHeader(got, want session.Header) {
	f.Helper()
	labels := maps.Equal(got.Labels, want.Labels)
	got.Labels, want.Labels = nil, nil
	if !labels || fmt.Sprintf("%+v", got) != fmt.Sprintf("%+v", want) {
		f.Errorf("header %+v, want %+v", got, want)
	}
}

// text is the JSON form of v: values that are equal in it are equal for a store.
func text(t testing.TB, v any) string {
	t.Helper()
	j, err := messages.MarshalJSON(v)
	if err != nil {
		t.Fatalf("encode %T: %v", v, err)
	}
	return string(j)
}

// create makes a session with n turns of three events, and returns them.
func (f *fixture) create(id messages.SessionID, turns int) []messages.Event {
	f.Helper()
	events := turnsFrom(0, 1, turns)
	f.commit(session.Batch{ID: id, Epoch: 1, Create: &session.Header{ID: id, CreatedAt: 7}, Events: events})
	return events
}

// turnsFrom are turns of three events each.
func turnsFrom(seq int64, turn, n int) []messages.Event {
	var out []messages.Event
	for range n {
		out = append(out, injection(seq, turn)...)
		seq += 3
		turn++
	}
	return out
}

// injection is the smallest turn with a message.
func injection(seq int64, turn int) []messages.Event {
	source := messages.PluginSource("sessiontest")
	return []messages.Event{
		{Seq: seq, Time: 1000 + seq, Data: messages.TurnStart{
			Turn: turn, Trigger: messages.TurnTrigger{Kind: messages.TriggerInjection, Source: source},
		}},
		{Seq: seq + 1, Time: 1001 + seq, Surface: messages.AppendOp(), Data: messages.UserMessage{
			Content: messages.Textf("message %d", seq+1), Source: source,
		}},
		{Seq: seq + 2, Time: 1002 + seq, Data: messages.TurnEnd{
			Turn: turn, Reason: messages.EndReason{Kind: messages.EndCompleted},
		}},
	}
}

func prompt(id messages.MessageID, key string) messages.InboxItem {
	return messages.InboxItem{
		ID: id, Key: key, Content: messages.Text("prompt " + string(id)), Source: messages.UserSource(),
		Contexts: messages.ListOf(messages.NewContext("p", "beside it")), Meta: `{"n":1.50}`,
		Steering: true, Wake: true, TraceParent: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", Enqueued: 5,
	}
}

func ids(items []messages.InboxItem) []messages.MessageID {
	var out []messages.MessageID
	for _, i := range items {
		out = append(out, i.ID)
	}
	return out
}

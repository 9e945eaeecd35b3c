package session_test

import (
	"fmt"
	"runtime"
	"testing"
	"unsafe"

	"github.com/dsh-actor/dsh-actor/messages"
	"github.com/dsh-actor/dsh-actor/session"
)

// benchTurn is a turn of 33 events with four tool calls, as a caller makes it:
// the payloads are values, and making an interface of one is the caller's one
// allocation per event.
type benchTurn struct {
	request messages.EventData
	chunks  messages.Chunk
	prompt  messages.Content
	result  messages.Content
	calls   messages.Content
	says    messages.Content
	ids     [4]messages.CallID
}

func newBenchTurn() *benchTurn {
	b := &benchTurn{
		request: header("system", messages.HeaderInitial).Data,
		chunks:  messages.TextDelta{Text: "a few words "},
		prompt:  messages.Text("please read four files"),
		result:  messages.Text("the text of a file"),
		says:    messages.Text("here they are"),
	}
	blocks := []messages.Block{messages.TextBlock{Text: "I read them"}}
	for i := range b.ids {
		b.ids[i] = messages.CallID(fmt.Sprintf("call-%d", i))
		blocks = append(blocks, messages.ToolCallBlock{ID: b.ids[i], Name: "Read", Arguments: `{"path":"a"}`})
	}
	b.calls = messages.NewContent(blocks...)
	return b
}

const benchEvents = 33

// append appends the turn and returns the first error.
func (b *benchTurn) append(l *session.Log, now int64, turn int) error {
	var err error
	add := func(e session.Entry) int64 {
		ev, e2 := l.Append(now, e)
		if e2 != nil && err == nil {
			err = e2
		}
		return ev.Seq
	}
	chunks := func(step, n int) messages.List[int64] {
		seqs := make([]int64, n)
		for i := range seqs {
			seqs[i] = add(session.LogOnly(messages.AssistantChunk{Turn: turn, Step: step, Chunk: b.chunks}))
		}
		return messages.FrozenList(seqs)
	}
	add(session.LogOnly(messages.TurnStart{Turn: turn}))
	add(session.Add(messages.UserMessage{Content: b.prompt, Source: messages.UserSource()}))
	add(session.LogOnly(messages.StepStart{Turn: turn, Step: 1}))
	add(session.LogOnly(b.request))
	seqs := chunks(1, 4)
	add(session.Answer(messages.AssistantMessage{Turn: turn, Step: 1, Content: b.calls}, seqs))
	var at [4]int64
	for i, id := range b.ids {
		at[i] = add(session.LogOnly(messages.ToolCall{Turn: turn, Step: 1, CallID: id, Name: "Read", Arguments: `{"path":"a"}`}))
	}
	for i, id := range b.ids {
		add(session.Add(messages.ToolResult{Turn: turn, Step: 1, CallID: id, Content: b.result}, at[i]))
	}
	for range 2 {
		add(session.Add(messages.UserMessage{Content: b.prompt, Source: messages.PluginSource("p")}))
	}
	add(session.LogOnly(messages.StepEnd{Turn: turn, Step: 1}))
	add(session.LogOnly(messages.StepStart{Turn: turn, Step: 2}))
	seqs = chunks(2, 9)
	add(session.Answer(messages.AssistantMessage{Turn: turn, Step: 2, Content: b.says}, seqs))
	add(session.LogOnly(messages.StepEnd{Turn: turn, Step: 2}))
	add(session.LogOnly(messages.TurnEnd{Turn: turn, Reason: messages.EndReason{Kind: messages.EndCompleted}}))
	return err
}

func TestBenchTurn(t *testing.T) {
	l := session.New(session.Config{})
	for turn := 1; turn <= 3; turn++ {
		if err := newBenchTurn().append(l, 1, turn); err != nil {
			t.Fatal(err)
		}
	}
	if l.NextSeq() != 3*benchEvents {
		t.Errorf("%d events in 3 turns", l.NextSeq())
	}
	if err := session.Verify(nil, seqOf(eventsOf(l))); err != nil {
		t.Error(err)
	}
}

// BenchmarkAppendTurn is the cost of a turn of 33 events in logs of different
// lengths (Z-8: it must not depend on the length). "trim" is a log whose events
// a store takes after every turn; the history stays.
func BenchmarkAppendTurn(b *testing.B) {
	for _, turns := range []int{0, 1_000, 30_000} {
		b.Run(fmt.Sprintf("trim/events=%d", turns*benchEvents), func(b *testing.B) { benchAppend(b, turns, true, false) })
	}
	b.Run("keep/events=0", func(b *testing.B) { benchAppend(b, 0, false, false) })
	b.Run("nohistory/events=0", func(b *testing.B) { benchAppend(b, 0, true, true) })
}

func benchAppend(b *testing.B, before int, trim, drop bool) {
	b.ReportAllocs()
	turn := newBenchTurn()
	var l *session.Log
	one := func() {
		if err := turn.append(l, 1, l.LastTurn()+1); err != nil {
			b.Fatal(err)
		}
		if trim {
			l.Trim(l.NextSeq())
		}
	}
	for i := range b.N {
		if i%1000 == 0 { // start over, or the log gets much longer than its name says
			b.StopTimer()
			l = session.New(session.Config{})
			if drop {
				l.DropHistory()
			}
			for range before {
				one()
			}
			runtime.GC() // what the preparation left is not this benchmark's
			b.StartTimer()
		}
		one()
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*benchEvents), "ns/event")
}

// BenchmarkAppendOne is the log's own part of an append: the payload exists.
func BenchmarkAppendOne(b *testing.B) {
	for _, c := range []struct {
		name  string
		entry session.Entry
	}{
		{"chunk", chunk(1, 1, "x")},
		{"user", user("x")},
		{"record", session.LogOnly(recordEvent{1})},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			l := logOf(b, turnStart(1), stepStart(1, 1))
			for i := range b.N {
				if _, err := l.Append(1, c.entry); err != nil {
					b.Fatal(err)
				}
				if i%32 == 0 {
					l.Trim(l.NextSeq())
				}
			}
		})
	}
	b.Run("observed", func(b *testing.B) {
		b.ReportAllocs()
		l := logOf(b, turnStart(1), stepStart(1, 1))
		l.Observe(func(messages.Event) error { return nil })
		e := chunk(1, 1, "x")
		for i := range b.N {
			if _, err := l.Append(1, e); err != nil {
				b.Fatal(err)
			}
			if i%32 == 0 {
				l.Trim(l.NextSeq())
			}
		}
	})
}

// BenchmarkHistory is the cost of a snapshot of a long history: none.
func BenchmarkHistory(b *testing.B) {
	b.ReportAllocs()
	l := session.New(session.Config{})
	turn := newBenchTurn()
	for n := range 1000 {
		if err := turn.append(l, 1, n+1); err != nil {
			b.Fatal(err)
		}
	}
	for range b.N {
		if h, ok := l.History(); !ok || h.Len() != 9000 {
			b.Fatal(h.Len())
		}
	}
}

// BenchmarkRestore is a cold opening, per turn of 33 events.
func BenchmarkRestore(b *testing.B) {
	const turns = 100
	l := session.New(session.Config{})
	turn := newBenchTurn()
	for n := range turns {
		if err := turn.append(l, 1, n+1); err != nil {
			b.Fatal(err)
		}
	}
	events := eventsOf(l)
	b.ReportAllocs()
	b.ResetTimer()
	for range b.N {
		if _, err := session.Restore(session.Config{}, seqOf(events)); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(events)), "ns/event")
}

// Z-24, DESIGN 3 rule 12: an idle log is small. What the test measures is the
// heap that a log of one turn with four tool calls holds between turns, its
// header's and its payloads' text apart, which all logs share here.
func TestIdleLogSize(t *testing.T) {
	const n = 2000
	turn := newBenchTurn()
	logs := make([]*session.Log, n)
	heap := func() uint64 {
		runtime.GC()
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	each := func(before, after uint64) int { return int(int64(after)-int64(before)) / n }
	empty := heap()
	for i := range logs {
		logs[i] = session.New(session.Config{Header: session.Header{ID: "s"}})
		if err := turn.append(logs[i], 1, 1); err != nil {
			t.Fatal(err)
		}
	}
	full := heap()
	for _, l := range logs {
		l.Trim(l.NextSeq())
	}
	trimmed := heap()
	for _, l := range logs {
		l.DropHistory()
	}
	dropped := heap()
	runtime.KeepAlive(logs)
	t.Logf("bytes per log: %d with its events, %d idle, %d idle without history (struct %d, header %d)",
		each(empty, full), each(empty, trimmed), each(empty, dropped),
		unsafe.Sizeof(session.Log{}), unsafe.Sizeof(session.Header{}))
	if got := each(empty, dropped); got > 512 {
		t.Errorf("an idle log without history holds %d bytes", got)
	}
	if got := each(empty, trimmed); got > 4096 {
		t.Errorf("an idle log holds %d bytes", got)
	}
}

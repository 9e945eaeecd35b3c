package actors_test

import (
	"context"
	"fmt"
	"iter"
	"runtime"
	"sync"
	"testing"

	"github.com/dsh-actor/dsh-actor/actors"
	"github.com/dsh-actor/dsh-actor/messages"
	"github.com/dsh-actor/dsh-actor/model"
	"github.com/dsh-actor/dsh-actor/session"
)

// benchModel answers a prompt with four tool calls and their results with a text:
// 16 chunks over two requests, so that a turn logs the 33 events that the
// reference logs.
type benchModel struct{ calls, text []messages.Chunk }

func newBenchModel() *benchModel {
	m := &benchModel{}
	for i := range 4 {
		id := messages.CallID(fmt.Sprintf("c%d", i+1))
		block := messages.ToolCallBlock{ID: id, Name: "Noop", Arguments: `{}`}
		m.calls = append(m.calls,
			messages.ToolCallDelta{Index: i, ID: id, Name: "Noop", ArgumentsDelta: `{}`},
			messages.BlockEnd{Index: i, Block: block})
	}
	usage := messages.UsageChunk{Usage: messages.Usage{InputTokens: 100, OutputTokens: 10}}
	m.calls = append(m.calls, usage, messages.FinishChunk{Reason: messages.FinishReason{Kind: messages.FinishToolCalls}})
	m.text = []messages.Chunk{
		messages.BlockStart{Index: 0, BlockType: messages.TypeText},
		messages.TextDelta{Index: 0, Text: "All "},
		messages.TextDelta{Index: 0, Text: "done."},
		messages.BlockEnd{Index: 0, Block: messages.TextBlock{Text: "All done."}},
		usage, messages.FinishChunk{Reason: messages.FinishReason{Kind: messages.FinishStop}},
	}
	return m
}

func (m *benchModel) Stream(_ context.Context, req model.Request) iter.Seq2[messages.Chunk, error] {
	chunks := m.calls
	if req.Step%2 == 0 {
		chunks = m.text
	}
	return func(yield func(messages.Chunk, error) bool) {
		for _, c := range chunks {
			if !yield(c, nil) {
				return
			}
		}
	}
}

// BenchmarkTurn is a turn of two model requests with four parallel tool calls, 33
// events, on the memory store: one at a time in one session, and many sessions at
// once.
func BenchmarkTurn(b *testing.B) {
	for _, n := range []int{1, 100, 10_000} {
		b.Run(fmt.Sprintf("sessions=%d", n), func(b *testing.B) {
			w := newWorld(b, newBenchModel(), func(c *actors.Config) { c.Store = session.NewDiscardStore() })
			w.tool(noop("Noop", true, nil))
			a := agent()
			sessions := make([]*actors.Session, n)
			for i := range sessions {
				sessions[i] = w.open(a, "")
			}
			w.prompt(sessions[0], "warm up")
			if got := sessions[0].NextSeq(); got != 34 { // with the request/header of a first turn
				b.Fatalf("a turn logs %d events", got)
			}
			ctx := context.Background()
			b.ReportAllocs()
			b.ResetTimer()
			if n == 1 {
				for range b.N {
					turn(b, ctx, sessions[0])
				}
				return
			}
			// Every session runs its turns one after another; b.N turns in all.
			var wg sync.WaitGroup
			workers := min(n, b.N)
			for i := range workers {
				turns := b.N / workers
				if i < b.N%workers {
					turns++
				}
				wg.Go(func() {
					for range turns {
						turn(b, ctx, sessions[i])
					}
				})
			}
			wg.Wait()
		})
	}
}

func turn(b testing.TB, ctx context.Context, s *actors.Session) {
	if _, err := s.Followup(ctx, benchPrompt); err != nil {
		b.Error(err)
	}
	if err := s.WhenIdle(ctx); err != nil {
		b.Error(err)
	}
}

var benchPrompt = messages.Text("go on")

// BenchmarkIdleSession reports the heap that a session keeps after one turn, its
// log in a store that discards it.
func BenchmarkIdleSession(b *testing.B) {
	const n = 100_000
	for b.Loop() {
		w := newWorld(b, newBenchModel(), func(c *actors.Config) { c.Store = session.NewDiscardStore() })
		w.tool(noop("Noop", true, nil))
		a := agent()
		before := heap()
		sessions := make([]*actors.Session, n)
		for i := range sessions {
			sessions[i] = w.open(a, "")
			turn(b, context.Background(), sessions[i])
		}
		used := heap() - before
		b.ReportMetric(float64(used)/n, "B/session")
		runtime.KeepAlive(sessions)
	}
}

func heap() int64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

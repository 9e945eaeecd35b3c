package messages

import (
	"strings"
	"testing"
)

// typicalEvents are the events that make up most of a log.
func typicalEvents() []Event {
	answer := strings.Repeat("The handler reads the header before it is written. ", 12)
	args := `{"path":"/home/me/project/internal/server/handler_test.go","limit":2000}`
	out := strings.Repeat("\tif err != nil {\n\t\treturn fmt.Errorf(\"read: %w\", err)\n\t}\n", 40)
	at := func(seq int64, d EventData) Event {
		e := Event{Seq: seq, Time: 1700000000000 + seq, Data: d}
		if IsSurfaceType(d.EventType()) {
			e.Surface = AppendOp()
		}
		return e
	}
	from := func(e Event, seqs ...int64) Event {
		e.Sources, e.HasSources = ListOf(seqs...), true
		return e
	}
	call := ToolCallBlock{"toolu_01A09q90qw90lq917835lq9", "Read", args}
	return []Event{
		at(1000, TurnStart{12, TurnTrigger{Kind: TriggerMessage, Source: UserSource()}}),
		at(1001, UserMessage{Content: Text("Why does the test fail on CI and not here?"), Source: UserSource()}),
		at(1002, AssistantChunk{12, 3, TextDelta{0, "The handler reads"}}),
		at(1003, AssistantChunk{12, 3, BlockEnd{1, call}}),
		from(at(1004, AssistantMessage{
			Turn: 12, Step: 3, Content: NewContent(TextBlock{answer}, call),
			Provenance: Provenance{Provider: "anthropic", Model: "claude-sonnet-4-5"},
			Usage:      Usage{InputTokens: 12345, OutputTokens: 321, CacheReadTokens: 11000},
		}), 1002, 1003),
		at(1005, ToolCall{12, 3, call.ID, call.Name, args}),
		from(at(1006, ToolResult{Turn: 12, Step: 3, CallID: call.ID, Content: Text(out), Meta: `{"lines":120,"truncated":false}`}), 1005),
		at(1007, TurnEnd{12, EndReason{Kind: EndCompleted}}),
		at(1008, OtherEvent{"hook/result", `{"turn":12,"point":"PreToolUse","handlerId":"claude:PreToolUse:1.7","decision":"none","exitCode":0,"durationMs":12}`}),
	}
}

func benchName(e Event) string {
	name := strings.ReplaceAll(e.Type(), "/", "-")
	if c, ok := e.Data.(AssistantChunk); ok {
		name += "-" + c.Chunk.ChunkType()
	}
	return name
}

func BenchmarkEncodeEvent(b *testing.B) {
	for _, e := range typicalEvents() {
		b.Run(benchName(e), func(b *testing.B) {
			text, err := MarshalJSON(e)
			if err != nil {
				b.Fatal(err)
			}
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := MarshalJSON(e); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkAppendEvent is what a store does: one buffer for many events.
func BenchmarkAppendEvent(b *testing.B) {
	for _, e := range typicalEvents() {
		b.Run(benchName(e), func(b *testing.B) {
			buf, err := e.AppendJSON(nil)
			if err != nil {
				b.Fatal(err)
			}
			b.SetBytes(int64(len(buf)))
			b.ReportAllocs()
			for b.Loop() {
				if buf, err = e.AppendJSON(buf[:0]); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkDecodeEvent(b *testing.B) {
	for _, e := range typicalEvents() {
		b.Run(benchName(e), func(b *testing.B) {
			text, err := MarshalJSON(e)
			if err != nil {
				b.Fatal(err)
			}
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := registry.DecodeEvent(text); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkCheckJSON(b *testing.B) {
	big, err := MarshalJSON(strings.Split(strings.Repeat("some words of a tool result\n", 400), "\n"))
	if err != nil {
		b.Fatal(err)
	}
	for _, c := range []struct {
		name string
		text JSON
	}{
		{"arguments", `{"path":"/home/me/project/internal/server/handler_test.go","limit":2000}`},
		{"result12kB", big},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.SetBytes(int64(len(c.text)))
			b.ReportAllocs()
			for b.Loop() {
				if err := CheckJSON(c.text); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkAssembler(b *testing.B) {
	chunks := []Chunk{BlockStart{0, TypeText}}
	for range 200 {
		chunks = append(chunks, TextDelta{0, "some words "})
	}
	chunks = append(chunks, BlockEnd{0, TextBlock{strings.Repeat("some words ", 200)}}, FinishChunk{Reason: FinishReason{Kind: FinishStop}})
	b.ReportAllocs()
	for b.Loop() {
		var a Assembler
		for _, c := range chunks {
			a.Add(c)
		}
		if _, err := a.Result(); err != nil {
			b.Fatal(err)
		}
	}
}

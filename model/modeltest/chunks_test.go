package modeltest

import (
	"strings"
	"testing"

	"github.com/dsh-actor/dsh-actor/messages"
)

// V-6, V-7
func TestCheckChunks(t *testing.T) {
	text := func(s string) messages.BlockEnd {
		return messages.BlockEnd{Index: 0, Block: messages.TextBlock{Text: s}}
	}
	toolEnd := func(i int, id messages.CallID, name string) messages.BlockEnd {
		return messages.BlockEnd{Index: i, Block: messages.ToolCallBlock{ID: id, Name: name, Arguments: "{}"}}
	}
	start := messages.BlockStart{Index: 0, BlockType: messages.TypeText}
	stop := messages.FinishChunk{Reason: messages.FinishReason{Kind: messages.FinishStop}}
	for _, c := range []struct {
		name   string
		chunks []messages.Chunk
		want   string // part of the error; "" is none
	}{
		{"empty", nil, ""},
		{"whole", []messages.Chunk{start, messages.TextDelta{Index: 0, Text: "a"}, messages.TextDelta{Index: 0, Text: "b"}, text("ab"), messages.UsageChunk{}, stop}, ""},
		{"deltas only", []messages.Chunk{messages.TextDelta{Index: 0, Text: "a"}}, ""},
		{"block-end only", []messages.Chunk{text("a"), stop}, ""},
		{"interleaved", []messages.Chunk{start, messages.ReasoningDelta{Index: 1, Text: "r"}, messages.TextDelta{Index: 0, Text: "a"}, messages.ReasoningDelta{Index: 1, Text: "s"}, text("a")}, ""},
		{"unknown type, closed", []messages.Chunk{messages.BlockEnd{Index: 0, Block: messages.OtherBlock{Type: "x", Raw: `{"type":"x"}`}}}, ""},
		{"two calls", []messages.Chunk{toolEnd(0, "a", "A"), toolEnd(1, "b", "A")}, ""},
		{"usage twice", []messages.Chunk{messages.UsageChunk{}, messages.UsageChunk{}}, ""},

		{"nil", []messages.Chunk{nil}, "nil chunk"},
		{"after finish", []messages.Chunk{stop, messages.UsageChunk{}}, "after the finish"},
		{"two finishes", []messages.Chunk{stop, stop}, "after the finish"},
		{"no kind", []messages.Chunk{messages.FinishChunk{}}, "without a kind"},
		{"error without failure", []messages.Chunk{messages.FinishChunk{Reason: messages.FinishReason{Kind: messages.FinishError}}}, "without its failure"},
		{"start twice", []messages.Chunk{start, start}, "second block-start"},
		{"start without type", []messages.Chunk{messages.BlockStart{}}, "without a type"},
		{"negative index", []messages.Chunk{messages.TextDelta{Index: -1}}, "negative index"},
		{"other type", []messages.Chunk{start, messages.ReasoningDelta{Index: 0, Text: "a"}}, "which is a text block"},
		{"end of other type", []messages.Chunk{start, toolEnd(0, "a", "A")}, "which is a text block"},
		{"delta after end", []messages.Chunk{text("a"), messages.TextDelta{Index: 0, Text: "a"}}, "which is closed"},
		{"end twice", []messages.Chunk{text("a"), text("a")}, "which is closed"},
		{"deltas differ", []messages.Chunk{messages.TextDelta{Index: 0, Text: "a"}, text("b")}, "but its block-end says"},
		{"end without block", []messages.Chunk{messages.BlockEnd{}}, "without a block"},
		{"id changes", []messages.Chunk{messages.ToolCallDelta{ID: "a", Name: "A"}, messages.ToolCallDelta{ID: "b"}}, "changes its id"},
		{"name changes", []messages.Chunk{messages.ToolCallDelta{ID: "a", Name: "A"}, messages.ToolCallDelta{ID: "a", Name: "B"}}, "changes its name"},
		{"end has another id", []messages.Chunk{messages.ToolCallDelta{ID: "a", Name: "A", ArgumentsDelta: "{}"}, toolEnd(0, "b", "A")}, "but its deltas said"},
		{"no id", []messages.Chunk{toolEnd(0, "", "A")}, "needs both"},
		{"no name", []messages.Chunk{messages.ToolCallDelta{ID: "a"}}, "needs both"},
		{"same id", []messages.Chunk{toolEnd(0, "a", "A"), toolEnd(1, "a", "B")}, "same id"},
		{"unknown type, open", []messages.Chunk{messages.BlockStart{Index: 0, BlockType: "x"}}, "not closed"},
		{"negative tokens", []messages.Chunk{messages.UsageChunk{Usage: messages.Usage{OutputTokens: -1}}}, "negative token"},
	} {
		t.Run(c.name, func(t *testing.T) {
			err := CheckChunks(c.chunks)
			if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
				t.Errorf("got error %v, want one with %q", err, c.want)
			}
		})
	}
}

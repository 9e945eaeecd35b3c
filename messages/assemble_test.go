package messages

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// V-7, sentence by sentence.
func TestAssembler(t *testing.T) {
	stop := FinishReason{Kind: FinishStop}
	call := ToolCallBlock{"c1", "n", `{"a":1}`}
	for _, c := range []struct {
		rule   string
		chunks []Chunk
		want   Assembled
		err    string
	}{
		{"nothing", nil, Assembled{Content: EmptyContent(), Finish: stop}, ""},
		{
			"blocks are ordered by first appearance, not by index",
			[]Chunk{BlockStart{7, TypeText}, BlockStart{2, TypeReasoning}, TextDelta{7, "a"}, ReasoningDelta{2, "r"}, TextDelta{7, "b"}, TextDelta{0, "c"}},
			Assembled{Content: NewContent(TextBlock{"ab"}, ReasoningBlock{"r"}, TextBlock{"c"}), Finish: stop}, "",
		},
		{
			"block-end is authoritative",
			[]Chunk{BlockStart{0, TypeText}, TextDelta{0, "draft"}, BlockEnd{0, TextBlock{"final"}}},
			Assembled{Content: Text("final"), Finish: stop}, "",
		},
		{
			"block-end is authoritative about the type too",
			[]Chunk{BlockStart{0, TypeText}, TextDelta{0, "draft"}, BlockEnd{0, call}},
			Assembled{Content: NewContent(call), Finish: stop}, "",
		},
		{
			"a block-end alone is enough",
			[]Chunk{BlockEnd{3, OtherBlock{"audio", `{"type":"audio"}`}}},
			Assembled{Content: NewContent(OtherBlock{"audio", `{"type":"audio"}`}), Finish: stop}, "",
		},
		{
			"later deltas of a closed index are ignored",
			[]Chunk{BlockEnd{0, TextBlock{"x"}}, TextDelta{0, "y"}, ReasoningDelta{0, "y"}, ToolCallDelta{0, "i", "n", "y"}},
			Assembled{Content: Text("x"), Finish: stop}, "",
		},
		{
			"later block-ends of a closed index are ignored",
			[]Chunk{BlockEnd{0, TextBlock{"x"}}, BlockEnd{0, TextBlock{"y"}}},
			Assembled{Content: Text("x"), Finish: stop}, "",
		},
		{
			"a second block-start is ignored",
			[]Chunk{BlockStart{0, TypeText}, TextDelta{0, "x"}, BlockStart{0, TypeReasoning}, TextDelta{0, "y"}},
			Assembled{Content: Text("xy"), Finish: stop}, "",
		},
		{
			"a block-start of a closed index is ignored",
			[]Chunk{BlockEnd{0, TextBlock{"x"}}, BlockStart{0, "audio"}},
			Assembled{Content: Text("x"), Finish: stop}, "",
		},
		{
			"streams of deltas alone are accepted",
			[]Chunk{ReasoningDelta{0, "r"}, TextDelta{1, "t"}, ToolCallDelta{2, "c1", "n", `{"a"`}, ToolCallDelta{2, "", "", `:1}`}},
			Assembled{Content: NewContent(ReasoningBlock{"r"}, TextBlock{"t"}, call), Finish: stop}, "",
		},
		{
			"a started block without deltas is empty",
			[]Chunk{BlockStart{0, TypeText}, BlockStart{1, TypeReasoning}},
			Assembled{Content: NewContent(TextBlock{}, ReasoningBlock{}), Finish: stop}, "",
		},
		{
			"an unclosed tool call without an id gets one from its index, and an empty name",
			[]Chunk{BlockStart{4, TypeToolCall}, ToolCallDelta{Index: 9, ArgumentsDelta: "{}"}},
			Assembled{Content: NewContent(ToolCallBlock{"call-4", "", ""}, ToolCallBlock{"call-9", "", "{}"}), Finish: stop}, "",
		},
		{
			"id and name may come late",
			[]Chunk{ToolCallDelta{0, "", "", "{"}, ToolCallDelta{0, "c", "", ""}, ToolCallDelta{0, "", "n", "}"}},
			Assembled{Content: NewContent(ToolCallBlock{"c", "n", "{}"}), Finish: stop}, "",
		},
		{
			"an unclosed block of an unknown type is an error",
			[]Chunk{BlockStart{0, "audio"}},
			Assembled{Finish: stop}, `cannot assemble incomplete block of type "audio"`,
		},
		{
			"a closed one is not",
			[]Chunk{BlockStart{0, "audio"}, BlockEnd{0, OtherBlock{"audio", `{"type":"audio"}`}}},
			Assembled{Content: NewContent(OtherBlock{"audio", `{"type":"audio"}`}), Finish: stop}, "",
		},
		{
			"the last usage wins",
			[]Chunk{UsageChunk{Usage{InputTokens: 1, ReasoningTokens: 3}}, UsageChunk{Usage{OutputTokens: 2}}},
			Assembled{Content: EmptyContent(), Usage: Usage{OutputTokens: 2}, HasUsage: true, Finish: stop}, "",
		},
		{
			"a usage of zero is one",
			[]Chunk{UsageChunk{}},
			Assembled{Content: EmptyContent(), HasUsage: true, Finish: stop}, "",
		},
		{
			"finish is kept with its replay state",
			[]Chunk{FinishChunk{FinishReason{Kind: FinishToolCalls}, `{"id":1}`}},
			Assembled{Content: EmptyContent(), Finish: FinishReason{Kind: FinishToolCalls}, ReplayState: `{"id":1}`}, "",
		},
		{
			"a rune that was cut between deltas is whole again (Z-7)",
			[]Chunk{TextDelta{0, "\xe2\x82"}, TextDelta{0, "\xac"}},
			Assembled{Content: Text("€"), Finish: stop}, "",
		},
		{
			"what stays invalid is replaced (Z-7)",
			[]Chunk{TextDelta{0, "\xe2"}, ReasoningDelta{1, "\xff"}, ToolCallDelta{2, "\xff", "\xff", "\xff"}, BlockEnd{3, TextBlock{"\xff"}}},
			Assembled{Content: NewContent(TextBlock{"\ufffd"}, ReasoningBlock{"\ufffd"}, ToolCallBlock{"\ufffd", "\ufffd", "\ufffd"}, TextBlock{"\ufffd"}), Finish: stop}, "",
		},
		{
			"a block-end without a block and a missing chunk are ignored",
			[]Chunk{BlockEnd{Index: 0}, nil, TextDelta{0, "x"}},
			Assembled{Content: Text("x"), Finish: stop}, "",
		},
	} {
		var a Assembler
		for _, chunk := range c.chunks {
			a.Add(chunk)
		}
		for range 2 { // asking changes nothing
			got, err := a.Result()
			if (err == nil) != (c.err == "") || err != nil && err.Error() != c.err {
				t.Errorf("%s: error %v, want %q", c.rule, err, c.err)
			}
			if diff := cmp.Diff(c.want, got, exact); diff != "" {
				t.Errorf("%s (-want +got):\n%s", c.rule, diff)
			}
		}
	}
}

// The result is a value of its own: adding more does not change it.
func TestAssemblerResultIsKept(t *testing.T) {
	var a Assembler
	a.Add(TextDelta{0, "a"})
	first, err := a.Result()
	if err != nil {
		t.Fatal(err)
	}
	a.Add(TextDelta{0, "b"})
	a.Add(TextDelta{1, "c"})
	if first.Content.Len() != 1 || first.Content.Text() != "a" {
		t.Errorf("the first result became %+v", first)
	}
}

func TestUsageAdd(t *testing.T) {
	got := Usage{1, 2, 3, 4, 5}.Add(Usage{10, 20, 30, 40, 50})
	if want := (Usage{11, 22, 33, 44, 55}); got != want {
		t.Errorf("sum is %+v", got)
	}
}

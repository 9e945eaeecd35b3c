package messages

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A list never changes, whatever is done with what went in and came out.
func TestListIsImmutable(t *testing.T) {
	in := []int{1, 2, 3}
	l := ListOf(in...)
	in[0] = 9
	l.Slice()[1] = 9
	longer := l.Append(4)
	other := l.Append(5)
	both := l.Concat(longer)
	for range 3 {
		l.Append(6, 7)
	}
	for name, c := range map[string]struct {
		got  List[int]
		want []int
	}{
		"list": {l, []int{1, 2, 3}}, "appended": {longer, []int{1, 2, 3, 4}}, "appended again": {other, []int{1, 2, 3, 5}},
		"concat": {both, []int{1, 2, 3, 1, 2, 3, 4}},
		"empty":  {List[int]{}, nil}, "none": {ListOf[int](), nil}, "append nothing": {l.Append(), []int{1, 2, 3}},
		"concat left": {l.Concat(List[int]{}), []int{1, 2, 3}}, "concat right": {List[int]{}.Concat(l), []int{1, 2, 3}},
	} {
		if diff := cmp.Diff(c.want, c.got.Slice()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
		if c.got.Len() != len(c.want) || c.got.IsZero() != (len(c.want) == 0) {
			t.Errorf("%s: Len() = %d, IsZero() = %v", name, c.got.Len(), c.got.IsZero())
		}
		if diff := cmp.Diff(c.want, slices.Collect(c.got.Values())); diff != "" {
			t.Errorf("%s: Values (-want +got):\n%s", name, diff)
		}
		for i, v := range c.got.All() {
			if v != c.want[i] || c.got.At(i) != v {
				t.Errorf("%s: item %d is %d", name, i, v)
			}
		}
	}
}

// Appending to a frozen list must not write behind its end.
func TestFrozenListIsCut(t *testing.T) {
	backing := []int{1, 2, 3}
	l := FrozenList(backing[:2])
	l.Append(9)
	if backing[2] != 3 {
		t.Error("Append wrote into memory that is not the list's")
	}
	if l.Len() != 2 {
		t.Errorf("Len() = %d", l.Len())
	}
}

// Decoding into a list leaves its copies alone.
func TestDecodingReplacesTheList(t *testing.T) {
	l := ListOf(1, 2, 3)
	shared := l
	if err := JSON(`[7,8]`).Unmarshal(&l); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]int{7, 8}, l.Slice()); diff != "" {
		t.Errorf("decoded (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]int{1, 2, 3}, shared.Slice()); diff != "" {
		t.Errorf("a copy changed (-want +got):\n%s", diff)
	}
	checkGolden(t, []golden[List[string]]{{List[string]{}, `[]`}, {ListOf("a", "b"), `["a","b"]`}})
	checkRefused[List[int]](t, `null`, `{}`, `1`, `["a"]`, `[1.5]`)
}

// So does content.
func TestContentIsImmutable(t *testing.T) {
	in := []Block{TextBlock{"a"}, TextBlock{"b"}}
	c := NewContent(in...)
	in[0] = TextBlock{"x"}
	d := c.Append(TextBlock{"c"})
	e := c.Append(TextBlock{"d"})
	c.Append()
	shared := c
	if err := JSON(`[{"type":"text","text":"new"}]`).Unmarshal(&c); err != nil {
		t.Fatal(err)
	}
	for _, x := range []struct {
		got  Content
		want string
	}{{shared, "ab"}, {d, "abc"}, {e, "abd"}, {c, "new"}} {
		if x.got.Text() != x.want {
			t.Errorf("text is %q, want %q", x.got.Text(), x.want)
		}
	}
}

func TestContent(t *testing.T) {
	call := ToolCallBlock{"c", "n", "{}"}
	c := NewContent(TextBlock{"a"}, call, ReasoningBlock{"r"}, TextBlock{"b"})
	if c.Len() != 4 || c.At(1) != Block(call) || c.Text() != "ab" {
		t.Errorf("content %+v", c)
	}
	if diff := cmp.Diff([]ToolCallBlock{call}, c.ToolCalls()); diff != "" {
		t.Errorf("tool calls (-want +got):\n%s", diff)
	}
	rest := c.WithoutToolCalls() // T-9
	if diff := cmp.Diff(NewContent(TextBlock{"a"}, ReasoningBlock{"r"}, TextBlock{"b"}), rest, exact); diff != "" {
		t.Errorf("without tool calls (-want +got):\n%s", diff)
	}
	if len(slices.Collect(rest.Blocks())) != 3 || len(rest.ToolCalls()) != 0 || c.Len() != 4 {
		t.Error("removing tool calls changed the content, or left one")
	}
	// Absent is not empty.
	if !(Content{}).IsZero() || EmptyContent().IsZero() || NewContent().IsZero() || Text("").IsZero() || c.WithoutToolCalls().IsZero() {
		t.Error("absent and empty content are confused")
	}
	if Textf("%d%s", 1, "x").Text() != "1x" || (Content{}).Text() != "" {
		t.Error("Textf or Text is wrong")
	}
	// Z-7: strings are made valid when they enter.
	dirty := NewContent(TextBlock{"\xff"}, ReasoningBlock{"\xff"}, ToolCallBlock{"\xff", "\xff", "\xff"},
		ToolResultBlock{ToolCallID: "\xff"}, ImageBlock{"\xff", "\xff"}).Append(TextBlock{"\xff"})
	clean := NewContent(TextBlock{"\ufffd"}, ReasoningBlock{"\ufffd"}, ToolCallBlock{"\ufffd", "\ufffd", "\ufffd"},
		ToolResultBlock{ToolCallID: "\ufffd"}, ImageBlock{"\ufffd", "\ufffd"}, TextBlock{"\ufffd"})
	if diff := cmp.Diff(clean, dirty, exact); diff != "" {
		t.Errorf("invalid UTF-8 (-want +got):\n%s", diff)
	}
	if Text("\xff").Text() != "\ufffd" {
		t.Error("Text keeps invalid UTF-8")
	}
}

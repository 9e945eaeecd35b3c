package otel

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

// TestClean: Z-7 and PAIN 74.
func TestClean(t *testing.T) {
	long := strings.Repeat("é", maxText)
	cases := []struct{ in, want string }{
		{"", ""},
		{"plain – é 😀", "plain – é 😀"},
		{"a\nb\tc\rd", `a\nb\tc\rd`},
		{"\x1b[31mred\x00\x7f", `\x1b[31mred\x00\x7f`},
		{"\u0085next\u009b", `\x85next\x9b`},
		{"bad \xff byte", "bad \uFFFD byte"},
		{"\uFFFD was there", "\uFFFD was there"},
		{long, long},
		{long + "x", long + "…"},
		{strings.Repeat("\xff", maxText+1), strings.Repeat("\uFFFD", maxText) + "…"},
	}
	for _, c := range cases {
		if got := clean(c.in); got != c.want {
			t.Errorf("clean(%q) = %q, want %q", c.in, got, c.want)
		}
	}
	if n := testing.AllocsPerRun(100, func() { clean("tools/pre-execute") }); n != 0 {
		t.Errorf("%v allocations for clean text, want 0", n)
	}
}

// TestCleanHolds: whatever comes in, valid and bounded text without control
// bytes comes out, and clean text stays as it is.
func TestCleanHolds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := rapid.OneOf(
			rapid.String(),
			rapid.Map(rapid.SliceOf(rapid.Byte()), func(b []byte) string { return string(b) }),
			rapid.Map(rapid.IntRange(maxText-2, maxText+2), func(n int) string { return strings.Repeat("ab\n", n) }),
		).Draw(t, "in")
		got := clean(in)
		if !utf8.ValidString(got) {
			t.Fatalf("clean(%q) is not valid: %q", in, got)
		}
		if strings.ContainsFunc(got, isControl) {
			t.Fatalf("clean(%q) has control bytes: %q", in, got)
		}
		if n := utf8.RuneCountInString(in); n <= maxText && utf8.ValidString(in) && !strings.ContainsFunc(in, isControl) && got != in {
			t.Fatalf("clean(%q) changed clean text: %q", in, got)
		}
	})
}

// TestNameCache: names are remembered up to a bound, and beyond it still made.
func TestNameCache(t *testing.T) {
	c := newNameCache("dsh.seam")
	if got := c.name(""); got != "dsh.seam" {
		t.Errorf("without a suffix: %q", got)
	}
	if got := c.name("a\nb"); got != `dsh.seam a\nb` {
		t.Errorf("not cleaned: %q", got)
	}
	if got := c.label("a\nb"); got != `a\nb` {
		t.Errorf("label %q", got)
	}
	if c.label("") != "" {
		t.Error("nothing has a label")
	}
	var wg sync.WaitGroup
	for w := range 4 {
		wg.Go(func() {
			for i := range 2 * maxNames {
				want := fmt.Sprintf("dsh.seam s%d", i)
				if got := c.name(fmt.Sprintf("s%d", i)); got != want {
					t.Errorf("worker %d: %q, want %q", w, got, want)
				}
			}
		})
	}
	wg.Wait()
	if n := len(*c.names.Load()); n != maxNames {
		t.Errorf("%d names are remembered, want %d", n, maxNames)
	}
	if got := c.label("beyond the bound"); got != ErrOther {
		t.Errorf("a label beyond the bound is %q", got)
	}
	if n := testing.AllocsPerRun(100, func() { c.name("a\nb") }); n != 0 {
		t.Errorf("%v allocations for a known name, want 0", n)
	}
}

// TestLabelCacheIsBounded: label sets beyond the bound are still right.
func TestLabelCacheIsBounded(t *testing.T) {
	var c labelCache
	built := 0
	build := func() (a attrs) {
		built++
		return a
	}
	for i := range maxLabelSets + 10 {
		c.get(labelSet{group: "g", port: i}, build)
	}
	if len(c.sets) != maxLabelSets {
		t.Errorf("%d label sets are remembered, want %d", len(c.sets), maxLabelSets)
	}
	before := built
	c.get(labelSet{group: "g", port: 1}, build)
	if built != before {
		t.Error("a known label set was built again")
	}
	c.get(labelSet{group: "g", port: maxLabelSets + 5}, build)
	if built != before+1 {
		t.Error("a label set beyond the bound was not built")
	}
}

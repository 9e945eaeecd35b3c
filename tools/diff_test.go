package tools

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// apply makes the new text of the old one and a patch, checking every line that
// the patch says is there.
func apply(old string, patch []Hunk) (string, error) {
	a := splitLines(old)
	var out []string
	at := 0
	for _, h := range patch {
		if h.OldStart-1 < at || h.OldStart-1 > len(a) {
			return "", fmt.Errorf("hunk at %d after %d of %d lines", h.OldStart, at, len(a))
		}
		out = append(out, a[at:h.OldStart-1]...)
		at = h.OldStart - 1
		if len(out)+1 != h.NewStart {
			return "", fmt.Errorf("hunk at new line %d, but it is %d", h.NewStart, len(out)+1)
		}
		oldFrom, newFrom := at, len(out)
		for i, l := range h.Lines {
			if l == noNewline {
				continue
			}
			text := l[1:] + "\n"
			if i+1 < len(h.Lines) && h.Lines[i+1] == noNewline {
				text = l[1:]
			}
			if l[0] != '+' {
				if at >= len(a) || a[at] != text {
					return "", fmt.Errorf("line %d is not %q", at+1, text)
				}
				at++
			}
			if l[0] != '-' {
				out = append(out, text)
			}
		}
		if at-oldFrom != h.OldLines || len(out)-newFrom != h.NewLines {
			return "", fmt.Errorf("hunk counts %d and %d, has %d and %d", h.OldLines, h.NewLines, at-oldFrom, len(out)-newFrom)
		}
	}
	return strings.Join(append(out, a[at:]...), ""), nil
}

// Any two texts: the patch makes one of the other, has no more context than it
// should, and nothing in it is both taken away and put back.
func TestDiffApplies(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.Custom(func(t *rapid.T) string {
			lines := rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b", "c", "", "dd"}), 0, 40).Draw(t, "lines")
			s := strings.Join(lines, "\n")
			if rapid.Bool().Draw(t, "ended") {
				s += "\n"
			}
			return s
		})
		old, new := text.Draw(t, "old"), text.Draw(t, "new")
		patch := diff(old, new)
		got, err := apply(old, patch)
		if err != nil || got != new {
			t.Fatalf("%q to %q: got %q, %v\n%+v", old, new, got, err, patch)
		}
		if (len(patch) == 0) != (old == new) {
			t.Fatalf("%q to %q: %d hunks", old, new, len(patch))
		}
		for i, h := range patch {
			context := 0
			for _, l := range h.Lines {
				if context++; l[0] != ' ' {
					context = 0
				}
				if context > 2*contextLines {
					t.Fatalf("too much context: %+v", h)
				}
			}
			if i > 0 && h.OldStart < patch[i-1].OldStart+patch[i-1].OldLines {
				t.Fatalf("hunks overlap: %+v", patch)
			}
		}
	})
}

func TestDiff(t *testing.T) {
	ten := "1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n"
	for _, tc := range []struct {
		name, old, new string
		want           []Hunk
	}{
		{"nothing", "a\n", "a\n", []Hunk{}},
		{"a new text", "", "a\nb\n", []Hunk{{1, 0, 1, 2, []string{"+a", "+b"}}}},
		{"all gone", "a\n", "", []Hunk{{1, 1, 1, 0, []string{"-a"}}}},
		{"context", ten, strings.Replace(ten, "5", "five", 1),
			[]Hunk{{2, 7, 2, 7, []string{" 2", " 3", " 4", "-5", "+five", " 6", " 7", " 8"}}}},
		{"two hunks", ten, strings.Replace(strings.Replace(ten, "1\n", "one\n", 1), "10", "ten", 1), []Hunk{
			{1, 4, 1, 4, []string{"-1", "+one", " 2", " 3", " 4"}},
			{7, 4, 7, 4, []string{" 7", " 8", " 9", "-10", "+ten"}}}},
		{"an insertion moves what follows", "a\nb\n", "x\ny\na\nb\n", []Hunk{{1, 2, 1, 4, []string{"+x", "+y", " a", " b"}}}},
		{"the last line gets its end", "a\nb", "a\nb\n", []Hunk{{1, 2, 1, 2, []string{" a", "-b", noNewline, "+b"}}}},
	} {
		if diff := cmp.Diff(tc.want, diff(tc.old, tc.new)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tc.name, diff)
		}
	}
}

// A patch that is too large to be searched for is still right.
func TestDiffOfEverything(t *testing.T) {
	var a, b strings.Builder
	for i := range 3000 {
		fmt.Fprintf(&a, "a%d\n", i)
		fmt.Fprintf(&b, "b%d\n", i)
	}
	old, new := "same\n"+a.String()+"same\n", "same\n"+b.String()+"same\n"
	patch := diff(old, new)
	if got, err := apply(old, patch); err != nil || got != new || len(patch) != 1 {
		t.Errorf("%d hunks, %v", len(patch), err)
	}
}

func BenchmarkDiff(b *testing.B) {
	var t strings.Builder
	for i := range 5000 {
		fmt.Fprintf(&t, "line %d\n", i)
	}
	old := t.String()
	new := strings.ReplaceAll(old, "00\n", "oo\n")
	b.ReportAllocs()
	for b.Loop() {
		diff(old, new)
	}
}

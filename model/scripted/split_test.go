package scripted

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestSplit(t *testing.T) {
	words := strings.Repeat("word ", 20) // 100 characters
	for _, c := range []struct {
		name string
		text string
		n    int
		want []string
	}{
		{"empty", "", 0, []string{""}},
		{"empty in pieces", "", 3, []string{""}},
		{"short", "short", 0, []string{"short"}},
		{"even", "abcdef", 3, []string{"ab", "cd", "ef"}},
		{"uneven", "abcdefg", 3, []string{"abc", "de", "fg"}},
		{"more pieces than characters", "añ😀", 9, []string{"a", "ñ", "😀"}},
		{"after a space", words, 0, []string{words[:60], words[60:]}},
		{"after a newline", strings.Repeat("x", 40) + "\n" + strings.Repeat("y", 40), 0, []string{strings.Repeat("x", 40) + "\n", strings.Repeat("y", 40)}},
		{"no space", strings.Repeat("é", 130), 0, []string{strings.Repeat("é", 64), strings.Repeat("é", 64), "éé"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, split(c.text, c.n)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestSplitProperty(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.StringN(0, 300, -1).Draw(t, "text")
		n := rapid.IntRange(0, 400).Draw(t, "n")
		got := split(s, n)
		if strings.Join(got, "") != s {
			t.Fatalf("%q does not add up to %q", got, s)
		}
		chars := utf8.RuneCountInString(s)
		if n > 0 && len(got) != max(min(n, chars), 1) {
			t.Fatalf("%d pieces of %d characters, asked for %d", len(got), chars, n)
		}
		least, most := chars, 0
		for _, p := range got {
			if !utf8.ValidString(p) || p == "" && s != "" {
				t.Fatalf("bad piece %q", p)
			}
			least, most = min(least, utf8.RuneCountInString(p)), max(most, utf8.RuneCountInString(p))
		}
		if n > 0 && most-least > 1 || n == 0 && most > pieceLength {
			t.Fatalf("pieces of %d to %d characters", least, most)
		}
	})
}

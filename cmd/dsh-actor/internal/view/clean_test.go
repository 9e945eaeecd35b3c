package view

import (
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"
)

func TestClean(t *testing.T) {
	for in, want := range map[string]string{
		"plain ü 漢":           "plain ü 漢",
		"a\tb\nc":             "a\tb\nc",
		"dos\r\nline":         "dos\nline",
		"over\rwrite":         "over␍write",
		"\x1b[2Jgone":         "␛[2Jgone",
		"\x00\x07\x7f":        "␀␇␡",
		"\u009b31m":           "\ufffd31m",
		"abc\u202edef":        "abc\ufffddef",
		"\u2066x\u2069\ufeff": "\ufffdx\ufffd\ufffd",
	} {
		if got := clean(in); got != want {
			t.Errorf("clean(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestOneLine(t *testing.T) {
	for in, want := range map[string]string{
		"": "", "  a \t b  ": "a b", "\n\n a\n": "a", "a\nb": "a …", "a\n\n  \n": "a", "a\x1bb": "a␛b",
	} {
		if got := oneLine(in); got != want {
			t.Errorf("oneLine(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestFit(t *testing.T) {
	for _, tt := range []struct {
		in   string
		n    int
		want string
	}{{"abc", 3, "abc"}, {"abcd", 3, "ab…"}, {"ab cd", 4, "ab…"}, {"äöü", 2, "ä…"}, {"abc", 0, "…"}, {"", 0, ""}} {
		if got := fit(tt.in, tt.n); got != tt.want {
			t.Errorf("fit(%q, %d) = %q, want %q", tt.in, tt.n, got, tt.want)
		}
	}
}

func TestDuration(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0: "0ms", 12 * time.Millisecond: "12ms", 999 * time.Millisecond: "999ms", 1999 * time.Millisecond: "1.9s",
		10 * time.Second: "10s", 59900 * time.Millisecond: "59s", 61 * time.Second: "1m01s", 3 * time.Hour: "180m00s",
	} {
		if got := Duration(d); got != want {
			t.Errorf("Duration(%v) = %q, want %q", d, got, want)
		}
	}
}

func TestSubject(t *testing.T) {
	for _, tt := range []struct{ name, arguments, want string }{
		{"Bash", `{"command":"ls -l","description":"List"}`, "ls -l"},
		{"Bash", `{"command":"a\nb"}`, "a …"},
		{"Read", `{"file_path":"x.go","limit":3}`, "x.go"},
		{"Grep", `{"pattern":"a b","path":"src"}`, "a b src"},
		{"Grep", `{"pattern":"a"}`, "a"},
		{"Bash", `{"command":3}`, `{"command":3}`},
		{"Bash", `{}`, ""},
		{"Other", `{"a": [1, 2]}`, `{"a": [1, 2]}`},
		{"Other", ``, ""},
		{"Other", `no json`, "no json"},
		{"Other", `"text"`, `"text"`},
		{"Bash", `{"command":"\u001b[31mx"}`, "␛[31mx"},
	} {
		if got := subject(tt.name, tt.arguments); got != tt.want {
			t.Errorf("subject(%s, %s) = %q, want %q", tt.name, tt.arguments, got, tt.want)
		}
	}
}

// FuzzClean: what reaches the terminal has no control character but newline and tab,
// and is never shorter than what was there.
func FuzzClean(f *testing.F) {
	f.Add("a\x1b[31m\r\nb\u202e")
	f.Fuzz(func(t *testing.T, s string) {
		s = strings.ToValidUTF8(s, "\ufffd")
		got := clean(s)
		for _, r := range got {
			if unicode.IsControl(r) && r != '\n' && r != '\t' || unicode.Is(unicode.Bidi_Control, r) {
				t.Errorf("clean(%q) = %q has %q", s, got, r)
			}
		}
		if utf8.RuneCountInString(got)+strings.Count(s, "\r\n") != utf8.RuneCountInString(s) && strings.Contains(s, "\r\n") == false {
			t.Errorf("clean(%q) = %q lost something", s, got)
		}
	})
}

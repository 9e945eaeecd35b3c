package view

import (
	"strings"
	"unicode/utf8"
)

// clean makes text fit for a terminal: control characters become visible ones,
// and so do those that change the direction of writing. Newlines and tabs stay;
// the carriage return of a line end goes.
func clean(s string) string {
	if !strings.ContainsFunc(s, unfit) {
		return s
	}
	return strings.Map(visible, strings.ReplaceAll(s, "\r\n", "\n"))
}

func unfit(r rune) bool { return r != '\n' && r != '\t' && visible(r) != r }

func visible(r rune) rune {
	switch {
	case r == '\n' || r == '\t':
		return r
	case r < 0x20:
		return 0x2400 + r // the pictures of control characters
	case r == 0x7f:
		return 0x2421
	case r >= 0x80 && r < 0xa0, r == 0x061c, r >= 0x200e && r <= 0x200f, r >= 0x202a && r <= 0x202e,
		r >= 0x2066 && r <= 0x2069, r == 0x2028, r == 0x2029, r == 0xfeff:
		return utf8.RuneError
	default:
		return r
	}
}

// oneLine is the first line of s that is not blank, with white space made single
// blanks, and an ellipsis if there is more.
func oneLine(s string) string {
	s = strings.TrimSpace(clean(s))
	line, more, cut := strings.Cut(s, "\n")
	line = strings.Join(strings.Fields(line), " ")
	if cut && strings.TrimSpace(more) != "" {
		line += " …"
	}
	return line
}

// fit cuts s to n characters, an ellipsis included.
func fit(s string, n int) string {
	if n < 1 {
		n = 1
	}
	if utf8.RuneCountInString(s) <= n {
		return s
	}
	runes := []rune(s)
	return strings.TrimRight(string(runes[:n-1]), " ") + "…"
}

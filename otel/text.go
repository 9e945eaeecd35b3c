package otel

import (
	"strings"
	"unicode/utf8"
)

// maxText is the most code points of a foreign string that go into a trace.
const maxText = 512

// clean makes a foreign string fit for a span: valid UTF-8 (one bad byte would
// make OTLP refuse the whole batch), control bytes readable as escapes (PAIN
// 74), at most maxText code points with a mark where it was cut (Z-7). Strings
// that are fit already are returned as they are.
func clean(s string) string {
	points := 0
	for i := 0; i < len(s); points++ {
		if points == maxText {
			return rebuild(s)
		}
		c := s[i]
		if c < utf8.RuneSelf {
			if c < 0x20 || c == 0x7f {
				return rebuild(s)
			}
			i++
			continue
		}
		r, size := utf8.DecodeRuneInString(s[i:])
		if isControl(r) || r == utf8.RuneError && size == 1 {
			return rebuild(s)
		}
		i += size
	}
	return s
}

func isControl(r rune) bool { return r < 0x20 || r >= 0x7f && r <= 0x9f }

func rebuild(s string) string {
	const hex = "0123456789abcdef"
	var b strings.Builder
	points := 0
	for _, r := range s {
		if points == maxText {
			b.WriteString("…")
			break
		}
		points++
		switch {
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\r':
			b.WriteString(`\r`)
		case r == '\t':
			b.WriteString(`\t`)
		case isControl(r):
			b.WriteString(`\x`)
			b.WriteByte(hex[r>>4])
			b.WriteByte(hex[r&15])
		default:
			b.WriteRune(r) // an invalid byte arrives here as U+FFFD
		}
	}
	return b.String()
}

package scripted

import (
	"strings"
	"unicode/utf8"
)

// pieceLength is the most characters that a piece has when the script does not
// say how many pieces there are.
const pieceLength = 64

// split cuts s between characters, into n pieces of about the same length or,
// if n is 0, into pieces of at most pieceLength characters that end after a
// space where possible. There is always at least one piece, and no piece is
// empty unless s is; so there can be fewer than n.
func split(s string, n int) []string {
	if n > 0 {
		return splitEven(s, n)
	}
	var out []string
	for {
		cut := byteOf(s, pieceLength)
		if cut == len(s) {
			return append(out, s)
		}
		if space := strings.LastIndexAny(s[:cut], " \n"); space > 0 {
			cut = space + 1
		}
		out = append(out, s[:cut])
		s = s[cut:]
	}
}

func splitEven(s string, n int) []string {
	chars := utf8.RuneCountInString(s)
	n = max(min(n, chars), 1)
	out := make([]string, 0, n)
	for ; n > 1; n-- {
		take := (chars + n - 1) / n
		cut := byteOf(s, take)
		out = append(out, s[:cut])
		s, chars = s[cut:], chars-take
	}
	return append(out, s)
}

// byteOf returns the offset of character n of s, or its length if it is shorter.
func byteOf(s string, n int) int {
	if len(s) <= n {
		return len(s)
	}
	for i := range s {
		if n == 0 {
			return i
		}
		n--
	}
	return len(s)
}

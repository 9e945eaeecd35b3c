package flat

import (
	"encoding/binary"
	"unicode/utf8"
)

const (
	maxDepth   = 32 // of what Lossless looks into
	maxMembers = 16 // of an object that Lossless looks into
)

// Lossless reports whether text is certainly exactly one JSON value without loss
// (SPEC Z-11): no duplicate names, valid UTF-8, not nested deeply. False means that
// it has to be looked at more closely: text that is large or unusual in some way is
// declined.
func Lossless(text []byte) bool {
	i := value(text, space(text, 0), maxDepth)
	return i >= 0 && space(text, i) == len(text)
}

// Functions that step over something take the index where it starts and return the
// index behind it, or -1 if they decline.

func space(b []byte, i int) int {
	for i < len(b) && (b[i] == ' ' || b[i] == '\n' || b[i] == '\r' || b[i] == '\t') {
		i++
	}
	return i
}

func value(b []byte, i, depth int) int {
	if i >= len(b) {
		return -1
	}
	switch c := b[i]; {
	case c == '"':
		end, _ := str(b, i)
		return end
	case c == '{':
		return object(b, i, depth)
	case c == '[':
		return array(b, i, depth)
	case c == 't':
		return word(b, i, "true")
	case c == 'f':
		return word(b, i, "false")
	case c == 'n':
		return word(b, i, "null")
	}
	end, _ := number(b, i)
	return end
}

func word(b []byte, i int, w string) int {
	if len(b)-i < len(w) || string(b[i:i+len(w)]) != w {
		return -1
	}
	return i + len(w)
}

func object(b []byte, i, depth int) int {
	if depth == 0 {
		return -1
	}
	if i = space(b, i+1); i < len(b) && b[i] == '}' {
		return i + 1
	}
	var names [maxMembers][]byte
	for n := 0; ; n++ {
		if n == maxMembers || i >= len(b) || b[i] != '"' {
			return -1
		}
		end, escaped := str(b, i)
		if end < 0 || escaped {
			return -1
		}
		name := b[i:end]
		for _, other := range names[:n] {
			if string(other) == string(name) {
				return -1
			}
		}
		names[n] = name
		if i = space(b, end); i >= len(b) || b[i] != ':' {
			return -1
		}
		if i = value(b, space(b, i+1), depth-1); i < 0 {
			return -1
		}
		if i = space(b, i); i >= len(b) {
			return -1
		}
		switch b[i] {
		case '}':
			return i + 1
		case ',':
			i = space(b, i+1)
		default:
			return -1
		}
	}
}

func array(b []byte, i, depth int) int {
	if depth == 0 {
		return -1
	}
	if i = space(b, i+1); i < len(b) && b[i] == ']' {
		return i + 1
	}
	for {
		if i = value(b, i, depth-1); i < 0 {
			return -1
		}
		if i = space(b, i); i >= len(b) {
			return -1
		}
		switch b[i] {
		case ']':
			return i + 1
		case ',':
			i = space(b, i+1)
		default:
			return -1
		}
	}
}

// str steps over the string at b[i], which is a quote. Escaped surrogates are
// declined: they have to come in pairs.
func str(b []byte, i int) (end int, escaped bool) {
	i++
	for {
		i = plain(b, i)
		if i >= len(b) {
			return -1, false
		}
		switch c := b[i]; {
		case c == '"':
			return i + 1, escaped
		case c == '\\':
			escaped = true
			if i = escape(b, i+1); i < 0 {
				return -1, false
			}
		case c < 0x20:
			return -1, false
		case c < utf8.RuneSelf:
			i++
		default:
			r, n := utf8.DecodeRune(b[i:])
			if r == utf8.RuneError && n == 1 {
				return -1, false
			}
			i += n
		}
	}
}

// escape steps over what follows a backslash.
func escape(b []byte, i int) int {
	if i >= len(b) {
		return -1
	}
	switch b[i] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return i + 1
	case 'u':
	default:
		return -1
	}
	if len(b)-i < 5 {
		return -1
	}
	code := 0
	for _, c := range b[i+1 : i+5] {
		switch {
		case c-'0' <= 9:
			code = code<<4 | int(c-'0')
		case c|0x20 >= 'a' && c|0x20 <= 'f':
			code = code<<4 | int(c|0x20-'a'+10)
		default:
			return -1
		}
	}
	if code >= 0xd800 && code < 0xe000 {
		return -1
	}
	return i + 5
}

// plain steps over ASCII that means itself in a string, eight bytes at a time. It
// may stop early.
func plain(b []byte, i int) int {
	const (
		ones  = 0x0101010101010101
		highs = 0x80 * ones
	)
	for ; i+8 <= len(b); i += 8 {
		w := binary.LittleEndian.Uint64(b[i:])
		quote, slash := w^('"'*ones), w^('\\'*ones)
		// A high bit is left for a byte below 0x20, equal to one of the two, or not
		// ASCII; also, harmlessly, for some bytes above such a one.
		if (w|(w-0x20*ones)|(quote-ones)|(slash-ones))&highs != 0 {
			return i
		}
	}
	return i
}

// number steps over a JSON number and reports whether it is digits only, but for a
// sign.
func number(b []byte, i int) (end int, integer bool) {
	if i < len(b) && b[i] == '-' {
		i++
	}
	start := i
	if i = digits(b, i); i == start || b[start] == '0' && i > start+1 {
		return -1, false
	}
	integer = true
	if i < len(b) && b[i] == '.' {
		integer = false
		start = i + 1
		if i = digits(b, start); i == start {
			return -1, false
		}
	}
	if i < len(b) && (b[i] == 'e' || b[i] == 'E') {
		integer = false
		if i++; i < len(b) && (b[i] == '+' || b[i] == '-') {
			i++
		}
		start = i
		if i = digits(b, start); i == start {
			return -1, false
		}
	}
	return i, integer
}

func digits(b []byte, i int) int {
	for i < len(b) && b[i]-'0' <= 9 {
		i++
	}
	return i
}

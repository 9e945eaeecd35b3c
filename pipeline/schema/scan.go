package schema

import (
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// scanner walks JSON text that is known to be valid: every value that reaches a
// validator has passed messages.CheckJSON once (P-6, P-18), and checking the
// grammar again would cost more than the schema. It never reads beyond the
// text, whatever the text is.
type scanner struct {
	s string
	i int
}

// kind skips white space and returns the kind of what follows, or 0 at the end
// of the text.
func (c *scanner) kind() jsontext.Kind {
	for ; c.i < len(c.s); c.i++ {
		if b := c.s[c.i]; b > ' ' {
			return kindOfByte(b)
		}
	}
	return 0
}

// kindOf returns the kind of the value that s starts with: 'n', 't', 'f', '"',
// '0', '{' or '['; or the delimiter that stands there; or 0.
func kindOf(s string) jsontext.Kind {
	if s == "" {
		return 0
	}
	return kindOfByte(s[0])
}

func kindOfByte(b byte) jsontext.Kind {
	if b != '-' && (b < '0' || b > '9') {
		return jsontext.Kind(b)
	}
	return '0'
}

// take steps over the delimiter b, if it is next.
func (c *scanner) take(b byte) bool {
	if c.kind() != jsontext.Kind(b) {
		return false
	}
	c.i++
	return true
}

// end reports whether nothing but white space is left.
func (c *scanner) end() bool { return c.kind() == 0 && c.i == len(c.s) }

// value steps over the next value and returns its text, or "" if there is none.
func (c *scanner) value() string {
	kind := c.kind()
	start := c.i
	switch kind {
	case '"':
		c.skipString()
	case '{', '[':
		c.skipContainer()
	case 0, '}', ']', ',', ':':
		return ""
	default:
		for c.i < len(c.s) && !delimits(c.s[c.i]) {
			c.i++
		}
	}
	return c.s[start:c.i]
}

func delimits(b byte) bool {
	switch b {
	case ',', '}', ']', ':', ' ', '\t', '\r', '\n':
		return true
	}
	return false
}

// skipString steps over the string that starts here, or to the end of the text
// if it is not closed.
func (c *scanner) skipString() {
	c.i++
	for {
		n := strings.IndexByte(c.s[c.i:], '"')
		if n < 0 {
			c.i = len(c.s)
			return
		}
		end := c.i + n
		escapes := 0
		for end-escapes > c.i && c.s[end-escapes-1] == '\\' {
			escapes++
		}
		c.i = end + 1
		if escapes%2 == 0 {
			return
		}
	}
}

// skipContainer steps over the object or array that starts here.
func (c *scanner) skipContainer() {
	depth := 0
	for c.i < len(c.s) {
		switch c.s[c.i] {
		case '"':
			c.skipString()
			continue
		case '{', '[':
			depth++
		case '}', ']':
			depth--
		}
		c.i++
		if depth == 0 {
			return
		}
	}
}

// next steps to the next item of the container that close ends. More says
// whether there is one; if there is none, closed says whether the container was
// ended properly. First says that no item was taken before.
func (c *scanner) next(close byte, first bool) (more, closed bool) {
	switch k := c.kind(); {
	case k == jsontext.Kind(close):
		c.i++
		return false, true
	case first:
		return k != 0, false
	}
	return c.take(','), false
}

// name steps over a member's name and the colon, and returns the name, which
// shares the text unless it has escapes.
func (c *scanner) name() (string, bool) {
	if c.kind() != '"' {
		return "", false
	}
	start := c.i
	for i := start + 1; i < len(c.s); i++ { // names are short
		switch c.s[i] {
		case '"':
			c.i = i + 1
			return c.s[start+1 : i], c.take(':')
		case '\\':
			return unquote(c.value()), c.take(':')
		}
	}
	return "", false
}

// unquote returns the string that raw, a valid JSON string, denotes.
func unquote(raw string) string {
	s, _ := jsontext.AppendUnquote(nil, raw)
	return string(s)
}

// member is one member of an object.
type member struct{ name, value string }

// membersOf returns the members of raw, a valid JSON object, in order.
func membersOf(raw string) []member {
	var out []member
	c := scanner{s: raw}
	c.take('{')
	for more, _ := c.next('}', true); more; more, _ = c.next('}', false) {
		name, ok := c.name()
		if !ok {
			break
		}
		out = append(out, member{name, c.value()})
	}
	return out
}

// items returns the items of raw, a valid JSON array.
func items(raw string) []string {
	var out []string
	c := scanner{s: raw}
	c.take('[')
	for more, _ := c.next(']', true); more; more, _ = c.next(']', false) {
		v := c.value()
		if v == "" {
			break
		}
		out = append(out, v)
	}
	return out
}

package messages

import (
	"iter"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// Scanner walks JSON text that has passed [CheckJSON] without checking the
// grammar again and without allocating: what it returns shares the text. For
// other text it returns something and never reads beyond the text; nothing else
// is promised. It is not safe for concurrent use.
type Scanner struct {
	text JSON
	pos  int
}

// Scan returns a scanner at the start of j.
func (j JSON) Scan() Scanner { return Scanner{text: j} }

// Kind returns the kind of the value that j starts with, as [Scanner.Kind]
// does.
func (j JSON) Kind() jsontext.Kind {
	s := j.Scan()
	return s.Kind()
}

// Kind steps over white space and returns the kind of the value that follows
// ('n', 't', 'f', '"', '0', '{' or '['), or the delimiter that does, or 0 at the
// end of the text.
func (s *Scanner) Kind() jsontext.Kind {
	for ; s.pos < len(s.text); s.pos++ {
		switch b := s.text[s.pos]; {
		case b == ' ' || b == '\n' || b == '\t' || b == '\r':
		case b == '-' || b >= '0' && b <= '9':
			return '0'
		default:
			return jsontext.Kind(b)
		}
	}
	return 0
}

// Take steps over the delimiter b if it is next, and reports whether it was.
func (s *Scanner) Take(b byte) bool {
	if s.Kind() != jsontext.Kind(b) {
		return false
	}
	s.pos++
	return true
}

// End reports whether nothing but white space is left.
func (s *Scanner) End() bool { return s.Kind() == 0 && s.pos == len(s.text) }

// Value steps over the next value and returns its text, or "" if there is none.
func (s *Scanner) Value() JSON {
	kind := s.Kind()
	start := s.pos
	switch kind {
	case '"':
		s.skipString()
	case '{', '[':
		s.skipContainer()
	case 0, '}', ']', ',', ':':
		return ""
	default:
		for s.pos < len(s.text) && !delimits(s.text[s.pos]) {
			s.pos++
		}
	}
	return s.text[start:s.pos]
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
func (s *Scanner) skipString() {
	s.pos++
	for {
		n := strings.IndexByte(string(s.text[s.pos:]), '"')
		if n < 0 {
			s.pos = len(s.text)
			return
		}
		end := s.pos + n
		escapes := 0
		for end-escapes > s.pos && s.text[end-escapes-1] == '\\' {
			escapes++
		}
		s.pos = end + 1
		if escapes%2 == 0 {
			return
		}
	}
}

// skipContainer steps over the object or array that starts here.
func (s *Scanner) skipContainer() {
	depth := 0
	for s.pos < len(s.text) {
		switch s.text[s.pos] {
		case '"':
			s.skipString()
			continue
		case '{', '[':
			depth++
		case '}', ']':
			depth--
		}
		s.pos++
		if depth == 0 {
			return
		}
	}
}

// Next steps to the next item of the container that the delimiter end closes,
// after its opening delimiter was taken. More says whether there is an item; if
// not, closed says whether the container was properly closed, and the scanner is
// behind it. First says that no item was taken before.
func (s *Scanner) Next(end byte, first bool) (more, closed bool) {
	switch k := s.Kind(); {
	case k == jsontext.Kind(end):
		s.pos++
		return false, true
	case first:
		return k != 0, false
	}
	return s.Take(','), false
}

// Name steps over a member's name and the colon and returns the name. It shares
// the text unless it has escapes.
func (s *Scanner) Name() (name string, ok bool) {
	if s.Kind() != '"' {
		return "", false
	}
	start := s.pos
	for i := start + 1; i < len(s.text); i++ { // names are short
		switch s.text[i] {
		case '"':
			s.pos = i + 1
			return string(s.text[start+1 : i]), s.Take(':')
		case '\\':
			return s.Value().unquote(), s.Take(':')
		}
	}
	return "", false
}

// unquote returns the string that j, a valid JSON string, denotes. It shares
// the text unless it has escapes.
func (j JSON) unquote() string {
	if len(j) >= 2 && strings.IndexByte(string(j), '\\') < 0 {
		return string(j[1 : len(j)-1])
	}
	b, _ := jsontext.AppendUnquote(nil, j.Bytes())
	return string(bytesAsJSON(b))
}

// Members iterates over the members of a JSON object in order. For anything
// else it yields nothing. J must have passed [CheckJSON].
func (j JSON) Members() iter.Seq2[string, JSON] {
	return func(yield func(string, JSON) bool) {
		s := j.Scan()
		if !s.Take('{') {
			return
		}
		for more, _ := s.Next('}', true); more; more, _ = s.Next('}', false) {
			name, ok := s.Name()
			value := s.Value()
			if !ok || value == "" || !yield(name, value) {
				return
			}
		}
	}
}

// Elements iterates over the elements of a JSON array. For anything else it
// yields nothing. J must have passed [CheckJSON].
func (j JSON) Elements() iter.Seq[JSON] {
	return func(yield func(JSON) bool) {
		s := j.Scan()
		if !s.Take('[') {
			return
		}
		for more, _ := s.Next(']', true); more; more, _ = s.Next(']', false) {
			if v := s.Value(); v == "" || !yield(v) {
				return
			}
		}
	}
}

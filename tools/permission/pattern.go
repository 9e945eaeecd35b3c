package permission

import (
	"errors"
	"strings"
)

// commandPattern is what a Bash rule says in parentheses: text in which * stands
// for anything. A trailing " *" or ":*" is a prefix: git * is git and git status,
// but not gitk.
type commandPattern struct {
	full   []string // the literals between the stars
	prefix []string // the same without the trailing star, which may be absent; nil if there is none
}

// anything is the pattern of a lone star.
func (p *commandPattern) anything() bool {
	return len(p.full) == 2 && p.full[0] == "" && p.full[1] == ""
}

// exact reports whether the pattern has no star.
func (p *commandPattern) exact() bool { return len(p.full) == 1 }

func parseCommandPattern(spec string) (commandPattern, error) {
	spec = strings.TrimSpace(spec)
	if strings.ContainsAny(spec, "\x00\x01\x02\x03") {
		return commandPattern{}, errors.New("control characters")
	}
	if spec == "*" {
		return commandPattern{full: []string{"", ""}}, nil
	}
	head, prefix := strings.CutSuffix(spec, ":*")
	if !prefix {
		head, prefix = strings.CutSuffix(spec, " *")
	}
	if !prefix {
		head = spec
	}
	if head = strings.TrimRight(head, " "); head == "" {
		return commandPattern{}, errors.New("no command")
	}
	literals := splitStars(head)
	p := commandPattern{full: literals}
	if prefix {
		last := len(literals) - 1
		p.prefix = literals
		p.full = append(append([]string{}, literals[:last]...), literals[last]+" ", "")
	}
	return p, nil
}

// splitStars cuts at every star that no backslash precedes, and takes the
// backslashes of \* and \\ out.
func splitStars(s string) (literals []string) {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		switch {
		case s[i] == '\\' && i+1 < len(s) && (s[i+1] == '*' || s[i+1] == '\\'):
			i++
			b.WriteByte(s[i])
		case s[i] == '*':
			literals = append(literals, b.String())
			b.Reset()
		default:
			b.WriteByte(s[i])
		}
	}
	return append(literals, b.String())
}

// covers reports whether the text, whose marks only a star can stand for, is one
// that the pattern names. It is the test of rules that allow.
func (p *commandPattern) covers(text string) bool {
	return matchStars(p.full, text) || p.prefix != nil && matchStars(p.prefix, text)
}

// could reports whether what the text may expand to can be named by the pattern.
// It is the test of rules that narrow.
func (p *commandPattern) could(text string) bool {
	if strings.IndexByte(text, wildBlank) >= 0 {
		text = strings.ReplaceAll(text, string(wildBlank), " ")
	}
	if !strings.ContainsAny(text, "\x02\x03") {
		return p.covers(text)
	}
	return intersects(p.full, text) || p.prefix != nil && intersects(p.prefix, text)
}

// namesCommand reports whether the first word of the pattern can be the name.
func (p *commandPattern) namesCommand(name string) bool {
	head, _, cut := strings.Cut(p.full[0], " ")
	switch {
	case strings.ContainsAny(name, "\x02\x03"):
		return true
	case cut || p.exact():
		return head == name
	}
	return strings.HasPrefix(name, head) // a star follows within the word
}

// matchStars reports whether text is the literals with anything between them.
func matchStars(literals []string, text string) bool {
	first, rest := literals[0], literals[1:]
	if len(rest) == 0 {
		return text == first
	}
	if !strings.HasPrefix(text, first) {
		return false
	}
	text = text[len(first):]
	last := rest[len(rest)-1]
	for _, literal := range rest[:len(rest)-1] {
		i := strings.Index(text, literal)
		if i < 0 {
			return false
		}
		text = text[i+len(literal):]
	}
	return len(text) >= len(last) && strings.HasSuffix(text, last)
}

// intersects reports whether some expansion of text is the literals with anything
// between them. It takes len(pattern) times len(text) steps.
func intersects(literals []string, text string) bool {
	const star = '\x00'
	pattern := strings.Join(literals, string(star))
	// can[j] says whether pattern[i:] and text[j:] have an expansion in common.
	can, next := make([]bool, len(text)+1), make([]bool, len(text)+1)
	for i := len(pattern); i >= 0; i-- {
		for j := len(text); j >= 0; j-- {
			end, ok := i == len(pattern), false
			switch {
			case end && j == len(text):
				ok = true
			case !end && pattern[i] == star:
				ok = next[j] || j < len(text) && can[j+1]
			case j == len(text):
			case text[j] == wildAny:
				ok = can[j+1] || !end && next[j]
			case text[j] == wildWord:
				ok = can[j+1] || !end && pattern[i] != ' ' && next[j]
			case !end && pattern[i] == text[j]:
				ok = next[j+1]
			}
			can[j] = ok
		}
		can, next = next, can
	}
	return next[0]
}

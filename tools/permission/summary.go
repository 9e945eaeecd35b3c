package permission

import (
	"fmt"
	"strings"
	"unicode"
)

// MaxSummary is the greatest length of a summary, in code points.
const MaxSummary = 200

// summary says on one line what the call would do.
func (s *subject) summary() string {
	switch {
	case s.missing != "" || s.class == other:
		return oneLine(string(s.arguments))
	case s.class == search:
		what, _ := stringMember(s.arguments, "pattern")
		if s.argument != "" {
			what += " in " + s.argument
		}
		return oneLine(what)
	}
	return oneLine(s.argument)
}

// oneLine shows text on a terminal as it is, but for what would act on the
// terminal or hide a part: control characters, line breaks and characters without
// a shape of their own are shown as escapes.
func oneLine(text string) string {
	var b strings.Builder
	n := 0
	for _, c := range strings.TrimSpace(text) {
		if n++; n == MaxSummary {
			b.WriteRune('…')
			break
		}
		switch {
		case c == '\n':
			b.WriteString(`\n`)
		case c == '\t':
			b.WriteString(`\t`)
		case c == ' ' || unicode.IsPrint(c):
			b.WriteRune(c)
		default:
			fmt.Fprintf(&b, `\u{%x}`, c)
		}
	}
	return b.String()
}

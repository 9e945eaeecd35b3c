package scripted

import (
	"strconv"
	"strings"

	"github.com/dsh-actor/dsh-actor/messages"
)

// place is where a history stands in the script.
type place struct {
	index int // answer given last: -1 before the first, len(answers) after the end
	run   int // how many times in a row it was given, from 1
}

// pick returns the answer to a request with this history, and which time in a
// row it is. It reads back from the end only as far as the last mark, so that
// its cost does not depend on the length of the session.
func (s *Script) pick(h messages.List[messages.Message]) (a *answer, run int) {
	last := lastAssistant(h, h.Len())
	prompting := s.matches && !hasToolResult(h, last+1)
	if prompting {
		for _, a := range s.answers {
			if a.match != nil && matchesAny(a, h, last+1) {
				return a, 1
			}
		}
	}
	p := s.after(s.locate(h, last))
	switch {
	case p.index >= 0 && p.index < len(s.answers):
		return s.answers[p.index], p.run
	case prompting:
		return s.unmatched, 1
	default:
		return s.ended, 1
	}
}

// locate returns the place of the answer that the history ends with; last is
// the index of its assistant message, or -1.
func (s *Script) locate(h messages.List[messages.Message], last int) place {
	unmarked := 0
	p := place{index: -1}
	for i := last; i >= 0; i = lastAssistant(h, i) {
		if at, ok := s.marked(h.At(i)); ok {
			p = at
			break
		}
		unmarked++
	}
	for ; unmarked > 0; unmarked-- {
		p = s.after(p)
	}
	return p
}

// after returns the place that follows p when no match decides.
func (s *Script) after(p place) place {
	given := p.index >= 0 && p.index < len(s.answers)
	if given && p.run < s.answers[p.index].repeat {
		return place{p.index, p.run + 1}
	}
	if next := p.index + 1; next < len(s.answers) && s.answers[next].match == nil {
		return place{next, 1}
	}
	switch {
	case s.then == ThenLoop:
		return place{0, 1}
	case s.then == ThenRepeatLast && given:
		return p
	default:
		return place{len(s.answers), 1}
	}
}

const (
	markStart = `{"scripted":`
	markRun   = `,"run":`
	markEnd   = `}`
)

// markOf is the replay state of answer n when it is given for the run-th time
// in a row: its number, from 1, and the run if that is not 1.
func markOf(n, run int) messages.JSON {
	text := markStart + strconv.Itoa(n+1)
	if run > 1 {
		text += markRun + strconv.Itoa(run)
	}
	return messages.JSON(text + markEnd)
}

// marked returns the place that an assistant message says it has.
func (s *Script) marked(m messages.Message) (place, bool) {
	text, ok := strings.CutPrefix(string(m.From().ReplayState), markStart)
	if !ok {
		return place{}, false
	}
	if text, ok = strings.CutSuffix(text, markEnd); !ok {
		return place{}, false
	}
	run := 1
	text, again, ok := strings.Cut(text, markRun)
	if ok {
		n, err := strconv.Atoi(again)
		if err != nil || n < 1 {
			return place{}, false
		}
		run = n
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		return place{}, false
	}
	return place{min(n-1, len(s.answers)), run}, true
}

// lastAssistant returns the index of the last assistant message before end, or
// -1.
func lastAssistant(h messages.List[messages.Message], end int) int {
	i := end - 1
	for i >= 0 && h.At(i).Role != messages.RoleAssistant {
		i--
	}
	return i
}

func hasToolResult(h messages.List[messages.Message], from int) bool {
	for i := from; i < h.Len(); i++ {
		for b := range h.At(i).Content.Blocks() {
			if _, ok := b.(messages.ToolResultBlock); ok {
				return true
			}
		}
	}
	return false
}

func matchesAny(a *answer, h messages.List[messages.Message], from int) bool {
	for i := from; i < h.Len(); i++ {
		if m := h.At(i); m.Role == messages.RoleUser && a.match.MatchString(m.Content.Text()) {
			return true
		}
	}
	return false
}

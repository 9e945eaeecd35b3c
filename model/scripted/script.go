package scripted

import (
	"context"
	"fmt"
	"iter"

	"github.com/dsh-actor/dsh-actor/messages"
	"github.com/dsh-actor/dsh-actor/model"
)

// DefaultProvider is the provider name of a script that does not give one.
const DefaultProvider = "scripted"

// Script is a [model.Model] that answers from a list. It is immutable and has
// no state: see the package documentation for how an answer is chosen.
type Script struct {
	info      Info
	then      Then
	answers   []*answer
	matches   bool    // some answer has a match
	ended     *answer // after the last answer
	unmatched *answer // to a prompt that no answer is for
}

var _ model.Model = (*Script)(nil)

// Info is what a script says about itself.
type Info struct {
	Name        string
	Description string
	Prompt      string // what to send when the user gives no prompt
	Provider    string // never empty
	Model       string // never empty
}

// New returns a script of the answers. It panics if there is none or one of
// them makes no sense, as the caller wrote them into the program; a script from
// outside goes through [Parse].
func New(answers ...Answer) *Script {
	s, at, bad := compile(Info{}, "", answers)
	switch {
	case bad != nil && at < 0:
		panic("scripted.New: " + bad.text)
	case bad != nil:
		panic(fmt.Sprintf("scripted.New: answer %d: %s", at+1, bad.text))
	}
	return s
}

// Then returns a script that goes on in another way after its last answer. It
// panics where a file would be refused.
func (s *Script) Then(then Then) *Script {
	first := Answer{}
	if m := s.answers[0].match; m != nil {
		first.Match = m.String()
	}
	if bad := checkOrder([]Answer{first}, then); bad != nil {
		panic("scripted: " + bad.text)
	}
	out := *s
	out.then = then
	return &out
}

// Info returns what the script says about itself.
func (s *Script) Info() Info { return s.info }

// Len returns the number of answers, not counting repetitions.
func (s *Script) Len() int { return len(s.answers) }

// Stream answers the request; see [model.Model].
func (s *Script) Stream(ctx context.Context, req model.Request) iter.Seq2[messages.Chunk, error] {
	a, run := s.pick(req.History)
	chunks, attempt := a.stream(req, run), req.Attempt
	return func(yield func(messages.Chunk, error) bool) {
		a.play(ctx, chunks, attempt, yield)
	}
}

// compile checks the answers and makes them ready. The flaw that it returns
// belongs to answer at, or to the script as a whole if that is -1.
func compile(info Info, then Then, answers []Answer) (s *Script, at int, bad *flaw) {
	if bad := checkOrder(answers, then); bad != nil {
		return nil, -1, bad
	}
	if then == "" {
		then = ThenStop
	}
	if info.Provider == "" {
		info.Provider = DefaultProvider
	}
	title := "The script"
	if info.Name != "" {
		title = fmt.Sprintf("The script %q", info.Name)
	} else {
		info.Name = DefaultProvider
	}
	if info.Model == "" {
		info.Model = info.Name
	}
	s = &Script{info: info, then: then, answers: make([]*answer, len(answers))}
	for i, a := range answers {
		if bad := check(a); bad != nil {
			return nil, i, bad
		}
		s.answers[i] = prepare(a, i)
		s.matches = s.matches || s.answers[i].match != nil
	}
	end := len(answers)
	s.ended = prepare(Text(title+" has ended."), end)
	s.unmatched = prepare(Text(title+" has no answer to this prompt."), end)
	return s, 0, nil
}

// Place implements model.Placed: a script runs in process.
func (s *Script) Place() model.Place { return model.Place{InProcess: true} }

package ask

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/dsh-actor/dsh-actor/messages"
	"github.com/dsh-actor/dsh-actor/tools/permission"
)

// Input is where answers are typed.
type Input interface {
	// Line reads a line, and fails with the context's cause when ctx is done.
	Line(ctx context.Context) (string, error)
	// Discard throws away what was typed and not read.
	Discard()
}

// Screen is what else writes to the terminal.
type Screen interface {
	// Asked is closed once everything that led to the question is on the screen.
	Asked(id messages.ApprovalID) <-chan struct{}
	// Pause keeps everything else off the screen.
	Pause() (resume func())
}

// Asker asks on one terminal. It is safe for concurrent use.
type Asker struct {
	in     Input
	out    io.Writer
	color  bool
	screen Screen        // nil if nothing else writes
	turn   chan struct{} // holds one token: whose question it is
}

// New returns an asker. Screen may be nil.
func New(in Input, out io.Writer, color bool, screen Screen) *Asker {
	a := &Asker{in: in, out: out, color: color, screen: screen, turn: make(chan struct{}, 1)}
	a.turn <- struct{}{}
	return a
}

// Ask is a permission.Asker.
func (a *Asker) Ask(ctx context.Context, q permission.Question) (permission.Answer, error) {
	select {
	case <-a.turn:
		defer func() { a.turn <- struct{}{} }()
	case <-ctx.Done():
		return permission.Answer{}, context.Cause(ctx)
	}
	if a.screen != nil {
		select {
		case <-a.screen.Asked(q.Approval):
		case <-ctx.Done():
			return permission.Answer{}, context.Cause(ctx)
		}
		defer a.screen.Pause()()
	}
	a.in.Discard()
	if err := a.show(q); err != nil {
		return permission.Answer{}, err
	}
	return a.read(ctx, q)
}

func (a *Asker) show(q permission.Question) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s %s\n", a.paint("33", "?"), a.paint("1", q.Tool), q.Summary)
	if q.Reason != "" {
		fmt.Fprintf(&b, "  %s\n", a.paint("2", q.Reason))
	}
	b.WriteString("  y  yes, once\n")
	if always := always(q); always != "" {
		// In full: what is agreed to must not be cut.
		fmt.Fprintf(&b, "  a  always in this session: %s\n", always)
	}
	b.WriteString("  n  no; words after it tell the model why\n")
	b.WriteString("  " + prompt(q))
	if _, err := io.WriteString(a.out, b.String()); err != nil {
		return fmt.Errorf("write the question: %w", err)
	}
	return nil
}

// always is what "always" would add, "" if it would add nothing.
func always(q permission.Question) string {
	if len(q.Suggestions) == 0 {
		return ""
	}
	u := q.Suggestions[0]
	if u.Type == permission.AddRules {
		return strings.Join(u.Rules, ", ")
	}
	return u.String()
}

func prompt(q permission.Question) string {
	if len(q.Suggestions) == 0 {
		return "Allow it? [y/n] "
	}
	return "Allow it? [y/a/n] "
}

func (a *Asker) read(ctx context.Context, q permission.Question) (permission.Answer, error) {
	for {
		line, err := a.in.Line(ctx)
		switch {
		case ctx.Err() != nil:
			_, _ = io.WriteString(a.out, "\n") // the cursor is behind the question
			return permission.Answer{}, context.Cause(ctx)
		case errors.Is(err, io.EOF):
			_, _ = io.WriteString(a.out, "\n")
			return permission.Answer{Kind: permission.AnswerNo}, nil
		case err != nil:
			return permission.Answer{}, fmt.Errorf("read the answer: %w", err)
		}
		if answer, ok := parse(line, len(q.Suggestions) > 0); ok {
			return answer, nil
		}
		if _, err := io.WriteString(a.out, "  "+prompt(q)); err != nil {
			return permission.Answer{}, fmt.Errorf("write the question: %w", err)
		}
	}
}

// parse reads an answer. An empty line answers nothing: the return key is too easily
// hit.
func parse(line string, canAlways bool) (permission.Answer, bool) {
	word, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
	switch word = strings.ToLower(word); {
	case word == "y" || word == "yes" || word == "once":
		return permission.Answer{Kind: permission.AnswerOnce}, true
	case (word == "a" || word == "always") && canAlways:
		return permission.Answer{Kind: permission.AnswerSession}, true
	case word == "n" || word == "no":
		return permission.Answer{Kind: permission.AnswerNo, Reason: strings.TrimSpace(rest)}, true
	default:
		return permission.Answer{}, false
	}
}

func (a *Asker) paint(color, s string) string {
	if !a.color {
		return s
	}
	return "\x1b[" + color + "m" + s + "\x1b[0m"
}

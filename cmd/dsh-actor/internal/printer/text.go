package printer

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/dsh-actor/dsh-actor/cmd/dsh-actor/internal/drive"
	"github.com/dsh-actor/dsh-actor/cmd/dsh-actor/internal/outcome"
	"github.com/dsh-actor/dsh-actor/messages"
)

// Text prints the result of each turn and nothing else. What went wrong goes to the
// other writer.
type Text struct {
	Out io.Writer
	// Fail is told how a turn failed, in one line.
	Fail func(line string)
}

// Event prints nothing.
func (p *Text) Event(messages.Event) error { return nil }

// Turn prints the result's text, with a newline at its end.
func (p *Text) Turn(_ *outcome.Turn, r outcome.Result) error {
	if line := failureLine(r); line != "" {
		p.Fail(line)
	}
	if r.Text == "" {
		return nil
	}
	text := r.Text
	if !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	if _, err := io.WriteString(p.Out, text); err != nil {
		return fmt.Errorf("write the result: %w", err)
	}
	return nil
}

// Both tells two printers everything. The error of either ends the session.
type Both [2]drive.Printer

// Event tells both.
func (p Both) Event(e messages.Event) error {
	return errors.Join(p[0].Event(e), p[1].Event(e))
}

// Turn tells both.
func (p Both) Turn(t *outcome.Turn, r outcome.Result) error {
	return errors.Join(p[0].Turn(t, r), p[1].Turn(t, r))
}

package printer

import (
	"time"

	"github.com/dsh-actor/dsh-actor/cmd/dsh-actor/internal/outcome"
	"github.com/dsh-actor/dsh-actor/cmd/dsh-actor/internal/view"
	"github.com/dsh-actor/dsh-actor/messages"
	"github.com/dsh-actor/dsh-actor/tools/retry"
)

// Terminal shows a session on a terminal.
type Terminal struct {
	view  *view.View
	facts Facts
}

// NewTerminal returns a printer to v.
func NewTerminal(v *view.View, facts Facts) *Terminal { return &Terminal{v, facts} }

// Event shows the event.
func (p *Terminal) Event(e messages.Event) error {
	switch d := e.Data.(type) {
	case messages.ToolResult:
		f, _ := p.facts(d)
		return p.view.Event(e, f.Denied)
	case retry.Retry:
		return p.view.Retry(d.Attempt, d.MaxRetries, time.Duration(d.DelayMS)*time.Millisecond, d.Failure)
	default:
		return p.view.Event(e, false)
	}
}

// Turn shows how the turn ended.
func (p *Terminal) Turn(t *outcome.Turn, r outcome.Result) error { return p.view.Result(t, r) }

package drive

import (
	"errors"

	"github.com/dsh-actor/dsh-actor/actors"
	"github.com/dsh-actor/dsh-actor/cmd/dsh-actor/internal/outcome"
	"github.com/dsh-actor/dsh-actor/messages"
)

// read hands every event to the printer until the session has ended.
func (d *driver) read() {
	for e, err := range d.cfg.Session.Events(d.reading, 0) {
		var gap *actors.GapError
		switch {
		case errors.As(err, &gap):
			d.failOutput(gap)
		case err != nil:
			return // the reading was given up
		default:
			d.event(e)
		}
	}
	if cause, offered := d.signalled(); cause != outcome.NoCause && offered && d.ended == 0 {
		d.turn = outcome.Turn{}
		d.late = true
		d.print(outcome.Dropped(cause))
	}
}

func (d *driver) event(e messages.Event) {
	d.turn.Add(e)
	if start, ok := e.Data.(messages.TurnStart); ok {
		d.skip = start.Trigger.Kind == messages.TriggerInjection
	}
	if d.outputErr == nil {
		d.failOutput(d.cfg.Printer.Event(e))
	}
	if _, ok := e.Data.(messages.TurnEnd); ok && !d.skip {
		d.print(outcome.Of(&d.turn, d.takeCause()))
		select {
		case d.turnOver <- struct{}{}:
		default:
		}
	}
}

// takeCause is why the turn that has ended was cancelled, if it was.
func (d *driver) takeCause() outcome.Cause {
	d.mu.Lock()
	defer d.mu.Unlock()
	asked := d.asked
	d.asked = outcome.NoCause
	if d.cause != outcome.NoCause {
		d.late = true
		return d.cause
	}
	return asked
}

// signalled is the cause of the first signal, and whether there was a prompt.
func (d *driver) signalled() (cause outcome.Cause, offered bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.cause, d.offered
}

func (d *driver) print(r outcome.Result) {
	d.ended++
	d.last = r
	if d.outputErr == nil {
		d.failOutput(d.cfg.Printer.Turn(&d.turn, r))
	}
}

// failOutput stops a session that nobody can see any more.
func (d *driver) failOutput(err error) {
	if err == nil || d.outputErr != nil {
		return
	}
	d.outputErr = err
	d.cancel()
}

// end sums up.
func (d *driver) end() End {
	d.mu.Lock()
	defer d.mu.Unlock()
	e := End{ExitCode: d.last.ExitCode, Sealed: d.sealed, Err: errors.Join(d.outputErr, d.inputErr, d.closeErr)}
	switch {
	case e.Err != nil && e.ExitCode == 0:
		e.ExitCode = 1
	case d.cause != outcome.NoCause && !d.late && e.ExitCode == 0:
		e.ExitCode = d.cause.ExitCode() // told to end while nothing ran
	}
	return e
}

package drive

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/dsh-actor/dsh-actor/actors"
	"github.com/dsh-actor/dsh-actor/cmd/dsh-actor/internal/outcome"
	"github.com/dsh-actor/dsh-actor/messages"
)

// Input is one thing that a user says: a prompt, an interruption, or neither.
type Input struct {
	// Prompt is a prompt, absent if the input is something else.
	Prompt messages.Content
	// Interrupt cancels the open turn and leaves the queue alone.
	Interrupt bool
	// Done is told what became of the input: nil once it was accepted. Its error ends
	// the input. Without it, a failure does.
	Done func(error) error
}

// Source returns the next input, or io.EOF at the end. It returns soon after ctx is
// done.
type Source func(ctx context.Context) (Input, error)

// Printer shows a session to somebody. An error means that nobody can see it any
// more.
type Printer interface {
	// Event is told each event, in order.
	Event(e messages.Event) error
	// Turn is told how a turn ended, after its last event. A turn with number 0 is a
	// prompt that was cancelled before its turn began.
	Turn(t *outcome.Turn, r outcome.Result) error
}

// Grace is the default of [Config.Grace].
const Grace = 10 * time.Second

// Config says what to drive.
type Config struct {
	Session *actors.Session
	Source  Source
	Printer Printer
	// Signals tells that the process was asked to end.
	Signals <-chan outcome.Cause
	// Grace is how long a cancelled turn, and the closing of the session, may take.
	Grace time.Duration
	// TraceParent is the trace context that turns continue, "" for none.
	TraceParent string
}

// End says how it went.
type End struct {
	// ExitCode is that of the last turn (SPEC table R), of the signal that came
	// between turns, or 1 if there was an error.
	ExitCode int
	// Err is what went wrong outside of the turns: input that could not be read,
	// output that could not be written, a session that did not end quietly.
	Err error
	// Sealed says that something did not end in time, so that what is left of the
	// closing should not be waited for either.
	Sealed bool
}

// Run drives the session until the source has ended and all turns are over, or until
// a signal says so.
func Run(ctx context.Context, cfg Config) End {
	if cfg.Grace <= 0 {
		cfg.Grace = Grace
	}
	d := &driver{cfg: cfg, turnOver: make(chan struct{}, 1)}
	d.feeding, d.stopFeeding = context.WithCancel(ctx)
	d.patience, d.seal = context.WithCancel(ctx)
	d.reading, d.stopReading = context.WithCancel(ctx)
	defer d.stopFeeding()
	defer d.seal()
	defer d.stopReading()

	var wg sync.WaitGroup
	over := make(chan struct{})
	wg.Go(func() { d.watch(over) })
	wg.Go(d.feed)
	d.read()
	close(over)
	wg.Wait()
	d.giveUp.Stop()
	return d.end()
}

// driver is the state of one Run.
type driver struct {
	cfg         Config
	feeding     context.Context // until no more prompts are wanted
	stopFeeding context.CancelFunc
	patience    context.Context // until nothing is waited for any more
	seal        context.CancelFunc
	reading     context.Context // ends only if the events do not end by themselves
	stopReading context.CancelFunc
	turnOver    chan struct{}
	giveUp      *time.Timer // set by feed

	mu       sync.Mutex
	cause    outcome.Cause // of the first signal
	asked    outcome.Cause // of the open turn's cancellation: Requested, or none
	offered  bool          // there was a prompt
	sealed   bool
	inputErr error
	closeErr error

	// Of the reading goroutine.
	turn      outcome.Turn
	skip      bool // the open turn is nobody's prompt
	ended     int  // turns that were printed
	late      bool // the last of them ended after the first signal
	last      outcome.Result
	outputErr error
}

// feed sends the prompts, waits for the last turn, and closes the session, which
// ends the events.
func (d *driver) feed() {
	err := d.send()
	_ = d.cfg.Session.WhenIdle(d.patience) // the close deals with what is left
	ctx, cancel := context.WithTimeout(d.patience, d.cfg.Grace)
	defer cancel()
	_, closeErr := d.cfg.Session.Close(ctx)
	d.mu.Lock()
	d.inputErr, d.closeErr = err, closeErr
	d.sealed = d.sealed || ctx.Err() != nil
	d.mu.Unlock()
	// The events of a session that broke do not end by themselves.
	d.giveUp = time.AfterFunc(d.cfg.Grace, d.stopReading)
}

// send sends the prompts until the source has no more or nobody wants more.
func (d *driver) send() error {
	for {
		in, err := d.cfg.Source(d.feeding)
		if err == nil && !in.Prompt.IsZero() {
			d.mu.Lock()
			d.offered = true
			d.mu.Unlock()
		}
		switch {
		case d.feeding.Err() != nil || errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		}
		err = d.accept(in)
		if d.feeding.Err() != nil {
			return nil // told to end, and that is not the input's fault
		}
		if in.Done != nil {
			err = in.Done(err)
		}
		if err != nil {
			return err
		}
	}
}

func (d *driver) accept(in Input) error {
	switch {
	case in.Interrupt:
		return d.interrupt()
	case !in.Prompt.IsZero():
		return d.prompt(in.Prompt)
	default:
		return nil
	}
}

// prompt hands a prompt to the session. If the inbox is full, it waits for a turn to
// end.
func (d *driver) prompt(content messages.Content) error {
	for {
		err := d.deliver(content)
		switch {
		case err == nil:
			return nil
		case messages.CodeOf(err) != messages.CodeQueueFull:
			return fmt.Errorf("send the prompt: %w", err)
		}
		select {
		case <-d.turnOver:
		case <-d.feeding.Done():
			return nil
		}
	}
}

func (d *driver) deliver(content messages.Content) error {
	_, err := d.cfg.Session.Followup(d.feeding, content, func(p *messages.Prompt) {
		p.TraceParent = d.cfg.TraceParent
	})
	return err
}

// interrupt cancels the open turn for somebody who goes on talking.
func (d *driver) interrupt() error {
	d.mu.Lock()
	d.asked = outcome.Requested
	d.mu.Unlock()
	return d.cfg.Session.Cancel(d.feeding, actors.KeepInbox())
}

// watch turns signals into a cancel, and impatience into a seal.
func (d *driver) watch(over <-chan struct{}) {
	var grace <-chan time.Time
	for n := 0; ; {
		select {
		case cause := <-d.cfg.Signals:
			if n++; n > 1 {
				d.sealNow()
				continue
			}
			timer := time.NewTimer(d.cfg.Grace)
			defer timer.Stop()
			grace = timer.C
			d.mu.Lock()
			d.cause = cause
			d.mu.Unlock()
			d.cancel()
		case <-grace:
			grace = nil
			d.sealNow()
		case <-over:
			return
		}
	}
}

func (d *driver) sealNow() {
	d.mu.Lock()
	d.sealed = true
	d.mu.Unlock()
	d.seal()
}

// cancel ends the turn and drops what is queued. The prompt that is being sent at
// this moment either is refused, or is dropped with the rest.
func (d *driver) cancel() {
	d.stopFeeding()
	// A store that does not take the dropping of the queue shows in the closing.
	_ = d.cfg.Session.Cancel(d.patience)
}

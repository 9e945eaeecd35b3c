package actors

import (
	"context"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/dsh-actor/dsh-actor/messages"
	"github.com/dsh-actor/dsh-actor/otel"
	"github.com/dsh-actor/dsh-actor/pipeline"
	"github.com/dsh-actor/dsh-actor/session"
)

// turn is one turn: its authority to be cancelled, its right to write, the FIFO of
// its active batch. The fields of the second group are behind the core's mu; those
// of the third belong to the driver's goroutine.
type turn struct {
	core   *core
	ctx    context.Context
	cancel context.CancelCauseFunc
	actor  turnActor
	pid    *actor.PID // set before the driver starts

	number    int
	writer    writer
	claiming  bool // turn/start is being stored
	open      bool // turn/start is in the log, turn/end is not
	retired   bool // its end is decided; it cannot be cancelled any more
	cause     messages.CancelCause
	item      messages.InboxItem
	early     []messages.Context // injected while claiming
	batch     *batch             // the active one: injected context waits in fifo
	fifo      []messages.Context
	stopFinal bool // ended by agent/turn-stop: late steering is discarded (T-15)
	sealed    bool

	yields int  // asks that wait for a person now
	slot   bool // holds a place among the running turns

	// in is the context of the open step, or ctx between steps.
	in       context.Context
	span     otel.TurnSpan
	usage    messages.Usage
	calls    int   // tool calls advertised so far
	ending         // of the driver
	where    place // what the driver is in, for reports
	step     int
	requests int // model requests sent (Z-17)
	retried  []messages.Failure
}

// turnContext is the context of a turn's listeners and tools: it carries the mark
// of what waits for them.
type turnContext struct {
	context.Context
	core *core
}

// Value implements context.Context.
func (c *turnContext) Value(key any) any {
	if key == (insideKey{}) {
		return c.core
	}
	return c.Context.Value(key)
}

func newTurn(c *core) *turn {
	t := &turn{core: c}
	ctx, cancel := context.WithCancelCause(context.Background())
	t.ctx, t.cancel = &turnContext{ctx, c}, cancel
	t.in = t.ctx
	t.actor.turn = t
	return t
}

// cancelLocked requests the end of the turn; the first cause wins.
func (t *turn) cancelLocked(cause messages.CancelCause) {
	if t.cause == "" {
		t.cause = cause
	}
	t.cancel(cause)
}

// interrupted reports whether the turn was cancelled.
func (t *turn) interrupted() bool { return t.ctx.Err() != nil }

// The pipeline.Agent of a turn: what its listeners and tools write is stamped with
// the turn and refused once it has ended.

// ID implements pipeline.Agent.
func (t *turn) ID() messages.SessionID { return t.core.id }

// Epoch implements pipeline.Agent.
func (t *turn) Epoch() messages.Epoch { return t.core.epoch }

// Cwd implements pipeline.Agent.
func (t *turn) Cwd() string { return t.core.Cwd() }

// Inject implements pipeline.Agent. It decides by the log, as every inject does
// a late one opens a turn of its own.
func (t *turn) Inject(_ context.Context, ctx messages.Context) (messages.Accepted, error) {
	return t.core.inject(ctx)
}

// Record implements pipeline.Agent.
func (t *turn) Record(_ context.Context, events ...messages.EventData) (err error) {
	defer guardVerb(&err)
	entries := make([]session.Entry, len(events))
	for i, e := range events {
		entries[i] = session.LogOnly(e)
	}
	_, err = t.core.append(&t.writer, entries...)
	return err
}

// Checkpoint implements pipeline.Agent.
func (t *turn) Checkpoint(context.Context) error { return t.core.flush() }

// ApprovalPolicy implements pipeline.Agent.
func (t *turn) ApprovalPolicy() string { return t.core.ApprovalPolicy() }

// Yield implements pipeline.Yielder. Asks of parallel nested calls can overlap:
// the first lends the turn's place, the last takes one again.
func (t *turn) Yield(context.Context, string) (resume func(context.Context) error) {
	t.core.lock()
	t.yields++
	lent := t.slot && t.yields == 1
	t.core.unlock()
	if lent {
		t.core.rt.turnSlots.release()
	}
	return t.unyield
}

// unyield takes a place again when the last ask of the turn has its answer.
func (t *turn) unyield(ctx context.Context) error {
	t.core.lock()
	t.yields--
	again := t.slot && t.yields == 0
	if again {
		t.slot = false
	}
	t.core.unlock()
	if !again {
		return nil
	}
	return t.takeSlot(ctx)
}

var _ interface {
	pipeline.Agent
	pipeline.Yielder
} = (*turn)(nil)

// turnActor owns the turn's driver and its call actors. Its mailbox only spawns,
// stops and drains: it ends after the driver and after every call.
type turnActor struct {
	box    mailbox
	turn   *turn
	calls  int  // living call actors
	driven bool // the driver has ended
	over   bool // reported
}

type (
	// spawnCalls asks the turn's actor for call actors.
	spawnCalls struct{ calls []*call }
	// callsOver says that the goroutines of calls have ended.
	callsOver struct{ calls []call }
	// driverOver says that the driver has ended.
	driverOver struct{}
	// turnOver reports the end of a turn to its session.
	turnOver struct{ turn *turn }
)

func (a *turnActor) mailbox() *mailbox { return &a.box }

// Receive implements actor.Actor.
func (a *turnActor) Receive(c actor.Context) {
	switch m := c.Message().(type) {
	case *actor.Started:
		a.turn.pid = c.Self()
		go a.turn.drive()
	case *call:
		a.spawn(c, m)
	case spawnCalls:
		for _, k := range m.calls {
			a.spawn(c, k)
		}
	case callsOver:
		for i := range m.calls {
			if pid := m.calls[i].pid; pid != nil {
				c.Stop(pid)
			}
		}
	case *actor.Terminated:
		// Outcomes reach the driver on their own way, so nothing but the count of
		// actors depends on it.
		forgetStopped(c)
		a.calls--
		a.report(c)
	case driverOver:
		a.driven = true
		a.report(c)
	}
}

func (a *turnActor) spawn(c actor.Context, k *call) {
	a.calls++
	a.turn.core.rt.nursery.spawn(c, k)
}

// report tells the session once the driver and all calls have ended.
func (a *turnActor) report(c actor.Context) {
	if a.driven && a.calls == 0 && !a.over {
		a.over = true
		c.Send(c.Parent(), turnOver{a.turn})
	}
}

package actors

import (
	"context"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/dsh-actor/dsh-actor/messages"
	"github.com/dsh-actor/dsh-actor/pipeline"
)

// call is the actor of one tool call: it owns the goroutine of checkpoint,
// tools/execute and body, so that policy, results and contexts keep model order
// in the driver without batons (DESIGN 3, rule 4).
type call struct {
	box  mailbox
	turn *turn
	exec *pipeline.Execution
	pid  *actor.PID
	out  chan<- int // takes index when the goroutine is about to end
	// index is the call's place in its batch.
	index int
	// seq is where its tool/call is in the log.
	seq int64
	// block is what the model asked for.
	block messages.ToolCallBlock
	// started says that the call was handed to its actor; behind the core's mu.
	started bool
	ending
	// settled says that the outcome is ready for its turn in model order.
	settled bool
}

func (k *call) mailbox() *mailbox { return &k.box }

// Receive implements actor.Actor.
func (k *call) Receive(c actor.Context) {
	if _, ok := c.Message().(*actor.Started); ok {
		k.pid = c.Self()
		go k.run()
	}
}

// run dispatches the call. In every case, also when a listener or the body ends
// the goroutine, the driver gets the outcome.
func (k *call) run() {
	defer k.report()
	if err := k.turn.core.flush(); err != nil {
		// Work with outside effects does not start before its record is durable
		// (K-6).
		k.exec.Refuse(err)
		return
	}
	k.exec.DispatchContained(k.context(), func() {})
}

func (k *call) report() {
	k.out <- k.index // buffered for the whole batch
	k.end()
}

// context is the caller's signal of the call.
func (k *call) context() context.Context { return k.turn.in }

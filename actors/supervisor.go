package actors

import (
	"github.com/asynkron/protoactor-go/actor"
)

// supervisor is the root of the runtime's tree. It spawns sessions and components
// and has no state of its own: what is there is in the directory.
type supervisor struct {
	box mailbox
	rt  *Runtime
}

type (
	// spawnSession asks for the actor of a new activation.
	spawnSession struct {
		core  *core
		reply chan<- *actor.PID
	}
	// startComponent runs a component's Start where it can spawn.
	startComponent struct {
		component Component
		reply     chan<- error
	}
)

func (s *supervisor) mailbox() *mailbox { return &s.box }

// Receive implements actor.Actor.
func (s *supervisor) Receive(c actor.Context) {
	switch m := c.Message().(type) {
	case spawnSession:
		m.core.actor.core = m.core
		m.reply <- s.rt.nursery.spawn(c, &m.core.actor)
	case startComponent:
		m.reply <- startContained(m.component, c)
	case *actor.Terminated:
		forgetStopped(c)
	case *actor.Stopping:
		s.rt.stoppedByHost()
	case *actor.Stopped:
		close(s.rt.gone)
	}
}

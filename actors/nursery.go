package actors

import (
	"sync"
	"sync/atomic"

	"github.com/asynkron/protoactor-go/actor"
)

// boxed is an actor that brings its own mailbox, so that one allocation holds
// both.
type boxed interface {
	actor.Actor
	mailbox() *mailbox
}

// nursery spawns actors with shared props. The library keeps the props of every
// living actor (some 250 bytes) and takes the instance from a producer without
// arguments; a cell hands the instance to the producer of its props, under a lock
// because spawns run on many goroutines. The child begins after the lock is free and
// its parent knows it: what it does first may spawn as well.
type nursery struct {
	cells [64]cell
	next  atomic.Uint32
}

type cell struct {
	mu    sync.Mutex
	child boxed
	props *actor.Props
}

// stopOnPanic is the supervision of all our actors: a failed actor is stopped and
// its owner rebuilds from the log; nothing is restarted (DESIGN 3, rule 8).
func stopOnPanic() actor.SupervisorStrategy {
	return actor.NewOneForOneStrategy(0, 0, func(any) actor.Directive { return actor.StopDirective })
}

func newNursery() *nursery {
	n := &nursery{}
	supervision := stopOnPanic()
	for i := range n.cells {
		c := &n.cells[i]
		c.props = actor.PropsFromProducer(
			func() actor.Actor { return c.child },
			actor.WithSupervisor(supervision),
			actor.WithMailbox(func() actor.Mailbox { return c.child.mailbox() }),
		)
	}
	return n
}

// spawn starts child under parent. Names are minted by the library and never
// reused.
func (n *nursery) spawn(parent actor.SpawnerContext, child boxed) *actor.PID {
	child.mailbox().hold()
	pid := n.cells[n.next.Add(1)%uint32(len(n.cells))].spawn(parent, child)
	child.mailbox().begin()
	return pid
}

func (c *cell) spawn(parent actor.SpawnerContext, child boxed) *actor.PID {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.child = child
	defer func() { c.child = nil }()
	return parent.Spawn(c.props)
}

// forgetStopped clears the place in the library's child list that an ended child
// has left: the library would keep the child alive there (DESIGN 3, rule 13). It
// must be called inside Receive, for every Terminated.
func forgetStopped(c actor.Context) {
	children := c.Children()
	if n := len(children); n < cap(children) {
		children[: n+1 : n+1][n] = nil
	}
}

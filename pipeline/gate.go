package pipeline

import "sync/atomic"

// gate counts the work that foreign code has under way on an owner's behalf, so
// that the owner can end only after it: enter is refused once the owner has
// closed the gate, and close returns when nothing is under way. The zero value is
// open. It is for one close.
type gate struct {
	state atomic.Int32 // the number under way, plus gateClosed
	idle  chan struct{}
}

const gateClosed = 1 << 30

// enter reports whether work may start; if so, leave must follow.
func (g *gate) enter() bool {
	for {
		n := g.state.Load()
		if n&gateClosed != 0 {
			return false
		}
		if g.state.CompareAndSwap(n, n+1) {
			return true
		}
	}
}

func (g *gate) leave() {
	if g.state.Add(-1) == gateClosed {
		close(g.idle)
	}
}

// closeIdle closes the gate if nothing is under way, and reports whether it did.
func (g *gate) closeIdle() bool { return g.state.CompareAndSwap(0, gateClosed) }

// close refuses new work and waits for what is under way.
func (g *gate) close() {
	if g.closeIdle() {
		return
	}
	g.idle = make(chan struct{})
	if g.state.Or(gateClosed) != 0 {
		<-g.idle
	}
}

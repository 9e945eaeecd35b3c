package actors

import (
	"slices"
	"sync"

	"github.com/dsh-actor/dsh-actor/messages"
)

// leftovers are the goroutines that outlived their owner. One leaves the set when
// it ends after all, so that a report names what is there when it is made.
type leftovers struct {
	mu   sync.Mutex
	list []leftover
}

type leftover struct {
	what messages.Leftover
	done <-chan struct{}
}

func (l *leftovers) add(what messages.Leftover, done <-chan struct{}) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.list = append(l.list, leftover{what, done})
}

// of returns what is still there, of one session or ("") of all.
func (l *leftovers) of(id messages.SessionID) (out []leftover) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.list = slices.DeleteFunc(l.list, func(o leftover) bool { return isClosed(o.done) })
	for _, o := range l.list {
		if id == "" || o.what.Session == id {
			out = append(out, o)
		}
	}
	return out
}

// settle waits for the leftovers of a session ("": of all) until stop is closed, and
// returns what is there then.
func (l *leftovers) settle(id messages.SessionID, stop <-chan struct{}) (left []messages.Leftover) {
	for _, o := range l.of(id) {
		select {
		case <-o.done:
		case <-stop:
		}
	}
	for _, o := range l.of(id) {
		left = append(left, o.what)
	}
	return left
}

func isClosed(ch <-chan struct{}) bool {
	select {
	case <-ch:
		return true
	default:
		return false
	}
}

// Leftovers names the goroutines that outlived their owner and run still.
func (rt *Runtime) Leftovers() (out []messages.Leftover) {
	for _, o := range rt.leftovers.of("") {
		out = append(out, o.what)
	}
	return out
}

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
	what  messages.Leftover
	alive func() bool
}

func (l *leftovers) add(what messages.Leftover, alive func() bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.list = append(l.list, leftover{what, alive})
}

// living returns what is still there, of one session or ("") of all.
func (l *leftovers) living(id messages.SessionID) []messages.Leftover {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.list = slices.DeleteFunc(l.list, func(o leftover) bool { return !o.alive() })
	var out []messages.Leftover
	for _, o := range l.list {
		if id == "" || o.what.Session == id {
			out = append(out, o.what)
		}
	}
	return out
}

// Leftovers names the goroutines that outlived their owner and run still.
func (rt *Runtime) Leftovers() []messages.Leftover { return rt.leftovers.living("") }

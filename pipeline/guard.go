package pipeline

import (
	"slices"
	"sync"
	"sync/atomic"
)

// Guard is a final invariant: it may deny a call that policy allowed, never
// allow one that it denied (P-10). It runs synchronously and must be fast. To
// deny it returns the reason and true.
type Guard func(call *Call) (reason string, deny bool)

// guards is one layer of guards. Iteration is live: a guard that is registered
// by an earlier guard of the layer runs in the same pass, and one that is lifted
// does not, unless the layer became empty in between: that ends the pass (P-10).
// Reading is a load of an immutable list.
type guards struct {
	mu   sync.Mutex // serializes writers
	list atomic.Pointer[guardList]
	last int64 // the newest entry's id
	gen  int64 // the number of times the layer became empty
}

type guardList struct {
	gen     int64
	entries []guardEntry // never empty
}

type guardEntry struct {
	id   int64 // increases in the order of registration
	name string
	fn   Guard
}

func (g *guards) add(fn Guard, opts []Option) (lift func()) {
	r := register(fn, opts)
	g.mu.Lock()
	defer g.mu.Unlock()
	g.last++
	id := g.last
	var entries []guardEntry
	if old := g.list.Load(); old != nil {
		entries = slices.Clone(old.entries)
	}
	g.list.Store(&guardList{g.gen, append(entries, guardEntry{id, r.name, fn})})
	return sync.OnceFunc(func() { g.lift(id) })
}

func (g *guards) lift(id int64) {
	g.mu.Lock()
	defer g.mu.Unlock()
	entries := slices.DeleteFunc(slices.Clone(g.list.Load().entries), func(e guardEntry) bool { return e.id == id })
	if len(entries) > 0 {
		g.list.Store(&guardList{g.gen, entries})
		return
	}
	g.gen++
	g.list.Store(nil)
}

// check runs the layer's guards; the first that denies wins.
func (g *guards) check(call *Call) (reason string, deny bool, err error) {
	list := g.list.Load()
	if list == nil {
		return "", false, nil
	}
	gen, next := list.gen, int64(0)
	for list != nil && list.gen == gen {
		entry := list.from(next)
		if entry == nil {
			break
		}
		if reason, deny, err = callGuard(entry, call); deny || err != nil {
			return reason, deny, err
		}
		next = entry.id + 1
		list = g.list.Load()
	}
	return "", false, nil
}

// from returns the first guard whose id is at least id.
func (l *guardList) from(id int64) *guardEntry {
	for i := range l.entries {
		if l.entries[i].id >= id {
			return &l.entries[i]
		}
	}
	return nil
}

func callGuard(entry *guardEntry, call *Call) (reason string, deny bool, err error) {
	defer contain(entry.name, &err)
	reason, deny = entry.fn(call)
	return reason, deny, nil
}

package pipeline

import (
	"slices"
	"sync"
)

// Guard is a final invariant: it may deny a call that policy allowed, never
// allow one that it denied (P-10). It runs synchronously and must be fast. To
// deny it returns the reason and true.
type Guard func(call *Call) (reason string, deny bool)

// guards is one layer of guards. Iteration is live: a guard that is registered
// by an earlier guard of the layer runs in the same pass, unless the layer
// became empty in between (P-10).
type guards struct {
	mu   sync.RWMutex
	list *guardList // nil when empty
	last int64
}

type guardList struct{ entries []*guardEntry }

type guardEntry struct {
	id   int64 // increases in the order of registration
	name string
	fn   Guard
}

func (g *guards) add(fn Guard, opts []Option) (remove func()) {
	r := registration{}
	for _, o := range opts {
		o(&r)
	}
	if r.name == "" {
		r.name = funcName(fn)
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.last++
	entry := &guardEntry{g.last, r.name, fn}
	if g.list == nil {
		g.list = &guardList{}
	}
	g.list.entries = append(g.list.entries, entry)
	return sync.OnceFunc(func() { g.remove(entry) })
}

func (g *guards) remove(entry *guardEntry) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.list == nil {
		return
	}
	g.list.entries = slices.DeleteFunc(slices.Clone(g.list.entries), func(e *guardEntry) bool { return e == entry })
	if len(g.list.entries) == 0 {
		g.list = nil // a later registration starts a new list: this pass ends
	}
}

// check runs the layer's guards; the first that denies wins.
func (g *guards) check(call *Call) (reason string, deny bool, err error) {
	g.mu.RLock()
	list := g.list
	g.mu.RUnlock()
	if list == nil {
		return "", false, nil
	}
	for last := int64(0); ; {
		entry := g.after(list, last)
		if entry == nil {
			return "", false, nil
		}
		last = entry.id
		if reason, deny, err = callGuard(entry, call); deny || err != nil {
			return reason, deny, err
		}
	}
}

// after returns the first guard of list that was registered after last.
func (g *guards) after(list *guardList, last int64) *guardEntry {
	g.mu.RLock()
	defer g.mu.RUnlock()
	if g.list != list {
		return nil
	}
	for _, e := range list.entries {
		if e.id > last {
			return e
		}
	}
	return nil
}

func callGuard(entry *guardEntry, call *Call) (reason string, deny bool, err error) {
	defer contain(entry.name, &err)
	reason, deny = entry.fn(call)
	return reason, deny, nil
}

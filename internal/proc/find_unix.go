//go:build unix

package proc

import (
	"strings"

	"github.com/dsh-actor/dsh-actor/internal/proc/ptable"
)

// found is a live process and the tree that it belongs to.
type found struct {
	ptable.Proc
	tree *tree
}

// inGroup reports whether a signal to the tree's group reaches the process.
func (f *found) inGroup() bool { return f.tree.pid > 0 && f.PGID == f.tree.pid }

// strays collects processes that carry an owner's mark and belong to no run
// that is known.
type strays struct {
	tree     *tree
	prefixes []string
}

// find reads the process table once and says which live processes belong to
// the trees: those in a tree's group or session; those that are known to
// belong to it, and what they lead; those with its mark; and all descendants
// of these. seen are the processes that were found a moment ago; what they led
// is still the tree's when they have ended.
func (s *shared) find(trees []*tree, st *strays, seen map[ptable.ID]*target) ([]found, error) {
	// A leader that was not reaped before the reading had its number then.
	fresh := make(map[*tree]bool, len(trees))
	for _, t := range trees {
		t.mu.Lock()
		fresh[t] = t.pid > 0 && !t.reaped
		t.mu.Unlock()
	}
	tab, err := s.tables.take()
	if err != nil {
		return nil, err
	}
	f := newFinder(tab, trees, fresh, st, seen)
	f.byGroup()
	f.byMark(s.markName, trees, st)
	f.byParent()
	return f.list, nil
}

func newFinder(tab *ptable.Table, trees []*tree, fresh map[*tree]bool, st *strays, seen map[ptable.ID]*target) *finder {
	f := &finder{tab: tab, leads: make(map[int]*tree), owner: make(map[int]*tree)}
	for id, target := range seen {
		if p, ok := tab.Lookup(id.PID); !ok || p.ID == id {
			f.leads[id.PID] = target.tree
		}
	}
	for _, t := range trees {
		f.know(t)
		if fresh[t] || t.pid > 0 && f.groupLives(t) {
			f.leads[t.pid] = t
		}
	}
	if st != nil {
		f.know(st.tree)
	}
	return f
}

type finder struct {
	tab   *ptable.Table
	leads map[int]*tree // who leads a group or session of which tree
	owner map[int]*tree // process ids that are found
	list  []found
}

func (f *finder) add(p ptable.Proc, t *tree) {
	if f.owner[p.PID] != nil || p.Dead || p.PID == f.tab.Self().PID {
		return
	}
	f.owner[p.PID] = t
	f.list = append(f.list, found{p, t})
}

// know finds the processes that are remembered and still there, and has what
// they lead found.
func (f *finder) know(t *tree) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for id := range t.known {
		if !f.tab.Alive(id) {
			delete(t.known, id)
			continue
		}
		p, _ := f.tab.Lookup(id.PID)
		f.add(p, t)
		f.leads[id.PID] = t
	}
}

// groupLives reports whether the group of a reaped leader is still its group,
// and not one that was given the number later.
func (f *finder) groupLives(t *tree) bool {
	if t.exact() {
		return t.signalGroup(0)
	}
	if _, reused := f.tab.Lookup(t.pid); reused {
		return false
	}
	if f.leads[t.pid] == t { // its leader was seen a moment ago
		return true
	}
	// The number stays with a group as long as it has a member.
	for _, p := range f.list {
		if p.tree == t && p.PGID == t.pid {
			return true
		}
	}
	return false
}

func (f *finder) byGroup() {
	if len(f.leads) == 0 {
		return
	}
	for p := range f.tab.All() {
		if t := f.leads[p.PGID]; t != nil {
			f.add(p, t)
		} else if t := f.leads[p.SID]; t != nil {
			f.add(p, t)
		}
	}
}

func (f *finder) byMark(name string, trees []*tree, st *strays) {
	marked := make(map[string]*tree, len(trees))
	for _, t := range trees {
		if t.mark != "" {
			marked[t.mark] = t
		}
	}
	if len(marked) == 0 && st == nil {
		return
	}
	for pid, value := range f.tab.Marks(name) {
		p, _ := f.tab.Lookup(pid)
		for mark := range strings.SplitSeq(value, markSep) {
			if t := marked[mark]; t != nil {
				f.add(p, t)
			} else if st.owns(mark) {
				f.add(p, st.tree)
			}
		}
	}
}

func (f *finder) byParent() {
	for _, root := range f.list[:len(f.list):len(f.list)] {
		f.tab.Descend(root.PID, func(p ptable.Proc) bool {
			if f.owner[p.PID] != nil {
				return false // found, and its children are looked at from there
			}
			f.add(p, root.tree)
			return true
		})
	}
}

func (st *strays) owns(mark string) bool {
	if st == nil {
		return false
	}
	for _, prefix := range st.prefixes {
		if strings.HasPrefix(mark, prefix) {
			return true
		}
	}
	return false
}

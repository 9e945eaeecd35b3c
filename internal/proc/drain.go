package proc

import (
	"context"
	"maps"
	"slices"
	"time"
)

// Report says what a drain ended.
type Report struct {
	// Runs is the number of runs that the drain cancelled.
	Runs int
	// Processes is the number of processes that were ended, those of the runs
	// and those that earlier runs had left behind, and Killed how many of them
	// took SIGKILL.
	Processes, Killed int
	// Left are the processes that could not be ended. They stay owned, and
	// another drain tries again.
	Left []Member
	// Took is how long it took.
	Took time.Duration
}

// Drain ends everything that the owner and its sub-owners own: the live runs,
// which get [ErrDrained] as their cause, and what earlier runs left behind. It
// returns when all of it is gone and every run is over, or has been reported
// as left. Nothing can be started afterwards.
//
// All of it is ended by one kill sequence with the given grace. When ctx is
// done the grace is over: SIGKILL follows at once, and Drain still waits for
// the end. A run whose Tee blocks holds the drain up.
func (o *Owner) Drain(ctx context.Context, grace time.Duration) Report {
	began := time.Now()
	var d draining
	o.collect(&d)

	var r Report
	var trees []*tree
	d.procs = slices.DeleteFunc(d.procs, func(p *Process) bool {
		p.starting.Lock() // until the fork is over
		defer p.starting.Unlock()
		if p.tree == nil {
			return true
		}
		if p.claim(endDrain, ErrDrained) {
			r.Runs++
		}
		trees = append(trees, p.tree)
		return false
	})
	for _, l := range d.left {
		if !l.tree.keep {
			trees = append(trees, l.tree)
		}
	}
	// Strays are processes with an owner's mark that belong to no run that is
	// still known.
	strays := &strays{tree: &tree{}, prefixes: d.marks}
	ended := o.shared.end(ctx, trees, strays, grace)

	for _, p := range d.procs {
		p.release(ended[p.tree])
	}
	for _, p := range d.procs {
		<-p.done
		p.owner.settle(p.tree, ended[p.tree])
	}
	for _, l := range d.left {
		l.owner.settle(l.tree, ended[l.tree])
	}
	if e := ended[strays.tree]; len(e.left) > 0 {
		o.settle(strays.tree, e)
	}
	for _, e := range ended {
		r.Processes += e.found - len(e.left)
		r.Killed += e.killed - len(e.left)
		r.Left = append(r.Left, e.left...)
	}
	r.Killed = max(r.Killed, 0)
	o.forget(len(r.Left) > 0)
	r.Took = time.Since(began)
	return r
}

// draining is what a drain found.
type draining struct {
	procs []*Process
	left  []leftTree
	marks []string
}

type leftTree struct {
	owner *Owner
	tree  *tree
}

// collect closes the owner and its sub-owners and takes note of what they own.
// A process that is starting is among it, one that comes later is refused.
func (o *Owner) collect(d *draining) {
	o.mu.Lock()
	o.closed = true
	for p := range o.live {
		p.drained = true
		d.procs = append(d.procs, p)
	}
	for t := range o.left {
		d.left = append(d.left, leftTree{owner: o, tree: t})
	}
	d.marks = append(d.marks, o.mark)
	subs := slices.Collect(maps.Keys(o.owners))
	o.mu.Unlock()
	for _, sub := range subs {
		sub.collect(d)
	}
}

// settle records what a drain has done to a tree: it is let go of, or stays
// owned because some of it is still there.
func (o *Owner) settle(t *tree, e ending) {
	o.mu.Lock()
	if len(e.left) > 0 {
		if o.left == nil {
			o.left = make(map[*tree]struct{})
		}
		o.left[t] = struct{}{}
		o.mu.Unlock()
		return
	}
	delete(o.left, t)
	o.mu.Unlock()
	t.drop()
}

// forget takes the drained owner, or its sub-owners, out of the family.
func (o *Owner) forget(left bool) {
	if left {
		return
	}
	o.mu.Lock()
	clear(o.owners)
	parent := o.parent
	o.mu.Unlock()
	if parent != nil {
		parent.mu.Lock()
		delete(parent.owners, o)
		parent.mu.Unlock()
	}
}

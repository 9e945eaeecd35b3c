//go:build unix

package proc

import (
	"context"
	"syscall"
	"time"

	"github.com/dsh-actor/dsh-actor/internal/proc/ptable"
)

// end runs the kill sequence of Z-9 over the trees and strays together. It
// returns, for each tree of which there was something, what became of it, when
// all of it is gone or killWait has passed since SIGKILL. When ctx is done the
// grace is over.
func (s *shared) end(ctx context.Context, trees []*tree, st *strays, grace time.Duration) map[*tree]ending {
	e := &sequence{shared: s, trees: trees, strays: st, targets: make(map[ptable.ID]*target)}
	defer e.close()

	stop := ctx.Done()
	kill := grace <= 0
	deadline := time.Now().Add(grace)
	if kill {
		deadline = time.Now().Add(s.killWait)
	}
	for first := true; ; first = false {
		live, err := e.look()
		if err != nil {
			return e.blind(stop, kill, grace)
		}
		if len(live) == 0 {
			return e.report(nil)
		}
		now := time.Now()
		over := !now.Before(deadline)
		switch {
		case kill && over:
			return e.report(live)
		case !kill && (over || ctx.Err() != nil):
			kill, stop, deadline = true, nil, now.Add(s.killWait)
		}
		until := deadline
		switch {
		case kill:
			e.kill(live)
			// What was started meanwhile must not wait for what cannot be ended.
			until = earlier(deadline, now.Add(killRound))
		case first:
			// Only those that are there now: what a process starts on its way
			// out is its cleanup. A stopped process cannot obey until it is
			// continued, and obeys then before it does anything else.
			e.terminate(live)
		}
		awaitGone(e.refs(live), until, stop)
	}
}

// killRound is the time between two looks at processes that were sent SIGKILL.
const killRound = 200 * time.Millisecond

func earlier(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}

// sequence is one run of the kill sequence.
type sequence struct {
	shared  *shared
	trees   []*tree
	strays  *strays
	targets map[ptable.ID]*target
}

// target is a process that was found.
type target struct {
	*ref
	tree   *tree
	killed bool
}

// look reads the process table and returns what is there of the trees. Every
// process that is found for the first time is held.
func (e *sequence) look() ([]found, error) {
	live, err := e.shared.find(e.trees, e.strays, e.targets)
	if err != nil {
		return nil, err
	}
	for _, f := range live {
		if e.targets[f.ID] == nil {
			e.targets[f.ID] = &target{ref: hold(f.ID), tree: f.tree}
		}
		if !f.inGroup() {
			f.tree.remember(f.ID)
		}
	}
	return live, nil
}

// kill sends SIGKILL to all. What has got away since it was found is found again
// in the next round.
func (e *sequence) kill(live []found) {
	for _, f := range live {
		e.targets[f.ID].killed = true
	}
	e.signal(live, syscall.SIGKILL)
}

// terminate sends SIGTERM, and SIGCONT for the stopped. There is one round of it
// only, so one that has left its group since it was found is looked for:
// whether the group's signal reached it is not known, and twice is better than
// never.
func (e *sequence) terminate(live []found) {
	groups := e.signal(live, syscall.SIGTERM)
	for _, f := range live {
		if !groups[f.PGID] {
			continue
		}
		if now, ok := ptable.Now(f.PID); ok && now.ID == f.ID && now.PGID != f.PGID {
			e.targets[f.ID].signal(syscall.SIGTERM)
		}
	}
	e.signal(live, syscall.SIGCONT)
}

// signal sends the signal to each group once, which cannot miss a process that
// is just being started, and singly to those in a group whose leader is not the
// tree's or has ended. It returns the groups.
func (e *sequence) signal(live []found, sig syscall.Signal) (groups map[int]bool) {
	byPID := make(map[int]found, len(live))
	for _, f := range live {
		byPID[f.PID] = f
	}
	groups = make(map[int]bool)
	for _, f := range live {
		if groups[f.PGID] {
			continue
		}
		lead, ok := byPID[f.PGID]
		switch {
		case f.inGroup():
			groups[f.PGID] = true
			f.tree.signalGroup(sig)
		case ok && lead.tree == f.tree:
			groups[f.PGID] = true
			e.targets[lead.ID].signalGroup(sig)
		default:
			e.targets[f.ID].signal(sig)
		}
	}
	return groups
}

func (e *sequence) refs(live []found) []*ref {
	refs := make([]*ref, len(live))
	for i, f := range live {
		refs[i] = e.targets[f.ID].ref
	}
	return refs
}

func (e *sequence) close() {
	for _, t := range e.targets {
		t.close()
	}
}

func (e *sequence) report(left []found) map[*tree]ending {
	r := make(map[*tree]ending)
	for _, t := range e.targets {
		end := r[t.tree]
		end.found++
		if t.killed {
			end.killed++
		}
		r[t.tree] = end
	}
	for _, f := range left {
		end := r[f.tree]
		end.left = append(end.left, Member{ID: f.ID, Name: f.Name})
		r[f.tree] = end
	}
	return r
}

// blind is the sequence where the process table cannot be read: it reaches the
// groups and nothing else, and looks for their end.
func (e *sequence) blind(stop <-chan struct{}, kill bool, grace time.Duration) map[*tree]ending {
	r := make(map[*tree]ending)
	send := func(sig syscall.Signal) (live bool) {
		for _, t := range e.trees {
			if t.pid <= 0 || !t.signalGroup(sig) {
				continue
			}
			live = true
			end := r[t]
			end.found = 1
			if sig == syscall.SIGKILL {
				end.killed = 1
			}
			r[t] = end
		}
		return live
	}
	wait := func(d time.Duration, stop <-chan struct{}) (gone bool) {
		tick := time.NewTicker(pollEvery)
		defer tick.Stop()
		for until := time.Now().Add(d); send(0); {
			if !time.Now().Before(until) {
				return false
			}
			select {
			case <-tick.C:
			case <-stop:
				return false
			}
		}
		return true
	}
	if !kill {
		send(syscall.SIGTERM)
		send(syscall.SIGCONT)
		if wait(grace, stop) {
			return r
		}
	}
	if send(syscall.SIGKILL); wait(e.shared.killWait, nil) {
		return r
	}
	for _, t := range e.trees {
		if t.pid > 0 && t.signalGroup(0) {
			end := r[t]
			end.left = []Member{{ID: ptable.ID{PID: t.pid}}}
			r[t] = end
		}
	}
	return r
}

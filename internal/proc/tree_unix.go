//go:build unix

package proc

import (
	"fmt"
	"slices"
	"syscall"
	"time"

	"github.com/dsh-actor/dsh-actor/internal/proc/ptable"
)

type exitStatus struct {
	wait syscall.WaitStatus
	err  error
}

func (s exitStatus) report(o *Outcome) {
	switch {
	case s.err != nil: // the zero status would read as success
		o.WaitErr = fmt.Errorf("wait for process %d: %w", o.PID, s.err)
	case s.wait.Exited():
		o.Exited, o.ExitCode = true, s.wait.ExitStatus()
	case s.wait.Signaled():
		o.Signal = s.wait.Signal()
	}
}

// memory is the members of a tree that were found outside of its group, and
// those that outlived the run. It is guarded by the tree's mu.
type memory struct{ known map[ptable.ID]struct{} }

// wait4 takes the leader's exit status, waiting for it if need be.
func (t *tree) wait4() {
	var usage syscall.Rusage
	var end exitStatus
	for {
		_, end.err = syscall.Wait4(t.pid, &end.wait, 0, &usage)
		if end.err != syscall.EINTR {
			break
		}
	}
	t.mu.Lock()
	t.reaped = true
	t.mu.Unlock()
	t.status = status{
		at:         time.Now(),
		cpu:        time.Duration(usage.Utime.Nano() + usage.Stime.Nano()),
		exitStatus: end,
	}
	close(t.exited)
}

// killGroup signals the group by its number. The number is not given away
// while the leader is not reaped or the group has members.
func (t *tree) killGroup(sig syscall.Signal) bool {
	if t.pid <= 0 {
		return false
	}
	err := syscall.Kill(-t.pid, sig)
	return err == nil || err == syscall.EPERM
}

// leaves reports, at the cost of one system call, whether a tree whose leader
// has exited may have left something behind: members of its group, ended ones
// included until they are reaped, or processes that are known to have left it.
func (t *tree) leaves() bool {
	if t.pid > 0 && t.signalGroup(0) {
		return true
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	for id := range t.known {
		if ptable.Running(id) {
			return true
		}
	}
	return false
}

// members lists the processes of a tree that live on, and has the tree remember
// them.
func (s *shared) members(t *tree) []Member {
	found, err := s.find([]*tree{t}, nil, nil)
	if err != nil {
		return nil
	}
	var list []Member
	for _, m := range found {
		if m.Exiting {
			continue
		}
		t.remember(m.ID)
		list = append(list, Member{ID: m.ID, Name: m.Name})
	}
	return list
}

// empty returns those of the trees that have no live process.
func (s *shared) empty(trees []*tree) []*tree {
	found, err := s.find(trees, nil, nil)
	if err != nil {
		return nil
	}
	live := make(map[*tree]bool)
	for _, f := range found {
		live[f.tree] = true
	}
	return slices.DeleteFunc(trees, func(t *tree) bool { return live[t] })
}

// remember records a process of the tree, so that it is found again when it
// has left the group and lost its parent.
func (t *tree) remember(id ptable.ID) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.known == nil {
		t.known = make(map[ptable.ID]struct{})
	}
	t.known[id] = struct{}{}
}

// pollEvery is the time between two looks at a process whose end the system
// does not tell.
const pollEvery = 10 * time.Millisecond

// pollGone is awaitGone where the system cannot tell.
func pollGone(refs []*ref, until time.Time, stop <-chan struct{}) bool {
	tick := time.NewTicker(pollEvery)
	defer tick.Stop()
	for {
		gone := true
		for _, r := range refs {
			if ptable.Running(r.ID) {
				gone = false
				break
			}
		}
		if gone || !time.Now().Before(until) {
			return gone
		}
		select {
		case <-tick.C:
		case <-stop:
			return false
		}
	}
}

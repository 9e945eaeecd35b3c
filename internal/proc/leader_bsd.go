//go:build unix && !linux

package proc

import (
	"syscall"
	"time"

	"github.com/dsh-actor/dsh-actor/internal/proc/ptable"
)

// leader is nothing beyond the process id, which is the child's until it is
// reaped and its group's until the last member has ended.
type leader struct{ memory }

func (*leader) prepare(*syscall.SysProcAttr) {}
func (*leader) started(int)                  {}
func (*leader) close()                       {}

// reap waits for the leader's exit and takes its status.
func (t *tree) reap() { t.wait4() }

// signalGroup signals every process of the leader's group, and reports whether
// there was any. Signal 0 only asks.
func (t *tree) signalGroup(sig syscall.Signal) bool { return t.killGroup(sig) }

// exact reports whether the group is signalled by a handle, which cannot hit
// another group that was given the number.
func (t *tree) exact() bool { return false }

// ref is a process that may be signalled and whose end can be waited for.
type ref struct{ ptable.ID }

func hold(id ptable.ID) *ref { return &ref{id} }

func (r *ref) signal(sig syscall.Signal) {
	if ptable.Running(r.ID) {
		_ = syscall.Kill(r.PID, sig)
	}
}

// signalGroup signals the group that the process leads.
func (r *ref) signalGroup(sig syscall.Signal) {
	if ptable.Running(r.ID) {
		_ = syscall.Kill(-r.PID, sig)
	}
}

func (r *ref) close() {}

// awaitGone waits until all processes have ended, or until the time has come
// or stop is closed. It reports whether all have ended.
func awaitGone(refs []*ref, until time.Time, stop <-chan struct{}) bool {
	return pollGone(refs, until, stop)
}

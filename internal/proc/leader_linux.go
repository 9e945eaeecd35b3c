package proc

import (
	"os"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/dsh-actor/dsh-actor/internal/proc/ptable"
)

// leader is a pidfd of the child. It names the process, and its group, for as
// long as it is open, whatever becomes of the process id. It is in the poller,
// so that a running child costs a goroutine and no thread.
type leader struct {
	memory
	fd  int
	pid *os.File // nil if the system has no pidfd
	raw syscall.RawConn
	// plain is set once the kernel has refused to signal a group by pidfd
	// (before Linux 6.9).
	plain atomic.Bool
}

func (l *leader) prepare(sys *syscall.SysProcAttr) {
	l.fd = -1
	sys.PidFD = &l.fd
}

func (l *leader) started(int) {
	if l.fd < 0 {
		return
	}
	if err := unix.SetNonblock(l.fd, true); err != nil {
		unix.Close(l.fd)
		return
	}
	l.pid = os.NewFile(uintptr(l.fd), "pidfd")
	if raw, err := l.pid.SyscallConn(); err == nil {
		l.raw = raw
	}
}

func (l *leader) close() {
	if l.pid != nil {
		l.pid.Close()
	}
}

// reap waits for the leader's exit and takes its status.
func (t *tree) reap() {
	if t.raw != nil {
		// An error means that it cannot be polled; Wait4 then blocks.
		_ = t.raw.Read(func(fd uintptr) bool {
			n, err := unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, 0)
			return err != nil && err != unix.EINTR || n > 0
		})
	}
	t.wait4()
}

// signalGroup signals every process of the leader's group, and reports whether
// there was any. Signal 0 only asks.
func (t *tree) signalGroup(sig syscall.Signal) bool {
	if t.exact() {
		var err error
		ctl := t.raw.Control(func(fd uintptr) {
			err = unix.PidfdSendSignal(int(fd), sig, nil, unix.PIDFD_SIGNAL_PROCESS_GROUP)
		})
		if ctl != nil {
			return false // it was let go of
		}
		if err != unix.EINVAL && err != unix.ENOSYS {
			return err == nil || err == unix.EPERM
		}
		t.plain.Store(true)
	}
	return t.killGroup(sig)
}

// exact reports whether the group is signalled by a handle, which cannot hit
// another group that was given the number.
func (t *tree) exact() bool { return t.raw != nil && !t.plain.Load() }

// ref is a process that may be signalled and whose end can be waited for.
type ref struct {
	ptable.ID
	fd int // a pidfd, or -1
}

// awaitGone waits until all processes have ended, or until the time has come
// or stop is closed. It reports whether all have ended.
func awaitGone(refs []*ref, until time.Time, stop <-chan struct{}) bool {
	w, err := newWatch(refs)
	if err != nil {
		return pollGone(refs, until, stop)
	}
	defer w.close()
	return w.wait(until, stop)
}

// watch is an epoll set of pidfds, which is itself in the runtime's poller: any
// number of processes is waited for by one goroutine and no thread.
type watch struct {
	file *os.File
	raw  syscall.RawConn
	open int
}

func newWatch(refs []*ref) (*watch, error) {
	fd, err := unix.EpollCreate1(unix.EPOLL_CLOEXEC)
	if err != nil {
		return nil, err
	}
	if err := unix.SetNonblock(fd, true); err != nil {
		unix.Close(fd)
		return nil, err
	}
	w := &watch{file: os.NewFile(uintptr(fd), "watch")}
	for _, r := range refs {
		if r.fd < 0 {
			w.close()
			return nil, unix.EBADF
		}
		ev := unix.EpollEvent{Events: unix.EPOLLIN | unix.EPOLLONESHOT, Fd: int32(r.fd)}
		if err := unix.EpollCtl(fd, unix.EPOLL_CTL_ADD, r.fd, &ev); err != nil {
			w.close()
			return nil, err
		}
		w.open++
	}
	if w.raw, err = w.file.SyscallConn(); err != nil {
		w.close()
		return nil, err
	}
	return w, nil
}

func (w *watch) close() { w.file.Close() }

func (w *watch) wait(until time.Time, stop <-chan struct{}) bool {
	if err := w.file.SetReadDeadline(until); err != nil {
		return false
	}
	if stop != nil {
		over, joined := make(chan struct{}), make(chan struct{})
		go func() {
			defer close(joined)
			select {
			case <-stop:
				_ = w.file.SetReadDeadline(longAgo)
			case <-over:
			}
		}()
		defer func() { close(over); <-joined }()
	}
	var events [64]unix.EpollEvent
	err := w.raw.Read(func(fd uintptr) bool {
		for w.open > 0 {
			n, err := unix.EpollWait(int(fd), events[:], 0)
			if err == unix.EINTR {
				continue
			}
			if err != nil || n == 0 {
				return false
			}
			w.open -= n
		}
		return true
	})
	return err == nil
}

// hold opens a handle on the process.
func hold(id ptable.ID) *ref {
	r := &ref{ID: id, fd: -1}
	fd, err := unix.PidfdOpen(id.PID, 0)
	if err != nil {
		return r // ended, or no more files, or no pidfd: it is looked at
	}
	// The handle is on whoever had the number when it was opened.
	if !ptable.Running(id) {
		unix.Close(fd)
		return r
	}
	r.fd = fd
	return r
}

func (r *ref) signal(sig syscall.Signal) {
	switch {
	case r.fd >= 0:
		_ = unix.PidfdSendSignal(r.fd, sig, nil, 0)
	case ptable.Running(r.ID):
		_ = syscall.Kill(r.PID, sig)
	}
}

// signalGroup signals the group that the process leads.
func (r *ref) signalGroup(sig syscall.Signal) {
	if r.fd >= 0 {
		err := unix.PidfdSendSignal(r.fd, sig, nil, unix.PIDFD_SIGNAL_PROCESS_GROUP)
		if err != unix.EINVAL {
			return
		}
	}
	if ptable.Running(r.ID) {
		_ = syscall.Kill(-r.PID, sig)
	}
}

func (r *ref) close() {
	if r.fd >= 0 {
		unix.Close(r.fd)
		r.fd = -1
	}
}

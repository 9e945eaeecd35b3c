//go:build unix

package proc

import (
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// stdio is the three descriptors of a child that is about to be started, and
// our ends of them.
type stdio struct {
	child [3]int // handed to the child, closed after the fork
	ours  [3]int // -1 where there is none
	sent  int    // bytes of standard input that are in the pipe already
}

// open makes the descriptors. Whatever it returns, close must follow.
//
// Bare descriptors are used instead of os.Pipe because the child's ends must
// not be put into non-blocking mode, nor into the poller.
func (s *stdio) open(spec *Spec) error {
	s.child, s.ours = [3]int{-1, -1, -1}, [3]int{-1, -1, -1}
	pair := pipe
	if spec.Sockets {
		pair = socketPair
	}
	var err error
	if spec.Stdin == nil && !spec.StdinPipe {
		s.child[0], err = openNull(syscall.O_RDONLY)
	} else {
		s.child[0], s.ours[0], err = pair()
	}
	for i := 1; i <= 2 && err == nil; i++ {
		s.ours[i], s.child[i], err = pair()
	}
	for _, fd := range s.ours {
		if fd >= 0 && err == nil {
			err = unix.SetNonblock(fd, true)
		}
	}
	return err
}

// feed writes as much of the input as the pipe takes while nobody reads it.
// What fits needs no goroutine and no poller, and the child finds it there.
func (s *stdio) feed(data []byte) {
	for s.sent < len(data) {
		n, err := syscall.Write(s.ours[0], data[s.sent:])
		if err == syscall.EINTR {
			continue
		}
		if err != nil || n <= 0 {
			return
		}
		s.sent += n
	}
	syscall.Close(s.ours[0])
	s.ours[0] = -1
}

// closeChild closes the child's ends, which the child has by now.
func (s *stdio) closeChild() { closeAll(&s.child) }

func (s *stdio) close() {
	closeAll(&s.child)
	closeAll(&s.ours)
}

func closeAll(fds *[3]int) {
	for i, fd := range fds {
		if fd >= 0 {
			syscall.Close(fd)
			fds[i] = -1
		}
	}
}

// file hands our end of a stream over to the poller.
func (s *stdio) file(i int) *os.File {
	if s.ours[i] < 0 {
		return nil
	}
	f := os.NewFile(uintptr(s.ours[i]), [...]string{"stdin", "stdout", "stderr"}[i])
	s.ours[i] = -1
	return f
}

// takeMost bounds what is read of a stream when it is cut: a pipe holds less,
// and a writer that is faster than we are must not keep us.
const takeMost = 1 << 20

// takeReady reads what is there without waiting, and reports whether that was
// the end of the stream.
func (s *streamIn) takeReady() (end bool) {
	raw, err := s.file.SyscallConn()
	if err != nil {
		return true
	}
	for taken := 0; taken < takeMost; {
		space := s.space()
		var n int
		// Read would look at the deadline first, Control does not.
		if ctl := raw.Control(func(fd uintptr) { n, err = syscall.Read(int(fd), space) }); ctl != nil {
			return true
		}
		switch {
		case err == syscall.EINTR:
			continue
		case err == syscall.EAGAIN:
			return false
		case err != nil || n == 0:
			return true
		}
		s.took(space, n)
		taken += n
	}
	return false
}

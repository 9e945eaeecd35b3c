package proc

import (
	"syscall"

	"golang.org/x/sys/unix"
)

// pipe returns the two ends of a pipe, both blocking and closed on exec.
func pipe() (r, w int, err error) {
	var p [2]int
	err = unix.Pipe2(p[:], unix.O_CLOEXEC)
	return p[0], p[1], err
}

// socketPair returns two connected sockets with the same properties.
func socketPair() (a, b int, err error) {
	p, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	return p[0], p[1], err
}

func openNull(mode int) (int, error) {
	return syscall.Open("/dev/null", mode|syscall.O_CLOEXEC, 0)
}

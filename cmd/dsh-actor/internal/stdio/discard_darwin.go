package stdio

import "golang.org/x/sys/unix"

// fread says that TIOCFLUSH is about input (FREAD of sys/fcntl.h).
const fread = 1

// Discard throws away what was typed at a terminal and not read yet.
func (in *Input) Discard() {
	if in.Terminal() {
		_ = unix.IoctlSetPointerInt(int(in.file.Fd()), unix.TIOCFLUSH, fread)
	}
}

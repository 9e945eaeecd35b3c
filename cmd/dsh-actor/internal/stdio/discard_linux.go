package stdio

import "golang.org/x/sys/unix"

// Discard throws away what was typed at a terminal and not read yet.
func (in *Input) Discard() {
	if in.Terminal() {
		_ = unix.IoctlSetInt(int(in.file.Fd()), unix.TCFLSH, unix.TCIFLUSH)
	}
}

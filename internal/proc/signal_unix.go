//go:build unix

package proc

import "golang.org/x/sys/unix"

// SignalName is the name of the signal that ended the process, such as SIGKILL,
// or "".
func (o *Outcome) SignalName() string {
	if o.Signal == 0 {
		return ""
	}
	return unix.SignalName(o.Signal)
}

//go:build unix

package stdio

import (
	"context"
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// pump is not needed here.
type pump struct{}

// maxSelect is the first descriptor that select cannot wait for.
const maxSelect = 1024

func (in *Input) read(ctx context.Context, p []byte) (int, error) {
	if !in.ready(ctx) {
		return 0, context.Cause(ctx)
	}
	return in.file.Read(p)
}

// ready waits until reading would not block, and returns false if ctx is done
// before. Select, because poll does not know terminals on every system.
func (in *Input) ready(ctx context.Context) bool {
	fd := int(in.file.Fd())
	if fd >= maxSelect || selectFor(&unix.Timeval{}, fd) {
		return true
	}
	wake, end, err := os.Pipe()
	if err != nil {
		return true // it cannot be waited for: the read blocks
	}
	defer wake.Close()
	done := make(chan struct{})
	stop := context.AfterFunc(ctx, func() { defer close(done); end.Close() })
	defer func() {
		if stop() {
			end.Close()
			return
		}
		<-done
	}()
	wakeFD := int(wake.Fd())
	if wakeFD >= maxSelect {
		return true
	}
	selectFor(nil, fd, wakeFD)
	return selectFor(&unix.Timeval{}, fd)
}

// selectFor waits until one of the descriptors can be read, or the time is over;
// nil is for ever. It reports whether one can be read.
func selectFor(limit *unix.Timeval, fds ...int) bool {
	for {
		var set unix.FdSet
		top := 0
		for _, fd := range fds {
			set.Set(fd)
			top = max(top, fd)
		}
		n, err := unix.Select(top+1, &set, nil, nil, limit)
		if errors.Is(err, unix.EINTR) {
			continue
		}
		return err != nil || n > 0 // an error shows again in the read
	}
}

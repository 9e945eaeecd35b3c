package actors

import "sync/atomic"

// ending tells that a goroutine has ended. Asking costs nothing until somebody has
// to wait for it. The zero value is "runs"; it must not be copied.
type ending struct {
	over atomic.Bool
	wait atomic.Pointer[chan struct{}]
}

// end is called by the goroutine, last.
func (e *ending) end() {
	e.over.Store(true)
	e.release()
}

func (e *ending) release() {
	if ch := e.wait.Swap(nil); ch != nil {
		close(*ch)
	}
}

// ended reports whether the goroutine has ended.
func (e *ending) ended() bool { return e.over.Load() }

// done returns a channel that is closed when the goroutine has ended.
func (e *ending) done() <-chan struct{} {
	ch := make(chan struct{})
	for !e.over.Load() {
		if old := e.wait.Load(); old != nil {
			return *old
		}
		if !e.wait.CompareAndSwap(nil, &ch) {
			continue
		}
		if e.over.Load() { // it may have ended before it could see the channel
			e.release()
		}
		return ch
	}
	close(ch)
	return ch
}

package actors

import (
	"time"

	"github.com/cenkalti/backoff/v4"
)

// blockLocked keeps the session from starting turns for a moment after the store
// refused one: a failing store means no new turns (DESIGN 3, rule 11). The prompt
// stays queued.
func (c *core) blockLocked() {
	if c.blocked != nil || c.phase != phaseOpen {
		return
	}
	c.blocked = time.AfterFunc(c.rt.storeRetry(), func() {
		c.lock()
		c.blocked = nil
		pid := c.pid
		c.unlock()
		if pid != nil {
			c.rt.root.Send(pid, wakeUp{})
		}
	})
}

// unblockLocked ends the waiting.
func (c *core) unblockLocked() {
	if c.blocked != nil {
		c.blocked.Stop()
		c.blocked = nil
	}
}

// storeBackoff is how long sessions wait between tries while the store fails: from
// 50 ms to 5 s, over the whole runtime.
func storeBackoff() *backoff.ExponentialBackOff {
	return backoff.NewExponentialBackOff(
		backoff.WithInitialInterval(50*time.Millisecond),
		backoff.WithMaxInterval(5*time.Second),
		backoff.WithMaxElapsedTime(0),
	)
}

// storeRetry returns the next pause.
func (rt *Runtime) storeRetry() time.Duration {
	rt.retryMu.Lock()
	defer rt.retryMu.Unlock()
	return rt.retry.NextBackOff()
}

// storeWorks resets the pauses after a commit that the store took.
func (rt *Runtime) storeWorks() {
	rt.retryMu.Lock()
	defer rt.retryMu.Unlock()
	rt.retry.Reset()
}

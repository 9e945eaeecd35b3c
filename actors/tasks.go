package actors

import "context"

// tasks are a session's goroutines beside its turns: session-start listeners,
// flushes. They are few and short; each is owned by the session, which waits for
// them when it closes. It is behind the core's mu.
type tasks struct {
	running int
	cancel  context.CancelFunc
	ctx     context.Context
	none    []chan struct{} // closed when none runs any more
}

// goTask runs fn on a goroutine. The context ends when the session closes.
func (c *core) goTask(fn func(context.Context)) {
	c.lock()
	ctx := c.startTaskLocked()
	c.unlock()
	go func() {
		defer c.taskDone()
		fn(ctx)
	}()
}

// startTaskLocked counts a task and returns its context.
func (c *core) startTaskLocked() context.Context {
	t := &c.tasks
	t.running++
	if t.ctx == nil {
		t.ctx, t.cancel = context.WithCancel(context.WithValue(context.Background(), insideKey{}, c))
	}
	return t.ctx
}

func (c *core) taskDone() {
	c.lock()
	defer c.unlock()
	t := &c.tasks
	if t.running--; t.running > 0 {
		return
	}
	for _, w := range t.none {
		close(w)
	}
	t.cancel() // an idle session has no context
	*t = tasks{}
}

// quietLocked returns a channel that is closed when no task runs.
func (t *tasks) quietLocked() <-chan struct{} {
	done := make(chan struct{})
	if t.running == 0 {
		close(done)
		return done
	}
	t.none = append(t.none, done)
	return done
}

// cancelLocked ends the tasks' context.
func (t *tasks) cancelLocked() {
	if t.cancel != nil {
		t.cancel()
	}
}

// insideKey marks contexts that are handed to code which its session waits for:
// the value is the *core. What would wait for the code itself returns
// ErrWouldDeadlock (DESIGN 3, rule 9).
type insideKey struct{}

// inside reports whether ctx belongs to code that c waits for.
func inside(ctx context.Context, c *core) bool {
	owner, ok := ctx.Value(insideKey{}).(*core)
	return ok && owner == c
}

// insideAny reports whether ctx belongs to code that some session of rt waits for.
func insideAny(ctx context.Context, rt *Runtime) bool {
	owner, ok := ctx.Value(insideKey{}).(*core)
	return ok && owner.rt == rt
}

package actors

import (
	"context"
	"fmt"
	"runtime/debug"
	"sync"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/dsh-actor/dsh-actor/messages"
	"github.com/dsh-actor/dsh-actor/pipeline"
	"github.com/dsh-actor/dsh-actor/session"
)

// core is one activation of a session. Verbs, the driver and the session's actor
// act on it; what they change is behind mu, which is held for memory work only.
type core struct {
	rt    *Runtime
	agent *Agent
	pipe  *pipeline.Pipeline // the runtime's, unless Setup scoped something
	id    messages.SessionID
	epoch messages.Epoch
	actor sessionActor
	pid   *actor.PID

	// storeMu serializes what the session does with the store (K-1). It is taken
	// before mu and held across I/O.
	storeMu sync.Mutex

	mu       sync.Mutex
	log      *session.Log
	inbox    inbox
	current  *turn // has an actor, or is about to
	turn     *turn // has claimed a prompt; nil between turns
	status   messages.Status
	phase    phase
	sealed   error // why appends are refused, once they are
	created  bool  // the store has the session
	stored   int64 // events before it are durable
	idle     []chan struct{}
	subs     []*wakeup
	lane     lane
	tasks    tasks
	closing  *closing
	gone     chan struct{}           // closed when the actor has stopped
	reviving sync.Mutex              // held by who rebuilds the session
	blocked  *time.Timer             // while the store refuses new turns
	header   *messages.RequestHeader // last sent by this activation
	prefix   *messages.List[messages.Message]
	config   *messages.RequestConfig // what agent/request last returned
	policy   string
	started  chan struct{} // closed when the session-start listeners ended; nil if there are none
	fails    int           // activations without a finished turn
}

// phase is where a core is in its life.
type phase uint8

const (
	phaseNew     phase = iota // being set up; not published
	phaseOpen                 // takes work
	phaseClosing              // refuses work; ending
	phaseClosed               // ended
	phaseBroken               // its actor failed, or a newer owner took over
)

// Errors of verbs. Match them with errors.Is: any error of the same code is equal
// to them.
var (
	// ErrNotFound: no session of that id.
	ErrNotFound = &messages.Error{Code: messages.CodeSessionNotFound}
	// ErrDisposed: the session has ended or is ending.
	ErrDisposed = &messages.Error{Code: messages.CodeDisposed}
	// ErrShuttingDown: the runtime takes no new work.
	ErrShuttingDown = &messages.Error{Code: messages.CodeShuttingDown}
	// ErrWouldDeadlock: the call was made from inside what it would wait for. What
	// it asks for has been started.
	ErrWouldDeadlock = &messages.Error{Code: messages.CodeWouldDeadlock}
	// ErrSuperseded: a late append of an owner that has ended.
	ErrSuperseded = &messages.Error{Code: messages.CodeSuperseded}
	// ErrQueueFull: the session's inbox is full.
	ErrQueueFull = &messages.Error{Code: messages.CodeQueueFull}
	// ErrExists: a session of that id exists.
	ErrExists = &messages.Error{Code: messages.CodeSessionAlreadyExists}
	// ErrStoreUnavailable: the store failed.
	ErrStoreUnavailable = &messages.Error{Code: messages.CodeStoreUnavailable}
	// ErrQuarantined: the session failed at every activation and is left alone.
	ErrQuarantined = &messages.Error{Code: messages.CodeSessionQuarantined}
)

// lock takes mu. Its counterpart [core.unlock] must be deferred.
func (c *core) lock() { c.mu.Lock() }

// unlock releases mu. A panic under the lock leaves the state in doubt: the core
// is sealed and broken, nothing more is written through it, and the panic goes on
// to the goroutine's owner.
func (c *core) unlock() {
	v := recover()
	if v == nil {
		c.mu.Unlock()
		return
	}
	stack := debug.Stack()
	c.sealed = &messages.Error{
		Name: "SupersededError", Code: messages.CodeSuperseded,
		Message: "panic under the session's lock: " + messages.PanicText(v),
	}
	func() {
		defer func() { _ = recover() }() // what is in doubt may panic again
		c.breakLocked("panic under its lock")
	}()
	c.phase = phaseBroken
	c.mu.Unlock()
	c.rt.cfg.Logger.Error("panic under a session's lock", "session", c.id,
		"panic", messages.PanicText(v), "stack", string(stack))
	panic(v)
}

// guardVerb turns a panic of this package into the verb's error, so that it does
// not reach the caller's goroutine.
func guardVerb(err *error) {
	if v := recover(); v != nil {
		*err = fmt.Errorf("internal error: %s", messages.PanicText(v))
	}
}

// now is the time of events, in ms since the Unix epoch.
func (c *core) now() int64 { return c.rt.cfg.Now().UnixMilli() }

// append commits entries as one batch, if the writer may still write.
func (c *core) append(w *writer, entries ...session.Entry) (last int64, err error) {
	c.lock()
	defer c.unlock()
	return c.appendLocked(w, entries...)
}

// appendOne is append for the common single entry.
func (c *core) appendOne(w *writer, entry session.Entry) (seq int64, err error) {
	c.lock()
	defer c.unlock()
	return c.appendOneLocked(w, entry)
}

func (c *core) appendOneLocked(w *writer, entry session.Entry) (seq int64, err error) {
	if err := c.mayWrite(w); err != nil {
		return -1, err
	}
	e, err := c.log.Append(c.now(), entry)
	if err != nil {
		return -1, err
	}
	c.publish(e)
	return e.Seq, nil
}

func (c *core) appendLocked(w *writer, entries ...session.Entry) (last int64, err error) {
	if err := c.mayWrite(w); err != nil {
		return -1, err
	}
	return c.commit(entries...)
}

// commit appends without asking who writes.
func (c *core) commit(entries ...session.Entry) (last int64, err error) {
	events, err := c.log.AppendBatch(c.now(), entries...)
	if err != nil || events.Len() == 0 {
		return -1, err
	}
	for e := range events.Values() {
		c.publish(e)
	}
	return c.log.NextSeq() - 1, nil
}

// publish makes a committed event known: one wake for each reader, and the lane
// if somebody observes.
func (c *core) publish(e messages.Event) {
	for _, s := range c.subs {
		s.wake()
	}
	if c.rt.observed() {
		c.noteLocked(messages.EventAppended{Event: e})
	}
}

// writer is the right to append, stamped with its owner. It is revoked when the
// owner ends; a late append gets ErrSuperseded (DESIGN 3, rule 2).
type writer struct{ revoked bool } // behind the core's mu

func (c *core) mayWrite(w *writer) error {
	switch {
	case c.sealed != nil:
		return c.sealed
	case w.revoked:
		return &messages.Error{
			Name: "SupersededError", Code: messages.CodeSuperseded,
			Message: "the turn that this append belongs to has ended",
		}
	}
	return nil
}

// settled reports whether nothing is going on (DESIGN 3, rule 12).
func (c *core) settledLocked() bool {
	return c.current == nil && c.turn == nil && !c.inbox.waking()
}

// setStatus changes the status and tells.
func (c *core) setStatusLocked(s messages.Status) {
	if c.status == s {
		return
	}
	c.status = s
	if c.rt.observed() {
		c.noteLocked(messages.StatusChanged{Status: s})
	}
}

// releaseIdle wakes everybody who waits for quiescence.
func (c *core) releaseIdleLocked() {
	for _, w := range c.idle {
		close(w)
	}
	c.idle = nil
}

// disposedError is the answer of every delivery after disposal.
func (c *core) disposedError() error {
	return &messages.Error{
		Name: "HarnessError", Code: messages.CodeDisposed,
		Message: fmt.Sprintf("agent %q is disposed", c.id),
	}
}

// refusalLocked says why the core takes no work, or nil.
func (c *core) refusalLocked() error {
	switch c.phase {
	case phaseOpen, phaseNew:
		return c.sealed
	case phaseBroken:
		return &messages.Error{
			Name: "HarnessError", Code: messages.CodeNotOwner,
			Message: fmt.Sprintf("session %q is not owned by this activation any more", c.id),
		}
	default:
		return c.disposedError()
	}
}

// The pipeline.Agent of a session outside a turn.

// ID implements pipeline.Agent.
func (c *core) ID() messages.SessionID { return c.id }

// Epoch implements pipeline.Agent.
func (c *core) Epoch() messages.Epoch { return c.epoch }

// Cwd implements pipeline.Agent.
func (c *core) Cwd() string { return c.log.Header().Cwd }

// Inject implements pipeline.Agent.
func (c *core) Inject(_ context.Context, ctx messages.Context) (messages.Accepted, error) {
	return c.inject(ctx)
}

// Record implements pipeline.Agent: it writes between turns, or into the turn
// that is open now.
func (c *core) Record(_ context.Context, events ...messages.EventData) (err error) {
	defer guardVerb(&err)
	entries := make([]session.Entry, len(events))
	for i, e := range events {
		entries[i] = session.LogOnly(e)
	}
	for {
		claiming, err := c.recordNow(entries)
		if !claiming {
			return err
		}
		// A turn/start is being stored and has its place in the log: wait for it.
		c.storeMu.Lock()
		c.storeMu.Unlock() //nolint:staticcheck // taken to wait, not to guard
	}
}

func (c *core) recordNow(entries []session.Entry) (claiming bool, err error) {
	c.lock()
	defer c.unlock()
	switch {
	case c.sealed != nil:
		return false, c.sealed
	case c.phase == phaseClosed || c.phase == phaseBroken:
		return false, c.refusalLocked()
	case c.turn != nil && c.turn.claiming:
		return true, nil
	}
	_, err = c.commit(entries...)
	return false, err
}

// Checkpoint implements pipeline.Agent.
func (c *core) Checkpoint(context.Context) error { return c.flush() }

// ApprovalPolicy implements pipeline.Agent.
func (c *core) ApprovalPolicy() string {
	c.lock()
	defer c.unlock()
	return c.policy
}

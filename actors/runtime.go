package actors

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/cenkalti/backoff/v4"

	"github.com/dsh-actor/dsh-actor/messages"
	"github.com/dsh-actor/dsh-actor/pipeline"
	"github.com/dsh-actor/dsh-actor/session"
)

// Runtime carries any number of sessions. Make one with [New]; it has no global
// state, and several may live in one process. Its methods are safe for concurrent
// use.
type Runtime struct {
	cfg       Config
	pipe      *pipeline.Pipeline
	system    *actor.ActorSystem
	ownSystem bool
	root      *actor.RootContext
	pid       *actor.PID    // the supervisor
	gone      chan struct{} // closed when the supervisor has stopped
	nursery   *nursery
	dir       *directory
	turnSlots *slots
	observers observers
	headers   headers
	leftovers leftovers

	// storeCtx is the context of store calls: it outlives every turn and ends with
	// the runtime.
	storeCtx  context.Context
	storeDone context.CancelFunc

	mu         sync.Mutex
	shutdown   *shutdown
	components []*mounted

	retryMu sync.Mutex
	retry   *backoff.ExponentialBackOff // while the store fails
	revival *backoff.ExponentialBackOff // while sessions fail
}

// New starts a runtime. It returns when the supervisor has been spawned.
func New(cfg Config) (*Runtime, error) {
	cfg, err := cfg.withDefaults()
	if err != nil {
		return nil, err
	}
	rt := &Runtime{
		cfg: cfg, gone: make(chan struct{}), nursery: newNursery(), dir: newDirectory(),
		turnSlots: newSlots(cfg.MaxConcurrentTurns), retry: storeBackoff(), revival: storeBackoff(),
	}
	rt.headers.last = map[*Agent]*messages.RequestHeader{}
	rt.storeCtx, rt.storeDone = context.WithCancel(context.Background())
	rt.pipe = pipeline.New(pipeline.Config{Tracer: cfg.Tracer, Warn: func(err error) {
		cfg.Logger.Warn("listener failed", "error", err)
	}})
	under := cfg.Under
	if under == nil {
		rt.system, rt.ownSystem = newSystem(cfg.Logger), true
		under = rt.system.Root
	} else {
		rt.system = under.ActorSystem()
	}
	rt.root = rt.system.Root
	rt.pid = rt.nursery.spawn(under, &supervisor{rt: rt})
	return rt, nil
}

// newSystem makes an actor system that logs where we log and keeps no timer: with
// the default settings it writes coloured text to stderr.
func newSystem(logger *slog.Logger) *actor.ActorSystem {
	quiet := slog.New(warningsOnly{logger.Handler()})
	return actor.NewActorSystem(
		actor.WithLoggerFactory(func(*actor.ActorSystem) *slog.Logger { return quiet }),
		actor.WithDeadLetterThrottleInterval(time.Millisecond),
		actor.WithDeadLetterThrottleCount(0),
	)
}

// warningsOnly drops the library's chatter: it logs every start at INFO, and dead
// letters with their payload.
type warningsOnly struct{ slog.Handler }

// Enabled implements slog.Handler.
func (h warningsOnly) Enabled(ctx context.Context, level slog.Level) bool {
	return level >= slog.LevelWarn && h.Handler.Enabled(ctx, level)
}

// Seams is the interception surface of all sessions.
func (rt *Runtime) Seams() *pipeline.Seams { return rt.pipe.Seams() }

// Tools is the registry of the tools that all sessions see.
func (rt *Runtime) Tools() *pipeline.Tools { return rt.pipe.Tools() }

// Guard adds a guard for all sessions and returns what lifts it (P-10).
func (rt *Runtime) Guard(fn pipeline.Guard, opts ...pipeline.Option) (lift func()) {
	return rt.pipe.Guard(fn, opts...)
}

// Events is the registry of event types: packages declare their log-only ones here.
func (rt *Runtime) Events() *messages.Registry { return rt.cfg.Events }

// Observe adds an observer of all sessions' live notifications and returns what
// removes it. It is meant for code of the runtime's own kind, such as bridges;
// readers of events use Session.Events.
func (rt *Runtime) Observe(fn Observer) (remove func()) { return rt.observers.add(fn) }

func (rt *Runtime) observed() bool { return rt.observers.list.Load() != nil }

// tell hands a notification to the observers.
func (rt *Runtime) tell(id messages.SessionID, n messages.Notification) {
	list := rt.observers.list.Load()
	if list == nil {
		return
	}
	for _, fn := range *list {
		rt.tellOne(*fn, id, n)
	}
}

func (rt *Runtime) tellOne(fn Observer, id messages.SessionID, n messages.Notification) {
	defer func() {
		if v := recover(); v != nil {
			rt.cfg.Logger.Warn("observer panicked", "session", id, "panic", messages.PanicText(v))
		}
	}()
	fn(id, n)
}

// Session returns the handle of a live session.
func (rt *Runtime) Session(id messages.SessionID) (*Session, bool) {
	c := rt.dir.get(id)
	if c == nil {
		return nil, false
	}
	return &Session{rt: rt, id: id, core: c}, true
}

// Sessions returns the ids of all live sessions, in no order.
func (rt *Runtime) Sessions() []messages.SessionID {
	cores := rt.dir.all()
	ids := make([]messages.SessionID, len(cores))
	for i, c := range cores {
		ids[i] = c.id
	}
	return ids
}

// live returns the activation that verbs of a session go to. One that failed is
// rebuilt from its log.
func (rt *Runtime) live(ctx context.Context, id messages.SessionID) (*core, error) {
	if rt.draining() {
		return nil, rt.shuttingDown()
	}
	c := rt.dir.get(id)
	if c == nil {
		return nil, &messages.Error{
			Name: "HarnessError", Code: messages.CodeSessionNotFound,
			Message: fmt.Sprintf("no session %q", id),
		}
	}
	if c.broken() {
		return rt.revive(ctx, c)
	}
	return c, nil
}

func (rt *Runtime) shuttingDown() error {
	return &messages.Error{
		Name: "HarnessError", Code: messages.CodeShuttingDown,
		Message: "the runtime is shutting down",
	}
}

func (rt *Runtime) draining() bool {
	rt.mu.Lock()
	defer rt.mu.Unlock()
	return rt.shutdown != nil
}

// Fork makes a session that starts with the events of parent up to the turn/end
// with sequence number at (negative: its last event, which must be one) (E-12). The
// parent need not be live.
func (rt *Runtime) Fork(ctx context.Context, parent messages.SessionID, at int64, opts SessionOptions) (*Session, error) {
	if c := rt.dir.get(parent); c != nil {
		if err := c.flush(); err != nil {
			return nil, fmt.Errorf("fork session %q: %w", parent, err)
		}
	}
	return rt.fork(ctx, parent, at, opts)
}

// storeGone reports whether err says that a session is not stored.
func storeGone(err error) bool { return errors.Is(err, session.ErrNotFound) }

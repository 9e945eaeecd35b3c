package actors

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/dsh-actor/dsh-actor/messages"
	"github.com/dsh-actor/dsh-actor/otel"
	"github.com/dsh-actor/dsh-actor/pipeline"
	"github.com/dsh-actor/dsh-actor/session"
)

// Create makes a session and publishes it. When it returns, the session
// takes prompts, and agent/session-start has been dispatched. ctx aborts the
// creation only; nothing is published then. Errors: SESSION_ALREADY_EXISTS for an
// id that is live or stored, SHUTTING_DOWN, STORE_UNAVAILABLE, INVALID_INPUT, and
// what Setup or a creation listener returned; after an error nothing is left.
func (rt *Runtime) Create(ctx context.Context, opts SessionOptions) (s *Session, err error) {
	defer guardVerb(&err)
	if err := opts.check(); err != nil {
		return nil, err
	}
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	id, err := rt.reserveNew(ctx, opts.ID)
	if err != nil {
		return nil, err
	}
	defer rt.dir.release(id) // has no effect once the session is entered
	log := session.New(session.Config{Types: rt.cfg.Events, Header: session.Header{
		ID: id, CreatedAt: rt.cfg.Now().UnixMilli(), Cwd: opts.Cwd, Labels: opts.Labels,
		ParentSession: opts.ParentSession, DelegationDepth: opts.DelegationDepth,
	}})
	c := rt.newCore(opts.Agent, log, 1)
	return rt.activate(ctx, c, messages.StartStartup)
}

// Resume brings a stored session back under a new owner epoch (K-5): the old owner,
// in this process or another, can write no more. An interrupted turn is closed in
// the log (K-3); prompts that were acknowledged are kept and run.
func (rt *Runtime) Resume(ctx context.Context, id messages.SessionID, agent *Agent) (s *Session, err error) {
	defer guardVerb(&err)
	if agent == nil {
		return nil, messages.Errorf(messages.CodeInvalidInput, "resume session %q: no agent given", id)
	}
	if id == "" {
		return nil, messages.Errorf(messages.CodeInvalidInput, "resume session: no id given")
	}
	if _, err := rt.reserve(id); err != nil {
		return nil, err
	}
	defer rt.dir.release(id)
	c, err := rt.load(ctx, id, agent)
	if err != nil {
		return nil, fmt.Errorf("resume session %q: %w", id, err)
	}
	return rt.activate(ctx, c, messages.StartResume)
}

func (rt *Runtime) fork(ctx context.Context, parent messages.SessionID, at int64, opts SessionOptions) (s *Session, err error) {
	defer guardVerb(&err)
	if err := opts.check(); err != nil {
		return nil, err
	}
	id, err := rt.reserveNew(ctx, opts.ID)
	if err != nil {
		return nil, err
	}
	defer rt.dir.release(id)
	_, err = session.Fork(ctx, rt.cfg.Store, session.ForkRequest{
		Parent: parent, Boundary: at, Child: id, CreatedAt: rt.cfg.Now().UnixMilli(), Labels: opts.Labels,
	})
	if err != nil {
		return nil, err
	}
	c, err := rt.load(ctx, id, opts.Agent)
	if err != nil {
		return nil, fmt.Errorf("fork session %q: %w", parent, err)
	}
	return rt.activate(ctx, c, messages.StartStartup)
}

func (o SessionOptions) check() error {
	switch {
	case o.Agent == nil:
		return messages.Errorf(messages.CodeInvalidInput, "create session: no agent given")
	case o.Cwd != "" && !filepath.IsAbs(o.Cwd):
		return messages.Errorf(messages.CodeInvalidInput, "create session: cwd %q is not an absolute path", o.Cwd)
	}
	return nil
}

// reserveNew takes an id that neither the directory nor the store knows; an empty
// one is minted (V-2).
func (rt *Runtime) reserveNew(ctx context.Context, id messages.SessionID) (messages.SessionID, error) {
	for {
		got, err := rt.reserve(id)
		if err != nil {
			return "", err
		}
		err = rt.notStored(ctx, got)
		if err == nil {
			return got, nil
		}
		rt.dir.release(got)
		if id != "" || !errors.Is(err, ErrExists) {
			return "", err
		}
	}
}

// reserve takes an id in the directory; an empty one is minted.
func (rt *Runtime) reserve(id messages.SessionID) (messages.SessionID, error) {
	switch {
	case rt.draining():
		return "", rt.shuttingDown()
	case id == "":
		return rt.dir.mint(), nil
	case !rt.dir.reserve(id):
		return "", alreadyExists(id)
	}
	return id, nil
}

func alreadyExists(id messages.SessionID) error {
	return &messages.Error{
		Name: "HarnessError", Code: messages.CodeSessionAlreadyExists,
		Message: fmt.Sprintf("session %q already exists", id),
	}
}

// notStored fails if the store knows the id.
func (rt *Runtime) notStored(ctx context.Context, id messages.SessionID) error {
	_, err := rt.cfg.Store.Stat(ctx, id)
	switch {
	case err == nil:
		return alreadyExists(id)
	case storeGone(err):
		return nil
	default:
		return &messages.Error{
			Name: "HarnessError", Code: messages.CodeStoreUnavailable,
			Message: fmt.Sprintf("create session %q: the store did not answer", id), Err: err,
		}
	}
}

func (rt *Runtime) newCore(agent *Agent, log *session.Log, epoch messages.Epoch) *core {
	c := &core{
		rt: rt, agent: agent, pipe: rt.pipe, id: log.ID(), epoch: epoch, log: log,
		status: messages.StatusIdle, policy: agent.ApprovalPolicy,
	}
	if c.policy == "" {
		c.policy = pipeline.PolicyAsk
	}
	return c
}

// load takes ownership of a stored session and makes its core: the log read and
// repaired, the inbox as it was.
func (rt *Runtime) load(ctx context.Context, id messages.SessionID, agent *Agent) (*core, error) {
	acquired, err := rt.cfg.Store.Acquire(ctx, id)
	if err != nil {
		return nil, storeAnswer(id, err)
	}
	cfg := session.Config{Header: acquired.Header, Types: rt.cfg.Events}
	log, err := session.Restore(cfg, rt.cfg.Store.Read(ctx, id, 0, -1))
	if err != nil {
		return nil, err
	}
	c := rt.newCore(agent, log, acquired.Epoch)
	c.created, c.stored = true, log.NextSeq()
	for _, item := range acquired.Inbox {
		if item.Steering { // the turn that it was to join is over (T-16)
			item.Steering, item.Wake = false, true
		}
		c.inbox.push(item)
	}
	if _, err := session.Repair(log); err != nil {
		return nil, err
	}
	if err := c.flush(); err != nil {
		return nil, err
	}
	c.forgetStored()
	return c, nil
}

func storeAnswer(id messages.SessionID, err error) error {
	if storeGone(err) {
		return &messages.Error{
			Name: "HarnessError", Code: messages.CodeSessionNotFound,
			Message: fmt.Sprintf("no session %q is stored", id), Err: err,
		}
	}
	return &messages.Error{
		Name: "HarnessError", Code: messages.CodeStoreUnavailable,
		Message: fmt.Sprintf("session %q: the store did not answer", id), Err: err,
	}
}

// activate sets a core up, spawns its actor and publishes it.
func (rt *Runtime) activate(ctx context.Context, c *core, source messages.SessionStartSource) (s *Session, err error) {
	ctx, span := rt.cfg.Tracer.StartSessionOpen(ctx, otel.SessionOpenStart{Session: c.id, Source: source, Epoch: c.epoch})
	defer func() {
		span.End(otel.SessionOpenEnd{Events: int(c.log.NextSeq()), Ending: otel.Ending{Err: err}})
	}()
	if err := c.setUp(ctx); err != nil {
		return nil, err
	}
	if err := rt.spawn(c); err != nil {
		return nil, err
	}
	if err := c.enter(ctx, source); err != nil {
		c.withdraw()
		return nil, err
	}
	c.begin(source)
	return &Session{rt: rt, id: c.id, core: c}, nil
}

// setUp runs the agent's Setup.
func (c *core) setUp(ctx context.Context) (err error) {
	if err := ctx.Err(); err != nil {
		return context.Cause(ctx)
	}
	if c.agent.Setup == nil {
		return nil
	}
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("setup of session %q: panic: %s", c.id, messages.PanicText(v))
		}
	}()
	scope := &Scope{core: c}
	if err := c.agent.Setup(scope); err != nil {
		return fmt.Errorf("setup of session %q: %w", c.id, err)
	}
	if scope.pipe != nil {
		c.pipe = scope.pipe
	}
	return context.Cause(ctx)
}

// spawn makes the session's actor.
func (rt *Runtime) spawn(c *core) error {
	reply := make(chan *actor.PID, 1)
	rt.root.Send(rt.pid, spawnSession{c, reply})
	select {
	case c.pid = <-reply:
		return nil
	case <-rt.gone:
		return rt.shuttingDown()
	}
}

// enter makes the session known and asks the two creation listeners, which alone
// can veto.
func (c *core) enter(ctx context.Context, source messages.SessionStartSource) error {
	rt := c.rt
	c.lock()
	c.phase = phaseOpen
	c.noteLocked(messages.SessionCreated{Source: source})
	c.unlock()
	rt.dir.put(c)
	rt.cfg.Tracer.SessionWarm(1)
	if rt.draining() { // it may have missed the session
		return rt.shuttingDown()
	}
	event := &pipeline.SessionStart{Agent: c, Source: source}
	if err := rt.pipe.Seams().SessionCreated.Run(ctx, event); err != nil {
		return fmt.Errorf("session/created: %w", err)
	}
	c.lock()
	c.noteLocked(messages.AgentCreated{})
	c.unlock()
	if err := rt.pipe.Seams().AgentCreated.Run(ctx, event); err != nil {
		return fmt.Errorf("agent/created: %w", err)
	}
	return nil
}

// withdraw rolls a vetoed creation back, with the paired ends of what was told.
func (c *core) withdraw() {
	cl, first := c.beginClose(false, "close")
	if first {
		c.finishClose(cl)
	}
	<-cl.done
}

// begin dispatches agent/session-start, whose listeners run as tasks (Z-22), and
// wakes the actor for prompts that were waiting.
func (c *core) begin(source messages.SessionStartSource) {
	c.lock()
	c.noteLocked(messages.SessionStarted{Source: source})
	seam := &c.pipe.Seams().SessionStart
	if !seam.Empty() {
		started := make(chan struct{})
		c.started = started
		ctx := c.tasks.startLocked(c)
		go func() {
			defer c.tasks.done(c)
			defer close(started)
			if err := seam.Run(ctx, &pipeline.SessionStart{Agent: c, Source: source}); err != nil && !errors.Is(err, context.Canceled) {
				c.rt.cfg.Logger.Warn("agent/session-start failed", "session", c.id, "error", err)
			}
		}()
	}
	waking := c.inbox.waking()
	c.unlock()
	if waking {
		c.wake(context.Background())
	}
}

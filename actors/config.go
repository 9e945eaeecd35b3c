package actors

import (
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/dsh-actor/dsh-actor/messages"
	"github.com/dsh-actor/dsh-actor/model"
	"github.com/dsh-actor/dsh-actor/otel"
	"github.com/dsh-actor/dsh-actor/pipeline"
	"github.com/dsh-actor/dsh-actor/session"
)

// Config configures a [Runtime]. Only Models is required; the zero value of
// every other field is a documented default.
type Config struct {
	// Models finds the adapter of a session's provider.
	Models model.Models
	// Store keeps sessions. Nil: in memory, gone with the process. The host closes
	// the store after Shutdown.
	Store session.Store
	// Under is where the runtime's supervisor is spawned: a host's
	// actor.RootContext, or an actor.Context inside that actor's Receive. Nil: an
	// actor system of our own.
	Under actor.SpawnerContext
	// Events has the log-only event types of other packages. Nil: a new registry,
	// to which mounted components may add.
	Events *messages.Registry
	// Tracer records spans and metrics; nil records nothing and costs nothing.
	Tracer *otel.Tracer
	// Logger gets warnings about contained failures. Nil drops them.
	Logger *slog.Logger
	// Now is the clock of event times. Nil: time.Now.
	Now func() time.Time
	// NewMessageID mints ids of prompts. Nil: random UUIDs (V-2).
	NewMessageID func() messages.MessageID

	// MaxParallelToolCalls bounds the tool calls of one batch that are started and
	// not settled (C-1). Default 10.
	MaxParallelToolCalls int
	// MaxConcurrentTurns bounds the turns that run at once, over all sessions; a
	// turn that waits for a person does not count. Default 0: no bound.
	MaxConcurrentTurns int
	// MaxQueuedPrompts bounds one session's inbox; a prompt beyond it is refused
	// with QUEUE_FULL. Default 1,000; negative: no bound.
	MaxQueuedPrompts int
	// StartGrace is how long the first turn of an activation waits for
	// agent/session-start listeners (Z-22). Default 100 ms; negative: not at all.
	StartGrace time.Duration
}

// Agent defines how sessions of a kind behave. It is shared by all its sessions
// and must not be changed after the first of them was created.
type Agent struct {
	// Name names the agent in traces.
	Name string
	// System is the system prompt.
	System string
	// Request is the model configuration of the first request; provider and model
	// must be set here or by agent/request (T-7).
	Request messages.RequestConfig
	// Setup registers what is scoped to one session: listeners, guards, tools,
	// restrictions. It runs at every activation, before the session is published
	// (A-14, Z-49); an error fails the activation.
	Setup func(*Scope) error
	// MaxStepsPerPrompt bounds the model requests of one turn (Z-17); 0: no bound.
	MaxStepsPerPrompt int
	// MaxTurnsPerSession bounds the turns of one session (Z-17); 0: no bound.
	MaxTurnsPerSession int
	// ApprovalPolicy is pipeline.PolicyAsk (the default) or pipeline.PolicyNever
	// (P-9).
	ApprovalPolicy string
}

// Scope is what a Setup works with.
type Scope struct {
	core *core
	pipe *pipeline.Pipeline
}

// Agent returns the session that is being set up.
func (s *Scope) Agent() pipeline.Agent { return s.core }

// Header describes the session.
func (s *Scope) Header() session.Header { return s.core.log.Header() }

// Seams returns the session's interception surface.
func (s *Scope) Seams() *pipeline.Seams { return s.scoped().Seams() }

// Tools returns the session's tool registry: its tools shadow the runtime's, and
// it can restrict them (P-2).
func (s *Scope) Tools() *pipeline.Tools { return s.scoped().Tools() }

// Guard adds a guard for this session; it runs after the runtime's (P-10).
func (s *Scope) Guard(fn pipeline.Guard, opts ...pipeline.Option) (lift func()) {
	return s.scoped().Guard(fn, opts...)
}

// scoped makes the session's own pipeline when it is first needed: a session
// without scoped registrations shares the runtime's.
func (s *Scope) scoped() *pipeline.Pipeline {
	if s.pipe == nil {
		s.pipe = s.core.rt.pipe.Scope()
	}
	return s.pipe
}

// SessionOptions describe a session to create.
type SessionOptions struct {
	// ID is the session's id; empty: minted as session-1, session-2, … (V-2).
	ID messages.SessionID
	// Agent is required.
	Agent *Agent
	// Cwd is the working directory, an absolute path, or empty.
	Cwd string
	// Labels are the host's own.
	Labels map[string]string
	// DelegationDepth counts the sessions that lead to this one.
	DelegationDepth int
	// ParentSession names the session that this one was delegated by.
	ParentSession messages.SessionID
}

const (
	defaultParallelToolCalls = 10
	defaultQueuedPrompts     = 1000
	defaultStartGrace        = 100 * time.Millisecond
)

func (cfg Config) withDefaults() (Config, error) {
	switch {
	case cfg.Models == nil:
		return cfg, errors.New("runtime config: Models is required")
	case cfg.MaxParallelToolCalls < 0:
		return cfg, fmt.Errorf("runtime config: MaxParallelToolCalls must be a positive integer, not %d", cfg.MaxParallelToolCalls)
	case cfg.MaxConcurrentTurns < 0:
		return cfg, fmt.Errorf("runtime config: MaxConcurrentTurns must not be negative, is %d", cfg.MaxConcurrentTurns)
	}
	if cfg.MaxParallelToolCalls == 0 {
		cfg.MaxParallelToolCalls = defaultParallelToolCalls
	}
	if cfg.MaxQueuedPrompts == 0 {
		cfg.MaxQueuedPrompts = defaultQueuedPrompts
	}
	if cfg.StartGrace == 0 {
		cfg.StartGrace = defaultStartGrace
	}
	if cfg.Store == nil {
		cfg.Store = session.NewMemoryStore()
	}
	if cfg.Events == nil {
		cfg.Events = messages.NewRegistry()
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.NewMessageID == nil {
		cfg.NewMessageID = func() messages.MessageID { return messages.MessageID(newUUID()) }
	}
	return cfg, nil
}

// newUUID returns a random (version 4) UUID.
func newUUID() string {
	var u [16]byte
	_, _ = rand.Read(u[:]) // never fails; crypto/rand crashes the program instead
	u[6], u[8] = u[6]&0x0f|0x40, u[8]&0x3f|0x80
	const hyphens = "xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx"
	var text [len(hyphens)]byte
	n := 0
	for i := range text {
		if hyphens[i] == '-' {
			text[i] = '-'
			continue
		}
		text[i] = "0123456789abcdef"[u[n/2]>>(4*(1-n%2))&15]
		n++
	}
	return string(text[:])
}

package pipeline

import (
	"context"
	"strconv"
	"sync/atomic"

	"github.com/dsh-actor/dsh-actor/messages"
	"github.com/dsh-actor/dsh-actor/otel"
)

// Pipeline runs tool calls of one scope: it joins the scope's seams, tools and
// guards. It is safe for concurrent use.
type Pipeline struct {
	parent *Pipeline
	root   *shared
	seams  *Seams
	tools  *Tools
	guards guards
}

// Config configures a runtime's pipeline. The zero value is usable.
type Config struct {
	// Warn is told of contained failures: a panic of a notification listener. It may
	// be called from any goroutine. Nil drops them.
	Warn func(error)
	// Tracer makes a span for every seam that has a listener, every listener, every
	// call and every body (DESIGN 8). Nil traces nothing.
	Tracer *otel.Tracer
	// NewApprovalID mints ids of approval requests. Nil counts: ask-1, ask-2, …
	NewApprovalID func() messages.ApprovalID
}

// shared is what all scopes of one runtime have in common.
type shared struct {
	config Config
	seq    sequence
	tokens atomic.Uint64
	asks   atomic.Uint64
}

// New makes the pipeline of a runtime.
func New(cfg Config) *Pipeline {
	root := &shared{config: cfg}
	return &Pipeline{root: root, tools: newTools(nil), seams: newSeams(root, nil)}
}

// Scope makes the pipeline of one session under p, the runtime's. Listeners,
// tools, guards and restrictions of the scope die with it and are seen by no
// other scope (D-3).
func (p *Pipeline) Scope() *Pipeline {
	return &Pipeline{parent: p, root: p.root, tools: newTools(p.tools), seams: newSeams(p.root, p.seams)}
}

// Seams returns the scope's interception surface.
func (p *Pipeline) Seams() *Seams { return p.seams }

// Tools returns the scope's registry.
func (p *Pipeline) Tools() *Tools { return p.tools }

// Guard adds a guard to the scope and returns what lifts it. The same function
// added twice runs twice and is lifted independently (P-10).
func (p *Pipeline) Guard(fn Guard, opts ...Option) (lift func()) { return p.guards.add(fn, opts) }

// Execute runs one call through all phases. It never fails for reasons of tools
// or listeners (P-27): every failure is the result. ctx is the caller's signal.
// If foreign code ends the goroutine (runtime.Goexit), the call is settled, and
// its observers are told, before the goroutine ends.
func (p *Pipeline) Execute(ctx context.Context, in Input) (r *messages.Result) {
	x := p.Begin(ctx, in)
	defer func() { r = x.Settle(ctx) }()
	if x.Policy(ctx) {
		x.Dispatch(ctx)
	}
	return nil
}

// Concurrent reports whether a call may overlap with others (P-3). Arguments is
// the model's text, as in [Input].
func (p *Pipeline) Concurrent(name, arguments string) bool {
	tool, ok := p.tools.Lookup(name)
	if !ok || tool.Concurrent == nil {
		return false
	}
	args, err := normalizeArguments(arguments)
	return err == nil && tool.concurrent(args)
}

// checkGuards runs the runtime's guards, then the session's (Z-40).
func (p *Pipeline) checkGuards(call *Call) (reason string, deny bool, err error) {
	if p.parent != nil {
		if reason, deny, err = p.parent.checkGuards(call); deny || err != nil {
			return reason, deny, err
		}
	}
	return p.guards.check(call)
}

// warn tells the host of a contained failure. The host's own failure to listen is
// nobody's.
func (s *shared) warn(err error) {
	if s.config.Warn == nil {
		return
	}
	defer func() { _ = recover() }()
	s.config.Warn(err)
}

func (s *shared) newApprovalID() messages.ApprovalID {
	if s.config.NewApprovalID != nil {
		return s.config.NewApprovalID()
	}
	return messages.ApprovalID("ask-" + strconv.FormatUint(s.asks.Add(1), 10))
}

package pipeline

import (
	"context"
	"strconv"
	"sync/atomic"

	"github.com/dsh-actor/dsh-actor/messages"
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

// shared is what all scopes of one runtime have in common.
type shared struct {
	config Config
	seq    sequence
	tokens atomic.Uint64
	asks   atomic.Uint64
}

// Config configures a runtime's pipeline. The zero value is usable.
type Config struct {
	// Warn is told of contained failures: a panic of a notification listener. Nil
	// drops them.
	Warn func(error)
	// NewApprovalID mints ids of approval requests. Nil counts: ask-1, ask-2, …
	NewApprovalID func() messages.ApprovalID
}

// New makes the pipeline of a runtime.
func New(cfg Config) *Pipeline {
	root := &shared{config: cfg}
	p := &Pipeline{root: root, tools: newTools(nil)}
	p.seams = newSeams(&root.seq, cfg.Warn, nil)
	return p
}

// Scope makes the pipeline of one session under the runtime's p. Listeners,
// tools, guards and restrictions of the scope die with it (D-3).
func (p *Pipeline) Scope() *Pipeline {
	child := &Pipeline{parent: p, root: p.root, tools: newTools(p.tools)}
	child.seams = newSeams(&p.root.seq, p.root.config.Warn, p.seams)
	return child
}

// Seams returns the scope's interception surface.
func (p *Pipeline) Seams() *Seams { return p.seams }

// Tools returns the scope's registry.
func (p *Pipeline) Tools() *Tools { return p.tools }

// Guard adds a guard to the scope and returns what lifts it. The same function
// added twice runs twice and is lifted independently (P-10).
func (p *Pipeline) Guard(fn Guard, opts ...Option) (lift func()) { return p.guards.add(fn, opts) }

// Input is what a caller says of a call (P-4).
type Input struct {
	ID   messages.CallID
	Name string
	// Arguments is the model's text. Text that is not JSON is passed on as a JSON
	// string, empty text as {} (Z-11).
	Arguments string
	// Agent is the session that the call works for; nil for none.
	Agent      Agent
	Turn, Step int

	parent   messages.CallToken
	parentID messages.CallID
}

// Execute runs one call through all phases. It never fails for reasons of tools
// or listeners (P-27): every failure is the result. ctx is the caller's signal.
func (p *Pipeline) Execute(ctx context.Context, in Input) *messages.Result {
	x := p.Begin(ctx, in)
	if x.Policy(ctx) {
		x.Dispatch(ctx)
	}
	return x.Settle(ctx)
}

// Concurrent reports whether a call may overlap with others (P-3).
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

func (s *shared) newApprovalID() messages.ApprovalID {
	if s.config.NewApprovalID != nil {
		return s.config.NewApprovalID()
	}
	return messages.ApprovalID("ask-" + strconv.FormatUint(s.asks.Add(1), 10))
}

// normalizeArguments makes the JSON text of model text (Z-11, T-20).
func normalizeArguments(text string) (messages.JSON, error) {
	if text == "" {
		return "{}", nil
	}
	j := messages.JSON(text)
	err := messages.CheckJSON(j)
	switch {
	case err == nil:
		return j, nil
	case isNotLossless(err):
		return "", err
	default:
		return messages.QuoteJSON(text), nil
	}
}

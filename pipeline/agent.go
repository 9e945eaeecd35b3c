package pipeline

import (
	"context"

	"github.com/dsh-actor/dsh-actor/messages"
)

// Agent is what a listener, a guard or a tool may ask of the session it works
// for. The runtime implements it. Its methods may be called from any goroutine
// and never block on a turn.
type Agent interface {
	// ID returns the session's id; an agent's id is its session's (V-1).
	ID() messages.SessionID
	// Epoch is the owner epoch of this activation.
	Epoch() messages.Epoch
	// Cwd is the session's working directory, "" if it has none.
	Cwd() string
	// Inject adds context: into the open turn; into the batch's FIFO while a
	// tool batch runs; otherwise as a turn of its own. After disposal it fails
	// with code DISPOSED.
	Inject(ctx context.Context, c messages.Context) (messages.Accepted, error)
	// Record appends log-only events as one batch, inside the open turn or, for
	// types that may stand anywhere, between turns (Z-19).
	Record(ctx context.Context, events ...messages.EventData) error
	// Checkpoint returns when everything appended so far is durable, or with the
	// reason why it is not (K-6).
	Checkpoint(ctx context.Context) error
	// ApprovalPolicy is "ask" or "never" (P-9).
	ApprovalPolicy() string
}

// Yielder is an Agent that can lend its place in a pool while it waits for a
// person (DESIGN 3, rule 10).
type Yielder interface {
	// Yield gives the place back; resume takes one again and fails only when ctx
	// ends first.
	Yield(ctx context.Context, why string) (resume func(context.Context) error)
}

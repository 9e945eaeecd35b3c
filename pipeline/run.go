package pipeline

import (
	"context"
	"errors"

	"github.com/dsh-actor/dsh-actor/messages"
)

// errToolDeadline is the cause of a context that a tool's own timeout ended.
var errToolDeadline = errors.New("tool timeout")

// runTool resolves the tool and runs its body once (P-15 to P-18, P-31).
func (x *Execution) runTool(ctx context.Context) *messages.Result {
	if ctx.Err() != nil {
		return x.abort(noContexts)
	}
	tool, ok := x.pipeline.tools.Lookup(x.call.name)
	if !ok {
		return unknownTool(x.call.name, noContexts)
	}
	if tool.Timeout <= 0 {
		r, _ := x.runBody(ctx, tool)
		return r
	}
	return x.runBounded(ctx, tool)
}

// runBounded runs the body under the tool's declared timeout. The body is awaited
// also after the deadline; whichever of deadline and caller came first names the
// outcome (P-31).
func (x *Execution) runBounded(ctx context.Context, tool *Tool) *messages.Result {
	limited, cancel := context.WithTimeoutCause(ctx, tool.Timeout, errToolDeadline)
	defer cancel()
	r, entered := x.runBody(limited, tool)
	if context.Cause(limited) != errToolDeadline {
		return r
	}
	if entered {
		x.call.failed.Store(true)
	}
	return timedOut(tool.Timeout, noContexts)
}

// runBody runs the body once, with everything that it started, and reports
// whether it was entered: it is not for arguments that the tool refuses (P-16).
func (x *Execution) runBody(ctx context.Context, tool *Tool) (r *messages.Result, entered bool) {
	inv := x.invocation()
	defer func() {
		inv.end()
		if inv.entered { // also if the body ended its goroutine
			x.call.failed.Store(r == nil || r.IsError())
		}
	}()
	p, err := tool.invoke(ctx, inv)
	switch {
	case err != nil:
		r = failed(err, noContexts)
	case ctx.Err() != nil:
		r = x.abort(noContexts)
	default:
		r = messages.NewSuccess(messages.ResultFields{Value: p.value, Content: p.content, Meta: p.meta})
	}
	return r, inv.entered
}

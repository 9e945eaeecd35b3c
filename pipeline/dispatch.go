package pipeline

import (
	"context"
	"errors"
	"time"

	"github.com/dsh-actor/dsh-actor/messages"
)

// dispatchCall is the default of tools/execute: it resolves the tool and runs
// the body (P-15 to P-18). It never fails; what goes wrong is the result. ctx
// carries the caller's cancellation fused with whatever a wrapper added.
func dispatchCall(ctx context.Context, call *Call) (*messages.Result, error) {
	x := call.exec
	r := x.dispatchOnce(ctx)
	if r.IsError() && call.invoked.Load() {
		call.failed.Store(true)
	} else {
		call.failed.Store(false)
	}
	x.minted = r
	return r, nil
}

func (x *Execution) dispatchOnce(ctx context.Context) *messages.Result {
	none := messages.List[messages.Context]{}
	if ctx.Err() != nil {
		return abortedBeforeDispatch(none)
	}
	tool, ok := x.pipeline.tools.Lookup(x.call.name)
	if !ok {
		return unknownTool(x.call.name, none)
	}
	if tool.Timeout > 0 {
		return x.bounded(ctx, tool)
	}
	return x.runTool(ctx, tool)
}

// errToolDeadline is the cause of a context that a tool's own timeout ended.
var errToolDeadline = errors.New("tool timeout")

// bounded runs the tool under its declared timeout. The body is awaited also
// after the deadline; whichever of deadline and caller came first names the
// outcome (P-31).
func (x *Execution) bounded(ctx context.Context, tool *Tool) *messages.Result {
	limited, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	timer := time.AfterFunc(tool.Timeout, func() { cancel(errToolDeadline) })
	defer timer.Stop()
	r := x.runTool(limited, tool)
	if context.Cause(limited) == errToolDeadline {
		return timedOut(tool.Timeout, r.Contexts())
	}
	return r
}

func (x *Execution) runTool(ctx context.Context, tool *Tool) *messages.Result {
	p, err := x.invoke(ctx, tool)
	if err != nil {
		return failed(err, messages.List[messages.Context]{})
	}
	if ctx.Err() != nil {
		return aborted(messages.List[messages.Context]{})
	}
	return messages.NewSuccess(messages.ResultFields{Value: p.value, Content: p.content, Meta: p.meta})
}

// invoke enters the body and projects its value.
func (x *Execution) invoke(ctx context.Context, tool *Tool) (projected, error) {
	if tool.run != nil {
		return tool.run(ctx, &x.inv)
	}
	value, err := runBody(ctx, &x.inv, tool.Name, func(ctx context.Context) (messages.JSON, error) {
		return tool.Run(ctx, &x.inv)
	})
	if err != nil {
		return projected{}, err
	}
	return x.project(tool, value)
}

// project validates a value against the tool's output contract and renders it
// (P-18).
func (x *Execution) project(tool *Tool, value messages.JSON) (p projected, err error) {
	if messages.CheckJSON(value) != nil {
		return p, invalidOutput("tool %q returned invalid output: value is not lossless JSON", tool.Name)
	}
	if err := checkOutput(tool.Name, tool.Output.schema, value); err != nil {
		return p, err
	}
	p.value = value
	p.content, err = projectContent(tool.Name, func() (messages.Content, error) {
		return tool.Output.Render(x.call.arguments, value)
	})
	if err != nil || tool.Output.Meta == nil || x.call.parent != 0 {
		return p, err
	}
	p.meta, err = projectMeta(tool.Name, func() (messages.JSON, error) {
		return tool.Output.Meta(x.call.arguments, value)
	})
	return p, err
}

// renormalize makes what the execute waterfall returned the call's own (P-19,
// P-20): the result that this call's dispatch made passes as it is; a success
// from anywhere else is rendered again from its value; a failure from anywhere
// else is kept. What the body deferred comes first.
func (x *Execution) renormalize(r *messages.Result) *messages.Result {
	switch {
	case r == x.minted || r.IsError():
		if x.deferred.Len() == 0 {
			return r
		}
		contexts := x.deferred.Concat(r.Contexts())
		out := r.With(func(f *messages.ResultFields) { f.Contexts = contexts })
		if r == x.minted {
			x.minted = out
		}
		return out
	default:
		return x.reproject(r.Value(), x.deferred.Concat(r.Contexts()))
	}
}

// reproject renders a value through the tool's output contract.
func (x *Execution) reproject(value messages.JSON, contexts messages.List[messages.Context]) *messages.Result {
	tool, ok := x.pipeline.tools.Lookup(x.call.name)
	if !ok {
		return unknownTool(x.call.name, contexts)
	}
	p, err := x.project(tool, value)
	if err != nil {
		return failed(err, contexts)
	}
	return messages.NewSuccess(messages.ResultFields{
		Value: p.value, Content: p.content, Meta: p.meta, Contexts: contexts,
	})
}

package pipeline

import (
	"context"

	"github.com/dsh-actor/dsh-actor/messages"
)

// Dispatch runs tools/execute around the body (P-13 to P-21). A started body is
// always awaited (P-15): it has ended when Dispatch returns. If foreign code ends
// the goroutine, the outcome is settled as a failure first.
func (x *Execution) Dispatch(ctx context.Context) {
	if x.result == nil {
		x.guarded("tools/execute", (*Execution).dispatch, ctx)
	}
}

// DispatchContained is [Execution.Dispatch] for a goroutine of its own: done is
// called exactly once, when the outcome is settled, also if a wrapper or the body
// ends the goroutine.
func (x *Execution) DispatchContained(ctx context.Context, done func()) {
	defer done()
	x.Dispatch(ctx)
}

func (x *Execution) dispatch(ctx context.Context) {
	r, err := x.runExecute(ctx)
	if err != nil {
		x.fail(err)
		return
	}
	x.result = x.renormalize(r)
	x.abortSuccess(ctx)
	x.earned = x.result.Contexts()
}

// runExecute runs the waterfall; what the body deferred until it ended is earned,
// however it ended (P-20, P-33, Z-5).
func (x *Execution) runExecute(ctx context.Context) (*messages.Result, error) {
	defer func() { x.earned = x.work.close() }()
	return x.pipeline.seams.Execute.Run(ctx, &x.call, dispatchCall)
}

// dispatchCall is the default of tools/execute (P-15). It never fails; what goes
// wrong is the result. ctx carries the caller's cancellation and whatever a
// wrapper added.
func dispatchCall(ctx context.Context, call *Call) (*messages.Result, error) {
	r := call.exec.runTool(ctx)
	call.exec.work.mint(r)
	return r, nil
}

// renormalize makes what the execute waterfall returned the call's own (P-19,
// P-20): a result that this call's dispatch made passes as it is; a success from
// anywhere else is rendered again from its value; a failure from anywhere else is
// kept. What the body deferred comes first.
func (x *Execution) renormalize(r *messages.Result) *messages.Result {
	contexts := x.earned.Concat(r.Contexts())
	if !r.IsError() && !x.work.isMinted(r) {
		return x.reproject(r.Value(), contexts)
	}
	if x.earned.IsZero() {
		return r
	}
	return r.With(func(f *messages.ResultFields) { f.Contexts = contexts })
}

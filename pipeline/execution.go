package pipeline

import (
	"context"
	"errors"
	"sync/atomic"

	"github.com/dsh-actor/dsh-actor/messages"
)

// Execution is one call on its way through the phases. Its three steps, Policy,
// Dispatch and Settle, run in this order and never overlap, but may run on
// different goroutines: a scheduler keeps policy and settling in model order and
// lets dispatches overlap (C-2, C-4).
type Execution struct {
	pipeline *Pipeline
	call     Call
	outcome  Outcome
	finalize func(*Call, *messages.Result) (messages.Content, bool)
	inv      Invocation
	result   *messages.Result // the candidate so far; nil while undecided
	minted   *messages.Result // what this call's own dispatch made last (P-19)
	skipPost bool             // the result bypasses post-execute (P-6, P-7, P-14)
	conclude atomic.Bool
	deferred messages.List[messages.Context]
	body     *messages.Result // before post-execute, for meta.original (Z-25)
}

// Begin creates the call: it mints the token, captures finalizeContent of the
// definition that is visible now (P-5) and fixes the arguments (P-6). ctx is the
// caller's signal: if it is done already, the call is never dispatched (P-7).
func (p *Pipeline) Begin(ctx context.Context, in Input) *Execution {
	x := &Execution{pipeline: p}
	x.call = Call{
		id: in.ID, name: in.Name, agent: in.Agent, turn: in.Turn, step: in.Step,
		token: messages.CallToken(p.root.tokens.Add(1)), parent: in.parent, parentID: in.parentID,
	}
	x.inv.exec, x.call.exec = x, x
	if tool, ok := p.tools.Lookup(in.Name); ok {
		x.finalize = tool.FinalizeContent
	}
	args, err := normalizeArguments(in.Arguments)
	switch {
	case err != nil:
		x.result = messages.NewFailure(messages.ResultFields{Message: textBadArguments})
		x.skipPost = true
	case ctx.Err() != nil:
		x.result = abortedBeforeDispatch(messages.List[messages.Context]{})
		x.skipPost = true
	}
	x.call.arguments = args
	return x
}

// Call returns the identity of the call.
func (x *Execution) Call() *Call { return &x.call }

// Concluded reports whether the body asked to conclude the turn.
func (x *Execution) Concluded() bool { return x.conclude.Load() }

// Policy runs pre-execute, approval and guards (P-8 to P-12) and reports whether
// the call is to be dispatched.
func (x *Execution) Policy(ctx context.Context) (dispatch bool) {
	if x.result != nil {
		return false
	}
	decision, err := x.pipeline.seams.PreExecute.Run(ctx, &x.call, allowCall)
	if err != nil {
		return x.fail(err)
	}
	switch d := decision.(type) {
	case messages.ToolAllow:
	case messages.ToolDeny:
		return x.deny(orDefault(d.Reason, messages.DefaultDenyReason))
	case messages.ToolAsk:
		if ok := x.ask(ctx, d); !ok {
			return false
		}
	default:
		return x.fail(noDecisionError("tools/pre-execute", "of an unknown kind"))
	}
	switch reason, deny, err := x.pipeline.checkGuards(&x.call); {
	case err != nil:
		return x.fail(err)
	case deny:
		return x.deny(reason)
	}
	if ctx.Err() != nil { // P-11
		x.result = abortedBeforeDispatch(messages.List[messages.Context]{})
		return false
	}
	return true
}

func allowCall(context.Context, *Call) (messages.PreToolDecision, error) {
	return messages.ToolAllow{}, nil
}

func (x *Execution) deny(reason string) bool {
	x.result = denied(messages.ValidUTF8(reason))
	return false
}

// fail records a listener failure, which bypasses post-execute (P-14). Contexts
// of work that did run are kept (Z-5).
func (x *Execution) fail(err error) bool {
	x.result = failed(err, x.deferred)
	x.skipPost = true
	return false
}

// Dispatch runs tools/execute around the body (P-13 to P-21). A started body is
// always awaited (P-15).
func (x *Execution) Dispatch(ctx context.Context) {
	r, err := x.pipeline.seams.Execute.Run(ctx, &x.call, dispatchCall)
	x.deferred = messages.FrozenList(x.inv.close())
	if err != nil {
		x.fail(err)
		return
	}
	x.result = x.renormalize(r)
	x.abortSuccess(ctx)
}

// abandon is called when the goroutine of a dispatch ends without returning
// (runtime.Goexit in a wrapper or body): the outcome is a failure.
func (x *Execution) abandon() {
	x.deferred = messages.FrozenList(x.inv.close())
	if x.call.invoked.Load() {
		x.call.failed.Store(true)
	}
	x.fail(errGoexit)
}

// DispatchContained is [Execution.Dispatch] for a goroutine of its own: it also
// settles the outcome when wrapper or body end the goroutine (runtime.Goexit),
// and then calls done, in every case exactly once.
func (x *Execution) DispatchContained(ctx context.Context, done func()) {
	returned := false
	defer done()
	defer func() {
		if !returned {
			x.abandon()
		}
	}()
	x.Dispatch(ctx)
	returned = true
}

// abortSuccess replaces a success by an abort if the caller's signal is done
// (P-21, P-35). Failures are never replaced.
func (x *Execution) abortSuccess(ctx context.Context) {
	if ctx.Err() == nil || x.result.IsError() {
		return
	}
	if x.call.invoked.Load() {
		x.result = aborted(x.result.Contexts())
	} else {
		x.result = abortedBeforeDispatch(x.result.Contexts())
	}
}

// Settle runs post-execute, finalizeContent and tools/result (P-22 to P-26) and
// returns the frozen result, the same object that the observers saw.
func (x *Execution) Settle(ctx context.Context) *messages.Result {
	if !x.skipPost {
		x.post(ctx)
	}
	x.checkCandidate()
	x.runFinalize()
	x.outcome = Outcome{Call: &x.call, Result: x.result}
	x.pipeline.seams.Result.Run(ctx, &x.outcome)
	return x.result
}

// checkCandidate refuses results whose foreign parts are not JSON (P-25).
func (x *Execution) checkCandidate() {
	if x.result == x.minted {
		return
	}
	ok := x.result.Meta() == "" || messages.CheckJSON(x.result.Meta()) == nil
	for c := range x.result.Contexts().Values() {
		ok = ok && (c.Meta == "" || messages.CheckJSON(c.Meta) == nil)
	}
	if !ok {
		x.result = messages.NewFailure(messages.ResultFields{Message: textBadResult})
	}
}

// runFinalize gives the tool the last word on content, once (P-24).
func (x *Execution) runFinalize() {
	if x.finalize == nil {
		return
	}
	content, replace, err := callFinalize(x.finalize, &x.call, x.result)
	switch {
	case err != nil:
		x.result = failed(err, messages.List[messages.Context]{})
	case replace:
		if content.IsZero() {
			content = messages.EmptyContent()
		}
		x.result = x.result.With(func(f *messages.ResultFields) { f.Content = content })
	}
}

func callFinalize(fn func(*Call, *messages.Result) (messages.Content, bool), call *Call, r *messages.Result) (c messages.Content, replace bool, err error) {
	defer contain("finalizeContent", &err)
	c, replace = fn(call, r)
	return c, replace, nil
}

func orDefault(s, def string) string {
	if s == "" {
		return def
	}
	return s
}

func isNotLossless(err error) bool { return errors.Is(err, messages.ErrNotLossless) }

// Refuse settles a call that policy allowed but that must not be dispatched,
// because its record could not be made durable (K-6). It takes the place of
// Dispatch; the result is the error, and post-execute is bypassed.
func (x *Execution) Refuse(err error) { x.fail(err) }

package pipeline

import (
	"context"
	"sync"
	"sync/atomic"

	"github.com/dsh-actor/dsh-actor/messages"
)

// Execution is one call on its way through the phases. Its three steps, Policy,
// Dispatch and Settle, run in this order and never overlap, but may run on
// different goroutines: a scheduler keeps policy and settling in model order and
// lets dispatches overlap (C-2, C-4).
//
// Every step takes the caller's signal as its context, and none fails: a failure
// is the call's result. A call that is not dispatched, for whatever reason, is
// settled all the same, so that each one reaches tools/result exactly once.
type Execution struct {
	pipeline *Pipeline
	call     Call
	finalize finalizer
	result   *messages.Result // the candidate so far; nil while undecided
	trace    *callTrace       // nil if not traced
	skipPost bool             // the result bypasses post-execute (P-6, P-7, P-14)
	settled  bool
	conclude atomic.Bool
	work     work

	// earned are the contexts of work that did run: what a later failure of the
	// pipeline keeps (Z-5). It is set when dispatch ends.
	earned messages.List[messages.Context]
}

// work is what the runs of the body leave behind. There may be several runs, also
// at the same time: a tools/execute wrapper may call next again (Z-12).
type work struct {
	first  Invocation // of the first run, so that it needs no memory of its own
	used   atomic.Bool
	nested atomic.Int32                    // calls made by the body, to number them
	minted atomic.Pointer[messages.Result] // what the first dispatch made (P-19)

	mu       sync.Mutex
	over     bool // the execute waterfall has ended
	deferred []messages.Context
	more     *mintedResult // what later dispatches made
}

type mintedResult struct {
	result *messages.Result
	older  *mintedResult
}

// Begin creates the call: it mints the token, captures finalizeContent of the
// definition that is visible now (P-5) and fixes the arguments (P-6). ctx is the
// caller's signal: if it is done already, the call is never dispatched (P-7).
func (p *Pipeline) Begin(ctx context.Context, in Input) *Execution {
	x := &Execution{pipeline: p}
	x.call.init(x, in)
	tool, ok := p.tools.Lookup(in.Name)
	if ok {
		x.finalize = tool.FinalizeContent
	}
	if p.root.config.Tracer != nil {
		x.startTrace(ctx, ok)
	}
	args, err := normalizeArguments(in.Arguments)
	switch {
	case err != nil:
		x.result = messages.NewFailure(messages.ResultFields{Message: textBadArguments})
		x.skipPost = true
	case ctx.Err() != nil:
		x.result = abortedBeforeDispatch(noContexts)
		x.skipPost = true
	}
	x.call.arguments = args
	return x
}

// Call returns the identity of the call.
func (x *Execution) Call() *Call { return &x.call }

// Concluded reports whether the body asked to conclude the turn.
func (x *Execution) Concluded() bool { return x.conclude.Load() }

// Refuse settles a call that policy allowed but that must not be dispatched,
// because its record could not be made durable (K-6). It takes the place of
// Dispatch; the result is the error, and post-execute is bypassed.
func (x *Execution) Refuse(err error) { x.fail(err) }

// fail makes a failure of the pipeline the result, which bypasses post-execute
// (P-14). Contexts of work that did run are kept (Z-5).
func (x *Execution) fail(err error) {
	x.result = failed(err, x.earned)
	x.skipPost = true
}

// guarded runs one step of the pipeline. Foreign code is contained where it is
// called; what else panics here is our own fault or that of a host's Agent, and
// still is only this call's failure (P-27). So is a step whose goroutine is ended
// under it.
func (x *Execution) guarded(where string, step func(*Execution, context.Context), ctx context.Context) {
	err := errGoexit
	defer func() {
		if v := recover(); v != nil {
			err = newPanicError(where, v)
		}
		if err != nil {
			x.fail(err)
		}
	}()
	step(x, x.traced(ctx))
	err = nil
}

// abort is the result of a call that the caller's signal ended. Only whether the
// body was entered decides which of the two it is (P-35).
func (x *Execution) abort(contexts messages.List[messages.Context]) *messages.Result {
	if x.call.invoked.Load() {
		return aborted(contexts)
	}
	return abortedBeforeDispatch(contexts)
}

// abortSuccess replaces a success by an abort if the caller's signal is done
// (P-21, P-23). Failures are never replaced.
func (x *Execution) abortSuccess(ctx context.Context) {
	if !x.result.IsError() && ctx.Err() != nil {
		x.result = x.abort(x.result.Contexts())
	}
}

// deferContexts adds to what the call hands to the batch, unless the result was
// composed already (P-33).
func (w *work) deferContexts(contexts ...messages.Context) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.over {
		w.deferred = append(w.deferred, contexts...)
	}
}

// close ends the deferring and returns what was deferred, in order (P-20).
func (w *work) close() messages.List[messages.Context] {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.over = true
	return messages.FrozenList(w.deferred)
}

// mint remembers r as a result that this call's own dispatch made (P-19).
func (w *work) mint(r *messages.Result) {
	if w.minted.CompareAndSwap(nil, r) {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.more = &mintedResult{r, w.more}
}

func (w *work) isMinted(r *messages.Result) bool {
	if w.minted.Load() == r {
		return true
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	for m := w.more; m != nil; m = m.older {
		if m.result == r {
			return true
		}
	}
	return false
}

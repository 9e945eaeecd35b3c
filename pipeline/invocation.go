package pipeline

import (
	"context"
	"errors"
	"strconv"
	"sync"

	"github.com/dsh-actor/dsh-actor/messages"
	"github.com/dsh-actor/dsh-actor/otel"
)

// Invocation is what a running body may do besides returning. There is one for
// each run of the body. It is safe for concurrent use by what the body starts.
type Invocation struct {
	exec    *Execution
	ctx     context.Context // the body's
	entered bool
	ended   bool               // guarded by mu
	span    *otel.ToolBodySpan // nil if not traced
	nested  gate               // nested calls under way

	mu    sync.Mutex
	inner *innerContext // of nested calls; nil before the first
}

// innerContext is the body's context, ended with the body.
type innerContext struct {
	context.Context
	cancel context.CancelCauseFunc
}

// errBodyReturned is the cause of nested calls that their body left behind.
var errBodyReturned = errors.New("the calling tool returned")

// invocation makes the invocation of the next run of the body.
func (x *Execution) invocation() *Invocation {
	inv := &x.work.first
	if !x.work.used.CompareAndSwap(false, true) {
		inv = new(Invocation)
	}
	inv.exec = x
	return inv
}

// Call returns the identity of the call.
func (i *Invocation) Call() *Call { return &i.exec.call }

// Agent returns the session that the call works for, or nil.
func (i *Invocation) Agent() Agent { return i.exec.call.agent }

// DeferContext hands contexts to the batch: the model reads them after all
// results of the batch (T-21). They survive a failure of the body (P-20) and of
// the pipeline after it (Z-5). Once the result is composed it has no effect
// (P-33).
func (i *Invocation) DeferContext(contexts ...messages.Context) {
	i.exec.work.deferContexts(contexts...)
}

// ConcludeTurn asks that no further step follows this batch by default: the
// default of agent/turn-continuation becomes stop, which listeners and pending
// steering can still override.
func (i *Invocation) ConcludeTurn() { i.exec.conclude.Store(true) }

// Execute runs another tool through the whole pipeline as a nested call of this
// one (P-32): it carries this call's token as its parent, writes no tool/call
// and tool/result, rides on this call's slot, and its contexts are deferred to
// this call. Whatever ctx is, the nested call is cancelled with the body and when
// the body returns, and the body's own call waits for it. Called after the body
// returned, it answers ABORTED_BEFORE_DISPATCH.
func (i *Invocation) Execute(ctx context.Context, name string, arguments messages.JSON) *messages.Result {
	if !i.nested.enter() {
		return abortedBeforeDispatch(noContexts)
	}
	defer i.nested.leave()
	ctx, release := fuse(ctx, i.nestedContext())
	defer release()
	outer := &i.exec.call
	n := i.exec.work.nested.Add(1)
	r := i.exec.pipeline.Execute(ctx, Input{
		ID:   outer.id + ":" + messages.CallID(strconv.Itoa(int(n))),
		Name: name, Arguments: string(arguments),
		Agent: outer.agent, Turn: outer.Turn(), Step: outer.Step(),
		parent: outer.token, parentID: outer.id,
	})
	if !r.Contexts().IsZero() {
		i.DeferContext(r.Contexts().Slice()...)
	}
	return r
}

// nestedContext returns the context that nested calls cannot leave.
func (i *Invocation) nestedContext() context.Context {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.inner == nil {
		ctx, cancel := context.WithCancelCause(i.ctx)
		i.inner = &innerContext{ctx, cancel}
		if i.ended { // a call that entered just before the body returned
			cancel(errBodyReturned)
		}
	}
	return i.inner.Context
}

// enter marks the call as one whose body was invoked (P-35) and returns the body's
// context.
func (i *Invocation) enter(ctx context.Context) context.Context {
	i.entered = true
	i.exec.call.invoked.Store(true)
	if t := i.exec.pipeline.root.config.Tracer; t != nil {
		var span otel.ToolBodySpan
		ctx, span = t.StartToolBody(ctx)
		i.span = &span
	}
	i.ctx = ctx
	return ctx
}

// leave ends what enter began; a panic of the body is its error. It is deferred
// directly.
func (i *Invocation) leave(tool string, err *error) {
	if v := recover(); v != nil {
		*err = newPanicError(tool, v)
	}
	if i.span != nil {
		i.span.End(otel.Ending{Err: *err})
	}
}

// end cancels nested calls that the body left behind and waits for them: a
// started body is never abandoned (P-15, Z-13).
func (i *Invocation) end() {
	if i.nested.closeIdle() {
		if i.inner != nil { // nobody is left who could change it
			i.inner.cancel(errBodyReturned)
		}
		return
	}
	i.mu.Lock()
	i.ended = true
	inner := i.inner
	i.mu.Unlock()
	if inner != nil {
		inner.cancel(errBodyReturned)
	}
	i.nested.close()
}

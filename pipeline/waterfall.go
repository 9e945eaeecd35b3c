package pipeline

import (
	"context"
	"errors"
	"sync/atomic"
)

// Next continues a waterfall with the listeners inside, down to the built-in
// default. It may be called several times: each call runs the inner listeners
// again (Z-12). The context may carry a shorter deadline or more values; the
// caller's cancellation stays in force whatever is passed (P-15). After the
// listener returned it answers [ErrNextAfterReturn].
type Next[D any] func(ctx context.Context) (D, error)

// Handler is a waterfall listener. Not calling next vetoes everything inside,
// the default included (D-4).
type Handler[E, D any] func(ctx context.Context, event E, next Next[D]) (D, error)

// ErrNextAfterReturn is the answer of a next that is called after its listener
// returned.
var ErrNextAfterReturn = errors.New("next was called after its listener returned")

// Waterfall is a seam of middleware: the first listener is outermost, its answer
// is the result (D-4). D is an interface or pointer type; its zero value is "no
// decision", which is a failure (Z-1).
type Waterfall[E any, D comparable] struct {
	name string
	set  listeners[Handler[E, D]]
}

func (w *Waterfall[E, D]) init(name string, seq *sequence, parent *listeners[Handler[E, D]]) {
	w.name = name
	w.set.attach(seq, parent)
}

// Use adds a listener and returns what removes it. Removing twice is harmless.
// Neither affects a run that has started (D-2).
func (w *Waterfall[E, D]) Use(fn Handler[E, D], opts ...Option) (remove func()) {
	return w.set.add(fn, opts)
}

// Name returns the seam's name, such as "tools/pre-execute".
func (w *Waterfall[E, D]) Name() string { return w.name }

// Empty reports whether a run would go straight to the default.
func (w *Waterfall[E, D]) Empty() bool { return w.set.empty() }

// Run passes event through the listeners; last is the built-in default. A panic
// of a listener is its error.
func (w *Waterfall[E, D]) Run(ctx context.Context, event E, last func(context.Context, E) (D, error)) (D, error) {
	chain := w.set.chain()
	if len(chain) == 0 {
		return last(ctx, event)
	}
	r := &waterfallRun[E, D]{seam: w.name, chain: chain, event: event, last: last}
	return r.call(ctx, 0)
}

type waterfallRun[E any, D comparable] struct {
	seam  string
	chain []listener[Handler[E, D]]
	event E
	last  func(context.Context, E) (D, error)
}

// level is one invocation of one listener.
type level[E any, D comparable] struct {
	run      *waterfallRun[E, D]
	ctx      context.Context
	index    int
	returned atomic.Bool
}

func (r *waterfallRun[E, D]) call(ctx context.Context, i int) (D, error) {
	if i == len(r.chain) {
		return r.last(ctx, r.event)
	}
	return r.listen(&level[E, D]{run: r, ctx: ctx, index: i})
}

func (r *waterfallRun[E, D]) listen(l *level[E, D]) (d D, err error) {
	entry := &r.chain[l.index]
	defer l.returned.Store(true)
	defer contain(entry.name, &err)
	d, err = entry.fn(l.ctx, r.event, l.next)
	var none D
	if err == nil && d == none {
		err = noDecisionError(r.seam, entry.name)
	}
	return d, err
}

func (l *level[E, D]) next(ctx context.Context) (D, error) {
	if l.returned.Load() {
		var none D
		return none, ErrNextAfterReturn
	}
	if ctx == nil || ctx == l.ctx {
		return l.run.call(l.ctx, l.index+1)
	}
	ctx, release := fuse(ctx, l.ctx)
	defer release()
	return l.run.call(ctx, l.index+1)
}

// fuse returns ctx with the cancellation of owner added: whichever is cancelled
// first gives the cause (P-15, Z-12).
func fuse(ctx, owner context.Context) (context.Context, func()) {
	if owner.Done() == nil {
		return ctx, func() {}
	}
	fused, cancel := context.WithCancelCause(ctx)
	stop := context.AfterFunc(owner, func() { cancel(context.Cause(owner)) })
	return fused, func() {
		stop()
		cancel(context.Canceled)
	}
}

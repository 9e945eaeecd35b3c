package pipeline

import (
	"context"

	"github.com/dsh-actor/dsh-actor/otel"
)

// Next continues a waterfall with the listeners inside, down to the built-in
// default. It may be called several times, also concurrently: each call runs the
// inner listeners again (Z-12). The context may carry a shorter deadline or more
// values; the caller's cancellation and values stay in force whatever is passed
// (P-15). After the listener returned it answers [ErrNextAfterReturn].
type Next[D any] func(ctx context.Context) (D, error)

// Handler is a waterfall listener. Not calling next vetoes everything inside,
// the default included (D-4). A handler that returns while a next of its own is
// under way is not done: the seam waits for that next and drops its answer, so
// that no started work is abandoned (P-15, Z-13).
type Handler[E, D any] func(ctx context.Context, event E, next Next[D]) (D, error)

// Waterfall is a seam of middleware: the first listener is outermost, its answer
// is the result (D-4). D is an interface or pointer type; its zero value is "no
// decision", which is a failure (Z-1).
type Waterfall[E any, D comparable] struct {
	seam[Handler[E, D]]
	known func(D) bool // what is a decision of this seam; nil: anything but nothing
	// note adds to the span of a run; it is called for traced runs that decided.
	note func(otel.SeamSpan, E, D)
}

// Run passes event through the listeners; last is the built-in default. A panic
// of a listener is its error, and so is a decision that is missing or of unknown
// kind (Z-1). With an error the decision is nothing.
func (w *Waterfall[E, D]) Run(ctx context.Context, event E, last func(context.Context, E) (D, error)) (D, error) {
	chain := w.set.snapshot()
	if chain == nil {
		return last(ctx, event)
	}
	r := &waterfallRun[E, D]{seam: w, chain: chain, event: event, last: last}
	r.first.run, r.first.ctx = r, ctx
	if w.root.config.Tracer != nil {
		return r.traced()
	}
	return r.first.listen()
}

// waterfallRun is one run over one snapshot.
type waterfallRun[E any, D comparable] struct {
	seam  *Waterfall[E, D]
	chain *[]listener[Handler[E, D]]
	event E
	last  func(context.Context, E) (D, error)
	first level[E, D] // of the outermost listener, which runs exactly once
}

// level is one invocation of one listener.
type level[E any, D comparable] struct {
	run   *waterfallRun[E, D]
	ctx   context.Context
	index int
	inner gate // the next calls under way
}

// traced is a run with a span.
func (r *waterfallRun[E, D]) traced() (d D, err error) {
	ctx, span := r.seam.root.config.Tracer.StartSeam(r.first.ctx, r.seam.name)
	r.first.ctx = ctx
	err = errGoexit // stands if a listener ends the goroutine
	defer func() {
		if err == nil && r.seam.note != nil {
			r.seam.note(span, r.event, d)
		}
		span.End(otel.SeamEnd{
			Decision: d, Changed: rewrites(d), Listeners: len(*r.chain), Ending: otel.Ending{Err: err},
		})
	}()
	return r.first.listenTraced()
}

// listenTraced is listen with a span.
func (l *level[E, D]) listenTraced() (d D, err error) {
	ctx, span := l.run.seam.root.config.Tracer.StartListener(l.ctx, (*l.run.chain)[l.index].name)
	l.ctx = ctx
	err = errGoexit // stands if the listener ends the goroutine
	defer func() {
		span.End(otel.ListenerEnd{Decision: d, Changed: rewrites(d), Ending: otel.Ending{Err: err}})
	}()
	return l.listen()
}

// listen runs the listener of the level and waits for whatever it left running.
func (l *level[E, D]) listen() (d D, err error) {
	entry := &(*l.run.chain)[l.index]
	defer func() {
		if v := recover(); v != nil {
			err = newPanicError(entry.name, v)
		}
		if err != nil {
			var none D
			d = none
		}
		l.inner.close()
	}()
	d, err = entry.fn(l.ctx, l.run.event, l.next)
	if err == nil {
		err = l.run.seam.check(entry.name, d)
	}
	return d, err
}

// check reports why d is not a decision of the seam (Z-1).
func (w *Waterfall[E, D]) check(listener string, d D) error {
	var none D
	switch {
	case d == none:
		return noDecision(w.name, listener)
	case w.known != nil && !w.known(d):
		return unknownDecision(w.name, listener, d)
	}
	return nil
}

// next is the Next of the level's listener.
func (l *level[E, D]) next(ctx context.Context) (D, error) {
	if !l.inner.enter() {
		var none D
		return none, ErrNextAfterReturn
	}
	defer l.inner.leave()
	if ctx == nil {
		ctx = l.ctx
	}
	if sameEnd(ctx, l.ctx) {
		return l.inside(ctx)
	}
	ctx, release := fuse(ctx, l.ctx)
	defer release()
	return l.inside(ctx)
}

// inside runs what is inside the level's listener.
func (l *level[E, D]) inside(ctx context.Context) (D, error) {
	r := l.run
	if l.index+1 == len(*r.chain) {
		return r.last(ctx, r.event)
	}
	inner := &level[E, D]{run: r, ctx: ctx, index: l.index + 1}
	if r.seam.root.config.Tracer != nil {
		return inner.listenTraced()
	}
	return inner.listen()
}

package pipeline

import (
	"context"
	"time"
)

// fuse returns ctx with owner's cancellation, deadline and values added: what
// foreign code passes on may say more than it was given, never less (P-15,
// Z-12). Whichever of the two ends first gives the cause. Release frees what
// fuse took and must be called.
func fuse(ctx, owner context.Context) (fused context.Context, release func()) {
	switch {
	case ctx == nil:
		return owner, nothing
	case sameEnd(ctx, owner):
		return ctx, nothing
	case owner.Done() == nil:
		// There is no cancellation to keep, but there may be values.
		if same(ctx, owner) {
			return ctx, nothing
		}
		return &fusedContext{ctx, owner}, nothing
	}
	cancellable, cancel := context.WithCancelCause(ctx)
	stop := context.AfterFunc(owner, func() { cancel(context.Cause(owner)) })
	return &fusedContext{cancellable, owner}, func() {
		stop()
		cancel(context.Canceled)
	}
}

func nothing() {}

// sameEnd reports whether ctx is owner, or owner with more values, as seen by what
// ends it.
func sameEnd(ctx, owner context.Context) bool {
	done := owner.Done()
	return done != nil && done == ctx.Done()
}

// same reports whether both are one context. Contexts of foreign types need not
// be comparable.
func same(a, b context.Context) (ok bool) {
	defer func() { _ = recover() }()
	return a == b
}

// fusedContext is a context that also has what its owner has.
type fusedContext struct {
	context.Context
	owner context.Context
}

// Deadline returns the earlier of both deadlines.
func (c *fusedContext) Deadline() (time.Time, bool) {
	d, ok := c.Context.Deadline()
	if o, has := c.owner.Deadline(); has && (!ok || o.Before(d)) {
		return o, true
	}
	return d, ok
}

// Value prefers what was passed on over what the owner has.
func (c *fusedContext) Value(key any) any {
	if v := c.Context.Value(key); v != nil {
		return v
	}
	return c.owner.Value(key)
}

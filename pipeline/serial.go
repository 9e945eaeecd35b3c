package pipeline

import (
	"context"
	"fmt"
	"sync"
)

// Serial is a seam whose listeners run one after another and may return a
// verdict. Only an error stops the chain early, except where the seam says that
// the first verdict does (agent/turn-stop, S-7); of several verdicts the first
// counts (Z-6).
type Serial[E any, V comparable] struct {
	name       string
	firstFinal bool
	set        listeners[func(context.Context, E) (V, error)]
}

func (s *Serial[E, V]) init(name string, seq *sequence, parent *listeners[func(context.Context, E) (V, error)]) {
	s.name = name
	s.set.attach(seq, parent)
}

// Use adds a listener and returns what removes it.
func (s *Serial[E, V]) Use(fn func(ctx context.Context, event E) (V, error), opts ...Option) (remove func()) {
	return s.set.add(fn, opts)
}

// Name returns the seam's name.
func (s *Serial[E, V]) Name() string { return s.name }

// Empty reports whether there is nothing to run.
func (s *Serial[E, V]) Empty() bool { return s.set.empty() }

// Run runs the listeners in order and returns the first verdict.
func (s *Serial[E, V]) Run(ctx context.Context, event E) (verdict V, err error) {
	var none V
	for _, entry := range s.set.chain() {
		v, err := callSerial(ctx, entry, event)
		if err != nil {
			return none, err
		}
		if v != none && verdict == none {
			if verdict = v; s.firstFinal {
				break
			}
		}
	}
	return verdict, nil
}

func callSerial[E, V any](ctx context.Context, entry listener[func(context.Context, E) (V, error)], event E) (v V, err error) {
	defer contain(entry.name, &err)
	return entry.fn(ctx, event)
}

// Sequence is a seam whose listeners run one after another and can only fail:
// an error stops the chain.
type Sequence[E any] struct {
	name string
	set  listeners[func(context.Context, E) error]
}

func (s *Sequence[E]) init(name string, seq *sequence, parent *listeners[func(context.Context, E) error]) {
	s.name = name
	s.set.attach(seq, parent)
}

// Use adds a listener and returns what removes it.
func (s *Sequence[E]) Use(fn func(ctx context.Context, event E) error, opts ...Option) (remove func()) {
	return s.set.add(fn, opts)
}

// Name returns the seam's name.
func (s *Sequence[E]) Name() string { return s.name }

// Empty reports whether there is nothing to run.
func (s *Sequence[E]) Empty() bool { return s.set.empty() }

// Run runs the listeners in order until one fails.
func (s *Sequence[E]) Run(ctx context.Context, event E) error {
	for _, entry := range s.set.chain() {
		if err := callSequence(ctx, entry, event); err != nil {
			return err
		}
	}
	return nil
}

func callSequence[E any](ctx context.Context, entry listener[func(context.Context, E) error], event E) (err error) {
	defer contain(entry.name, &err)
	return entry.fn(ctx, event)
}

// Notification is a seam that only tells: listeners run in order, on the
// caller's goroutine, and cannot change anything. A panic is contained and
// reported to the runtime; later listeners still run (D-4).
type Notification[E any] struct {
	name string
	warn func(error)
	set  listeners[func(context.Context, E)]
}

func (n *Notification[E]) init(name string, seq *sequence, parent *listeners[func(context.Context, E)]) {
	n.name = name
	n.set.attach(seq, parent)
}

// Use adds a listener and returns what removes it.
func (n *Notification[E]) Use(fn func(ctx context.Context, event E), opts ...Option) (remove func()) {
	return n.set.add(fn, opts)
}

// Name returns the seam's name.
func (n *Notification[E]) Name() string { return n.name }

// Empty reports whether there is nobody to tell.
func (n *Notification[E]) Empty() bool { return n.set.empty() }

// Run tells every listener.
func (n *Notification[E]) Run(ctx context.Context, event E) {
	for _, entry := range n.set.chain() {
		if err := callNotification(ctx, entry, event); err != nil && n.warn != nil {
			n.warn(fmt.Errorf("%s: listener %s: %w", n.name, entry.name, err))
		}
	}
}

func callNotification[E any](ctx context.Context, entry listener[func(context.Context, E)], event E) (err error) {
	defer contain(entry.name, &err)
	entry.fn(ctx, event)
	return nil
}

// Parallel is a seam whose listeners all start at once, each on a goroutine of
// its own, and are all waited for (D-4).
type Parallel[E any] struct {
	name string
	set  listeners[func(context.Context, E) error]
}

func (p *Parallel[E]) init(name string, seq *sequence, parent *listeners[func(context.Context, E) error]) {
	p.name = name
	p.set.attach(seq, parent)
}

// Use adds a listener and returns what removes it.
func (p *Parallel[E]) Use(fn func(ctx context.Context, event E) error, opts ...Option) (remove func()) {
	return p.set.add(fn, opts)
}

// Name returns the seam's name.
func (p *Parallel[E]) Name() string { return p.name }

// Empty reports whether there is nothing to run.
func (p *Parallel[E]) Empty() bool { return p.set.empty() }

// Names returns the names of the listeners that a run would start.
func (p *Parallel[E]) Names() []string {
	chain := p.set.chain()
	names := make([]string, len(chain))
	for i, entry := range chain {
		names[i] = entry.name
	}
	return names
}

// Run starts all listeners and returns when the last has ended: the failure of
// the first registered of those that failed. A listener that ends its goroutine
// (runtime.Goexit) has failed.
func (p *Parallel[E]) Run(ctx context.Context, event E) error {
	chain := p.set.chain()
	errs := make([]error, len(chain))
	var wg sync.WaitGroup
	for i, entry := range chain {
		wg.Go(func() { errs[i] = errGoexit; errs[i] = callSequence(ctx, entry, event) })
	}
	wg.Wait()
	for i, err := range errs {
		if err != nil {
			return fmt.Errorf("%s: listener %s: %w", p.name, chain[i].name, err)
		}
	}
	return nil
}

var errGoexit = fmt.Errorf("the goroutine was ended by runtime.Goexit")

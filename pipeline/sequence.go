package pipeline

import "context"

// Sequence is a seam whose listeners run one after another and can only fail:
// an error stops the chain (Z-6).
type Sequence[E any] struct {
	seam[func(context.Context, E) error]
}

// Run runs the listeners in order until one fails. A panic of a listener is its
// error.
func (s *Sequence[E]) Run(ctx context.Context, event E) error {
	chain := s.set.chain()
	for i := range chain {
		if err := callObserver(ctx, &chain[i], event); err != nil {
			return err
		}
	}
	return nil
}

// callObserver runs a listener that can only fail.
func callObserver[E any](ctx context.Context, entry *listener[func(context.Context, E) error], event E) (err error) {
	defer contain(entry.name, &err)
	return entry.fn(ctx, event)
}

package pipeline

import (
	"context"

	"github.com/dsh-actor/dsh-actor/otel"
)

// Sequence is a seam whose listeners run one after another and can only fail:
// an error stops the chain (Z-6).
type Sequence[E any] struct {
	seam[func(context.Context, E) error]
}

// Run runs the listeners in order until one fails. A panic of a listener is its
// error.
func (s *Sequence[E]) Run(ctx context.Context, event E) (err error) {
	chain := s.set.snapshot()
	if chain == nil {
		return nil
	}
	if t := s.root.config.Tracer; t != nil {
		var span otel.SeamSpan
		ctx, span = t.StartSeam(ctx, s.name)
		err = errGoexit // stands if a listener ends the goroutine
		defer func() { span.End(otel.SeamEnd{Listeners: len(*chain), Ending: otel.Ending{Err: err}}) }()
	}
	return s.run(ctx, event, *chain)
}

func (s *Sequence[E]) run(ctx context.Context, event E, chain []listener[func(context.Context, E) error]) error {
	for i := range chain {
		if err := callObserver(ctx, s.root.config.Tracer, &chain[i], event); err != nil {
			return err
		}
	}
	return nil
}

// callObserver runs a listener that can only fail. A panic is its error.
func callObserver[E any](ctx context.Context, t *otel.Tracer, entry *listener[func(context.Context, E) error], event E) (err error) {
	if t != nil {
		var span otel.ListenerSpan
		ctx, span = t.StartListener(ctx, entry.name)
		err = errGoexit // stands if the listener ends the goroutine
		defer func() { span.End(otel.ListenerEnd{Ending: otel.Ending{Err: err}}) }()
	}
	defer contain(entry.name, &err)
	return entry.fn(ctx, event)
}

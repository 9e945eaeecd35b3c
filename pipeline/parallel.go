package pipeline

import (
	"context"
	"fmt"
	"sync"

	"github.com/dsh-actor/dsh-actor/otel"
)

// Parallel is a seam whose listeners all start at once, each on a goroutine of
// its own, and are all waited for (D-4).
type Parallel[E any] struct {
	seam[func(context.Context, E) error]
}

// Run starts all listeners and returns when the last has ended: the failure of
// the first registered of those that failed. A panic and an ended goroutine
// (runtime.Goexit) are failures.
func (p *Parallel[E]) Run(ctx context.Context, event E) error {
	chain := p.set.snapshot()
	if chain == nil {
		return nil
	}
	t := p.root.config.Tracer
	if t == nil {
		return p.run(ctx, nil, event, *chain)
	}
	ctx, span := t.StartSeam(ctx, p.name)
	err := p.run(ctx, t, event, *chain)
	span.End(otel.SeamEnd{Listeners: len(*chain), Ending: otel.Ending{Err: err}})
	return err
}

func (p *Parallel[E]) run(ctx context.Context, t *otel.Tracer, event E, chain []listener[func(context.Context, E) error]) error {
	errs := make([]error, len(chain))
	var wg sync.WaitGroup
	for i := range chain {
		wg.Go(func() {
			errs[i] = errGoexit // stands if the listener ends the goroutine
			errs[i] = callObserver(ctx, t, &chain[i], event)
		})
	}
	wg.Wait()
	for i, err := range errs {
		if err != nil {
			return fmt.Errorf("%s: listener %s: %w", p.name, chain[i].name, err)
		}
	}
	return nil
}

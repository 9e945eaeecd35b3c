package pipeline

import (
	"context"
	"fmt"

	"github.com/dsh-actor/dsh-actor/otel"
)

// Notification is a seam that only tells: listeners run in order, on the
// caller's goroutine, and cannot change anything. A panic is contained and
// reported to [Config].Warn; later listeners still run (D-4).
type Notification[E any] struct {
	seam[func(context.Context, E)]
}

// Run tells every listener that is registered now, each exactly once.
func (n *Notification[E]) Run(ctx context.Context, event E) {
	chain := n.set.snapshot()
	if chain == nil {
		return
	}
	if t := n.root.config.Tracer; t != nil {
		var span otel.SeamSpan
		ctx, span = t.StartSeam(ctx, n.name)
		defer func() { span.End(otel.SeamEnd{Listeners: len(*chain)}) }()
	}
	n.tell(ctx, event, *chain)
}

// tell tells the listeners of chain. A listener that ends the goroutine
// (runtime.Goexit) does not keep the later ones from being told.
func (n *Notification[E]) tell(ctx context.Context, event E, chain []listener[func(context.Context, E)]) {
	told := 0
	defer func() {
		if told < len(chain) {
			n.failed(chain[told].name, errGoexit)
			n.tell(ctx, event, chain[told+1:])
		}
	}()
	for ; told < len(chain); told++ {
		if err := n.call(ctx, &chain[told], event); err != nil {
			n.failed(chain[told].name, err)
		}
	}
}

func (n *Notification[E]) call(ctx context.Context, entry *listener[func(context.Context, E)], event E) (err error) {
	if t := n.root.config.Tracer; t != nil {
		var span otel.ListenerSpan
		ctx, span = t.StartListener(ctx, entry.name)
		err = errGoexit // stands if the listener ends the goroutine
		defer func() { span.End(otel.ListenerEnd{Ending: otel.Ending{Err: err}}) }()
	}
	defer contain(entry.name, &err)
	entry.fn(ctx, event)
	return nil
}

func (n *Notification[E]) failed(listener string, err error) {
	n.root.warn(fmt.Errorf("%s: listener %s: %w", n.name, listener, err))
}

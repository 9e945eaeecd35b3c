package pipeline

import (
	"context"

	"github.com/dsh-actor/dsh-actor/otel"
)

// Serial is a seam whose listeners run one after another and may return a
// verdict. Only an error stops the chain early, except where the seam says that
// the first verdict does (agent/turn-stop, S-7); of several verdicts the first
// counts (Z-6).
type Serial[E any, V comparable] struct {
	seam[func(context.Context, E) (V, error)]
	firstFinal bool
	known      func(V) bool // what is a verdict of this seam
}

// Run runs the listeners in order and returns the first verdict; nothing is no
// verdict. A panic of a listener is its error, and so is a verdict of unknown
// kind (Z-1). With an error there is no verdict.
func (s *Serial[E, V]) Run(ctx context.Context, event E) (verdict V, err error) {
	chain := s.set.snapshot()
	if chain == nil {
		return verdict, nil
	}
	if t := s.root.config.Tracer; t != nil {
		var span otel.SeamSpan
		ctx, span = t.StartSeam(ctx, s.name)
		err = errGoexit // stands if a listener ends the goroutine
		defer func() {
			span.End(otel.SeamEnd{Decision: verdict, Listeners: len(*chain), Ending: otel.Ending{Err: err}})
		}()
	}
	return s.run(ctx, event, *chain)
}

func (s *Serial[E, V]) run(ctx context.Context, event E, chain []listener[func(context.Context, E) (V, error)]) (V, error) {
	var none, verdict V
	for i := range chain {
		v, err := s.call(ctx, &chain[i], event)
		switch {
		case err != nil:
			return none, err
		case v == none || verdict != none:
		case s.firstFinal:
			return v, nil
		default:
			verdict = v
		}
	}
	return verdict, nil
}

func (s *Serial[E, V]) call(ctx context.Context, entry *listener[func(context.Context, E) (V, error)], event E) (v V, err error) {
	if t := s.root.config.Tracer; t != nil {
		var span otel.ListenerSpan
		ctx, span = t.StartListener(ctx, entry.name)
		err = errGoexit // stands if the listener ends the goroutine
		defer func() { span.End(otel.ListenerEnd{Decision: v, Ending: otel.Ending{Err: err}}) }()
	}
	defer contain(entry.name, &err)
	v, err = entry.fn(ctx, event)
	var none V
	if err == nil && v != none && s.known != nil && !s.known(v) {
		err = unknownDecision(s.name, entry.name, v)
	}
	return v, err
}

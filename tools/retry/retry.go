package retry

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/cenkalti/backoff/v4"

	"github.com/dsh-actor/dsh-actor/messages"
	"github.com/dsh-actor/dsh-actor/pipeline"
)

// Defaults of [Config].
const (
	DefaultTries    = 5
	DefaultInitial  = time.Second
	DefaultMax      = 30 * time.Second
	DefaultPatience = 2 * time.Minute
)

// jitter is the part of an interval by which it may be shorter or longer.
const jitter = 0.25

// Config says how long to go on. The zero value of each field is its default.
type Config struct {
	// Tries is how often a request is sent in a row, the first time included.
	Tries int
	// Initial is the interval before the first retry. Each further one is twice as
	// long as the one before, up to Max.
	Initial, Max time.Duration
	// Patience is the longest wait that a provider may ask for. A request that it
	// wants later is not retried: sending it earlier is of no use, and a turn that
	// silently waits for an hour even less.
	Patience time.Duration

	// Retryable replaces the judgement on a failure; default [Retryable].
	Retryable func(messages.Failure) bool
	// Observe is told about each retry, after it was recorded and before the wait.
	Observe func(ctx context.Context, r Retry)
	// Wait waits for d, or returns the context's cause when that is done first.
	Wait func(ctx context.Context, d time.Duration) error
	// Random returns numbers in [0, 1) and is safe for concurrent use.
	Random func() float64
}

// Listener retries failed requests. It is safe for concurrent use by any number
// of sessions.
type Listener struct{ cfg Config }

// New checks cfg and returns the listener.
func New(cfg Config) (*Listener, error) {
	for _, d := range []struct {
		name  string
		value *time.Duration
		def   time.Duration
	}{
		{"initial interval", &cfg.Initial, DefaultInitial},
		{"longest interval", &cfg.Max, DefaultMax},
		{"patience", &cfg.Patience, DefaultPatience},
	} {
		if *d.value < 0 {
			return nil, fmt.Errorf("retry: the %s must not be negative, it is %v", d.name, *d.value)
		}
		if *d.value == 0 {
			*d.value = d.def
		}
	}
	if cfg.Tries < 0 {
		return nil, fmt.Errorf("retry: the number of tries must not be negative, it is %d", cfg.Tries)
	}
	if cfg.Tries == 0 {
		cfg.Tries = DefaultTries
	}
	if cfg.Retryable == nil {
		cfg.Retryable = Retryable
	}
	if cfg.Wait == nil {
		cfg.Wait = wait
	}
	if cfg.Random == nil {
		cfg.Random = rand.Float64
	}
	return &Listener{cfg}, nil
}

// Install registers the listener and returns how to remove it. The host's event
// registry must know [EventTypes].
func (l *Listener) Install(seams *pipeline.Seams) (remove func()) {
	return seams.RequestError.Use(l.Decide, pipeline.Named("retry"))
}

// Decide is the listener. What it does not retry is left to the listeners inside
// and the default. A context that is done, and a retry that cannot be recorded,
// are errors, which the seam takes as fail.
func (l *Listener) Decide(ctx context.Context, e *pipeline.RequestError, next pipeline.Next[messages.RequestErrorDecision]) (messages.RequestErrorDecision, error) {
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	attempt := e.Retried.Len() + 1
	if attempt >= l.cfg.Tries || !l.cfg.Retryable(e.Failure) {
		return next(ctx)
	}
	delay, ok := l.delay(attempt, e.Failure)
	if !ok {
		return next(ctx)
	}
	r := Retry{
		Turn: e.Turn, Step: e.Step, Attempt: attempt, MaxRetries: l.cfg.Tries - 1,
		DelayMS: delay.Milliseconds(), Failure: e.Failure,
	}
	if e.Agent != nil {
		if err := e.Agent.Record(ctx, r); err != nil {
			return nil, fmt.Errorf("record the retry of turn %d, step %d: %w", e.Turn, e.Step, err)
		}
	}
	if l.cfg.Observe != nil {
		l.cfg.Observe(ctx, r)
	}
	if err := l.cfg.Wait(ctx, delay); err != nil {
		return nil, err
	}
	return messages.RequestRetry{}, nil
}

// delay returns the wait before a retry, in whole milliseconds, and false if the
// provider asks for more than the listener's patience. What the provider asks for
// is only ever made longer: many sessions were told the same.
func (l *Listener) delay(attempt int, f messages.Failure) (time.Duration, bool) {
	random := l.cfg.Random()
	if ms := f.ProviderRetryAfterMS; ms > 0 {
		if ms > l.cfg.Patience.Milliseconds() {
			return 0, false
		}
		asked := time.Duration(ms) * time.Millisecond
		return whole(asked + time.Duration(jitter*random*float64(asked))), true
	}
	// The jitter is ours: the library's draws from a source of its own.
	b := backoff.NewExponentialBackOff(
		backoff.WithInitialInterval(l.cfg.Initial), backoff.WithMultiplier(2),
		backoff.WithMaxInterval(l.cfg.Max), backoff.WithRandomizationFactor(0), backoff.WithMaxElapsedTime(0),
	)
	var d time.Duration
	for range attempt {
		d = b.NextBackOff()
	}
	d = min(d, l.cfg.Max) // an initial interval can be longer
	return whole(time.Duration((1 - jitter + 2*jitter*random) * float64(d))), true
}

func whole(d time.Duration) time.Duration { return d.Round(time.Millisecond) }

// wait is the default of Config.Wait.
func wait(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-t.C:
		return nil
	}
}

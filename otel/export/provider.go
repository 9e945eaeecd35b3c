package export

import (
	"context"
	"errors"
	"sync"

	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
)

// ProviderConfig adjusts a Provider.
type ProviderConfig struct {
	// Resource says who makes the spans; see [NewResource].
	Resource *resource.Resource
	// Sampler decides at the root of a trace. The default is what
	// OTEL_TRACES_SAMPLER says, and that defaults to parentbased_always_on.
	Sampler sdktrace.Sampler
	// Queues are where the spans go. The provider owns them.
	Queues []*Queue
}

// Provider is a tracer provider over queues, and what a host must shut down. A
// nil *Provider traces nothing.
type Provider struct {
	tracers *sdktrace.TracerProvider
	queues  []*Queue
}

// NewProvider returns a provider.
func NewProvider(cfg ProviderConfig) *Provider {
	var opts []sdktrace.TracerProviderOption
	if cfg.Resource != nil {
		opts = append(opts, sdktrace.WithResource(cfg.Resource))
	}
	if cfg.Sampler != nil {
		opts = append(opts, sdktrace.WithSampler(cfg.Sampler))
	}
	for _, q := range cfg.Queues {
		opts = append(opts, sdktrace.WithSpanProcessor(q))
	}
	return &Provider{tracers: sdktrace.NewTracerProvider(opts...), queues: cfg.Queues}
}

// TracerProvider returns the provider for otel.Config, nil if p is nil.
func (p *Provider) TracerProvider() trace.TracerProvider {
	if p == nil {
		return nil
	}
	return p.tracers
}

// Queues returns the provider's queues, for their Stats.
func (p *Provider) Queues() []*Queue {
	if p == nil {
		return nil
	}
	return p.queues
}

// Dropped returns how many spans were lost, over all queues.
func (p *Provider) Dropped() int64 {
	if p == nil {
		return 0
	}
	var n int64
	for _, q := range p.queues {
		n += q.Stats().Dropped()
	}
	return n
}

// ForceFlush flushes all queues at the same time.
func (p *Provider) ForceFlush(ctx context.Context) error {
	if p == nil {
		return nil
	}
	return p.each(func(q *Queue) error { return q.ForceFlush(ctx) })
}

// Shutdown shuts all queues down at the same time, each bounded as its
// configuration says: a dead network does not take the file's time. The error
// names every loss of the provider's life.
func (p *Provider) Shutdown(ctx context.Context) error {
	if p == nil {
		return nil
	}
	err := p.each(func(q *Queue) error { return q.Shutdown(ctx) })
	// The queues are down and answer at once; this is for the provider, which from
	// now on makes spans that do nothing. Its error would repeat theirs.
	_ = p.tracers.Shutdown(ctx)
	return err
}

func (p *Provider) each(do func(*Queue) error) error {
	errs := make([]error, len(p.queues))
	var wg sync.WaitGroup
	for i, q := range p.queues {
		wg.Go(func() { errs[i] = do(q) })
	}
	wg.Wait()
	return errors.Join(errs...)
}

// FileConfig adjusts OpenFile.
type FileConfig struct {
	// Identity says who makes the spans.
	Identity Identity
	// Queue adjusts the file's queue.
	Queue QueueConfig
	// Sampler decides at the root of a trace. The default keeps everything: a file
	// is cheap, and the slow turn that one looks for is the one that sampling
	// loses.
	Sampler sdktrace.Sampler
	// Also are further queues that get the same spans, such as one to a collector
	// with a Ratio.
	Also []*Queue
}

// OpenFile returns a provider that appends OTLP/JSON lines to a file. If it
// fails, Also is still the caller's; otherwise the provider owns it.
func OpenFile(path string, cfg FileConfig) (*Provider, error) {
	lines, err := OpenLines(path)
	if err != nil {
		return nil, err
	}
	res, err := NewResource(context.Background(), cfg.Identity)
	if err != nil && cfg.Queue.OnError != nil {
		cfg.Queue.OnError(err)
	}
	if cfg.Sampler == nil {
		cfg.Sampler = sdktrace.AlwaysSample()
	}
	return NewProvider(ProviderConfig{
		Resource: res,
		Sampler:  cfg.Sampler,
		Queues:   append([]*Queue{NewQueue(lines, cfg.Queue)}, cfg.Also...),
	}), nil
}

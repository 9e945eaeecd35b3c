package oteltest

import (
	"context"
	"encoding/binary"
	"maps"
	"slices"
	"sync"
	"sync/atomic"

	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"

	"github.com/dsh-actor/dsh-actor/otel"
)

// Recorder keeps every span of its provider. It is safe for concurrent use.
type Recorder struct {
	provider *sdktrace.TracerProvider

	mu    sync.Mutex
	seq   int
	order map[trace.SpanID]int // when a span was started
	open  map[trace.SpanID]string
	ended []sdktrace.ReadOnlySpan
}

// New returns a recorder that samples everything.
func New() *Recorder { return NewWithSampler(sdktrace.AlwaysSample()) }

// NewWithSampler returns a recorder of what the sampler lets through.
func NewWithSampler(sampler sdktrace.Sampler) *Recorder {
	r := &Recorder{}
	r.Reset()
	r.provider = sdktrace.NewTracerProvider(
		sdktrace.WithSampler(sampler),
		sdktrace.WithIDGenerator(&counterIDs{}),
		sdktrace.WithResource(resource.Empty()),
		sdktrace.WithSpanProcessor((*processor)(r)),
	)
	return r
}

// Provider returns the recorder's tracer provider, for a host's configuration.
func (r *Recorder) Provider() trace.TracerProvider { return r.provider }

// Tracer returns a tracer that records spans only.
func (r *Recorder) Tracer() *otel.Tracer {
	return otel.New(otel.Config{TracerProvider: r.provider})
}

// Reset forgets all spans.
func (r *Recorder) Reset() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.seq = 0
	r.order = map[trace.SpanID]int{}
	r.open = map[trace.SpanID]string{}
	r.ended = nil
}

// Open returns the names of the spans that were started and not ended, sorted.
// After a test it should be empty.
func (r *Recorder) Open() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Sorted(maps.Values(r.open))
}

// Spans returns the ended spans in the order in which they ended.
func (r *Recorder) Spans() []sdktrace.ReadOnlySpan {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.ended)
}

// processor is the Recorder as the SDK sees it.
type processor Recorder

// OnStart notes the span's place.
func (p *processor) OnStart(_ context.Context, s sdktrace.ReadWriteSpan) {
	p.mu.Lock()
	defer p.mu.Unlock()
	id := s.SpanContext().SpanID()
	p.seq++
	p.order[id] = p.seq
	p.open[id] = s.Name()
}

// OnEnd keeps the span.
func (p *processor) OnEnd(s sdktrace.ReadOnlySpan) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.open, s.SpanContext().SpanID())
	p.ended = append(p.ended, s)
}

// Shutdown does nothing: what was recorded stays readable.
func (p *processor) Shutdown(context.Context) error { return nil }

// ForceFlush does nothing.
func (p *processor) ForceFlush(context.Context) error { return nil }

// counterIDs counts. Spans that are started one after the other have the same
// ids in every run.
type counterIDs struct{ trace, span atomic.Uint64 }

// NewIDs returns the ids of a root.
func (c *counterIDs) NewIDs(ctx context.Context) (trace.TraceID, trace.SpanID) {
	var id trace.TraceID
	binary.BigEndian.PutUint64(id[8:], c.trace.Add(1))
	return id, c.NewSpanID(ctx, id)
}

// NewSpanID returns the id of a child.
func (c *counterIDs) NewSpanID(context.Context, trace.TraceID) trace.SpanID {
	var id trace.SpanID
	binary.BigEndian.PutUint64(id[:], c.span.Add(1))
	return id
}

package export

import (
	"crypto/rand"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/sdk/instrumentation"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"

	"github.com/dsh-actor/dsh-actor/otel"
)

// marker is a span that nobody started: it says what the trace lacks, from the
// first loss to the last, and goes the way of the others. The embedded interface
// is nil; it is there for the method that the SDK keeps to itself.
type marker struct {
	sdktrace.ReadOnlySpan
	res        *resource.Resource
	scope      instrumentation.Scope
	sc         trace.SpanContext
	start, end time.Time
	attributes []attribute.KeyValue
}

func newMarker(res *resource.Resource, scope instrumentation.Scope, reason string, l loss) marker {
	return marker{res: res, scope: scope, sc: markerContext(), start: l.first, end: l.last, attributes: []attribute.KeyValue{
		attribute.Int64(otel.KeyDroppedSpans, l.spans),
		attribute.String(otel.KeyDroppedReason, reason),
	}}
}

func newUnfinished(res *resource.Resource, scope instrumentation.Scope, spans int64, now time.Time) marker {
	return marker{res: res, scope: scope, sc: markerContext(), start: now, end: now, attributes: []attribute.KeyValue{
		attribute.Int64(otel.KeyUnfinished, spans),
	}}
}

// markerContext makes ids for a trace of one span.
func markerContext() trace.SpanContext {
	var tid trace.TraceID
	var sid trace.SpanID
	rand.Read(tid[:])
	rand.Read(sid[:])
	return trace.NewSpanContext(trace.SpanContextConfig{TraceID: tid, SpanID: sid, TraceFlags: trace.FlagsSampled})
}

func (m marker) Name() string                                { return otel.SpanDropped }
func (m marker) SpanContext() trace.SpanContext              { return m.sc }
func (m marker) Parent() trace.SpanContext                   { return trace.SpanContext{} }
func (m marker) SpanKind() trace.SpanKind                    { return trace.SpanKindInternal }
func (m marker) StartTime() time.Time                        { return m.start }
func (m marker) EndTime() time.Time                          { return m.end }
func (m marker) Attributes() []attribute.KeyValue            { return m.attributes }
func (m marker) Links() []sdktrace.Link                      { return nil }
func (m marker) Events() []sdktrace.Event                    { return nil }
func (m marker) Status() sdktrace.Status                     { return sdktrace.Status{} }
func (m marker) InstrumentationScope() instrumentation.Scope { return m.scope }
func (m marker) Resource() *resource.Resource                { return m.res }
func (m marker) DroppedAttributes() int                      { return 0 }
func (m marker) DroppedLinks() int                           { return 0 }
func (m marker) DroppedEvents() int                          { return 0 }
func (m marker) ChildSpanCount() int                         { return 0 }

// InstrumentationLibrary is what the interface still has from before scopes.
//
//lint:ignore SA1019 the interface demands it
func (m marker) InstrumentationLibrary() instrumentation.Library { return m.scope }

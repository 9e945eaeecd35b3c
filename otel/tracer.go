package otel

import (
	"context"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/metric"
	metricnoop "go.opentelemetry.io/otel/metric/noop"
	"go.opentelemetry.io/otel/trace"
	tracenoop "go.opentelemetry.io/otel/trace/noop"
)

// Config says where spans and metrics go. Both providers are the host's: this
// package neither reads nor sets the global ones.
type Config struct {
	// TracerProvider makes the spans; nil or the API's no-op one makes none.
	TracerProvider trace.TracerProvider
	// MeterProvider makes the metrics; nil or the API's no-op one makes none.
	MeterProvider metric.MeterProvider
	// Version is the instrumentation's version, for the scope.
	Version string
	// Now is the clock; the default is time.Now. With a clock of the host's own
	// the spans carry its times.
	Now func() time.Time
	// CaptureArgs puts process.command_args on spans. It is off by default: a
	// command line may carry secrets.
	CaptureArgs bool
	// OnError is told about instruments that the meter provider refused. The
	// default is to go on without them.
	OnError func(error)
}

// Tracer makes the spans and metrics of the runtime. It is safe for concurrent
// use and lives as long as the runtime; it owns nothing that must be closed.
//
// A nil *Tracer is "not traced": every method returns at once, the context as it
// came, and allocates nothing.
type Tracer struct {
	tracer trace.Tracer // nil: metrics only
	meters *meters      // nil: spans only
	now    func() time.Time
	stamp  bool // spans carry our timestamps, so that metrics equal them
	args   bool
	names  spanNames
}

// spanNames are the caches of the names that have a variable part.
type spanNames struct {
	agent, chat, tool, seam, listener, hook, wait, detached *nameCache
}

// New returns a tracer over the host's providers, and nil if there is nothing to
// record to.
func New(cfg Config) *Tracer {
	t := &Tracer{now: cfg.Now, stamp: cfg.Now != nil, args: cfg.CaptureArgs}
	if t.now == nil {
		t.now = time.Now
	}
	if tp := cfg.TracerProvider; tp != nil && tp != trace.TracerProvider(tracenoop.TracerProvider{}) {
		t.tracer = tp.Tracer(ScopeName,
			trace.WithInstrumentationVersion(cfg.Version), trace.WithSchemaURL(SchemaURL))
	}
	if mp := cfg.MeterProvider; mp != nil && mp != metric.MeterProvider(metricnoop.MeterProvider{}) {
		m, err := newMeters(mp.Meter(ScopeName,
			metric.WithInstrumentationVersion(cfg.Version), metric.WithSchemaURL(SchemaURL)))
		if err != nil && cfg.OnError != nil {
			cfg.OnError(err)
		}
		t.meters = m
		t.stamp = true
	}
	if t.tracer == nil && t.meters == nil {
		return nil
	}
	t.names = spanNames{
		agent:    newNameCache(SpanInvokeAgent),
		chat:     newNameCache(SpanChat),
		tool:     newNameCache(SpanExecuteTool),
		seam:     newNameCache(SpanSeam),
		listener: newNameCache(SpanListener),
		hook:     newNameCache(SpanHook),
		wait:     newNameCache(SpanWait),
		detached: newNameCache(SpanDetached),
	}
	return t
}

// Span is what all started spans have in common. It is a small value; the zero
// Span records nothing, and that is what Start methods return when there is no
// tracer or when the trace is not sampled. A span is ended exactly once, by the
// one who started it.
type Span struct {
	t     *Tracer
	span  trace.Span // nil: metrics only
	start time.Time  // zero unless the tracer stamps
}

// Recording reports whether the span itself is recorded. Callers need it only to
// avoid work of their own for what they would put on the span.
func (s Span) Recording() bool { return s.span != nil }

// TraceParent returns the span's W3C traceparent, or "" if it is not recorded.
func (s Span) TraceParent() string {
	if s.span == nil {
		return ""
	}
	return formatTraceParent(s.span.SpanContext())
}

// records reports whether an inner span of ctx would be recorded. It is false
// below a local span that is not sampled: that saves the SDK's work for spans
// that it would throw away. Without any span in ctx a new trace begins, so that
// work outside of turns, such as a hook at a session's end, is seen. A sampled
// parent that has ended already still gets its children.
func (t *Tracer) records(ctx context.Context) bool {
	if t.tracer == nil {
		return false
	}
	parent := trace.SpanFromContext(ctx)
	sc := parent.SpanContext()
	return sc.IsSampled() || !sc.IsValid() || sc.IsRemote() || parent.IsRecording()
}

// begin starts a span and its clock.
func (t *Tracer) begin(ctx context.Context, name string, attrs attrs, opts ...trace.SpanStartOption) (context.Context, Span) {
	opts = append(opts, trace.WithAttributes(attrs...))
	s := Span{t: t}
	if t.stamp {
		s.start = t.now()
		opts = append(opts, trace.WithTimestamp(s.start))
	}
	ctx, span := t.tracer.Start(ctx, name, opts...)
	if !span.IsRecording() {
		return ctx, t.silent(s.start)
	}
	s.span = span
	return ctx, s
}

// silent is a span that is not recorded but measured, if anything is.
func (t *Tracer) silent(start time.Time) Span {
	if t.meters == nil {
		return Span{}
	}
	if start.IsZero() {
		start = t.now()
	}
	return Span{t: t, start: start}
}

// finish ends the span, marked as an error if failed says so, and returns its
// duration, which is 0 if the tracer does not stamp.
func (s Span) finish(failed bool, attrs attrs) time.Duration {
	var took time.Duration
	if s.t.stamp {
		took = s.t.now().Sub(s.start)
	}
	if s.span == nil {
		return took
	}
	s.span.SetAttributes(attrs...)
	if failed {
		s.span.SetStatus(codes.Error, "")
	}
	if s.t.stamp {
		s.span.End(trace.WithTimestamp(s.start.Add(took)))
	} else {
		s.span.End()
	}
	return took
}

// context is what measurements are recorded with, so that a metric's exemplar
// points at the span.
func (s Span) context() context.Context {
	if s.span == nil {
		return context.Background()
	}
	return trace.ContextWithSpan(context.Background(), s.span)
}

// attrs collects attributes. Strings are made fit for a trace; empty ones are
// left out.
type attrs []attribute.KeyValue

func (a *attrs) str(key, value string) {
	if value != "" {
		*a = append(*a, attribute.String(key, clean(value)))
	}
}

// word is str for values of our own, which need no cleaning.
func (a *attrs) word(key, value string) {
	if value != "" {
		*a = append(*a, attribute.String(key, value))
	}
}

func (a *attrs) num(key string, value int) { *a = append(*a, attribute.Int(key, value)) }

// count is num without zeros.
func (a *attrs) count(key string, value int) {
	if value != 0 {
		a.num(key, value)
	}
}

func (a *attrs) flag(key string, value bool) {
	if value {
		*a = append(*a, attribute.Bool(key, true))
	}
}

// millis records a duration in milliseconds; 0 is left out.
func (a *attrs) millis(key string, d time.Duration) {
	if d > 0 {
		*a = append(*a, attribute.Float64(key, float64(d)/float64(time.Millisecond)))
	}
}

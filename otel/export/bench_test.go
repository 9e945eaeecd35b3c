package export_test

import (
	"context"
	"io"
	"path/filepath"
	"testing"

	"go.opentelemetry.io/otel/attribute"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"

	"github.com/dsh-actor/dsh-actor/messages"
	"github.com/dsh-actor/dsh-actor/otel"
	"github.com/dsh-actor/dsh-actor/otel/export"
)

// discard is an exporter that takes no time.
type discard struct{}

func (discard) ExportSpans(context.Context, []sdktrace.ReadOnlySpan) error { return nil }
func (discard) Shutdown(context.Context) error                             { return nil }

// BenchmarkOnEnd is what the queue adds to the end of a span, on the goroutine
// that ends it.
func BenchmarkOnEnd(b *testing.B) {
	span := makeSpans(func(tp trace.TracerProvider) { emit(tp.Tracer("t"), 0, 1) })[0]
	q := export.NewQueue(discard{}, export.QueueConfig{})
	defer q.Shutdown(context.Background())
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			q.OnEnd(span)
		}
	})
}

// BenchmarkOnEndFull is the same while the queue is full.
func BenchmarkOnEndFull(b *testing.B) {
	span := makeSpans(func(tp trace.TracerProvider) { emit(tp.Tracer("t"), 0, 1) })[0]
	q := export.NewQueue(&sink{before: func(ctx context.Context, _ int) error { <-ctx.Done(); return nil }}, export.QueueConfig{Size: 1})
	b.ReportAllocs()
	for b.Loop() {
		q.OnEnd(span)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	q.Shutdown(ctx)
}

// BenchmarkEncode is a span's way to a line, on the queue's goroutine.
func BenchmarkEncode(b *testing.B) {
	spans := makeSpans(func(tp trace.TracerProvider) {
		for range 512 {
			_, s := tp.Tracer("t").Start(context.Background(), "dsh.hook PreToolUse", trace.WithAttributes(
				attribute.String("a", "value-1"), attribute.String("b", "value-2"), attribute.String("c", "value-3"),
				attribute.Int("d", 4), attribute.Int("e", 5), attribute.Bool("f", true), attribute.Float64("g", 7.5),
				attribute.String("h", "value-8"), attribute.String("i", "value-9"), attribute.String("j", "value-10")))
			s.End()
		}
	})
	l := export.NewLines(io.Discard, nil)
	b.ReportAllocs()
	n := 0
	for b.Loop() {
		if err := l.ExportSpans(context.Background(), spans); err != nil {
			b.Fatal(err)
		}
		n += len(spans)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(n), "ns/span")
}

// BenchmarkTracedSpan is a span of the runtime from its start to a trace file:
// the time is that of the caller, while the queue's goroutine writes.
func BenchmarkTracedSpan(b *testing.B) {
	p, err := export.OpenFile(filepath.Join(b.TempDir(), "trace.jsonl"), export.FileConfig{})
	if err != nil {
		b.Fatal(err)
	}
	tr := otel.New(otel.Config{TracerProvider: p.TracerProvider()})
	ctx, turn := tr.StartTurn(context.Background(), otel.TurnStart{Session: "s", Agent: "bot"})
	b.ReportAllocs()
	for b.Loop() {
		_, s := tr.StartSeam(ctx, "tools/pre-execute")
		s.End(otel.SeamEnd{Decision: messages.ToolAllow{}, Listeners: 1})
	}
	b.StopTimer()
	turn.End(otel.TurnEnd{})
	// A benchmark outruns any exporter: the losses are told, not hidden.
	_ = p.Shutdown(context.Background())
	s := p.Queues()[0].Stats()
	b.ReportMetric(float64(s.Dropped())/float64(s.Accepted+s.QueueFull), "dropped/op")
}

package export_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"go.opentelemetry.io/otel/attribute"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
	"pgregory.net/rapid"

	"github.com/dsh-actor/dsh-actor/otel"
	"github.com/dsh-actor/dsh-actor/otel/export"
)

// sink is an exporter that remembers, fails and waits as a test says.
type sink struct {
	mu       sync.Mutex
	spans    []sdktrace.ReadOnlySpan
	batches  []int
	shutdown int
	// before runs in ExportSpans, without the lock; its error is the export's.
	before func(ctx context.Context, n int) error
}

func (s *sink) ExportSpans(ctx context.Context, spans []sdktrace.ReadOnlySpan) error {
	written, err := len(spans), error(nil)
	if s.before != nil {
		if err = s.before(ctx, len(spans)); err != nil {
			written = 0
			var partial *export.PartialError
			if errors.As(err, &partial) {
				written = partial.Written
			}
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.spans = append(s.spans, spans[:written]...)
	s.batches = append(s.batches, len(spans))
	return err
}

func (s *sink) Shutdown(context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.shutdown++
	return nil
}

// work returns the names of the exported spans, markers aside.
func (s *sink) work() (names []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, span := range s.spans {
		if span.Name() != otel.SpanDropped {
			names = append(names, span.Name())
		}
	}
	return names
}

// told returns what the exported markers say, by reason; "unfinished" is theirs
// about spans that did not end.
func (s *sink) told() map[string]int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := map[string]int64{}
	for _, span := range s.spans {
		if span.Name() != otel.SpanDropped {
			continue
		}
		set := attribute.NewSet(span.Attributes()...)
		if v, ok := set.Value(otel.KeyUnfinished); ok {
			out["unfinished"] += v.AsInt64()
			continue
		}
		reason, _ := set.Value(otel.KeyDroppedReason)
		n, _ := set.Value(otel.KeyDroppedSpans)
		out[reason.AsString()] += n.AsInt64()
	}
	return out
}

func tracerOver(q *export.Queue) trace.Tracer {
	return sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(q), sdktrace.WithSampler(sdktrace.AlwaysSample())).Tracer("test")
}

func emit(tr trace.Tracer, from, n int) {
	for i := from; i < from+n; i++ {
		_, s := tr.Start(context.Background(), fmt.Sprint("span-", i))
		s.End()
	}
}

func names(from, n int) (out []string) {
	for i := from; i < from+n; i++ {
		out = append(out, fmt.Sprint("span-", i))
	}
	return out
}

// TestQueueExportsInOrder: everything arrives, once, in the order in which it
// ended, in batches of the size that was asked for.
func TestQueueExportsInOrder(t *testing.T) {
	out := &sink{}
	q := export.NewQueue(out, export.QueueConfig{Size: 1000, Batch: 64})
	emit(tracerOver(q), 0, 500)
	if err := q.Shutdown(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := out.work(); !slices.Equal(got, names(0, 500)) {
		t.Errorf("exported %d spans: %v", len(got), got)
	}
	if m := slices.Max(out.batches); m > 64 {
		t.Errorf("a batch of %d spans, want at most 64", m)
	}
	if out.shutdown != 1 {
		t.Errorf("the exporter was shut down %d times", out.shutdown)
	}
	if s := q.Stats(); s.Accepted != 500 || s.Exported != 500 || s.Dropped() != 0 || s.Open != 0 || s.Errors != 0 {
		t.Errorf("stats %+v", s)
	}
}

// TestFullQueueIsTold: OTEL.md 0 (5). What does not fit is counted, and a marker
// in the trace says how many and why, as soon as the exporter takes spans again.
func TestFullQueueIsTold(t *testing.T) {
	started, release := make(chan struct{}), make(chan struct{})
	var once sync.Once
	out := &sink{before: func(context.Context, int) error {
		once.Do(func() { close(started); <-release })
		return nil
	}}
	q := export.NewQueue(out, export.QueueConfig{Size: 10, Batch: 2, Delay: time.Hour})
	tr := tracerOver(q)
	emit(tr, 0, 2) // a batch, which the exporter holds
	<-started
	emit(tr, 2, 15) // 10 fit, 5 do not
	if s := q.Stats(); s.Accepted != 12 || s.QueueFull != 5 || s.Dropped() != 5 {
		t.Errorf("stats %+v", s)
	}
	close(release)
	if err := q.ForceFlush(t.Context()); err != nil {
		t.Fatal(err)
	}
	emit(tr, 17, 1)
	err := q.Shutdown(t.Context())
	if err == nil || !strings.Contains(err.Error(), "5 spans lost (5 queue_full, 0 export_failed, 0 shutdown)") {
		t.Errorf("Shutdown said %v", err)
	}
	if got := out.work(); !slices.Equal(got, append(names(0, 12), "span-17")) {
		t.Errorf("exported %v", got)
	}
	if got := out.told(); len(got) != 1 || got[export.QueueFull] != 5 {
		t.Errorf("the markers say %v", got)
	}
	for _, s := range out.spans {
		if s.Name() == otel.SpanDropped {
			if s.EndTime().Before(s.StartTime()) || s.StartTime().IsZero() || !s.SpanContext().IsValid() || s.Parent().IsValid() {
				t.Errorf("the marker is from %v to %v, context %v, parent %v", s.StartTime(), s.EndTime(), s.SpanContext(), s.Parent())
			}
			if s.Resource() == nil || s.InstrumentationScope().Name != "test" {
				t.Errorf("the marker is of the resource %v and the scope %v", s.Resource(), s.InstrumentationScope())
			}
		}
	}
	seen := map[string]int64{}
	q.EachDrop(func(reason string, n int64) { seen[reason] = n })
	if seen[export.QueueFull] != 5 {
		t.Errorf("EachDrop says %v", seen)
	}
}

// TestFailedExportIsTold: a failure, a partial one and a panic cost what they
// cost, are reported, and later markers say so. The stock processor returned nil
// from Shutdown here (OTEL.md 5).
func TestFailedExportIsTold(t *testing.T) {
	calls := 0
	out := &sink{}
	out.before = func(_ context.Context, n int) error {
		calls++
		switch calls {
		case 1:
			return errors.New("disk full")
		case 2:
			return &export.PartialError{Written: 3, Err: errors.New("disk full again")}
		case 3:
			panic("a bug")
		}
		return nil
	}
	var reported []string
	q := export.NewQueue(out, export.QueueConfig{Size: 100, Batch: 10, Delay: time.Hour, OnError: func(err error) { reported = append(reported, err.Error()) }})
	tr := tracerOver(q)
	for i := range 4 {
		emit(tr, 10*i, 10)
		if err := q.ForceFlush(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	err := q.Shutdown(t.Context())
	if err == nil || !strings.Contains(err.Error(), "27 spans lost") || !strings.Contains(err.Error(), "exporter panicked: a bug") {
		t.Errorf("Shutdown said %v", err)
	}
	if again := q.Shutdown(t.Context()); again != err {
		t.Errorf("Shutdown then said %v", again)
	}
	if got := out.work(); !slices.Equal(got, append(names(10, 3), names(30, 10)...)) {
		t.Errorf("exported %v", got)
	}
	if got := out.told(); got[export.ExportFailed] != 27 {
		t.Errorf("the markers say %v", got)
	}
	if want := []string{"disk full", "disk full again", "exporter panicked: a bug"}; !slices.Equal(reported, want) {
		t.Errorf("reported %q, want %q", reported, want)
	}
	if s := q.Stats(); s.Accepted != s.Exported+s.ExportFailed || s.Errors != 3 {
		t.Errorf("stats %+v", s)
	}
}

// TestMarkersSurviveFailures: a marker that cannot be written is written later,
// with what was lost since.
func TestMarkersSurviveFailures(t *testing.T) {
	down := true
	out := &sink{}
	out.before = func(context.Context, int) error {
		if down {
			return errors.New("down")
		}
		return nil
	}
	q := export.NewQueue(out, export.QueueConfig{Delay: time.Hour})
	tr := tracerOver(q)
	for i := range 3 {
		emit(tr, i, 1)
		if err := q.ForceFlush(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	// The exporter works again, but nothing is left to export: Shutdown tells.
	down = false
	if err := q.Shutdown(t.Context()); err == nil || !strings.Contains(err.Error(), "3 spans lost") {
		t.Errorf("Shutdown said %v", err)
	}
	if got := out.told(); got[export.ExportFailed] != 3 {
		t.Errorf("the markers say %v", got)
	}
}

// TestShutdownIsBounded: an exporter that hangs holds Shutdown for as long as it
// was allowed to and no longer, and what it held is counted.
func TestShutdownIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		out := &sink{before: func(ctx context.Context, _ int) error {
			<-ctx.Done()
			return ctx.Err()
		}}
		q := export.NewQueue(out, export.QueueConfig{Batch: 2, Delay: time.Hour, ShutdownTimeout: 2 * time.Second, ExportTimeout: time.Hour})
		emit(tracerOver(q), 0, 5)
		start := time.Now()
		err := q.Shutdown(context.Background())
		if took := time.Since(start); took != 2*time.Second {
			t.Errorf("Shutdown took %v, want 2s", took)
		}
		if err == nil || !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), "5 spans lost (0 queue_full, 0 export_failed, 5 shutdown)") {
			t.Errorf("Shutdown said %v", err)
		}
		synctest.Wait() // the goroutine ends; synctest fails the test otherwise
		if s := q.Stats(); s.AtShutdown != 5 || s.Accepted != 5 || s.Exported != 0 {
			t.Errorf("stats %+v", s)
		}
		if out.shutdown != 1 {
			t.Errorf("the exporter was shut down %d times", out.shutdown)
		}
	})
}

// TestShutdownHonoursItsContext: the caller's deadline may be shorter.
func TestShutdownHonoursItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		out := &sink{before: func(ctx context.Context, _ int) error { <-ctx.Done(); return ctx.Err() }}
		q := export.NewQueue(out, export.QueueConfig{ExportTimeout: time.Hour, ShutdownTimeout: time.Hour})
		emit(tracerOver(q), 0, 1)
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		start := time.Now()
		if err := q.Shutdown(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Shutdown said %v", err)
		}
		if took := time.Since(start); took != time.Second {
			t.Errorf("Shutdown took %v, want 1s", took)
		}
	})
}

// TestExportIsBounded: one hanging export costs its batch, not the queue.
func TestExportIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hang := true
		out := &sink{}
		out.before = func(ctx context.Context, _ int) error {
			if hang {
				hang = false
				<-ctx.Done()
				return ctx.Err()
			}
			return nil
		}
		q := export.NewQueue(out, export.QueueConfig{Batch: 2, ExportTimeout: 3 * time.Second})
		emit(tracerOver(q), 0, 4)
		if err := q.ForceFlush(context.Background()); err != nil {
			t.Fatal(err)
		}
		if got := out.work(); !slices.Equal(got, names(2, 2)) {
			t.Errorf("exported %v", got)
		}
		if err := q.Shutdown(context.Background()); err == nil {
			t.Error("Shutdown does not tell the loss")
		}
		if got := out.told(); got[export.ExportFailed] != 2 {
			t.Errorf("the markers say %v", got)
		}
	})
}

// TestDelay: a span waits for company as long as it was told to, and not when
// the batch is full.
func TestDelay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var at []time.Duration
		start := time.Now()
		out := &sink{}
		out.before = func(context.Context, int) error {
			at = append(at, time.Since(start))
			return nil
		}
		q := export.NewQueue(out, export.QueueConfig{Batch: 3, Delay: time.Second})
		tr := tracerOver(q)
		emit(tr, 0, 2)
		time.Sleep(5 * time.Second) // fake time: the batch goes after one second
		emit(tr, 2, 3)
		synctest.Wait() // a full batch goes at once
		if err := q.Shutdown(context.Background()); err != nil {
			t.Fatal(err)
		}
		if want := []time.Duration{time.Second, 5 * time.Second}; !slices.Equal(at, want) {
			t.Errorf("exported at %v, want %v", at, want)
		}
		if want := []int{2, 3}; !slices.Equal(out.batches, want) {
			t.Errorf("batches %v, want %v", out.batches, want)
		}
	})
}

// TestUnfinishedSpansAreTold: what had not ended when the trace was closed is
// missing in it, and it says so.
func TestUnfinishedSpansAreTold(t *testing.T) {
	out := &sink{}
	q := export.NewQueue(out, export.QueueConfig{})
	tr := tracerOver(q)
	_, open := tr.Start(t.Context(), "open")
	emit(tr, 0, 1)
	if err := q.Shutdown(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := out.told(); len(got) != 1 || got["unfinished"] != 1 {
		t.Errorf("the markers say %v", got)
	}
	open.End()
	if s := q.Stats(); s.AtShutdown != 1 || s.Open != 0 {
		t.Errorf("a span that ended after Shutdown is not counted: %+v", s)
	}
}

// TestRatio: a queue can take a share of the traces, whole ones, without calling
// the rest lost.
func TestRatio(t *testing.T) {
	all, some := &sink{}, &sink{}
	qa := export.NewQueue(all, export.QueueConfig{})
	qs := export.NewQueue(some, export.QueueConfig{Ratio: 0.25})
	tp := sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(qa), sdktrace.WithSpanProcessor(qs))
	tr := tp.Tracer("test")
	sdk := sdktrace.TraceIDRatioBased(0.25)
	want := map[trace.TraceID]int{}
	for range 400 {
		ctx, root := tr.Start(t.Context(), "root")
		_, child := tr.Start(ctx, "child")
		child.End()
		root.End()
		id := root.SpanContext().TraceID()
		if sdk.ShouldSample(sdktrace.SamplingParameters{TraceID: id}).Decision == sdktrace.RecordAndSample {
			want[id] = 2
		}
	}
	if err := errors.Join(qa.Shutdown(t.Context()), qs.Shutdown(t.Context())); err != nil {
		t.Fatal(err)
	}
	if n := len(all.work()); n != 800 {
		t.Errorf("the full queue has %d spans, want 800", n)
	}
	got := map[trace.TraceID]int{}
	for _, s := range some.spans {
		got[s.SpanContext().TraceID()]++
	}
	if len(got) == 0 || len(got) != len(want) {
		t.Fatalf("%d traces of 400 were kept, the SDK keeps %d", len(got), len(want))
	}
	for id, n := range want {
		if got[id] != n {
			t.Errorf("trace %s has %d spans, want %d", id, got[id], n)
		}
	}
	if s := qs.Stats(); s.Dropped() != 0 || s.Open != 0 {
		t.Errorf("stats %+v", s)
	}
}

// TestUnsampledSpansStayOut: a span that is recorded and not sampled is not for
// an exporter.
func TestUnsampledSpansStayOut(t *testing.T) {
	out := &sink{}
	q := export.NewQueue(out, export.QueueConfig{})
	tp := sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(q), sdktrace.WithSampler(recordOnly{}))
	_, s := tp.Tracer("test").Start(t.Context(), "recorded")
	s.End()
	if err := q.Shutdown(t.Context()); err != nil {
		t.Fatal(err)
	}
	if len(out.spans) != 0 {
		t.Errorf("exported %v", out.work())
	}
}

type recordOnly struct{}

func (recordOnly) ShouldSample(sdktrace.SamplingParameters) sdktrace.SamplingResult {
	return sdktrace.SamplingResult{Decision: sdktrace.RecordOnly}
}
func (recordOnly) Description() string { return "record only" }

// TestForceFlush: with nothing queued it returns at once; while spans keep
// coming it still returns; it honours its context.
func TestForceFlush(t *testing.T) {
	var tr trace.Tracer
	var loaded atomic.Bool
	out := &sink{before: func(context.Context, int) error {
		if loaded.Load() {
			emit(tr, 1, 1) // each export finds one span more
		}
		return nil
	}}
	q := export.NewQueue(out, export.QueueConfig{Delay: time.Hour})
	defer q.Shutdown(t.Context())
	if err := q.ForceFlush(t.Context()); err != nil {
		t.Errorf("with nothing queued: %v", err)
	}
	tr = tracerOver(q)
	loaded.Store(true)
	emit(tr, 0, 1)
	if err := q.ForceFlush(t.Context()); err != nil {
		t.Errorf("under load: %v", err)
	}
	if got := out.work(); len(got) == 0 || got[0] != "span-0" {
		t.Errorf("exported %v", got)
	}
	loaded.Store(false)
}

// TestForceFlushHonoursItsContext: a hanging exporter does not hold the caller.
func TestForceFlushHonoursItsContext(t *testing.T) {
	release := make(chan struct{})
	q := export.NewQueue(&sink{before: func(context.Context, int) error { <-release; return nil }}, export.QueueConfig{})
	emit(tracerOver(q), 0, 1)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := q.ForceFlush(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	close(release)
	if err := q.Shutdown(t.Context()); err != nil {
		t.Error(err)
	}
}

// TestNothingIsLostInSilence: whatever the sizes, the callers and the failures
// are, every span is exported or counted, the markers tell all losses but those
// that come after the last write, and no span is exported twice.
func TestNothingIsLostInSilence(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		cfg := export.QueueConfig{
			Size:  rapid.IntRange(1, 40).Draw(t, "size"),
			Batch: rapid.IntRange(1, 20).Draw(t, "batch"),
			Delay: time.Microsecond,
		}
		fails := rapid.SliceOfN(rapid.IntRange(0, 3), 0, 12).Draw(t, "fails")
		workers := rapid.IntRange(1, 4).Draw(t, "workers")
		each := rapid.IntRange(0, 60).Draw(t, "spans")
		calls := 0
		out := &sink{}
		out.before = func(_ context.Context, n int) error { // on the queue's goroutine
			calls++
			if calls > len(fails) {
				return nil
			}
			switch fails[calls-1] {
			case 1:
				return errors.New("failed")
			case 2:
				return &export.PartialError{Written: n / 2, Err: errors.New("failed")}
			case 3:
				panic("failed")
			}
			return nil
		}
		q := export.NewQueue(out, cfg)
		tr := tracerOver(q)
		var wg sync.WaitGroup
		for w := range workers {
			wg.Go(func() { emit(tr, w*1000, each) })
		}
		wg.Wait()
		err := q.Shutdown(context.Background())
		s := q.Stats()
		total := int64(workers * each)
		if s.Accepted+s.QueueFull != total {
			t.Fatalf("%d spans ended: %+v", total, s)
		}
		if s.Accepted != s.Exported+s.ExportFailed+s.AtShutdown || s.AtShutdown != 0 || s.Open != 0 {
			t.Fatalf("the books do not balance: %+v", s)
		}
		got := out.work()
		if int64(len(got)) != s.Exported {
			t.Fatalf("%d spans arrived, %d are said to be exported", len(got), s.Exported)
		}
		slices.Sort(got)
		if n := len(slices.Compact(got)); int64(n) != s.Exported {
			t.Fatalf("%d of %d spans are different", n, s.Exported)
		}
		if (err == nil) != (s.Dropped() == 0 && s.Errors == 0) {
			t.Fatalf("Shutdown said %v after %+v", err, s)
		}
		told := out.told()
		if calls > len(fails) { // the last write succeeded
			if told[export.QueueFull] != s.QueueFull || told[export.ExportFailed] != s.ExportFailed {
				t.Fatalf("the markers say %v, the stats %+v", told, s)
			}
		} else if told[export.QueueFull] > s.QueueFull || told[export.ExportFailed] > s.ExportFailed {
			t.Fatalf("the markers say %v, which is more than %+v", told, s)
		}
	})
}

package export_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/google/go-cmp/cmp"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"

	"github.com/dsh-actor/dsh-actor/otel/export"
)

// capture is a span processor that keeps what ended.
type capture struct{ spans []sdktrace.ReadOnlySpan }

func (c *capture) OnStart(context.Context, sdktrace.ReadWriteSpan) {}
func (c *capture) OnEnd(s sdktrace.ReadOnlySpan)                   { c.spans = append(c.spans, s) }
func (c *capture) Shutdown(context.Context) error                  { return nil }
func (c *capture) ForceFlush(context.Context) error                { return nil }

// makeSpans runs do with a tracer and returns the ended spans.
func makeSpans(do func(tp trace.TracerProvider)) []sdktrace.ReadOnlySpan {
	c := &capture{}
	do(sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(c),
		sdktrace.WithSampler(sdktrace.AlwaysSample()),
		sdktrace.WithResource(resource.NewWithAttributes("https://example/resource", attribute.String("service.name", "x")))))
	return c.spans
}

// read parses OTLP/JSON lines.
func read(t *testing.T, text []byte) (lines []ptrace.Traces) {
	t.Helper()
	for line := range bytes.Lines(text) {
		td, err := (&ptrace.JSONUnmarshaler{DisallowUnknownFields: true}).UnmarshalTraces(line)
		if err != nil {
			t.Fatalf("line %d: %v\n%.300s", len(lines)+1, err, line)
		}
		lines = append(lines, td)
	}
	return lines
}

// everySpan walks over the spans of lines.
func everySpan(lines []ptrace.Traces, do func(ptrace.ResourceSpans, ptrace.ScopeSpans, ptrace.Span)) {
	for _, td := range lines {
		for _, rs := range td.ResourceSpans().All() {
			for _, ss := range rs.ScopeSpans().All() {
				for _, s := range ss.Spans().All() {
					do(rs, ss, s)
				}
			}
		}
	}
}

func write(t *testing.T, spans []sdktrace.ReadOnlySpan) []byte {
	t.Helper()
	var out bytes.Buffer
	l := export.NewLines(&out, nil)
	if err := l.ExportSpans(t.Context(), spans); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

var start = time.Date(2026, 1, 2, 3, 4, 5, 678901234, time.UTC)

// richSpans has one of everything that a span can carry.
func richSpans(t *testing.T) []sdktrace.ReadOnlySpan {
	state, err := trace.ParseTraceState("vendor=1")
	if err != nil {
		t.Fatal(err)
	}
	remote := trace.NewSpanContext(trace.SpanContextConfig{
		TraceID: trace.TraceID{1, 2, 3}, SpanID: trace.SpanID{4, 5}, TraceFlags: trace.FlagsSampled, TraceState: state, Remote: true,
	})
	return makeSpans(func(tp trace.TracerProvider) {
		tr := tp.Tracer("scope", trace.WithInstrumentationVersion("1.2"), trace.WithSchemaURL("https://example/scope"),
			trace.WithInstrumentationAttributes(attribute.Bool("scoped", true)))
		ctx, root := tr.Start(trace.ContextWithSpanContext(context.Background(), remote), "root \xff", trace.WithTimestamp(start),
			trace.WithSpanKind(trace.SpanKindClient),
			trace.WithLinks(trace.Link{SpanContext: remote, Attributes: []attribute.KeyValue{attribute.Int("i", 1)}}),
			trace.WithAttributes(
				attribute.String("string", "ü\u2028</script>\xff"), attribute.Bool("bool", true),
				attribute.Int64("int", math.MaxInt64), attribute.Int64("negative", math.MinInt64), attribute.Float64("float", 0.1),
				attribute.Float64("nan", math.NaN()), attribute.Float64("inf", math.Inf(-1)),
				attribute.StringSlice("strings", []string{"a", "\xfe"}), attribute.BoolSlice("bools", []bool{true, false}),
				attribute.Int64Slice("ints", []int64{1, -2}), attribute.Float64Slice("floats", []float64{0.5}),
				attribute.StringSlice("empty", []string{}),
			))
		_, child := tp.Tracer("other").Start(ctx, "child", trace.WithTimestamp(start))
		child.SetStatus(codes.Error, "no \xff")
		child.AddEvent("event", trace.WithTimestamp(start.Add(1)), trace.WithAttributes(attribute.String("k", "v")))
		child.AddEvent("event", trace.WithTimestamp(start.Add(2)))
		child.End(trace.WithTimestamp(start.Add(3)))
		_, fine := tr.Start(ctx, "fine", trace.WithSpanKind(trace.SpanKindServer), trace.WithTimestamp(start))
		fine.SetStatus(codes.Ok, "")
		fine.End(trace.WithTimestamp(start.Add(3)))
		for _, kind := range []trace.SpanKind{trace.SpanKindProducer, trace.SpanKindConsumer} {
			_, s := tr.Start(ctx, kind.String(), trace.WithSpanKind(kind), trace.WithTimestamp(start))
			s.End(trace.WithTimestamp(start.Add(3)))
		}
		root.End(trace.WithTimestamp(start.Add(time.Second)))
	})
}

// TestLinesHoldEverything: what is read back by the Collector's own library is
// what the span had.
func TestLinesHoldEverything(t *testing.T) {
	spans := richSpans(t)
	lines := read(t, write(t, spans))
	if len(lines) != 1 {
		t.Fatalf("%d lines, want 1", len(lines))
	}
	byID := map[trace.SpanID]sdktrace.ReadOnlySpan{}
	for _, s := range spans {
		byID[s.SpanContext().SpanID()] = s
	}
	valid := func(s string) string { return strings.ToValidUTF8(s, "\uFFFD") }
	seen := 0
	everySpan(lines, func(rs ptrace.ResourceSpans, ss ptrace.ScopeSpans, got ptrace.Span) {
		want := byID[trace.SpanID(got.SpanID())]
		if want == nil {
			t.Fatalf("a span %s that nobody made", got.SpanID())
		}
		seen++
		sc, scope := want.SpanContext(), want.InstrumentationScope()
		check := func(what string, got, want any) {
			t.Helper()
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s of %s (-want +got):\n%s", what, scope.Name, diff)
			}
		}
		check("trace id", got.TraceID().String(), sc.TraceID().String())
		check("parent", trace.SpanID(got.ParentSpanID()), want.Parent().SpanID())
		check("trace state", got.TraceState().AsRaw(), sc.TraceState().String())
		check("name", got.Name(), valid(want.Name()))
		check("start", got.StartTimestamp().AsTime(), want.StartTime().UTC())
		check("end", got.EndTimestamp().AsTime(), want.EndTime().UTC())
		check("kind", strings.ToLower(got.Kind().String()), want.SpanKind().String())
		check("remote parent", got.Flags()&0x300, map[bool]uint32{true: 0x300, false: 0x100}[want.Parent().IsRemote()])
		check("sampled", got.Flags()&1, uint32(1))
		check("status", got.Status().Code().String(), want.Status().Code.String())
		check("status message", got.Status().Message(), valid(want.Status().Description))
		check("resource", rs.Resource().Attributes().AsRaw(), map[string]any{"service.name": "x"})
		check("resource schema", rs.SchemaUrl(), "https://example/resource")
		check("scope", ss.Scope().Name()+" "+ss.Scope().Version()+" "+ss.SchemaUrl(), scope.Name+" "+scope.Version+" "+scope.SchemaURL)
		check("scope attributes", ss.Scope().Attributes().Len(), scope.Attributes.Len())
		checkAttributes(t, got.Attributes().AsRaw(), want.Attributes())
		check("events", got.Events().Len(), len(want.Events()))
		for i, ev := range want.Events() {
			check("event", got.Events().At(i).Name(), ev.Name)
			check("event time", got.Events().At(i).Timestamp().AsTime(), ev.Time.UTC())
			checkAttributes(t, got.Events().At(i).Attributes().AsRaw(), ev.Attributes)
		}
		check("links", got.Links().Len(), len(want.Links()))
		for i, l := range want.Links() {
			check("link", trace.SpanID(got.Links().At(i).SpanID()), l.SpanContext.SpanID())
			check("link trace", trace.TraceID(got.Links().At(i).TraceID()), l.SpanContext.TraceID())
			check("link state", got.Links().At(i).TraceState().AsRaw(), l.SpanContext.TraceState().String())
			check("link remote", got.Links().At(i).Flags(), uint32(0x301))
			checkAttributes(t, got.Links().At(i).Attributes().AsRaw(), l.Attributes)
		}
	})
	if seen != len(spans) {
		t.Errorf("%d spans were read, want %d", seen, len(spans))
	}
}

func checkAttributes(t *testing.T, got map[string]any, want []attribute.KeyValue) {
	t.Helper()
	if len(got) != len(want) {
		t.Errorf("%d attributes, want %d", len(got), len(want))
	}
	for _, kv := range want {
		g, w := got[string(kv.Key)], kv.Value.AsInterface()
		if f, ok := w.(float64); ok && math.IsNaN(f) {
			if gf, ok := g.(float64); !ok || !math.IsNaN(gf) {
				t.Errorf("%s is %v, want NaN", kv.Key, g)
			}
			continue
		}
		if s, ok := w.(string); ok {
			w = strings.ToValidUTF8(s, "\uFFFD")
		}
		if v := reflect.ValueOf(w); v.Kind() == reflect.Slice {
			list := make([]any, v.Len())
			for i := range list {
				list[i] = v.Index(i).Interface()
				if s, ok := list[i].(string); ok {
					list[i] = strings.ToValidUTF8(s, "\uFFFD")
				}
			}
			w = list
		}
		if diff := cmp.Diff(w, g); diff != "" {
			t.Errorf("%s (-want +got):\n%s", kv.Key, diff)
		}
	}
}

// TestLineFormat: the file format of the OpenTelemetry file exporter (OTEL.md 6),
// read without any OpenTelemetry code: ids in hex, 64-bit integers as strings,
// enums as integers, one object per line.
func TestLineFormat(t *testing.T) {
	var line struct {
		ResourceSpans []struct {
			ScopeSpans []struct {
				Spans []struct {
					TraceID    string  `json:"traceId"`
					SpanID     string  `json:"spanId"`
					ParentID   string  `json:"parentSpanId"`
					Kind       float64 `json:"kind"`
					Start      string  `json:"startTimeUnixNano"`
					End        string  `json:"endTimeUnixNano"`
					Attributes []struct {
						Key   string         `json:"key"`
						Value map[string]any `json:"value"`
					} `json:"attributes"`
					Status struct {
						Code float64 `json:"code"`
					} `json:"status"`
				} `json:"spans"`
			} `json:"scopeSpans"`
		} `json:"resourceSpans"`
	}
	spans := richSpans(t)
	text := write(t, spans)
	if n := bytes.Count(text, []byte("\n")); n != 1 || text[len(text)-1] != '\n' {
		t.Fatalf("%d line ends in one batch", n)
	}
	if err := json.Unmarshal(text, &line); err != nil {
		t.Fatal(err)
	}
	for _, ss := range line.ResourceSpans[0].ScopeSpans {
		for _, s := range ss.Spans {
			if len(s.TraceID) != 32 || len(s.SpanID) != 16 || len(s.ParentID) != 16 || strings.Trim(s.TraceID+s.SpanID, "0123456789abcdef") != "" {
				t.Errorf("ids %q %q %q are not lower-case hex", s.TraceID, s.SpanID, s.ParentID)
			}
			if s.Start != fmt.Sprint(start.UnixNano()) || len(s.End) != 19 {
				t.Errorf("times %q %q", s.Start, s.End)
			}
			for _, a := range s.Attributes {
				if a.Key == "int" && a.Value["intValue"] != "9223372036854775807" {
					t.Errorf("an int is %v", a.Value)
				}
			}
			if s.Kind == 0 {
				t.Error("a span without a kind")
			}
		}
	}
}

// TestLinesAreBounded: few spans a line, and no line that a reader cuts off.
func TestLinesAreBounded(t *testing.T) {
	many := makeSpans(func(tp trace.TracerProvider) { emit(tp.Tracer("t"), 0, 200) })
	lines := read(t, write(t, many))
	var got []string
	everySpan(lines, func(_ ptrace.ResourceSpans, _ ptrace.ScopeSpans, s ptrace.Span) { got = append(got, s.Name()) })
	if !slices.Equal(got, names(0, 200)) {
		t.Errorf("read %d spans: %v", len(got), got)
	}
	if len(lines) != 4 {
		t.Errorf("%d lines for 200 spans, want 4", len(lines))
	}

	big := makeSpans(func(tp trace.TracerProvider) {
		for i := range 40 {
			_, s := tp.Tracer("t").Start(t.Context(), fmt.Sprint("span-", i), trace.WithAttributes(attribute.String("big", strings.Repeat("x", 60_000))))
			s.End()
		}
	})
	text := write(t, big)
	got = nil
	everySpan(read(t, text), func(_ ptrace.ResourceSpans, _ ptrace.ScopeSpans, s ptrace.Span) { got = append(got, s.Name()) })
	if !slices.Equal(got, names(0, 40)) {
		t.Errorf("read %v", got)
	}
	for line := range bytes.Lines(text) {
		if len(line) > 600<<10 {
			t.Errorf("a line of %d bytes", len(line))
		}
	}
}

// brokenWriter takes so many bytes and fails; then it takes everything.
type brokenWriter struct {
	bytes.Buffer
	room int
}

func (w *brokenWriter) Write(p []byte) (int, error) {
	if w.room < 0 {
		return w.Buffer.Write(p)
	}
	n := min(w.room, len(p))
	w.room = -1
	w.Buffer.Write(p[:n])
	return n, errors.New("no space left")
}

// TestTornLines: a write that fails anywhere spoils at most one line, the spans
// of whole lines count as written, and what comes later is readable.
func TestTornLines(t *testing.T) {
	spans := makeSpans(func(tp trace.TracerProvider) { emit(tp.Tracer("t"), 0, 130) }) // three lines
	whole := write(t, spans)
	ends := []int{}
	for i, b := range whole {
		if b == '\n' {
			ends = append(ends, i+1)
		}
	}
	for _, room := range []int{0, 1, ends[0] - 1, ends[0], ends[0] + 1, ends[1] - 1, ends[1], ends[1] + 10, ends[2] - 1} {
		w := &brokenWriter{room: room}
		l := export.NewLines(w, nil)
		err := l.ExportSpans(t.Context(), spans)
		var partial *export.PartialError
		if !errors.As(err, &partial) {
			t.Fatalf("room %d: got %v", room, err)
		}
		want := 0
		for i, end := range ends {
			if room >= end-1 { // all but the newline, which the next write adds
				want = min(64*(i+1), len(spans))
			}
		}
		if partial.Written != want {
			t.Errorf("room %d: %d spans are said to be written, want %d", room, partial.Written, want)
		}
		if err := l.ExportSpans(t.Context(), spans[:1]); err != nil {
			t.Fatal(err)
		}
		if err := l.ExportSpans(t.Context(), spans[1:2]); err != nil {
			t.Fatal(err)
		}
		good, bad := 0, 0
		for line := range bytes.Lines(w.Bytes()) {
			td, err := (&ptrace.JSONUnmarshaler{}).UnmarshalTraces(line)
			if err != nil {
				bad++
				continue
			}
			good += td.SpanCount()
		}
		if good != want+2 || bad > 1 || bytes.Contains(w.Bytes(), []byte("\n\n")) {
			t.Errorf("room %d: %d spans are readable, want %d; %d bad lines", room, good, want+2, bad)
		}
	}
}

// TestAppendAfterACrash: a file that ends in the middle of a line is appended to
// on a new line.
func TestAppendAfterACrash(t *testing.T) {
	path := filepath.Join(t.TempDir(), "trace.jsonl")
	for i, tail := range []string{"", `{"resourceSpans":[{"reso`, ""} {
		f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.WriteString(tail); err != nil {
			t.Fatal(err)
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
		l, err := export.OpenLines(path)
		if err != nil {
			t.Fatal(err)
		}
		spans := makeSpans(func(tp trace.TracerProvider) { emit(tp.Tracer("t"), i, 1) })
		if err := l.ExportSpans(t.Context(), spans); err != nil {
			t.Fatal(err)
		}
		for range 2 {
			if err := l.Shutdown(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		if err := l.ExportSpans(t.Context(), spans); !errors.Is(err, os.ErrClosed) {
			t.Errorf("after Shutdown: %v", err)
		}
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for line := range bytes.Lines(text) {
		td, err := (&ptrace.JSONUnmarshaler{}).UnmarshalTraces(line)
		if err != nil {
			got = append(got, "torn")
			continue
		}
		got = append(got, td.ResourceSpans().At(0).ScopeSpans().At(0).Spans().At(0).Name())
	}
	if want := []string{"span-0", "torn", "span-1", "span-2"}; !slices.Equal(got, want) {
		t.Errorf("the file has %v, want %v", got, want)
	}
}

// TestFileIsPrivate: a trace names files and commands.
func TestFileIsPrivate(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Log("permission bits say nothing on windows")
		return
	}
	path := filepath.Join(t.TempDir(), "trace.jsonl")
	l, err := export.OpenLines(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := l.Shutdown(t.Context()); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if info.Mode().Perm() != 0o600 {
		t.Errorf("the file's mode is %v", info.Mode())
	}
	if _, err := export.OpenLines(filepath.Join(path, "below-a-file")); err == nil {
		t.Error("a file below a file was opened")
	}
}

// TestStuckPipe: a reader that does not read holds a write until its context
// ends, and Shutdown as long as it is allowed to.
func TestStuckPipe(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if err := w.SetWriteDeadline(time.Time{}); err != nil {
		t.Logf("pipes have no deadlines here: %v", err)
		return
	}
	q := export.NewQueue(export.NewLines(w, w.Close), export.QueueConfig{
		ShutdownTimeout: 100 * time.Millisecond, ExportTimeout: time.Hour, Delay: time.Millisecond,
	})
	emit(tracerOver(q), 0, 5000) // more than a pipe holds
	err = q.Shutdown(t.Context())
	if !errors.Is(err, context.DeadlineExceeded) || q.Stats().AtShutdown == 0 {
		t.Errorf("Shutdown said %v, stats %+v", err, q.Stats())
	}
	// goleak in TestMain sees whether the goroutine ended.
}

// FuzzEncode: any text in a span gives one line of valid JSON that reads back.
func FuzzEncode(f *testing.F) {
	f.Add("name", "key", "value")
	f.Add("\xff\x00", "", "\u2028\"\\")
	f.Fuzz(func(t *testing.T, name, key, value string) {
		spans := makeSpans(func(tp trace.TracerProvider) {
			_, s := tp.Tracer(name).Start(context.Background(), name, trace.WithAttributes(attribute.String(key, value), attribute.StringSlice("list", []string{value})))
			s.SetStatus(codes.Error, value)
			s.AddEvent(value)
			s.End()
		})
		text := write(t, spans)
		if bytes.Count(text, []byte("\n")) != 1 {
			t.Fatalf("%q is not one line", text)
		}
		if err := json.Unmarshal(text, new(any)); err != nil {
			t.Fatalf("%v in %q", err, text)
		}
		everySpan(read(t, text), func(_ ptrace.ResourceSpans, _ ptrace.ScopeSpans, s ptrace.Span) {
			if s.Name() != strings.ToValidUTF8(name, "\uFFFD") || s.Status().Message() != strings.ToValidUTF8(value, "\uFFFD") {
				t.Fatalf("%q and %q read back as %q and %q", name, value, s.Name(), s.Status().Message())
			}
		})
	})
}

package otel_test

import (
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.opentelemetry.io/otel/metric"
	metricnoop "go.opentelemetry.io/otel/metric/noop"
	"go.opentelemetry.io/otel/trace"
	tracenoop "go.opentelemetry.io/otel/trace/noop"

	"github.com/dsh-actor/dsh-actor/otel"
	"github.com/dsh-actor/dsh-actor/otel/oteltest"
)

func noopTracers() trace.TracerProvider { return tracenoop.NewTracerProvider() }
func noopMeters() metric.MeterProvider  { return metricnoop.NewMeterProvider() }

// clock moves by step at every reading.
type clock struct {
	mu   sync.Mutex
	now  time.Time
	step time.Duration
}

func newClock(step time.Duration) *clock {
	return &clock{now: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), step: step}
}

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(c.step)
	return c.now
}

func newTracer(t *testing.T, cfg otel.Config) (*oteltest.Recorder, *otel.Tracer) {
	t.Helper()
	rec := oteltest.New()
	cfg.TracerProvider = rec.Provider()
	t.Cleanup(func() {
		if open := rec.Open(); len(open) > 0 {
			t.Errorf("spans were not ended: %v", open)
		}
	})
	return rec, otel.New(cfg)
}

// golden compares got with the file in testdata; UPDATE_GOLDEN=1 writes it.
func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if os.Getenv("UPDATE_GOLDEN") == "1" {
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", path, diff)
	}
}

func only(t *testing.T, rec *oteltest.Recorder, name string) *oteltest.Node {
	t.Helper()
	found := rec.Find(name)
	if len(found) != 1 {
		t.Fatalf("%d spans %q, want 1:\n%s", len(found), name, rec.Text())
	}
	return found[0]
}

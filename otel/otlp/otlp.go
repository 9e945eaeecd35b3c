package otlp

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"time"

	"go.opentelemetry.io/otel/exporters/otlp/otlptrace"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"

	"github.com/dsh-actor/dsh-actor/otel/export"
)

// ShutdownTimeout is the default bound on Shutdown: a collector that does not
// answer must not hold a program that is done.
const ShutdownTimeout = 2 * time.Second

// Config adjusts the exporter beyond what the environment says.
type Config struct {
	// Identity says who makes the spans; FromEnv only.
	Identity export.Identity
	// Queue adjusts the queue. Here the default of ShutdownTimeout is 2 s, and that
	// of ExportTimeout is OTEL_EXPORTER_OTLP_TIMEOUT.
	Queue export.QueueConfig
}

// FromEnv returns a provider that sends to the collector that the environment
// names, sampled as OTEL_TRACES_SAMPLER says, and nil if it names none: a nil
// provider is one that traces nothing.
func FromEnv(ctx context.Context, cfg Config) (*export.Provider, error) {
	on, err := Enabled()
	if err != nil || !on {
		return nil, err
	}
	res, err := export.NewResource(ctx, cfg.Identity)
	if err != nil {
		return nil, err
	}
	q, err := NewQueue(ctx, cfg)
	if err != nil {
		return nil, err
	}
	return export.NewProvider(export.ProviderConfig{Resource: res, Queues: []*export.Queue{q}}), nil
}

// NewQueue returns a queue that sends to the collector that the environment
// names, by default the one on this machine. It does not look at
// OTEL_TRACES_EXPORTER and does not connect yet: a collector that is down shows
// in the queue's Stats. With Queue.Ratio it can get fewer traces than a file
// beside it.
func NewQueue(ctx context.Context, cfg Config) (*export.Queue, error) {
	if err := check(); err != nil {
		return nil, err
	}
	limit, err := timeout()
	if err != nil {
		return nil, err
	}
	certificates, err := tlsConfig()
	if err != nil {
		return nil, err
	}
	transport := &http.Transport{
		Proxy:               http.ProxyFromEnvironment,
		ForceAttemptHTTP2:   true,
		IdleConnTimeout:     90 * time.Second,
		TLSHandshakeTimeout: 10 * time.Second,
		TLSClientConfig:     certificates,
	}
	inner, err := otlptracehttp.New(ctx,
		otlptracehttp.WithHTTPClient(&http.Client{Transport: transport}),
		otlptracehttp.WithRetry(otlptracehttp.RetryConfig{
			Enabled:         true,
			InitialInterval: time.Second,
			MaxInterval:     5 * time.Second,
			MaxElapsedTime:  time.Minute, // in effect the queue's ExportTimeout
		}))
	if err != nil {
		return nil, fmt.Errorf("make the OTLP exporter: %w", err)
	}
	if cfg.Queue.ShutdownTimeout <= 0 {
		cfg.Queue.ShutdownTimeout = ShutdownTimeout
	}
	if cfg.Queue.ExportTimeout <= 0 {
		cfg.Queue.ExportTimeout = limit
	}
	return export.NewQueue(&exporter{Exporter: inner, transport: transport}, cfg.Queue), nil
}

// exporter adds to the library's what it leaves out: the count of a partial
// success, and the end of its connections.
type exporter struct {
	*otlptrace.Exporter
	transport *http.Transport
}

// ExportSpans sends the spans. If the collector rejected some of them, the error
// is an export.PartialError.
func (e *exporter) ExportSpans(ctx context.Context, spans []sdktrace.ReadOnlySpan) error {
	err := e.Exporter.ExportSpans(ctx, spans)
	if err == nil {
		return nil
	}
	if n, ok := rejected(err.Error()); ok && n <= len(spans) {
		return &export.PartialError{Written: len(spans) - n, Err: err}
	}
	return err
}

// rejected reads the count from the text of a partial success, because the
// library keeps the type to itself. If the text ever changes, the whole batch
// counts as lost, which is the safe side.
func rejected(text string) (n int, ok bool) {
	if !strings.Contains(text, "OTLP partial success") {
		return 0, false
	}
	_, err := fmt.Sscanf(text[strings.LastIndexByte(text, '(')+1:], "%d spans rejected)", &n)
	return n, err == nil
}

// Shutdown ends the exporter and its connections.
func (e *exporter) Shutdown(ctx context.Context) error {
	err := e.Exporter.Shutdown(ctx)
	e.transport.CloseIdleConnections()
	return err
}

// MarshalLog keeps the client, which may hold credentials, out of logs.
func (e *exporter) MarshalLog() any { return "otlp over http" }

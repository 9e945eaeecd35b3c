package oteltest

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"

	"github.com/dsh-actor/dsh-actor/otel"
)

// Metrics collects the metrics of a test. It is safe for concurrent use.
type Metrics struct {
	reader   *sdkmetric.ManualReader
	provider *sdkmetric.MeterProvider
}

// NewMetrics returns an empty collection.
func NewMetrics() *Metrics {
	reader := sdkmetric.NewManualReader()
	return &Metrics{reader: reader, provider: sdkmetric.NewMeterProvider(sdkmetric.WithReader(reader))}
}

// Provider returns the meter provider, for a host's configuration.
func (m *Metrics) Provider() metric.MeterProvider { return m.provider }

// Point is one series of a metric. Of a histogram, Count says how many values
// were recorded, and Value is their sum; of a counter, Value is its value.
type Point struct {
	Metric     string
	Attributes map[string]any
	Count      uint64
	Value      float64
}

// Points returns all series, sorted by metric and attributes.
func (m *Metrics) Points() ([]Point, error) {
	var data metricdata.ResourceMetrics
	if err := m.reader.Collect(context.Background(), &data); err != nil {
		return nil, fmt.Errorf("collect metrics: %w", err)
	}
	var out []Point
	for _, scope := range data.ScopeMetrics {
		for _, metric := range scope.Metrics {
			out = append(out, points(metric)...)
		}
	}
	slices.SortStableFunc(out, func(a, b Point) int { return strings.Compare(a.key(), b.key()) })
	return out, nil
}

func points(m metricdata.Metrics) (out []Point) {
	add := func(set attribute.Set, count uint64, value float64) {
		out = append(out, Point{Metric: m.Name, Attributes: values(set.ToSlice()), Count: count, Value: value})
	}
	switch data := m.Data.(type) {
	case metricdata.Sum[int64]:
		for _, p := range data.DataPoints {
			add(p.Attributes, 0, float64(p.Value))
		}
	case metricdata.Sum[float64]:
		for _, p := range data.DataPoints {
			add(p.Attributes, 0, p.Value)
		}
	case metricdata.Gauge[int64]:
		for _, p := range data.DataPoints {
			add(p.Attributes, 0, float64(p.Value))
		}
	case metricdata.Histogram[int64]:
		for _, p := range data.DataPoints {
			add(p.Attributes, p.Count, float64(p.Sum))
		}
	case metricdata.Histogram[float64]:
		for _, p := range data.DataPoints {
			add(p.Attributes, p.Count, p.Sum)
		}
	}
	return out
}

func (p Point) key() string { return p.Metric + renderAttributes(p.Attributes) }

// Text renders all series, one line each, for comparison with a golden text.
// Sums of durations are left out.
func (m *Metrics) Text() (string, error) {
	list, err := m.Points()
	if err != nil {
		return "", err
	}
	var b strings.Builder
	for _, p := range list {
		b.WriteString(p.key())
		switch {
		case p.Count == 0:
			fmt.Fprintf(&b, " = %v", p.Value)
		case isDuration(p.Metric):
			fmt.Fprintf(&b, " n=%d", p.Count)
		default:
			fmt.Fprintf(&b, " n=%d sum=%v", p.Count, p.Value)
		}
		b.WriteByte('\n')
	}
	return b.String(), nil
}

func isDuration(name string) bool {
	return slices.ContainsFunc(otel.Metrics(), func(m otel.MetricInfo) bool {
		return m.Name == name && m.Unit == "s"
	})
}

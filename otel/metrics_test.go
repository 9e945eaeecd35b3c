package otel_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"

	"github.com/dsh-actor/dsh-actor/messages"
	"github.com/dsh-actor/dsh-actor/otel"
	"github.com/dsh-actor/dsh-actor/otel/oteltest"
)

// TestMetrics: OTEL.md 1, and dsh.* for what no convention covers.
func TestMetrics(t *testing.T) {
	metrics := oteltest.NewMetrics()
	_, tr := newTracer(t, otel.Config{MeterProvider: metrics.Provider()})
	exercise(t, tr)
	_, chat := tr.StartChat(t.Context(), otel.ChatStart{Config: messages.RequestConfig{Provider: "openai", Model: "m-small"}})
	chat.End(otel.ChatEnd{Failure: messages.Failure{Message: "m", Status: 500}})
	text, err := metrics.Text()
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "metrics.golden", text)
}

// TestMetricsWithoutTraces: a host may want numbers only, and then, or when a
// trace is not sampled, they are the same numbers.
func TestMetricsWithoutTraces(t *testing.T) {
	text := func(cfg otel.Config) string {
		metrics := oteltest.NewMetrics()
		cfg.MeterProvider = metrics.Provider()
		exercise(t, otel.New(cfg))
		got, err := metrics.Text()
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	traced := text(otel.Config{TracerProvider: oteltest.New().Provider()})
	if diff := cmp.Diff(traced, text(otel.Config{})); diff != "" {
		t.Errorf("without a tracer provider (-traced +got):\n%s", diff)
	}
	unsampled := oteltest.NewWithSampler(sdktrace.NeverSample())
	if diff := cmp.Diff(traced, text(otel.Config{TracerProvider: unsampled.Provider()})); diff != "" {
		t.Errorf("unsampled (-traced +got):\n%s", diff)
	}
}

// TestDurationsEqualTheSpans: the conventions want the duration metric to equal
// the span's duration.
func TestDurationsEqualTheSpans(t *testing.T) {
	metrics := oteltest.NewMetrics()
	clock := newClock(17 * time.Millisecond)
	rec, tr := newTracer(t, otel.Config{MeterProvider: metrics.Provider(), Now: clock.Now})
	ctx, turn := tr.StartTurn(t.Context(), otel.TurnStart{Agent: "bot"})
	ctx, call := tr.StartTool(ctx, otel.ToolStart{Name: "Bash"})
	ctx, seam := tr.StartSeam(ctx, "tools/execute")
	_, hook := tr.StartHook(ctx, otel.HookStart{Point: "Stop"})
	_, wait := tr.StartWait(ctx, otel.WaitHookSlot)
	_, chat := tr.StartChat(ctx, otel.ChatStart{Config: messages.RequestConfig{Model: "m"}})
	chat.End(otel.ChatEnd{})
	wait.End(otel.Ending{})
	hook.End(otel.HookEnd{})
	seam.End(otel.SeamEnd{})
	call.End(otel.ToolEnd{})
	turn.End(otel.TurnEnd{})
	points, err := metrics.Points()
	if err != nil {
		t.Fatal(err)
	}
	sums := map[string]float64{}
	for _, p := range points {
		sums[p.Metric] += p.Value
	}
	for span, name := range map[string]string{
		"invoke_agent": otel.MetricInvokeAgentDuration, "execute_tool": otel.MetricExecuteToolDuration,
		"dsh.seam": otel.MetricSeamDuration, "dsh.hook": otel.MetricHookDuration,
		"dsh.wait": otel.MetricWaitDuration, "chat": otel.MetricInferenceDuration,
	} {
		if want := only(t, rec, span).Duration().Seconds(); want == 0 || sums[name] != want {
			t.Errorf("%s is %v s, the span %v s", name, sums[name], want)
		}
	}
}

// TestLevelsComeBack: open turns and warm sessions are counted up and down.
func TestLevelsComeBack(t *testing.T) {
	metrics := oteltest.NewMetrics()
	tr := otel.New(otel.Config{MeterProvider: metrics.Provider()})
	level := func(name string) float64 {
		points, err := metrics.Points()
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range points {
			if p.Metric == name {
				return p.Value
			}
		}
		return 0
	}
	tr.SessionWarm(1)
	tr.SessionWarm(1)
	_, one := tr.StartTurn(t.Context(), otel.TurnStart{})
	_, two := tr.StartTurn(t.Context(), otel.TurnStart{})
	if warm, open := level(otel.MetricSessionsWarm), level(otel.MetricTurnsOpen); warm != 2 || open != 2 {
		t.Errorf("%v warm sessions and %v open turns, want 2 and 2", warm, open)
	}
	one.End(otel.TurnEnd{})
	two.End(otel.TurnEnd{})
	tr.SessionWarm(-2)
	if warm, open := level(otel.MetricSessionsWarm), level(otel.MetricTurnsOpen); warm != 0 || open != 0 {
		t.Errorf("%v warm sessions and %v open turns, want none", warm, open)
	}
}

// TestMetricLabelsAreBounded: neither an agent nor a tool with ever new names
// makes ever new series.
func TestMetricLabelsAreBounded(t *testing.T) {
	reader := metric.NewManualReader()
	tr := otel.New(otel.Config{MeterProvider: metric.NewMeterProvider(
		metric.WithReader(reader), metric.WithCardinalityLimit(0))})
	for i := range 3000 {
		_, call := tr.StartTool(t.Context(), otel.ToolStart{Name: fmt.Sprint("tool-", i)})
		call.End(otel.ToolEnd{})
		_, call = tr.StartTool(t.Context(), otel.ToolStart{Name: fmt.Sprint("made-up-", i), Unregistered: true})
		call.End(otel.ToolEnd{})
	}
	var data metricdata.ResourceMetrics
	if err := reader.Collect(t.Context(), &data); err != nil {
		t.Fatal(err)
	}
	for _, m := range data.ScopeMetrics[0].Metrics {
		if sum, ok := m.Data.(metricdata.Sum[int64]); ok && m.Name == otel.MetricToolCalls {
			if n := len(sum.DataPoints); n != 513 { // 512 names and _OTHER
				t.Errorf("%d series for 6000 names", n)
			}
			return
		}
	}
	t.Errorf("no metric %s", otel.MetricToolCalls)
}

// drops is a DropCounter.
type drops map[string]int64

func (d drops) EachDrop(yield func(string, int64)) {
	for reason, n := range d {
		yield(reason, n)
	}
}

// TestObserveDrops: OTEL.md 5, losses are a metric.
func TestObserveDrops(t *testing.T) {
	metrics := oteltest.NewMetrics()
	if err := otel.ObserveDrops(metrics.Provider(), drops{"queue_full": 7}); err != nil {
		t.Fatal(err)
	}
	got, err := metrics.Text()
	if err != nil {
		t.Fatal(err)
	}
	if want := "dsh.trace.dropped dsh.trace.dropped.reason=queue_full = 7\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

package otel

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"

	"github.com/dsh-actor/dsh-actor/messages"
)

// meters are the instruments. Session ids, call ids and other values without a
// bound are never metric attributes.
type meters struct {
	inferenceDuration, firstChunk, perChunk        metric.Float64Histogram
	operationInput, operationOutput                metric.Int64Histogram
	usageInput, usageOutput                        metric.Int64Counter
	usageCacheRead, usageCacheWrite, usageReasoned metric.Int64Counter
	agentDuration, toolDuration                    metric.Float64Histogram
	agentInference, agentToolCalls                 metric.Int64Histogram

	turns, toolCalls, hookRuns              metric.Int64Counter
	turnsOpen, sessionsWarm                 metric.Int64UpDownCounter
	seamDuration, waitDuration, hookRunTime metric.Float64Histogram

	labels labelCache
}

// doublings returns n bucket bounds from first, each twice the one before.
func doublings(first float64, n int) []float64 { return powers(first, 2, n) }

func powers(first, factor float64, n int) []float64 {
	out := make([]float64, n)
	for i := range out {
		out[i] = first
		first *= factor
	}
	return out
}

// newMeters makes the instruments. An instrument that the provider refuses is
// one that records nothing; the error names all of them.
func newMeters(meter metric.Meter) (*meters, error) {
	m := &meters{}
	var errs []error
	seconds := func(out *metric.Float64Histogram, name string, bounds []float64) {
		h, err := meter.Float64Histogram(name, metric.WithUnit("s"),
			metric.WithDescription(metricDoc(name)), metric.WithExplicitBucketBoundaries(bounds...))
		*out, errs = h, append(errs, err)
	}
	numbers := func(out *metric.Int64Histogram, name, unit string, bounds []float64) {
		h, err := meter.Int64Histogram(name, metric.WithUnit(unit),
			metric.WithDescription(metricDoc(name)), metric.WithExplicitBucketBoundaries(bounds...))
		*out, errs = h, append(errs, err)
	}
	counter := func(out *metric.Int64Counter, name, unit string) {
		c, err := meter.Int64Counter(name, metric.WithUnit(unit), metric.WithDescription(metricDoc(name)))
		*out, errs = c, append(errs, err)
	}
	level := func(out *metric.Int64UpDownCounter, name, unit string) {
		c, err := meter.Int64UpDownCounter(name, metric.WithUnit(unit), metric.WithDescription(metricDoc(name)))
		*out, errs = c, append(errs, err)
	}
	var (
		short  = doublings(0.01, 14) // 0.01 … 81.92 s, as the conventions advise
		long   = doublings(0.1, 13)  // 0.1 … 409.6 s
		tokens = powers(1, 4, 14)    // 1 … 4^13
		calls  = doublings(1, 8)     // 1 … 128
		inProc = powers(1e-6, 4, 14) // 1 µs … 67 s: an interceptor takes 100 ns, a hook 2 ms, a person a minute
	)
	seconds(&m.inferenceDuration, MetricInferenceDuration, short)
	seconds(&m.firstChunk, MetricTimeToFirstChunk, short)
	seconds(&m.perChunk, MetricTimePerOutputChunk, short)
	seconds(&m.agentDuration, MetricInvokeAgentDuration, long)
	seconds(&m.toolDuration, MetricExecuteToolDuration, short)
	seconds(&m.seamDuration, MetricSeamDuration, inProc)
	seconds(&m.waitDuration, MetricWaitDuration, inProc)
	seconds(&m.hookRunTime, MetricHookDuration, doublings(0.001, 17)) // 1 ms … 65 s
	numbers(&m.operationInput, MetricOperationInput, "{token}", tokens)
	numbers(&m.operationOutput, MetricOperationOutput, "{token}", tokens)
	numbers(&m.agentInference, MetricInvokeAgentInference, "{call}", calls)
	numbers(&m.agentToolCalls, MetricInvokeAgentToolCalls, "{call}", calls)
	counter(&m.usageInput, MetricUsageInput, "{token}")
	counter(&m.usageOutput, MetricUsageOutput, "{token}")
	counter(&m.usageCacheRead, MetricUsageCacheRead, "{token}")
	counter(&m.usageCacheWrite, MetricUsageCacheWrite, "{token}")
	counter(&m.usageReasoned, MetricUsageReasoning, "{token}")
	counter(&m.turns, MetricTurns, "{turn}")
	counter(&m.toolCalls, MetricToolCalls, "{call}")
	counter(&m.hookRuns, MetricHookRuns, "{run}")
	level(&m.turnsOpen, MetricTurnsOpen, "{turn}")
	level(&m.sessionsWarm, MetricSessionsWarm, "{session}")
	return m, errors.Join(errs...)
}

func metricDoc(name string) string {
	for _, info := range Metrics() {
		if info.Name == name {
			return info.Doc
		}
	}
	return ""
}

// labelSet identifies one combination of label values of one group of metrics.
type labelSet struct {
	group         string
	a, b, c, d, e string
	port          int
}

// maxLabelSets bounds the memory of labelCache. The SDK has a bound of its own
// on the series that it keeps.
const maxLabelSets = 4096

// labelCache remembers the measurement option of a label set, because building
// one sorts and copies its attributes.
type labelCache struct {
	mu   sync.RWMutex
	sets map[labelSet]metric.MeasurementOption
}

func (c *labelCache) get(set labelSet, build func() attrs) metric.MeasurementOption {
	c.mu.RLock()
	opt, ok := c.sets[set]
	c.mu.RUnlock()
	if ok {
		return opt
	}
	opt = metric.WithAttributeSet(attribute.NewSet(build()...))
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.sets == nil {
		c.sets = make(map[labelSet]metric.MeasurementOption)
	}
	if len(c.sets) < maxLabelSets {
		c.sets[set] = opt
	}
	return opt
}

// turn records the end of a turn. The duration equals the span's.
func (m *meters) turn(s TurnSpan, in TurnEnd, errType string, took time.Duration) {
	ctx := s.context()
	agent, model := s.t.names.agent.label(s.agent), s.t.names.chat.label(s.model)
	who := m.labels.get(labelSet{group: "agent", a: agent}, func() (a attrs) {
		a.word(KeyAgent, agent)
		return a
	})
	how := m.labels.get(labelSet{group: "turn", a: agent, b: model, c: errType}, func() (a attrs) {
		a.word(KeyAgent, agent)
		a.word(KeyRequestModel, model)
		a.word(KeyErrorType, errType)
		return a
	})
	kind := clean(string(in.Reason.Kind))
	end := m.labels.get(labelSet{group: "end", a: agent, b: kind}, func() (a attrs) {
		a.word(KeyAgent, agent)
		a.word(KeyTurnEnd, kind)
		return a
	})
	m.turnsOpen.Add(context.Background(), -1)
	m.turns.Add(ctx, 1, end)
	m.agentDuration.Record(ctx, took.Seconds(), how)
	m.agentInference.Record(ctx, int64(in.Requests), who)
	m.agentToolCalls.Record(ctx, int64(in.ToolCalls), who)
}

// chat returns the labels of a model request.
func (m *meters) chat(l chatLabels) metric.MeasurementOption {
	set := labelSet{group: "chat", a: l.provider, b: l.model, c: l.responseModel, d: l.server, e: l.errType, port: l.port}
	return m.labels.get(set, func() attrs { return l.attrs() })
}

func (l chatLabels) attrs() (a attrs) {
	a.word(KeyOperation, opChat)
	a.str(KeyProvider, l.provider)
	a.str(KeyRequestModel, l.model)
	a.str(KeyResponseModel, l.responseModel)
	a.str(KeyServerAddress, l.server)
	a.count(KeyServerPort, l.port)
	a.word(KeyErrorType, l.errType)
	return a
}

// usage returns the labels of a token count. What an input is made of is not
// known here; an output is text.
func (m *meters) usage(l chatLabels, modality string) metric.MeasurementOption {
	l.errType = ""
	set := labelSet{group: "usage " + modality, a: l.provider, b: l.model, c: l.responseModel, d: l.server, port: l.port}
	return m.labels.get(set, func() attrs {
		a := l.attrs()
		a.word(KeyTokenModality, modality)
		return a
	})
}

// inference records the end of a model request; a failed one counts no tokens
// but its series exist.
func (m *meters) inference(s *ChatSpan, u messages.Usage, took time.Duration) {
	ctx, l := s.context(), s.labels
	m.inferenceDuration.Record(ctx, took.Seconds(), m.chat(l))
	in, out := int64(inputTokens(u)), int64(outputTokens(u))
	unknown, text := m.usage(l, "unknown"), m.usage(l, "text")
	m.usageInput.Add(ctx, in, unknown)
	m.usageOutput.Add(ctx, out, text)
	m.usageCacheRead.Add(ctx, u.CacheReadTokens, unknown)
	m.usageCacheWrite.Add(ctx, u.CacheWriteTokens, unknown)
	m.usageReasoned.Add(ctx, u.ReasoningTokens, text)
	if u != (messages.Usage{}) {
		l.errType = ""
		m.operationInput.Record(ctx, in, m.chat(l))
		m.operationOutput.Record(ctx, out, m.chat(l))
	}
}

func (m *meters) tool(s ToolSpan, outcome Outcome, errType string, took time.Duration) {
	ctx := s.context()
	name := s.name
	if name != ErrOther {
		name = s.t.names.tool.label(name)
	}
	agent := s.t.names.agent.label(s.agent)
	m.toolDuration.Record(ctx, took.Seconds(), m.labels.get(
		labelSet{group: "tool", a: name, b: s.typ, c: agent, d: errType}, func() (a attrs) {
			a.word(KeyToolName, name)
			a.str(KeyToolType, s.typ)
			a.word(KeyAgent, agent)
			a.str(KeyErrorType, errType)
			return a
		}))
	m.toolCalls.Add(ctx, 1, m.labels.get(
		labelSet{group: "call", a: name, b: string(outcome)}, func() (a attrs) {
			a.word(KeyToolName, name)
			a.word(KeyOutcome, string(outcome))
			return a
		}))
}

func (m *meters) seam(s SeamSpan, decision Decision, outcome Outcome, took time.Duration) {
	m.seamDuration.Record(s.context(), took.Seconds(), m.labels.get(
		labelSet{group: "seam", a: s.seam, b: string(decision), c: string(outcome)}, func() (a attrs) {
			a.str(KeySeam, s.seam)
			a.word(KeyDecision, string(decision))
			a.word(KeyOutcome, string(outcome))
			return a
		}))
}

func (m *meters) wait(s WaitSpan, outcome Outcome, took time.Duration) {
	m.waitDuration.Record(s.context(), took.Seconds(), m.labels.get(
		labelSet{group: "wait", a: string(s.what), b: string(outcome)}, func() (a attrs) {
			a.word(KeyWait, string(s.what))
			a.word(KeyOutcome, string(outcome))
			return a
		}))
}

func (m *meters) hook(s HookSpan, in HookEnd, took time.Duration) {
	ctx := s.context()
	point := s.t.names.hook.label(s.point)
	m.hookRuns.Add(ctx, 1, m.labels.get(
		labelSet{group: "hook", a: point, b: s.dialect, c: string(in.Decision), d: string(in.Outcome)}, func() (a attrs) {
			a.word(KeyHookPoint, point)
			a.str(KeyHookDialect, s.dialect)
			a.word(KeyHookDecision, string(in.Decision))
			a.word(KeyHookOutcome, string(in.Outcome))
			return a
		}))
	m.hookRunTime.Record(ctx, took.Seconds(), m.labels.get(
		labelSet{group: "hook time", a: point, b: s.dialect}, func() (a attrs) {
			a.word(KeyHookPoint, point)
			a.str(KeyHookDialect, s.dialect)
			return a
		}))
}

// DropCounter counts spans that were lost, by reason. The queue of package
// export is one.
type DropCounter interface {
	EachDrop(yield func(reason string, spans int64))
}

// ObserveDrops makes the losses of q visible as the metric dsh.trace.dropped.
// The registration lasts as long as the meter provider.
func ObserveDrops(mp metric.MeterProvider, q DropCounter) error {
	_, err := mp.Meter(ScopeName).Int64ObservableCounter(MetricDropped,
		metric.WithUnit("{span}"), metric.WithDescription(metricDoc(MetricDropped)),
		metric.WithInt64Callback(func(_ context.Context, o metric.Int64Observer) error {
			q.EachDrop(func(reason string, spans int64) {
				o.Observe(spans, metric.WithAttributes(attribute.String(KeyDroppedReason, reason)))
			})
			return nil
		}))
	if err != nil {
		return fmt.Errorf("observe dropped spans: %w", err)
	}
	return nil
}

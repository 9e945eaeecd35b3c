package export

import (
	"math"
	"strings"
	"time"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/sdk/instrumentation"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
)

// Traces translates ended spans into OTLP, grouped by resource and scope.
// Strings are made valid UTF-8.
func Traces(spans []sdktrace.ReadOnlySpan) ptrace.Traces {
	out := ptrace.NewTraces()
	e := encoder{out: out.ResourceSpans()}
	for _, s := range spans {
		encodeSpan(e.group(s).AppendEmpty(), s)
	}
	return out
}

// encoder finds the group of a span. There are few groups, and neighbours
// usually share one.
type encoder struct {
	out    ptrace.ResourceSpansSlice
	groups []group
}

type group struct {
	res   *resource.Resource
	scope instrumentation.Scope
	spans ptrace.SpanSlice
	of    ptrace.ResourceSpans
}

func (e *encoder) group(s sdktrace.ReadOnlySpan) ptrace.SpanSlice {
	res, scope := s.Resource(), s.InstrumentationScope()
	var of ptrace.ResourceSpans
	known := false
	for i := len(e.groups) - 1; i >= 0; i-- {
		g := e.groups[i]
		if g.res != res && !g.res.Equal(res) {
			continue
		}
		if g.scope == scope {
			return g.spans
		}
		of, known = g.of, true
	}
	if !known {
		of = e.out.AppendEmpty()
		encodeAttributes(of.Resource().Attributes(), res.Attributes())
		of.SetSchemaUrl(res.SchemaURL())
	}
	ss := of.ScopeSpans().AppendEmpty()
	ss.SetSchemaUrl(scope.SchemaURL)
	ss.Scope().SetName(valid(scope.Name))
	ss.Scope().SetVersion(valid(scope.Version))
	encodeAttributes(ss.Scope().Attributes(), scope.Attributes.ToSlice())
	e.groups = append(e.groups, group{res: res, scope: scope, spans: ss.Spans(), of: of})
	return ss.Spans()
}

func encodeSpan(out ptrace.Span, s sdktrace.ReadOnlySpan) {
	sc, parent := s.SpanContext(), s.Parent()
	out.SetTraceID(pcommon.TraceID(sc.TraceID()))
	out.SetSpanID(pcommon.SpanID(sc.SpanID()))
	if parent.SpanID().IsValid() {
		out.SetParentSpanID(pcommon.SpanID(parent.SpanID()))
	}
	out.TraceState().FromRaw(sc.TraceState().String())
	out.SetFlags(flags(sc.TraceFlags(), parent.IsRemote()))
	out.SetName(valid(s.Name()))
	out.SetKind(kind(s.SpanKind()))
	out.SetStartTimestamp(timestamp(s.StartTime()))
	out.SetEndTimestamp(timestamp(s.EndTime()))
	encodeAttributes(out.Attributes(), s.Attributes())
	out.SetDroppedAttributesCount(count(s.DroppedAttributes()))
	if events := s.Events(); len(events) > 0 {
		out.Events().EnsureCapacity(len(events))
		for _, ev := range events {
			o := out.Events().AppendEmpty()
			o.SetName(valid(ev.Name))
			o.SetTimestamp(timestamp(ev.Time))
			encodeAttributes(o.Attributes(), ev.Attributes)
			o.SetDroppedAttributesCount(count(ev.DroppedAttributeCount))
		}
	}
	out.SetDroppedEventsCount(count(s.DroppedEvents()))
	for _, l := range s.Links() {
		o := out.Links().AppendEmpty()
		o.SetTraceID(pcommon.TraceID(l.SpanContext.TraceID()))
		o.SetSpanID(pcommon.SpanID(l.SpanContext.SpanID()))
		o.TraceState().FromRaw(l.SpanContext.TraceState().String())
		o.SetFlags(flags(l.SpanContext.TraceFlags(), l.SpanContext.IsRemote()))
		encodeAttributes(o.Attributes(), l.Attributes)
		o.SetDroppedAttributesCount(count(l.DroppedAttributeCount))
	}
	out.SetDroppedLinksCount(count(s.DroppedLinks()))
	switch st := s.Status(); st.Code {
	case codes.Error:
		out.Status().SetCode(ptrace.StatusCodeError)
		out.Status().SetMessage(valid(st.Description))
	case codes.Ok:
		out.Status().SetCode(ptrace.StatusCodeOk)
	}
}

// Bits of the OTLP span flags beyond the W3C trace flags.
const (
	flagHasRemote = 0x100
	flagRemote    = 0x200
)

func flags(f trace.TraceFlags, remote bool) uint32 {
	out := uint32(f) | flagHasRemote
	if remote {
		out |= flagRemote
	}
	return out
}

func kind(k trace.SpanKind) ptrace.SpanKind {
	switch k {
	case trace.SpanKindServer:
		return ptrace.SpanKindServer
	case trace.SpanKindClient:
		return ptrace.SpanKindClient
	case trace.SpanKindProducer:
		return ptrace.SpanKindProducer
	case trace.SpanKindConsumer:
		return ptrace.SpanKindConsumer
	}
	return ptrace.SpanKindInternal
}

func timestamp(t time.Time) pcommon.Timestamp {
	if t.IsZero() {
		return 0
	}
	return pcommon.NewTimestampFromTime(t)
}

func count(n int) uint32 { return uint32(min(max(n, 0), math.MaxUint32)) }

func valid(s string) string { return strings.ToValidUTF8(s, "\uFFFD") }

func encodeAttributes(out pcommon.Map, list []attribute.KeyValue) {
	if len(list) == 0 {
		return
	}
	out.EnsureCapacity(len(list))
	for _, kv := range list {
		// Keys are unique on a span, so that PutEmpty's search would be for nothing;
		// but it is what keeps a foreign span's duplicates out of the file.
		encodeValue(out.PutEmpty(valid(string(kv.Key))), kv.Value)
	}
}

func encodeValue(out pcommon.Value, v attribute.Value) {
	switch v.Type() {
	case attribute.BOOL:
		out.SetBool(v.AsBool())
	case attribute.INT64:
		out.SetInt(v.AsInt64())
	case attribute.FLOAT64:
		out.SetDouble(v.AsFloat64())
	case attribute.STRING:
		out.SetStr(valid(v.AsString()))
	case attribute.BOOLSLICE:
		list := out.SetEmptySlice()
		for _, b := range v.AsBoolSlice() {
			list.AppendEmpty().SetBool(b)
		}
	case attribute.INT64SLICE:
		list := out.SetEmptySlice()
		for _, n := range v.AsInt64Slice() {
			list.AppendEmpty().SetInt(n)
		}
	case attribute.FLOAT64SLICE:
		list := out.SetEmptySlice()
		for _, f := range v.AsFloat64Slice() {
			list.AppendEmpty().SetDouble(f)
		}
	case attribute.STRINGSLICE:
		list := out.SetEmptySlice()
		for _, s := range v.AsStringSlice() {
			list.AppendEmpty().SetStr(valid(s))
		}
	case attribute.BYTESLICE:
		out.SetEmptyBytes().FromRaw(v.AsByteSlice())
	case attribute.SLICE:
		list := out.SetEmptySlice()
		for _, item := range v.AsSlice() {
			encodeValue(list.AppendEmpty(), item)
		}
	case attribute.MAP:
		encodeAttributes(out.SetEmptyMap(), v.AsMap())
	}
}

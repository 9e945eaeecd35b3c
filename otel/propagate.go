package otel

import (
	"context"
	"encoding/hex"
	"slices"
	"strings"

	"go.opentelemetry.io/otel/baggage"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"
)

// Environment variables of the environment carrier.
const (
	EnvTraceParent = "TRACEPARENT"
	EnvTraceState  = "TRACESTATE"
	EnvBaggage     = "BAGGAGE"
)

// TraceParent returns the W3C traceparent of ctx's span, local or remote, or "".
// It is what a verb carries (messages.VerbHeader.TraceParent).
func TraceParent(ctx context.Context) string {
	return formatTraceParent(trace.SpanContextFromContext(ctx))
}

func formatTraceParent(sc trace.SpanContext) string {
	if !sc.IsValid() {
		return ""
	}
	const size = 55 // version, trace id, span id, flags and three dashes
	var b [size]byte
	id, span := sc.TraceID(), sc.SpanID()
	flags := [1]byte{byte(sc.TraceFlags() & (trace.FlagsSampled | trace.FlagsRandom))}
	copy(b[:], "00-")
	hex.Encode(b[3:], id[:])
	b[35] = '-'
	hex.Encode(b[36:], span[:])
	b[52] = '-'
	hex.Encode(b[53:], flags[:])
	return string(b[:])
}

// ContextWithRemote returns ctx with the remote parent that a W3C traceparent
// names: what is started under it continues the sender's trace. If the text is
// not a valid traceparent, ctx is returned as it is.
func ContextWithRemote(ctx context.Context, traceparent string) context.Context {
	if traceparent == "" {
		return ctx
	}
	return propagation.TraceContext{}.Extract(ctx, propagation.MapCarrier{"traceparent": traceparent})
}

// ContextFromEnv returns ctx with the remote parent and the baggage that the
// environment carries (TRACEPARENT, TRACESTATE, BAGGAGE). A program should read
// them when it was started to do one thing, and leave them alone when a person
// uses it interactively.
func ContextFromEnv(ctx context.Context, getenv func(string) string) context.Context {
	carrier := propagation.MapCarrier{}
	for key, name := range map[string]string{
		"traceparent": EnvTraceParent, "tracestate": EnvTraceState, "baggage": EnvBaggage,
	} {
		if v := getenv(name); v != "" {
			carrier[key] = v
		}
	}
	if len(carrier) == 0 {
		return ctx
	}
	ctx = propagation.TraceContext{}.Extract(ctx, carrier)
	return propagation.Baggage{}.Extract(ctx, carrier)
}

// EnvCarrier returns the environment entries, in the form KEY=value, by which a
// child process can continue ctx's trace. It is nil if ctx has neither a span
// nor baggage. They are meant to replace the parent's own; see [StripEnv].
func EnvCarrier(ctx context.Context) []string {
	var env []string
	if sc := trace.SpanContextFromContext(ctx); sc.IsValid() {
		env = append(env, EnvTraceParent+"="+formatTraceParent(sc))
		if state := sc.TraceState().String(); state != "" {
			env = append(env, EnvTraceState+"="+state)
		}
	}
	if bag := baggage.FromContext(ctx); bag.Len() > 0 {
		env = append(env, EnvBaggage+"="+bag.String())
	}
	return env
}

// StripEnv returns env without what must not reach a child process by
// inheritance: every OTEL_* variable, or the child would export to our
// exporters under our name, and the trace context that we were started with.
// env is not changed.
func StripEnv(env []string) []string {
	return slices.DeleteFunc(slices.Clone(env), func(entry string) bool {
		name, _, _ := strings.Cut(entry, "=")
		name = strings.ToUpper(name) // Windows ignores case
		switch name {
		case EnvTraceParent, EnvTraceState, EnvBaggage:
			return true
		}
		return strings.HasPrefix(name, "OTEL_")
	})
}

// Origin is a place in a trace that later work refers to. It is a plain value
// that outlives the span; the zero Origin is nowhere.
type Origin struct{ sc trace.SpanContext }

// IsZero reports whether o is nowhere.
func (o Origin) IsZero() bool { return !o.sc.IsValid() }

// Origin returns the place of ctx's span.
func (t *Tracer) Origin(ctx context.Context) Origin {
	if t == nil {
		return Origin{}
	}
	return Origin{trace.SpanContextFromContext(ctx)}
}

// OriginOf returns the place that a W3C traceparent names.
func OriginOf(traceparent string) Origin {
	return Origin{trace.SpanContextFromContext(ContextWithRemote(context.Background(), traceparent))}
}

// link returns the options for a span that refers to o.
func (o Origin) link() []trace.SpanStartOption {
	if o.IsZero() {
		return nil
	}
	return []trace.SpanStartOption{trace.WithLinks(trace.Link{SpanContext: o.sc})}
}

// Package otlp sends spans to an OpenTelemetry collector by OTLP over HTTP, as
// the environment says.
//
// It owns the translation of the OTEL_* variables into a queue of package export
// and the HTTP client behind it, whose connections end with the queue. It is a
// package of its own because the OTLP exporter pulls in gRPC: a host that writes
// trace files only, or none, does not pay for that.
//
// What the environment asks for and this build cannot do is an error, not
// something to be fallen back from: OTLP over gRPC, an exporter that is not
// known, a certificate that cannot be read.
package otlp

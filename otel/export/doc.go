// Package export carries ended spans out of the process without losing any in
// silence.
//
// It owns
//
//   - [Queue], a span processor: a bounded queue in front of an exporter. Ending
//     a span costs its caller one lock and one append. What the queue cannot
//     take, and what the exporter fails to write, is counted by reason, and the
//     counts go out as marker spans (dsh.trace.dropped) through the same
//     exporter as soon as it works again, so that a reader of the trace knows
//     what it lacks.
//   - [Lines], an exporter that writes OTLP/JSON lines: the file format of the
//     OpenTelemetry file exporter, which the Collector reads.
//   - [Provider], a TracerProvider over queues, and [OpenFile], the one that
//     writes a file.
//
// Invariants: a Queue has one goroutine, which is the only one that calls the
// exporter, from its making to the end of Shutdown. Shutdown is bounded in time.
// Every span that was ended is exported, counted as lost, or still queued; after
// Shutdown, Accepted = Exported + lost for other reasons than a full queue.
//
// It refuses to know what the spans mean, and it touches no global of
// OpenTelemetry. Exporters that speak OTLP over the network are in otel/otlp,
// because they pull in gRPC.
package export

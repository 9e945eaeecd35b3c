// Package wire is what the adapters of HTTP providers share: one POST whose
// answer is a stream of server-sent events, or an error that is put into the
// words of messages.Failure.
//
// It owns the request's life: connecting, the limits on silence and size, the
// stream's bytes, and the end of all of it when the caller's context is done,
// when the consumer stops, or when the answer is whole. It sends a request once
// and decides nothing about sending it again (Z-18). No goroutine of its own
// survives [Client.Exchange].
//
// It refuses to know what an event means: that is the adapter's [Decoder].
package wire

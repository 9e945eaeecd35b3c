package otel

import (
	"context"
	"strconv"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"

	"github.com/dsh-actor/dsh-actor/messages"
)

// ChatStart describes a model request.
type ChatStart struct {
	Session messages.SessionID
	// Config is the request's configuration. Its model is part of the span name.
	Config messages.RequestConfig
	// Streaming says that the answer is asked for in chunks.
	Streaming bool
	// InProcess says that no network is involved, as with a scripted model: the
	// span is then not a client's.
	InProcess bool
	// ServerAddress and ServerPort say which endpoint is asked.
	ServerAddress string
	ServerPort    int
}

// ChatSpan is the span of a model request. Unlike the other spans it counts
// chunks, so it is used through a pointer by one goroutine.
type ChatSpan struct {
	Span
	labels chatLabels
	first  time.Duration
	last   time.Time
}

type chatLabels struct {
	provider, model, responseModel, server string
	port                                   int
	errType                                string
}

// StartChat starts "chat <model>". Retries inside the adapter are attempts of
// this one span; a retry by agent/request-error is a new request.
func (t *Tracer) StartChat(ctx context.Context, in ChatStart) (context.Context, ChatSpan) {
	if t == nil {
		return ctx, ChatSpan{}
	}
	return t.startChat(ctx, in)
}

func (t *Tracer) startChat(ctx context.Context, in ChatStart) (context.Context, ChatSpan) {
	cs := ChatSpan{labels: chatLabels{
		provider: in.Config.Provider, model: in.Config.Model,
		server: in.ServerAddress, port: in.ServerPort,
	}}
	if !t.records(ctx) {
		cs.Span = t.silent(time.Time{})
		return ctx, cs
	}
	a := make(attrs, 0, 12)
	a.word(KeyOperation, opChat)
	a.str(KeyProvider, in.Config.Provider)
	a.str(KeyRequestModel, in.Config.Model)
	a.str(KeyServerAddress, in.ServerAddress)
	a.count(KeyServerPort, in.ServerPort)
	a.str(KeyConversation, string(in.Session))
	a.flag(KeyRequestStream, in.Streaming)
	a.count(KeyRequestMaxTokens, int(in.Config.MaxTokens))
	if temp, err := strconv.ParseFloat(string(in.Config.Temperature), 64); err == nil {
		a = append(a, attribute.Float64(KeyRequestTemp, temp))
	}
	if stop := in.Config.Stop.Slice(); len(stop) > 0 {
		for i := range stop {
			stop[i] = clean(stop[i])
		}
		a = append(a, attribute.StringSlice(KeyRequestStop, stop))
	}
	kind := trace.SpanKindClient
	if in.InProcess {
		kind = trace.SpanKindInternal
	}
	name := t.names.chat.name(in.Config.Model)
	ctx, cs.Span = t.begin(ctx, name, a, trace.WithSpanKind(kind))
	if cs.span != nil && cs.start.IsZero() {
		cs.start = t.now()
	}
	return ctx, cs
}

// Chunk says that a chunk of the answer arrived. The first one gives the time to
// first chunk, later ones the time per output chunk.
func (s *ChatSpan) Chunk() {
	if s.t == nil {
		return
	}
	s.chunk()
}

func (s *ChatSpan) chunk() {
	now := s.t.now()
	m := s.t.meters
	if s.last.IsZero() {
		// A clock that did not move still had a first chunk.
		s.first = max(now.Sub(s.start), 1)
		if m != nil {
			m.firstChunk.Record(s.context(), s.first.Seconds(), m.chat(s.labels))
		}
	} else if m != nil {
		m.perChunk.Record(s.context(), now.Sub(s.last).Seconds(), m.chat(s.labels))
	}
	s.last = now
}

// Attempt records that the adapter's attempt n, counted from 1, failed and that
// it waits before it tries again. The span's own status does not change: an
// error that is retried is handled.
func (s *ChatSpan) Attempt(n int, failure messages.Failure, wait time.Duration) {
	if s.span == nil {
		return
	}
	s.attempt(n, failure, wait)
}

func (s *ChatSpan) attempt(n int, failure messages.Failure, wait time.Duration) {
	a := make(attrs, 0, 3)
	a.num(KeyAttempt, n)
	a.word(KeyErrorType, failureType(failure))
	a.millis(KeyRetryWait, wait)
	opts := []trace.EventOption{trace.WithAttributes(a...)}
	if s.t.stamp {
		opts = append(opts, trace.WithTimestamp(s.t.now()))
	}
	s.span.AddEvent(EventRequestAttempt, opts...)
}

// ChatEnd says how a model request ended.
type ChatEnd struct {
	Usage  messages.Usage
	Finish messages.FinishReason
	// Failure is what failed, unless Finish says it.
	Failure messages.Failure
	// Cancelled says that the turn was cancelled under the request. That is no
	// error.
	Cancelled     bool
	ResponseID    messages.RequestID
	ResponseModel string
}

// End ends the request. It is an error if the request failed (T-10) and was not
// cancelled.
func (s *ChatSpan) End(in ChatEnd) {
	if s.t == nil {
		return
	}
	s.end(in)
}

func (s *ChatSpan) end(in ChatEnd) {
	failure := in.Failure
	if failure.IsZero() && in.Finish.Failed() {
		failure = in.Finish.Failure
	}
	outcome, errType := OutcomeOK, ""
	switch {
	case in.Cancelled:
		outcome, errType = OutcomeCancelled, ErrCanceled
	case !failure.IsZero() || in.Finish.Failed():
		outcome, errType = OutcomeFailed, failureType(failure)
	}
	var a attrs
	if s.span != nil {
		a = make(attrs, 0, 12)
		a.str(KeyResponseID, string(in.ResponseID))
		a.str(KeyResponseModel, in.ResponseModel)
		if in.Finish.Kind != "" {
			a = append(a, attribute.StringSlice(KeyFinishReasons, []string{finishWord(in.Finish.Kind)}))
		}
		if u := in.Usage; u != (messages.Usage{}) {
			a.num(KeyInputTokens, inputTokens(u))
			a.num(KeyOutputTokens, outputTokens(u))
			a.count(KeyCacheReadTokens, int(u.CacheReadTokens))
			a.count(KeyCacheWriteTokens, int(u.CacheWriteTokens))
			a.count(KeyReasoningTokens, int(u.ReasoningTokens))
		}
		if s.first > 0 {
			a = append(a, attribute.Float64(KeyTimeToFirstChunk, s.first.Seconds()))
		}
		a.word(KeyOutcome, string(outcome))
		a.word(KeyErrorType, errType)
	}
	took := s.finish(outcome.Failed(), a)
	if m := s.t.meters; m != nil {
		s.labels.responseModel, s.labels.errType = in.ResponseModel, errType
		m.inference(s, in.Usage, took)
	}
}

// finishWord translates V-8 into the words of the GenAI conventions. Kinds that
// they do not have stay.
func finishWord(kind string) string {
	switch kind {
	case messages.FinishToolCalls:
		return "tool_call"
	case messages.FinishMaxTokens:
		return "length"
	}
	return clean(kind)
}

package wire

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"mime"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"strings"
	"time"

	"github.com/dsh-actor/dsh-actor/messages"
)

const (
	// maxErrorBody is how much of an error answer is read.
	maxErrorBody = 64 << 10
	// drainTime is how long the end of a whole answer is waited for, so that its
	// connection can be used again.
	drainTime = 50 * time.Millisecond
	maxDrain  = 64 << 10
)

// Call is one request.
type Call struct {
	URL    *url.URL
	Header http.Header
	Body   []byte
}

// Decoder turns one answer into chunks. An error that it returns ends the
// stream: a messages.Failure as it is, any other as one of code PROTOCOL.
type Decoder interface {
	// Event takes one event of the stream. Data is valid during the call. Done says
	// that the answer is whole and that its finish was handed out.
	Event(name, data []byte, out *Out) (done bool, err error)
	// Whole takes an answer that is not a stream but one JSON value.
	Whole(data []byte, out *Out) error
	// End is called when the stream ended without a done.
	End(out *Out) error
}

// Exchange sends the call once and decodes the answer into out. It reports
// through out alone: chunks, or at the end one error, which is the context's
// cause or a messages.Failure. When it has returned, nothing of the request is
// left running but a connection that is kept for the next one. (If a kept
// connection turns out to be closed before any byte was written to it, net/http
// takes another one; the provider has seen nothing then.)
func (c *Client) Exchange(ctx context.Context, call Call, dec Decoder, out *Out) {
	err := c.exchange(ctx, &call, dec, out)
	switch {
	case ctx.Err() != nil && (err != nil || out.cut):
		out.fail(context.Cause(ctx))
	case err != nil:
		out.fail(err)
	}
}

func (c *Client) exchange(ctx context.Context, call *Call, dec Decoder, out *Out) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	rctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	dog := newWatchdog(cancel)
	defer dog.close()
	resp, err := c.send(rctx, call, dog)
	if err != nil {
		return c.broken(ctx, rctx, call, err)
	}
	defer resp.Body.Close()
	a := &answer{client: c, call: call, ctx: ctx, rctx: rctx, dog: dog, resp: resp}
	err = a.decode(dec, out)
	var f messages.Failure
	switch {
	case err == nil:
		return nil
	case !errors.As(err, &f):
		f = Protocolf("%v", err)
	}
	if f.RequestID == "" {
		f.RequestID = requestID(resp.Header)
	}
	return f
}

// send sends the request and waits for the answer's header. Connecting has a
// limit of its own; from then on any silence is limited.
func (c *Client) send(ctx context.Context, call *Call, dog *watchdog) (*http.Response, error) {
	dog.arm(c.idle, errIdle) // for transports that do not call the hooks
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		GetConn:      func(string) { dog.arm(c.connect, errConnect) },
		GotConn:      func(httptrace.GotConnInfo) { dog.arm(c.idle, errIdle) },
		WroteRequest: func(httptrace.WroteRequestInfo) { dog.arm(c.idle, errIdle) },
	})
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, call.URL.String(), bytes.NewReader(call.Body))
	if err != nil {
		return nil, err
	}
	for name, values := range call.Header {
		req.Header[name] = values
	}
	for name, values := range c.header { // the host's word is the last
		req.Header[http.CanonicalHeaderKey(name)] = values
	}
	if req.Header.Get("User-Agent") == "" {
		req.Header.Set("User-Agent", "dsh-actor")
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "text/event-stream")
	// Compression would let a proxy hold events back until a block is full.
	req.Header.Set("Accept-Encoding", "identity")
	resp, err := c.http.Do(req)
	dog.disarm()
	return resp, err
}

// answer is the answer to one request.
type answer struct {
	client    *Client
	call      *Call
	ctx, rctx context.Context
	dog       *watchdog
	resp      *http.Response
}

// Read reads the body under the limit on silence. Time that the consumer takes
// between two reads does not count.
func (a *answer) Read(p []byte) (int, error) {
	a.dog.arm(a.client.idle, errIdle)
	defer a.dog.disarm()
	return a.resp.Body.Read(p)
}

func (a *answer) decode(dec Decoder, out *Out) error {
	if a.resp.StatusCode < 200 || a.resp.StatusCode > 299 {
		return a.failure()
	}
	if enc := a.resp.Header.Get("Content-Encoding"); enc != "" && !strings.EqualFold(enc, "identity") {
		return Protocolf("%s answered in the encoding %q, which was not asked for", a.call.URL.Host, clip(enc, maxSnippet))
	}
	kind, _, err := mime.ParseMediaType(a.resp.Header.Get("Content-Type"))
	if err != nil {
		kind = ""
	}
	body := io.Reader(a)
	if kind == "" { // some servers do not say
		buffered := bufio.NewReader(a)
		first, err := buffered.Peek(1)
		if err != nil && !errors.Is(err, io.EOF) {
			return a.client.broken(a.ctx, a.rctx, a.call, err)
		}
		body, kind = buffered, "text/event-stream"
		if string(first) == "{" {
			kind = "application/json"
		}
	}
	switch {
	case kind == "text/event-stream":
		return a.events(body, dec, out)
	case kind == "application/json" || strings.HasSuffix(kind, "+json"):
		return a.whole(body, dec, out)
	}
	text, err := io.ReadAll(io.LimitReader(body, 4*maxSnippet))
	if err != nil && len(text) == 0 {
		return a.client.broken(a.ctx, a.rctx, a.call, err)
	}
	return Protocolf("%s answered with %s and not with a stream of events: %s", a.call.URL.Host, kind, Snippet(text))
}

// events decodes the stream.
func (a *answer) events(body io.Reader, dec Decoder, out *Out) error {
	events := newEventReader(body, a.client.maxEvent)
	for {
		name, data, err := events.next()
		switch {
		case errors.Is(err, io.EOF):
			return dec.End(out)
		case err != nil:
			return a.client.broken(a.ctx, a.rctx, a.call, err)
		}
		done, err := dec.Event(name, data, out)
		switch {
		case err != nil || out.stopped:
			return err
		case done:
			a.drain()
			return nil
		case a.ctx.Err() != nil:
			return context.Cause(a.ctx)
		}
	}
}

// whole decodes one JSON value.
func (a *answer) whole(body io.Reader, dec Decoder, out *Out) error {
	limit := a.client.maxEvent
	data, err := io.ReadAll(io.LimitReader(body, int64(limit)+1))
	switch {
	case err != nil:
		return a.client.broken(a.ctx, a.rctx, a.call, err)
	case len(data) > limit:
		return Protocolf("the answer of %s is longer than %d bytes", a.call.URL.Host, limit)
	}
	return dec.Whole(data, out)
}

// drain reads the rest of a whole answer, which is no more than its end mark, if
// it comes at once. HTTP/2 streams end without it.
func (a *answer) drain() {
	if a.resp.ProtoMajor > 1 {
		return
	}
	a.dog.arm(drainTime, errDrain)
	_, _ = io.CopyN(io.Discard, a.resp.Body, maxDrain)
	a.dog.disarm()
}

// failure reads an error answer.
func (a *answer) failure() error {
	resp := a.resp
	body, err := io.ReadAll(io.LimitReader(a, maxErrorBody))
	if err != nil && a.ctx.Err() != nil {
		return context.Cause(a.ctx) // otherwise the status alone says enough
	}
	d := ParseError(body)
	if d.Message == "" && d.Type == "" && strings.HasPrefix(resp.Header.Get("Content-Type"), "text/plain") {
		d.Message = Snippet(body)
	}
	if resp.StatusCode < 400 {
		d = ErrorDetail{Message: a.call.URL.Host + " answered " + resp.Status}
		if to, err := resp.Location(); err == nil {
			d.Message += " to " + to.Redacted() + ": set the base URL to where the API is"
		}
	}
	f := d.Failure(resp.StatusCode)
	f.ProviderRetryAfterMS = retryAfter(resp.Header, a.client.now())
	return f
}

// requestID returns the id that the provider gave the request.
func requestID(h http.Header) messages.RequestID {
	for _, name := range []string{"Request-Id", "X-Request-Id"} {
		if id := h.Get(name); id != "" {
			return messages.RequestID(clip(id, maxSnippet))
		}
	}
	return ""
}

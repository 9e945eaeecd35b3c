package wire_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/dsh-actor/dsh-actor/messages"
	"github.com/dsh-actor/dsh-actor/model"
	"github.com/dsh-actor/dsh-actor/model/internal/wire"
	"github.com/dsh-actor/dsh-actor/model/internal/wiretest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// plain is a protocol for tests: the data of an event is a piece of text, "end"
// ends the answer, "bad" is no event.
type plain struct{ block *wire.Block }

func (p *plain) Event(name, data []byte, out *wire.Out) (bool, error) {
	switch string(data) {
	case "end":
		p.block.Close()
		out.Chunk(messages.FinishChunk{Reason: messages.FinishReason{Kind: messages.FinishStop}})
		return true, nil
	case "bad":
		return false, errors.New("bad event")
	case "fail":
		return false, messages.Failure{Message: "failed", Code: messages.CodeOverloaded}
	}
	if p.block == nil {
		p.block = out.Open(messages.TypeText)
	}
	p.block.Delta(string(data))
	return false, nil
}

func (p *plain) Whole(data []byte, out *wire.Out) error {
	p.block = out.Open(messages.TypeText)
	p.block.Delta(string(data))
	_, err := p.Event(nil, []byte("end"), out)
	return err
}

func (p *plain) End(*wire.Out) error { return wire.ErrEarlyEnd() }

// result is what an exchange yielded.
type result struct {
	text     string
	chunks   int
	finished bool
	err      error
}

// run sends one request. Each is called after each chunk and says whether to go
// on.
func run(ctx context.Context, c *wire.Client, each func(messages.Chunk) bool) (got result) {
	out := wire.NewOut(ctx, &model.Request{}, func(chunk messages.Chunk, err error) bool {
		if got.err != nil {
			panic("yielded after an error")
		}
		if err != nil {
			got.err = err
			return true
		}
		got.chunks++
		switch chunk := chunk.(type) {
		case messages.TextDelta:
			got.text += chunk.Text
		case messages.FinishChunk:
			got.finished = true
		}
		return each == nil || each(chunk)
	})
	c.Exchange(ctx, wire.Call{URL: c.URL("x"), Header: http.Header{"X-Test": {"1"}}, Body: []byte("{}")}, &plain{}, out)
	return got
}

func newClient(t *testing.T, cfg wire.Config) *wire.Client {
	t.Helper()
	c, err := wire.NewClient(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

const hello = "data: hel\n\ndata: lo\n\ndata: end\n\n"

func failure(t *testing.T, err error) messages.Failure {
	t.Helper()
	var f messages.Failure
	if !errors.As(err, &f) {
		t.Fatalf("got %v, want a failure", err)
	}
	return f
}

// V-9: what can go wrong on the way, and what it is called.
func TestExchangeFailures(t *testing.T) {
	longLine := "data: " + strings.Repeat("x", 2000) + "\n\n"
	header := func(r wiretest.Reply, pairs ...string) wiretest.Reply {
		h := map[string]string{}
		for k, v := range r.Header {
			h[k] = v
		}
		for i := 0; i < len(pairs); i += 2 {
			h[pairs[i]] = pairs[i+1]
		}
		r.Header = h
		return r
	}
	for _, c := range []struct {
		name  string
		reply wiretest.Reply
		text  string           // what came before
		want  messages.Failure // the message is a part of it
	}{
		{"early end", wiretest.Stream("data: hel\n\n"), "hel", messages.Failure{Code: messages.CodeConnection, Message: "ended before"}},
		{"end in an event", wiretest.Stream("data: hel\n\ndata: lo"), "hel", messages.Failure{Code: messages.CodeConnection, Message: "ended before"}},
		{"nothing", wiretest.Stream(""), "", messages.Failure{Code: messages.CodeConnection, Message: "ended before"}},
		{"cut", wiretest.Reply{Parts: []string{"data: hel\n\n"}, After: wiretest.Cut}, "hel", messages.Failure{Code: messages.CodeConnection, Message: "EOF"}},
		{"reset", wiretest.Reply{Parts: []string{"data: hel\n\n"}, After: wiretest.Reset}, "hel", messages.Failure{Code: messages.CodeConnection, Message: "connection to 127.0.0.1"}},
		{"reset before the header", wiretest.Reply{Silent: true, After: wiretest.Reset}, "", messages.Failure{Code: messages.CodeConnection, Message: "connection to 127.0.0.1"}},
		{"cut before the header", wiretest.Reply{Silent: true, After: wiretest.Cut}, "", messages.Failure{Code: messages.CodeConnection, Message: "EOF"}},
		{"bad event", wiretest.Stream("data: hel\n\ndata: bad\n\n"), "hel", messages.Failure{Code: messages.CodeProtocol, Message: "bad event"}},
		{"failure in the stream", wiretest.Stream("data: hel\n\ndata: fail\n\n"), "hel", messages.Failure{Code: messages.CodeOverloaded, Message: "failed"}},
		{"request id", header(wiretest.Stream("data: fail\n\n"), "request-id", "req_1"), "", messages.Failure{Code: messages.CodeOverloaded, Message: "failed", RequestID: "req_1"}},
		{"other request id", header(wiretest.Stream("data: bad\n\n"), "x-request-id", "req_2"), "", messages.Failure{Code: messages.CodeProtocol, Message: "bad event", RequestID: "req_2"}},
		{"JSON that is cut", wiretest.Reply{Header: map[string]string{"Content-Type": "application/json"}, Parts: []string{"{"}, After: wiretest.Cut}, "", messages.Failure{Code: messages.CodeConnection, Message: "EOF"}},
		{"HTML that is cut", wiretest.Reply{Header: map[string]string{"Content-Type": "text/html"}, After: wiretest.Cut}, "", messages.Failure{Code: messages.CodeConnection, Message: "EOF"}},
		{"no content type, cut", wiretest.Reply{Header: map[string]string{"Content-Type": ""}, After: wiretest.Cut}, "", messages.Failure{Code: messages.CodeConnection, Message: "EOF"}},
		{"long line", wiretest.Stream(longLine), "", messages.Failure{Code: messages.CodeProtocol, Message: "longer than 1000 bytes"}},
		{"long JSON", wiretest.JSON(200, "{"+strings.Repeat(" ", 2000)+"}"), "", messages.Failure{Code: messages.CodeProtocol, Message: "longer than 1000 bytes"}},
		{"garbage", wiretest.Stream("\x00\x01garbage\xff"), "", messages.Failure{Code: messages.CodeConnection, Message: "ended before"}},
		{"HTML", header(wiretest.Stream("<html>\n <b>Log in</b></html>"), "Content-Type", "text/html; charset=utf-8"), "",
			messages.Failure{Code: messages.CodeProtocol, Message: "text/html and not with a stream of events: <html> <b>Log in</b></html>"}},
		{"no content", wiretest.Reply{Status: 204, Header: map[string]string{"Content-Type": ""}}, "", messages.Failure{Code: messages.CodeConnection, Message: "ended before"}},
		{"compressed", header(wiretest.Stream(hello), "Content-Encoding", "gzip"), "", messages.Failure{Code: messages.CodeProtocol, Message: `encoding "gzip"`}},

		{"429 with seconds", header(wiretest.JSON(429, `{"error":{"type":"rate_limit_error","message":"slow"}}`), "Retry-After", "2", "Request-Id", "r"), "",
			messages.Failure{Code: messages.CodeRateLimited, Status: 429, Message: "slow", ProviderRetryAfterMS: 2000, RequestID: "r"}},
		{"429 with a date", header(wiretest.JSON(429, `{"error":{"message":"slow"}}`), "Retry-After", "Mon, 30 Nov 2026 12:00:07 GMT"), "",
			messages.Failure{Code: messages.CodeRateLimited, Status: 429, Message: "slow", ProviderRetryAfterMS: 7000}},
		{"429 with milliseconds", header(wiretest.JSON(429, `{}`), "retry-after-ms", "1234.5"), "",
			messages.Failure{Code: messages.CodeRateLimited, Status: 429, Message: "429 Too Many Requests", ProviderRetryAfterMS: 1234}},
		{"500 with JSON", wiretest.JSON(500, `{"type":"error","error":{"type":"api_error","message":"boom"},"request_id":"in body"}`), "",
			messages.Failure{Code: messages.CodeServerError, Status: 500, Message: "boom", RequestID: "in body"}},
		{"500 without a body", wiretest.Reply{Status: 500}, "", messages.Failure{Code: messages.CodeServerError, Status: 500, Message: "500 Internal Server Error"}},
		{"500 with text", header(wiretest.Reply{Status: 500, Parts: []string{"upstream\nconnect error"}}, "Content-Type", "text/plain"), "",
			messages.Failure{Code: messages.CodeServerError, Status: 500, Message: "upstream connect error"}},
		{"502 with HTML", header(wiretest.Reply{Status: 502, Parts: []string{"<html>"}}, "Content-Type", "text/html"), "",
			messages.Failure{Code: messages.CodeServerError, Status: 502, Message: "502 Bad Gateway"}},
		{"529 that is cut", wiretest.Reply{Status: 529, Parts: []string{`{"error`}, After: wiretest.Cut}, "", messages.Failure{Code: messages.CodeOverloaded, Status: 529, Message: "answered 529"}},
		{"500 with a huge body", wiretest.Reply{Status: 500, Parts: []string{strings.Repeat("x", 1<<20)}}, "", messages.Failure{Code: messages.CodeServerError, Status: 500, Message: "500"}},
		{"redirect", header(wiretest.Reply{Status: 307}, "Location", "http://other.invalid/v1"), "",
			messages.Failure{Code: messages.CodeProtocol, Status: 307, Message: "to http://other.invalid/v1: set the base URL"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := wiretest.Serve(t, wiretest.Always(c.reply))
			now := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
			client := newClient(t, wire.Config{BaseURL: s.URL, MaxEventBytes: 1000, Now: func() time.Time { return now }})
			got := run(t.Context(), client, nil)
			f := failure(t, got.err)
			if !strings.Contains(f.Message, c.want.Message) {
				t.Errorf("message %q, want %q", f.Message, c.want.Message)
			}
			f.Message = c.want.Message
			if f != c.want || got.text != c.text || got.finished {
				t.Errorf("got %+v after %q\nwant %+v after %q", f, got.text, c.want, c.text)
			}
			if n := len(s.Requests()); n != 1 {
				t.Errorf("%d requests were sent", n)
			}
		})
	}
}

func TestExchangeAnswers(t *testing.T) {
	kind := func(r wiretest.Reply, kind string) wiretest.Reply {
		r.Header = map[string]string{"Content-Type": kind}
		return r
	}
	for _, c := range []struct {
		name  string
		reply wiretest.Reply
		want  string
	}{
		{"stream", wiretest.Stream(hello), "hello"},
		{"stream in pieces", wiretest.Reply{Parts: strings.SplitAfter(hello, "")}, "hello"},
		{"JSON instead", wiretest.JSON(200, `{"a":1}`), `{"a":1}`},
		{"another JSON", kind(wiretest.Stream(`{"a":1}`), "application/problem+json"), `{"a":1}`},
		{"no content type, stream", kind(wiretest.Stream(hello), ""), "hello"},
		{"no content type, JSON", kind(wiretest.Stream(`{"a":1}`), ""), `{"a":1}`},
		{"identity", wiretest.Reply{Header: map[string]string{"Content-Encoding": "identity"}, Parts: []string{hello}}, "hello"},
		{"201", wiretest.Reply{Status: 201, Parts: []string{hello}}, "hello"},
		{"more after the end", wiretest.Stream(hello + "data: more\n\n"), "hello"},
		{"reset after the end", wiretest.Reply{Parts: []string{hello}, After: wiretest.Reset}, "hello"},
		{"hangs after the end", wiretest.Reply{Parts: []string{hello}, After: wiretest.Hang}, "hello"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := wiretest.Serve(t, wiretest.Always(c.reply))
			got := run(t.Context(), newClient(t, wire.Config{BaseURL: s.URL}), nil)
			if got.text != c.want || !got.finished || got.err != nil {
				t.Errorf("%+v", got)
			}
		})
	}
}

// One connection serves one request after the other; it is given up when an
// answer does not end.
func TestConnections(t *testing.T) {
	for _, c := range []struct {
		name  string
		reply wiretest.Reply
		want  int
	}{
		{"whole", wiretest.Stream(hello), 1},
		{"error", wiretest.JSON(500, "{}"), 1},
		{"JSON", wiretest.JSON(200, "{}"), 1},
		{"does not end", wiretest.Reply{Parts: []string{hello}, After: wiretest.Hang}, 3},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := wiretest.Serve(t, wiretest.Always(c.reply))
			client := newClient(t, wire.Config{BaseURL: s.URL})
			for range 3 {
				run(t.Context(), client, nil)
			}
			conns := map[string]bool{}
			for _, r := range s.Requests() {
				conns[r.Remote] = true
			}
			if len(conns) != c.want {
				t.Errorf("%d connections, want %d", len(conns), c.want)
			}
		})
	}
}

// Over HTTP/2 the streams of one connection end one by one.
func TestHTTP2(t *testing.T) {
	mine := errors.New("mine")
	for _, c := range []struct {
		name  string
		reply wiretest.Reply
		stop  int // after so many chunks, by the context
		idle  time.Duration
		want  func(t *testing.T, got result)
	}{
		{"whole", wiretest.Stream(hello), 0, 0, func(t *testing.T, got result) {
			if got.text != "hello" || !got.finished || got.err != nil {
				t.Errorf("%+v", got)
			}
		}},
		{"hangs after the end", wiretest.Reply{Parts: []string{hello}, After: wiretest.Hang}, 0, 0, func(t *testing.T, got result) {
			if got.text != "hello" || !got.finished || got.err != nil {
				t.Errorf("%+v", got)
			}
		}},
		{"reset", wiretest.Reply{Parts: []string{"data: hel\n\n"}, After: wiretest.Reset}, 0, 0, func(t *testing.T, got result) {
			if f := failure(t, got.err); f.Code != messages.CodeConnection || got.text != "hel" {
				t.Errorf("%+v", got)
			}
		}},
		{"idle", wiretest.Reply{Parts: []string{"data: hel\n\n"}, After: wiretest.Hang}, 0, 50 * time.Millisecond, func(t *testing.T, got result) {
			if f := failure(t, got.err); f.Code != messages.CodeTimeout {
				t.Errorf("%+v", got)
			}
		}},
		{"cancelled", wiretest.Reply{Parts: []string{"data: hel\n\n"}, After: wiretest.Hang}, 2, 0, func(t *testing.T, got result) {
			if !errors.Is(got.err, mine) {
				t.Errorf("%+v", got)
			}
		}},
		{"error", wiretest.JSON(529, "{}"), 0, 0, func(t *testing.T, got result) {
			if f := failure(t, got.err); f.Code != messages.CodeOverloaded || f.Status != 529 {
				t.Errorf("%+v", got)
			}
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := wiretest.ServeHTTP2(t, wiretest.Always(c.reply))
			defer s.Client().CloseIdleConnections()
			client := newClient(t, wire.Config{BaseURL: s.URL, HTTPClient: s.Client(), IdleTimeout: c.idle})
			for range 2 {
				ctx, cancel := context.WithCancelCause(t.Context())
				n := 0
				c.want(t, run(ctx, client, func(messages.Chunk) bool {
					if n++; n == c.stop {
						cancel(mine)
					}
					return true
				}))
				cancel(nil)
			}
			if r := s.Requests(); len(r) != 2 || r[0].Remote != r[1].Remote {
				t.Errorf("%d requests, or not on one connection", len(r))
			}
		})
	}
}

func TestRequestIsSent(t *testing.T) {
	s := wiretest.Serve(t, wiretest.Always(wiretest.Stream(hello)))
	c := newClient(t, wire.Config{BaseURL: s.URL + "/base/", Header: http.Header{"x-test": {"2"}, "X-Mine": {"a", "b"}}})
	if got := run(t.Context(), c, nil); got.err != nil {
		t.Fatal(got.err)
	}
	r := s.Requests()[0]
	if r.Method != "POST" || r.Path != "/base/x" || r.Body != "{}" {
		t.Errorf("%s %s %s", r.Method, r.Path, r.Body)
	}
	want := http.Header{
		"Accept": {"text/event-stream"}, "Accept-Encoding": {"identity"}, "Content-Type": {"application/json"}, "Content-Length": {"2"},
		"User-Agent": {"dsh-actor"}, "X-Mine": {"a", "b"}, "X-Test": {"2"}, // the host's word is the last
	}
	if diff := cmp.Diff(want, r.Header); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestRefused(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := l.Addr().String()
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	got := run(t.Context(), newClient(t, wire.Config{BaseURL: "http://" + address}), nil)
	if f := failure(t, got.err); f.Code != messages.CodeConnection || !strings.Contains(f.Message, address) {
		t.Errorf("%+v", f)
	}
}

// slow is a transport that takes its time and obeys the request's context.
type slow struct {
	header time.Duration   // before the header
	parts  []time.Duration // before each part
	body   []string
}

func (s *slow) RoundTrip(r *http.Request) (*http.Response, error) {
	if err := rest(r.Context(), s.header); err != nil {
		return nil, err
	}
	return &http.Response{StatusCode: 200, ProtoMajor: 1, Header: http.Header{"Content-Type": {"text/event-stream"}}, Body: &slowBody{ctx: r.Context(), slow: *s}}, nil
}

type slowBody struct {
	ctx context.Context
	slow
}

func (b *slowBody) Read(p []byte) (int, error) {
	if len(b.body) == 0 {
		return 0, io.EOF
	}
	if err := rest(b.ctx, b.parts[0]); err != nil {
		return 0, err
	}
	n := copy(p, b.body[0])
	b.parts, b.body = b.parts[1:], b.body[1:]
	return n, nil
}

func (b *slowBody) Close() error { return nil }

func rest(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}

// Silence ends a request, before the header and in the stream; a slow consumer
// and a slow but steady stream do not.
func TestIdleTimeout(t *testing.T) {
	second := func(n int) time.Duration { return time.Duration(n) * time.Second }
	for _, c := range []struct {
		name     string
		slow     slow
		idle     time.Duration
		consumer time.Duration // that it takes for each chunk
		took     time.Duration
		timeout  bool
	}{
		{"no header", slow{header: time.Hour}, 0, 0, wire.DefaultIdleTimeout, true},
		{"no event", slow{parts: []time.Duration{time.Hour}, body: []string{hello}}, second(10), 0, second(10), true},
		{"stalls", slow{parts: []time.Duration{second(1), time.Hour}, body: []string{"data: a\n\n", hello}}, second(10), 0, second(11), true},
		{"slow", slow{header: second(9), parts: []time.Duration{second(9), second(9), second(9)}, body: []string{"data: a\n\n", ": ping\n\n", hello}}, second(10), 0, second(36), false},
		{"slow consumer", slow{parts: []time.Duration{0, 0}, body: []string{"data: a\n\n", hello}}, second(10), time.Minute, 6 * time.Minute, false},
		{"no limit", slow{header: 24 * time.Hour, parts: []time.Duration{24 * time.Hour}, body: []string{hello}}, -1, 0, 48 * time.Hour, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				client := newClient(t, wire.Config{BaseURL: "http://h", HTTPClient: &http.Client{Transport: &c.slow}, IdleTimeout: c.idle})
				start := time.Now()
				got := run(t.Context(), client, func(messages.Chunk) bool { time.Sleep(c.consumer); return true })
				if took := time.Since(start); took != c.took {
					t.Errorf("took %v, want %v", took, c.took)
				}
				if !c.timeout {
					if got.err != nil || !got.finished {
						t.Errorf("%+v", got)
					}
					return
				}
				if f := failure(t, got.err); f.Code != messages.CodeTimeout || !strings.Contains(f.Message, "h sent nothing for") {
					t.Errorf("%+v", f)
				}
			})
		})
	}
}

// A server that accepts a connection and does not talk TLS on it.
func TestConnectTimeout(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	c := newClient(t, wire.Config{BaseURL: "https://" + l.Addr().String(), ConnectTimeout: 20 * time.Millisecond})
	got := run(t.Context(), c, nil)
	if f := failure(t, got.err); f.Code != messages.CodeTimeout || !strings.Contains(f.Message, l.Addr().String()) {
		t.Errorf("%+v", f)
	}
}

// The same limits over a real connection.
func TestIdleTimeoutOverTCP(t *testing.T) {
	for _, r := range []wiretest.Reply{
		{Silent: true, After: wiretest.Hang},
		{Parts: []string{"data: a\n\n"}, After: wiretest.Hang},
	} {
		s := wiretest.Serve(t, wiretest.Always(r))
		c := newClient(t, wire.Config{BaseURL: s.URL, IdleTimeout: 30 * time.Millisecond})
		got := run(t.Context(), c, nil)
		if f := failure(t, got.err); f.Code != messages.CodeTimeout {
			t.Errorf("%+v", f)
		}
	}
}

// The host's own client may have a limit on everything.
func TestHostTimeout(t *testing.T) {
	s := wiretest.Serve(t, wiretest.Always(wiretest.Reply{Parts: []string{"data: a\n\n"}, After: wiretest.Hang}))
	own := &http.Client{Timeout: 30 * time.Millisecond, Transport: &http.Transport{DisableKeepAlives: true}}
	got := run(t.Context(), newClient(t, wire.Config{BaseURL: s.URL, HTTPClient: own}), nil)
	if f := failure(t, got.err); f.Code != messages.CodeTimeout {
		t.Errorf("%+v", f)
	}
	if own.CheckRedirect != nil {
		t.Error("the host's client was changed")
	}
}

// When the context is done the stream yields its cause, in whatever state it is.
func TestCancelled(t *testing.T) {
	mine := errors.New("mine")
	for _, c := range []struct {
		name  string
		reply wiretest.Reply
		after int // chunks, then cancel; -1: before; 0: when the request arrived
		want  string
	}{
		{"before", wiretest.Stream(hello), -1, ""},
		{"no header yet", wiretest.Reply{Silent: true, After: wiretest.Hang}, 0, ""},
		{"an error answer that hangs", wiretest.Reply{Status: 500, After: wiretest.Hang}, 0, ""},
		{"HTML that hangs", wiretest.Reply{Header: map[string]string{"Content-Type": "text/html"}, After: wiretest.Hang}, 0, ""},
		{"no type and nothing", wiretest.Reply{Header: map[string]string{"Content-Type": ""}, After: wiretest.Hang}, 0, ""},
		{"JSON that hangs", wiretest.Reply{Header: map[string]string{"Content-Type": "application/json"}, After: wiretest.Hang}, 0, ""},
		{"in the middle", wiretest.Reply{Parts: []string{"data: hel\n\n"}, After: wiretest.Hang}, 2, "hel"},
		{"more was there", wiretest.Stream(hello), 2, "hel"},
		{"only the finish was missing", wiretest.Stream(hello), 4, "hello"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := wiretest.Serve(t, wiretest.Always(c.reply))
			client := newClient(t, wire.Config{BaseURL: s.URL})
			ctx, cancel := context.WithCancelCause(t.Context())
			defer cancel(nil)
			arrived := make(chan struct{})
			switch c.after {
			case -1:
				cancel(mine)
				close(arrived)
			case 0:
				go func() {
					defer close(arrived)
					<-s.Waiting
					cancel(mine)
				}()
			default:
				close(arrived)
			}
			n := 0
			got := run(ctx, client, func(messages.Chunk) bool {
				if n++; n == c.after {
					cancel(mine)
				}
				return true
			})
			<-arrived
			if !errors.Is(got.err, mine) || got.text != c.want || got.finished {
				t.Errorf("%+v", got)
			}
			if c.after == -1 && len(s.Requests()) != 0 {
				t.Error("a request was sent")
			}
		})
	}
	t.Run("after the finish", func(t *testing.T) {
		s := wiretest.Serve(t, wiretest.Always(wiretest.Stream(hello)))
		ctx, cancel := context.WithCancelCause(t.Context())
		defer cancel(nil)
		got := run(ctx, newClient(t, wire.Config{BaseURL: s.URL}), func(c messages.Chunk) bool {
			if _, ok := c.(messages.FinishChunk); ok {
				cancel(mine)
			}
			return true
		})
		if got.err != nil || !got.finished {
			t.Errorf("an answer that was whole: %+v", got)
		}
	})
}

// Without any help by the caller the goroutines of a request end with it.
func TestNothingIsLeft(t *testing.T) {
	for name, r := range map[string]wiretest.Reply{
		"stalled":  {Parts: []string{"data: hel\n\n"}, After: wiretest.Hang},
		"endless":  {Parts: []string{"data: x\n\n"}, After: wiretest.Repeat},
		"finished": {Parts: []string{hello}, After: wiretest.Hang},
		"HTML":     {Header: map[string]string{"Content-Type": "text/html"}, Parts: []string{strings.Repeat("x", 1<<16)}, After: wiretest.Hang},
	} {
		t.Run(name, func(t *testing.T) {
			s := wiretest.Serve(t, wiretest.Always(r))
			client, err := wire.NewClient(wire.Config{BaseURL: s.URL})
			if err != nil {
				t.Fatal(err)
			}
			before := goleak.IgnoreCurrent()
			for _, stop := range []int{1, 2, 100} {
				n := 0
				got := run(t.Context(), client, func(messages.Chunk) bool { n++; return n < stop })
				if got.err != nil && name != "HTML" {
					t.Errorf("%+v", got)
				}
				if got.chunks > stop {
					t.Errorf("%d chunks after a stop at %d", got.chunks, stop)
				}
				if name == "stalled" && stop == 2 {
					break // three chunks will not come
				}
			}
			if err := goleak.Find(before); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestClientConfig(t *testing.T) {
	for _, c := range []struct {
		base string
		want string // of the error
		host string
		port int
	}{
		{"https://api.example.com", "", "api.example.com", 443},
		{" https://api.example.com/v1/ ", "", "api.example.com", 443},
		{"http://localhost", "", "localhost", 80},
		{"http://[::1]:8080/v1", "", "::1", 8080},
		{"", "want http or https", "", 0},
		{"api.example.com", "want http or https", "", 0},
		{"ftp://h", "want http or https", "", 0},
		{"http://h?key=1", "no query", "", 0},
		{"http://user:secret@h?x", "no query", "", 0},
		{"http://user:secret@h:port", "invalid port", "", 0},
		{"http://h\x7f", "invalid control character", "", 0},
	} {
		client, err := wire.NewClient(wire.Config{BaseURL: c.base})
		if c.want != "" {
			if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "secret") {
				t.Errorf("%q: %v", c.base, err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%q: %v", c.base, err)
			continue
		}
		if host, port := client.Server(); host != c.host || port != c.port {
			t.Errorf("%q: %s %d", c.base, host, port)
		}
	}
	if err := wire.CheckHeaderValue("the key", "sk-secret\n"); err == nil || strings.Contains(err.Error(), "secret") {
		t.Errorf("%v", err)
	}
	if got := newClient(t, wire.Config{BaseURL: "https://h/v1/"}).URL("a/b").String(); got != "https://h/v1/a/b" {
		t.Error(got)
	}
}

// The blocks of an answer keep the rules of V-6.
func TestOut(t *testing.T) {
	var got []string
	out := wire.NewOut(t.Context(), &model.Request{Turn: 2, Step: 3}, func(c messages.Chunk, _ error) bool {
		got = append(got, fmt.Sprintf("%+v", c))
		return true
	})
	a := out.OpenCall("", "A")
	a.Delta("")
	a.Delta(`{"x":`)
	b := out.OpenCall("b", "B")
	a.Delta(`1}`)
	a.Close()
	a.Close()
	a.Delta("late")
	b.Close()
	out.OpenCall("b", "C").Close()
	out.OpenCall("call-2-3-4", "D").Close()
	out.OpenCall("b", "E").Close()
	r := out.Open(messages.TypeReasoning)
	r.Close()
	out.Other("x", `{"type":"x"}`)
	out.Other("x", `[]`)
	out.Other("x", `{`)
	out.Other("", `{}`)
	want := []string{
		"{Index:0 BlockType:tool-call}", "{Index:0 ID:call-2-3-1 Name:A ArgumentsDelta:}", `{Index:0 ID:call-2-3-1 Name: ArgumentsDelta:{"x":}`,
		"{Index:1 BlockType:tool-call}", "{Index:1 ID:b Name:B ArgumentsDelta:}", "{Index:0 ID:call-2-3-1 Name: ArgumentsDelta:1}}",
		`{Index:0 Block:{ID:call-2-3-1 Name:A Arguments:{"x":1}}}`,
		"{Index:1 ID:b Name: ArgumentsDelta:{}}", "{Index:1 Block:{ID:b Name:B Arguments:{}}}",
		"{Index:2 BlockType:tool-call}", "{Index:2 ID:call-2-3-3 Name:C ArgumentsDelta:}", "{Index:2 ID:call-2-3-3 Name: ArgumentsDelta:{}}", "{Index:2 Block:{ID:call-2-3-3 Name:C Arguments:{}}}",
		"{Index:3 BlockType:tool-call}", "{Index:3 ID:call-2-3-4 Name:D ArgumentsDelta:}", "{Index:3 ID:call-2-3-4 Name: ArgumentsDelta:{}}", "{Index:3 Block:{ID:call-2-3-4 Name:D Arguments:{}}}",
		"{Index:4 BlockType:tool-call}", "{Index:4 ID:call-2-3-5 Name:E ArgumentsDelta:}", "{Index:4 ID:call-2-3-5 Name: ArgumentsDelta:{}}", "{Index:4 Block:{ID:call-2-3-5 Name:E Arguments:{}}}",
		"{Index:5 BlockType:reasoning}", "{Index:5 Block:{Text:}}",
		"{Index:6 BlockType:x}", `{Index:6 Block:{Type:x Raw:{"type":"x"}}}`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if out.Calls() != 5 {
		t.Error(out.Calls())
	}
}

// Package wiretest has what the tests of the HTTP adapters share: a server on
// the loopback that answers as it is told, and the set-up of the contract suite.
package wiretest

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/dsh-actor/dsh-actor/messages"
	"github.com/dsh-actor/dsh-actor/model"
)

// After says what follows the parts of a [Reply].
type After int

// What follows.
const (
	End    After = iota // the answer ends as HTTP wants it
	Hang                // nothing, until the client goes away
	Reset               // the connection is reset
	Cut                 // the connection is closed before the answer's end
	Repeat              // the last part again, until the client goes away
)

// Reply is one answer of the server. The zero value is 200 and an empty stream of
// events.
type Reply struct {
	Status int
	Header map[string]string // "" removes a header
	Parts  []string          // each written and flushed by itself
	After  After
	// Silent sends nothing at all, not even the header, and then does After.
	Silent bool
}

// Stream is a reply of one text of events.
func Stream(text string) Reply { return Reply{Parts: []string{text}} }

// JSON is a reply of one JSON value.
func JSON(status int, text string) Reply {
	return Reply{Status: status, Header: map[string]string{"Content-Type": "application/json"}, Parts: []string{text}}
}

// Request is one request that the server got.
type Request struct {
	Method, Path string
	Remote       string // the client's end of the connection
	Header       http.Header
	Body         string
}

// Server answers each request with what Reply says.
type Server struct {
	*httptest.Server
	// Waiting gets a value when a request has arrived, if somebody reads it.
	Waiting chan struct{}

	mu       sync.Mutex
	requests []Request
}

// Serve starts a server. It is closed with the test.
func Serve(t testing.TB, reply func(n int) Reply) *Server {
	s := unstarted(t, reply)
	s.Start()
	return s
}

// ServeHTTP2 starts a server that speaks HTTP/2, over TLS. Its Client trusts it.
func ServeHTTP2(t testing.TB, reply func(n int) Reply) *Server {
	s := unstarted(t, reply)
	s.EnableHTTP2 = true
	s.StartTLS()
	return s
}

func unstarted(t testing.TB, reply func(n int) Reply) *Server {
	s := &Server{Waiting: make(chan struct{}, 1)}
	s.Server = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.answer(w, r, reply)
	}))
	t.Cleanup(s.Close)
	return s
}

// Always is for [Serve].
func Always(r Reply) func(int) Reply { return func(int) Reply { return r } }

func (s *Server) answer(w http.ResponseWriter, r *http.Request, reply func(int) Reply) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // the client went away
	}
	s.mu.Lock()
	n := len(s.requests)
	s.requests = append(s.requests, Request{r.Method, r.URL.Path, r.RemoteAddr, r.Header.Clone(), string(body)})
	s.mu.Unlock()
	select {
	case s.Waiting <- struct{}{}:
	default:
	}
	a := reply(n)
	if !a.Silent {
		w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
		for name, value := range a.Header {
			w.Header()[http.CanonicalHeaderKey(name)] = []string{value}
			if value == "" {
				w.Header()[http.CanonicalHeaderKey(name)] = nil // also the guess of net/http
			}
		}
		w.WriteHeader(max(a.Status, 200))
		flush(w)
		for _, part := range a.Parts {
			if _, err := io.WriteString(w, part); err != nil {
				return
			}
			flush(w)
		}
	}
	switch a.After {
	case Hang:
		<-r.Context().Done()
	case Repeat:
		for err := error(nil); err == nil; {
			_, err = io.WriteString(w, a.Parts[len(a.Parts)-1])
		}
	case Reset, Cut:
		conn, _, err := http.NewResponseController(w).Hijack()
		if err != nil { // HTTP/2, where it is the stream that is reset
			panic(http.ErrAbortHandler)
		}
		if tcp, ok := conn.(*net.TCPConn); ok && a.After == Reset {
			_ = tcp.SetLinger(0)
		}
		_ = conn.Close()
	}
}

func flush(w http.ResponseWriter) { _ = http.NewResponseController(w).Flush() }

// Requests returns what the server got so far.
func (s *Server) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Request(nil), s.requests...)
}

// Collect reads a stream to its end.
func Collect(ctx context.Context, m model.Model, req model.Request) (chunks []messages.Chunk, err error) {
	for c, err := range m.Stream(ctx, req) {
		if err != nil {
			return chunks, err
		}
		chunks = append(chunks, c)
	}
	return chunks, nil
}

// Assemble returns what the chunks add up to.
func Assemble(t testing.TB, chunks []messages.Chunk) messages.Assembled {
	t.Helper()
	var a messages.Assembler
	for _, c := range chunks {
		a.Add(c)
	}
	got, err := a.Result()
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// Canned is a transport without a network: each request gets the stream.
type Canned struct {
	Text        string
	ContentType string // default text/event-stream
	// OneByte hands the body out byte by byte.
	OneByte bool
	// Split hands out the bytes before it, and then the rest, if it is not 0.
	Split int
}

// RoundTrip answers the request.
func (c *Canned) RoundTrip(r *http.Request) (*http.Response, error) {
	var body io.Reader = strings.NewReader(c.Text)
	switch {
	case c.OneByte:
		body = oneByte{body}
	case c.Split > 0:
		body = io.MultiReader(strings.NewReader(c.Text[:c.Split]), strings.NewReader(c.Text[c.Split:]))
	}
	kind := c.ContentType
	if kind == "" {
		kind = "text/event-stream"
	}
	return &http.Response{
		StatusCode: 200, ProtoMajor: 1, ProtoMinor: 1, Header: http.Header{"Content-Type": {kind}},
		Body: io.NopCloser(body), Request: r,
	}, nil
}

type oneByte struct{ r io.Reader }

func (o oneByte) Read(p []byte) (int, error) { return o.r.Read(p[:min(len(p), 1)]) }

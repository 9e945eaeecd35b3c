package otlp_test

import (
	"compress/gzip"
	"context"
	"encoding/pem"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"go.opentelemetry.io/collector/pdata/ptrace"
	"go.opentelemetry.io/collector/pdata/ptrace/ptraceotlp"
	"go.uber.org/goleak"

	"github.com/dsh-actor/dsh-actor/otel"
	"github.com/dsh-actor/dsh-actor/otel/export"
	"github.com/dsh-actor/dsh-actor/otel/otlp"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// collector is an OTLP receiver: it decodes with the Collector's library.
type collector struct {
	*httptest.Server
	mu      sync.Mutex
	spans   map[string]ptrace.Span
	service string
	headers http.Header
	path    string
	// reply decides the answer; nil accepts.
	reply func(w http.ResponseWriter)
}

func newCollector(t *testing.T, secure bool) *collector {
	t.Helper()
	c := &collector{spans: map[string]ptrace.Span{}}
	if secure {
		c.Server = httptest.NewTLSServer(c)
	} else {
		c.Server = httptest.NewServer(c)
	}
	t.Cleanup(c.Close)
	return c
}

func (c *collector) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body := io.Reader(r.Body)
	if r.Header.Get("Content-Encoding") == "gzip" {
		z, err := gzip.NewReader(r.Body)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		body = z
	}
	text, err := io.ReadAll(body)
	req := ptraceotlp.NewExportRequest()
	if err == nil {
		if r.Header.Get("Content-Type") == "application/json" {
			err = req.UnmarshalJSON(text)
		} else {
			err = req.UnmarshalProto(text)
		}
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.headers, c.path = r.Header, r.URL.Path
	if c.reply != nil {
		c.reply(w)
		return
	}
	for _, rs := range req.Traces().ResourceSpans().All() {
		name, _ := rs.Resource().Attributes().Get("service.name")
		c.service = name.Str()
		for _, ss := range rs.ScopeSpans().All() {
			for _, s := range ss.Spans().All() {
				c.spans[s.Name()] = s
			}
		}
	}
}

// clean takes the OTEL variables of whoever runs the tests out of the way.
func clean(t *testing.T) {
	t.Helper()
	for _, e := range os.Environ() {
		if name, _, _ := strings.Cut(e, "="); strings.HasPrefix(name, "OTEL_") {
			t.Setenv(name, "")
		}
	}
}

// oneTurn traces a turn, with a denied call in it.
func oneTurn(p *export.Provider) {
	tr := otel.New(otel.Config{TracerProvider: p.TracerProvider()})
	ctx, turn := tr.StartTurn(context.Background(), otel.TurnStart{Agent: "bot"})
	_, call := tr.StartTool(ctx, otel.ToolStart{Name: "Bash \xff"})
	call.End(otel.ToolEnd{Decision: otel.DecisionDeny})
	turn.End(otel.TurnEnd{})
}

// TestFromEnv: what the environment names gets the spans, in both encodings.
func TestFromEnv(t *testing.T) {
	for _, protocol := range []string{"", "http/protobuf", "http/json"} {
		t.Run(protocol, func(t *testing.T) {
			clean(t)
			c := newCollector(t, false)
			t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", c.URL)
			t.Setenv("OTEL_EXPORTER_OTLP_HEADERS", "x-tenant=acme")
			t.Setenv("OTEL_EXPORTER_OTLP_COMPRESSION", "gzip")
			t.Setenv("OTEL_EXPORTER_OTLP_PROTOCOL", protocol)
			p, err := otlp.FromEnv(t.Context(), otlp.Config{Identity: export.Identity{Service: "svc"}})
			if err != nil {
				t.Fatal(err)
			}
			oneTurn(p)
			if err := p.Shutdown(t.Context()); err != nil {
				t.Fatal(err)
			}
			turn, there := c.spans["invoke_agent bot"]
			call, there2 := c.spans["execute_tool Bash \uFFFD"]
			if !there || !there2 || call.ParentSpanID() != turn.SpanID() || call.TraceID() != turn.TraceID() {
				t.Fatalf("the collector has %v", c.spans)
			}
			if c.service != "svc" || c.headers.Get("X-Tenant") != "acme" || c.path != "/v1/traces" {
				t.Errorf("service %q, headers %v, path %q", c.service, c.headers, c.path)
			}
		})
	}
}

// TestEnabled: OTEL_SDK_DISABLED, OTEL_TRACES_EXPORTER and the endpoints.
func TestEnabled(t *testing.T) {
	cases := []struct {
		name string
		env  map[string]string
		want bool
		err  string
	}{
		{"nothing", nil, false, ""},
		{"endpoint", map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": "http://h"}, true, ""},
		{"traces endpoint", map[string]string{"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": "http://h"}, true, ""},
		{"exporter", map[string]string{"OTEL_TRACES_EXPORTER": "otlp"}, true, ""},
		{"exporters", map[string]string{"OTEL_TRACES_EXPORTER": "otlp_file, OTLP"}, true, ""},
		{"file only", map[string]string{"OTEL_TRACES_EXPORTER": "otlp_file", "OTEL_EXPORTER_OTLP_ENDPOINT": "http://h"}, false, ""},
		{"none", map[string]string{"OTEL_TRACES_EXPORTER": "none", "OTEL_EXPORTER_OTLP_ENDPOINT": "http://h"}, false, ""},
		{"disabled", map[string]string{"OTEL_SDK_DISABLED": "true", "OTEL_TRACES_EXPORTER": "otlp"}, false, ""},
		{"unknown", map[string]string{"OTEL_TRACES_EXPORTER": "zipkin"}, false, `OTEL_TRACES_EXPORTER: "zipkin"`},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			clean(t)
			for k, v := range c.env {
				t.Setenv(k, v)
			}
			got, err := otlp.Enabled()
			if got != c.want || (err == nil) != (c.err == "") || err != nil && !strings.Contains(err.Error(), c.err) {
				t.Errorf("got %v, %v", got, err)
			}
			if !c.want {
				p, err := otlp.FromEnv(t.Context(), otlp.Config{})
				if p != nil || (err == nil) != (c.err == "") {
					t.Errorf("FromEnv gave %v, %v", p, err)
				}
			}
		})
	}
}

// TestLoudConfiguration: what cannot be done is an error.
func TestLoudConfiguration(t *testing.T) {
	bad := filepath.Join(t.TempDir(), "bad.pem")
	if err := os.WriteFile(bad, []byte("no certificate"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, env := range []map[string]string{
		{"OTEL_EXPORTER_OTLP_PROTOCOL": "grpc"},
		{"OTEL_EXPORTER_OTLP_TRACES_PROTOCOL": "smoke"},
		{"OTEL_EXPORTER_OTLP_ENDPOINT": "localhost:4318"},
		{"OTEL_EXPORTER_OTLP_ENDPOINT": "http://%zz"},
		{"OTEL_EXPORTER_OTLP_TIMEOUT": "soon"},
		{"OTEL_EXPORTER_OTLP_CERTIFICATE": filepath.Join(t.TempDir(), "missing.pem")},
		{"OTEL_EXPORTER_OTLP_CERTIFICATE": bad},
		{"OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE": bad, "OTEL_EXPORTER_OTLP_CLIENT_KEY": bad},
	} {
		for name := range env {
			t.Run(name, func(t *testing.T) {
				clean(t)
				t.Setenv("OTEL_TRACES_EXPORTER", "otlp")
				for k, v := range env {
					t.Setenv(k, v)
				}
				p, err := otlp.FromEnv(t.Context(), otlp.Config{})
				if err == nil {
					p.Shutdown(t.Context())
					t.Fatal("no error")
				}
				if !strings.HasPrefix(err.Error(), "OTEL_") {
					t.Errorf("the error does not name the variable: %v", err)
				}
			})
		}
	}
}

// TestCertificate: the collector's own certificate is trusted if the environment
// says so, and not otherwise.
func TestCertificate(t *testing.T) {
	clean(t)
	c := newCollector(t, true)
	ca := filepath.Join(t.TempDir(), "ca.pem")
	text := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: c.Certificate().Raw})
	if err := os.WriteFile(ca, text, 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", c.URL)
	for _, trusted := range []bool{false, true} {
		if trusted {
			t.Setenv("OTEL_EXPORTER_OTLP_CERTIFICATE", ca)
		}
		p, err := otlp.FromEnv(t.Context(), otlp.Config{})
		if err != nil {
			t.Fatal(err)
		}
		oneTurn(p)
		err = p.Shutdown(t.Context())
		if (err == nil) != trusted || (len(c.spans) > 0) != trusted {
			t.Errorf("trusted %v: Shutdown said %v, %d spans", trusted, err, len(c.spans))
		}
	}
}

// TestRejectedSpansAreCounted: a partial success loses what it says and no more.
func TestRejectedSpansAreCounted(t *testing.T) {
	clean(t)
	c := newCollector(t, false)
	c.reply = func(w http.ResponseWriter) {
		resp := ptraceotlp.NewExportResponse()
		resp.PartialSuccess().SetRejectedSpans(1)
		resp.PartialSuccess().SetErrorMessage("too (old)")
		text, err := resp.MarshalProto()
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		w.Header().Set("Content-Type", "application/x-protobuf")
		w.Write(text)
		c.reply = nil
	}
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", c.URL)
	p, err := otlp.FromEnv(t.Context(), otlp.Config{})
	if err != nil {
		t.Fatal(err)
	}
	oneTurn(p)
	err = p.Shutdown(t.Context())
	if err == nil || !strings.Contains(err.Error(), "too (old)") {
		t.Errorf("Shutdown said %v", err)
	}
	if s := p.Queues()[0].Stats(); s.Exported != 1 || s.ExportFailed != 1 {
		t.Errorf("stats %+v", s)
	}
	if _, told := c.spans[otel.SpanDropped]; !told {
		t.Error("the collector was not told of the loss")
	}
}

// TestRefusedIsNotRetried: an answer that will not change loses the batch at
// once.
func TestRefusedIsNotRetried(t *testing.T) {
	clean(t)
	c := newCollector(t, false)
	calls := 0
	c.reply = func(w http.ResponseWriter) {
		calls++
		http.Error(w, "who are you", http.StatusUnauthorized)
	}
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", c.URL)
	p, err := otlp.FromEnv(t.Context(), otlp.Config{})
	if err != nil {
		t.Fatal(err)
	}
	oneTurn(p)
	err = p.Shutdown(t.Context())
	if err == nil || !strings.Contains(err.Error(), "2 spans lost") || !strings.Contains(err.Error(), "401") {
		t.Errorf("Shutdown said %v", err)
	}
	if calls != 2 { // the batch, and the marker for it
		t.Errorf("%d requests", calls)
	}
}

// TestDeadCollector: OTEL.md 5, the stock exporter held Shutdown for 10 s. A
// collector that takes connections and does not answer holds ours for the bound.
func TestDeadCollector(t *testing.T) {
	clean(t)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://"+listener.Addr().String())
	const bound = 200 * time.Millisecond
	p, err := otlp.FromEnv(t.Context(), otlp.Config{Queue: export.QueueConfig{ShutdownTimeout: bound}})
	if err != nil {
		t.Fatal(err)
	}
	oneTurn(p)
	start := time.Now()
	err = p.Shutdown(context.Background())
	if took := time.Since(start); took < bound || took > 5*time.Second {
		t.Errorf("Shutdown took %v, want about %v", took, bound)
	}
	if !errors.Is(err, context.DeadlineExceeded) || p.Queues()[0].Stats().Dropped() != 2 {
		t.Errorf("Shutdown said %v, stats %+v", err, p.Queues()[0].Stats())
	}
}

// TestTimeout: OTEL_EXPORTER_OTLP_TIMEOUT bounds one export.
func TestTimeout(t *testing.T) {
	clean(t)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://"+listener.Addr().String())
	t.Setenv("OTEL_EXPORTER_OTLP_TRACES_TIMEOUT", "50")
	p, err := otlp.FromEnv(t.Context(), otlp.Config{Queue: export.QueueConfig{ShutdownTimeout: time.Minute}})
	if err != nil {
		t.Fatal(err)
	}
	oneTurn(p)
	if err := p.ForceFlush(t.Context()); err != nil {
		t.Fatal(err)
	}
	if s := p.Queues()[0].Stats(); s.ExportFailed != 2 {
		t.Errorf("stats %+v", s)
	}
	if err := p.Shutdown(t.Context()); err == nil {
		t.Error("Shutdown does not tell the loss")
	}
}

// TestSamplerOfTheEnvironment: the network gets what OTEL_TRACES_SAMPLER says.
func TestSamplerOfTheEnvironment(t *testing.T) {
	clean(t)
	c := newCollector(t, false)
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", c.URL)
	t.Setenv("OTEL_TRACES_SAMPLER", "always_off")
	p, err := otlp.FromEnv(t.Context(), otlp.Config{})
	if err != nil {
		t.Fatal(err)
	}
	oneTurn(p)
	if err := p.Shutdown(t.Context()); err != nil {
		t.Fatal(err)
	}
	if len(c.spans) != 0 {
		t.Errorf("the collector has %v", c.spans)
	}
}

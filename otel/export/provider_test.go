package export_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"go.opentelemetry.io/collector/pdata/ptrace"
	"go.opentelemetry.io/otel/attribute"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"

	"github.com/dsh-actor/dsh-actor/messages"
	"github.com/dsh-actor/dsh-actor/otel"
	"github.com/dsh-actor/dsh-actor/otel/export"
)

// TestOpenFile: from the runtime's tracer to the file and back, by many turns at
// once: every span is there once, and every parent is in the same trace.
func TestOpenFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "trace.jsonl")
	p, err := export.OpenFile(path, export.FileConfig{Identity: export.Identity{Version: "1.2.3", Instance: "i-1"}})
	if err != nil {
		t.Fatal(err)
	}
	tr := otel.New(otel.Config{TracerProvider: p.TracerProvider(), Version: "1.2.3"})
	const sessions, turns = 8, 50
	var wg sync.WaitGroup
	for range sessions {
		wg.Go(func() {
			for n := range turns {
				ctx, turn := tr.StartTurn(context.Background(), otel.TurnStart{Session: "s", Agent: "bot", Turn: n + 1})
				ctx, call := tr.StartTool(ctx, otel.ToolStart{Name: "Bash"})
				_, seam := tr.StartSeam(ctx, "tools/pre-execute")
				seam.End(otel.SeamEnd{Decision: messages.ToolAllow{}})
				call.End(otel.ToolEnd{Result: messages.NewSuccess(messages.ResultFields{Value: "1"})})
				turn.End(otel.TurnEnd{Reason: messages.EndReason{Kind: messages.EndCompleted}})
			}
		})
	}
	wg.Wait()
	if err := p.ForceFlush(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := p.Shutdown(t.Context()); err != nil {
		t.Fatal(err)
	}
	if n := p.Dropped(); n != 0 {
		t.Errorf("%d spans were dropped", n)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	count := map[string]int{}
	traces := map[string]string{} // span → trace
	var parents [][2]string       // parent, trace
	everySpan(read(t, text), func(rs ptrace.ResourceSpans, ss ptrace.ScopeSpans, s ptrace.Span) {
		count[s.Name()]++
		if _, twice := traces[s.SpanID().String()]; twice {
			t.Errorf("span %s is there twice", s.SpanID())
		}
		traces[s.SpanID().String()] = s.TraceID().String()
		if !s.ParentSpanID().IsEmpty() {
			parents = append(parents, [2]string{s.ParentSpanID().String(), s.TraceID().String()})
		}
		res := rs.Resource().Attributes().AsRaw()
		if res["service.name"] != "dsh-actor" || res["service.version"] != "1.2.3" || res["service.instance.id"] != "i-1" || res["process.pid"] != int64(os.Getpid()) {
			t.Fatalf("resource %v", res)
		}
		if ss.Scope().Name() != otel.ScopeName || ss.SchemaUrl() != otel.SchemaURL {
			t.Fatalf("scope %s, schema %s", ss.Scope().Name(), ss.SchemaUrl())
		}
	})
	for _, name := range []string{"invoke_agent bot", "execute_tool Bash", "dsh.seam tools/pre-execute"} {
		if count[name] != sessions*turns {
			t.Errorf("%d spans %q, want %d", count[name], name, sessions*turns)
		}
	}
	for _, p := range parents {
		if traces[p[0]] != p[1] {
			t.Errorf("the parent %s of a span in trace %s is in trace %q", p[0], p[1], traces[p[0]])
		}
	}
}

// TestFileIgnoresTheSendersSampling: the local file keeps everything (OTEL.md 5),
// also turns whose sender did not sample.
func TestFileIgnoresTheSendersSampling(t *testing.T) {
	path := filepath.Join(t.TempDir(), "trace.jsonl")
	also := &sink{}
	p, err := export.OpenFile(path, export.FileConfig{Also: []*export.Queue{export.NewQueue(also, export.QueueConfig{})}})
	if err != nil {
		t.Fatal(err)
	}
	tr := otel.New(otel.Config{TracerProvider: p.TracerProvider()})
	_, turn := tr.StartTurn(t.Context(), otel.TurnStart{TraceParent: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00"})
	turn.End(otel.TurnEnd{})
	if err := p.Shutdown(t.Context()); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	everySpan(read(t, text), func(_ ptrace.ResourceSpans, _ ptrace.ScopeSpans, s ptrace.Span) {
		n++
		if got := s.TraceID().String(); got != "0af7651916cd43dd8448eb211c80319c" {
			t.Errorf("trace %s", got)
		}
	})
	if n != 1 || len(also.work()) != 1 {
		t.Errorf("%d spans in the file and %d beside it, want 1 and 1", n, len(also.work()))
	}
	if len(p.Queues()) != 2 {
		t.Errorf("%d queues", len(p.Queues()))
	}
}

// TestProviderShutdownNamesEveryLoss: and a queue that fails does not keep the
// others from being shut down.
func TestProviderShutdownNamesEveryLoss(t *testing.T) {
	bad := &sink{before: func(context.Context, int) error { return errors.New("disk full") }}
	good := &sink{}
	p := export.NewProvider(export.ProviderConfig{
		Sampler: sdktrace.AlwaysSample(),
		Queues:  []*export.Queue{export.NewQueue(bad, export.QueueConfig{}), export.NewQueue(good, export.QueueConfig{})},
	})
	emit(p.TracerProvider().Tracer("t"), 0, 3)
	err := p.Shutdown(t.Context())
	if err == nil || !strings.Contains(err.Error(), "3 spans lost") || !strings.Contains(err.Error(), "disk full") {
		t.Errorf("Shutdown said %v", err)
	}
	if p.Dropped() != 3 || len(good.work()) != 3 || good.shutdown != 1 || bad.shutdown != 1 {
		t.Errorf("dropped %d, good %d spans, shut down %d and %d times", p.Dropped(), len(good.work()), good.shutdown, bad.shutdown)
	}
	_, late := p.TracerProvider().Tracer("t").Start(t.Context(), "late")
	if late.IsRecording() {
		t.Error("the provider still records")
	}
}

// TestNilProvider: no exporter is no tracing.
func TestNilProvider(t *testing.T) {
	var p *export.Provider
	if p.TracerProvider() != nil || otel.New(otel.Config{TracerProvider: p.TracerProvider()}) != nil {
		t.Error("a nil provider traces")
	}
	if p.Shutdown(t.Context()) != nil || p.ForceFlush(t.Context()) != nil || p.Dropped() != 0 || p.Queues() != nil {
		t.Error("a nil provider does something")
	}
}

// TestResource: OTEL.md 2; the environment wins.
func TestResource(t *testing.T) {
	get := func(id export.Identity) map[string]string {
		res, err := export.NewResource(t.Context(), id)
		if err != nil {
			t.Fatal(err)
		}
		out := map[string]string{}
		for _, kv := range res.Attributes() {
			out[string(kv.Key)] = kv.Value.String()
		}
		return out
	}
	t.Setenv("OTEL_SERVICE_NAME", "")
	t.Setenv("OTEL_RESOURCE_ATTRIBUTES", "")
	plain := get(export.Identity{Attributes: []attribute.KeyValue{attribute.String("deployment.environment.name", "test")}})
	if plain["service.name"] != "dsh-actor" || plain["deployment.environment.name"] != "test" {
		t.Errorf("resource %v", plain)
	}
	for _, key := range []string{"process.pid", "process.runtime.name", "process.runtime.version", "os.type", "host.arch"} {
		if plain[key] == "" {
			t.Errorf("no %s", key)
		}
	}
	uuid := plain["service.instance.id"]
	if len(uuid) != 36 || uuid[14] != '4' || !slices.Contains([]byte("89ab"), uuid[19]) {
		t.Errorf("service.instance.id %q is not a random UUID", uuid)
	}
	if get(export.Identity{})["service.instance.id"] == uuid {
		t.Error("two instances have the same id")
	}

	t.Setenv("OTEL_SERVICE_NAME", "mine")
	t.Setenv("OTEL_RESOURCE_ATTRIBUTES", "team=a,service.version=9")
	env := get(export.Identity{Version: "1", Service: "ours"})
	if env["service.name"] != "mine" || env["team"] != "a" || env["service.version"] != "9" {
		t.Errorf("resource %v", env)
	}

	t.Setenv("OTEL_RESOURCE_ATTRIBUTES", "broken")
	res, err := export.NewResource(t.Context(), export.Identity{})
	if err == nil {
		t.Error("a broken OTEL_RESOURCE_ATTRIBUTES is not reported")
	}
	if res == nil || res.Len() == 0 {
		t.Error("and costs the resource")
	}
}

//go:build unix

package mcp_test

import (
	"context"
	"strings"
	"testing"

	"github.com/dsh-actor/dsh-actor/internal/proc/proctest"
	"github.com/dsh-actor/dsh-actor/otel"
	"github.com/dsh-actor/dsh-actor/otel/oteltest"
	"github.com/dsh-actor/dsh-actor/pipeline"
	"github.com/dsh-actor/dsh-actor/tools/mcp"
)

// A server is told which span calls it, and the span what was called.
func TestCallIsTraced(t *testing.T) {
	proctest.VerifyNone(t)
	r := oteltest.New()
	m, err := mcp.New(mcp.Config{Servers: []mcp.Server{stdio("srv", "plain")}, Tracer: r.Tracer()})
	if err != nil {
		t.Fatal(err)
	}
	defer m.Drain(context.Background())
	p := pipeline.New(pipeline.Config{Tracer: r.Tracer()})
	if _, failed := m.Register(context.Background(), p.Tools()); len(failed) > 0 {
		t.Fatal(failed)
	}
	got := p.Execute(context.Background(), pipeline.Input{ID: "c", Name: "mcp__srv__meta", Arguments: `{"text":""}`}).Content().Text()
	spans := r.Find("dsh.tool.body")
	if len(spans) != 1 {
		t.Fatalf("spans:\n%s", r.Text())
	}
	if id := spans[0].SpanContext.SpanID().String(); !strings.Contains(got, "-"+id+"-") {
		t.Errorf("traceparent %q, the span is %s", got, id)
	}
	if !spans[0].Has(otel.KeyMCPMethod, "tools/call") || !spans[0].Has(otel.KeyNetworkTransport, "pipe") {
		t.Errorf("span:\n%s", spans[0].Text())
	}
}

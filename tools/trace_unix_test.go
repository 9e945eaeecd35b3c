//go:build unix

package tools_test

import (
	"context"
	"os"
	"strings"
	"testing"

	"github.com/dsh-actor/dsh-actor/internal/proc/proctest"
	"github.com/dsh-actor/dsh-actor/otel"
	"github.com/dsh-actor/dsh-actor/otel/oteltest"
	"github.com/dsh-actor/dsh-actor/pipeline"
	"github.com/dsh-actor/dsh-actor/tools"
)

// A command continues the trace of its body, whose span has the process, and
// inherits neither our own trace nor our exporters.
func TestBashIsTraced(t *testing.T) {
	proctest.VerifyNone(t)
	r := oteltest.New()
	kit := tools.New(tools.Config{
		Tracer:  r.Tracer(),
		BaseEnv: append(os.Environ(), "TRACEPARENT=old", "OTEL_SERVICE_NAME=ours"),
	})
	defer kit.Drain(context.Background())
	p := pipeline.New(pipeline.Config{Tracer: r.Tracer()})
	if _, err := kit.Register(p.Tools(), "Bash"); err != nil {
		t.Fatal(err)
	}
	for command, want := range map[string]map[string]any{
		`echo "$TRACEPARENT|$OTEL_SERVICE_NAME"; exit 0`:     {otel.KeyProcessExitCode: 0},
		`echo "$TRACEPARENT|$OTEL_SERVICE_NAME"; exit 3`:     {otel.KeyProcessExitCode: 3},
		`echo "$TRACEPARENT|$OTEL_SERVICE_NAME"; kill -9 $$`: {otel.KeySignal: "SIGKILL"},
	} {
		r.Reset()
		b := &bench{t: t, pipe: p, agent: &agent{"s", t.TempDir()}}
		text := b.call("Bash", bash(command)).Content().Text()
		spans := r.Find("dsh.tool.body")
		if len(spans) != 1 {
			t.Fatalf("%s: spans:\n%s", command, r.Text())
		}
		if parent := spans[0].SpanContext.SpanID().String(); !strings.Contains(text, "-"+parent+"-") || !strings.Contains(text, "|") || strings.Contains(text, "ours") {
			t.Errorf("%s: %q, the span is %s", command, text, parent)
		}
		for key, value := range want {
			if !spans[0].Has(key, value) {
				t.Errorf("%s: %s is not %v:\n%s", command, key, value, spans[0].Text())
			}
		}
	}
}

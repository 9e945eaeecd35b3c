package tools_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"go.uber.org/goleak"

	"github.com/dsh-actor/dsh-actor/internal/proc/proctest"
	"github.com/dsh-actor/dsh-actor/messages"
	"github.com/dsh-actor/dsh-actor/pipeline"
	"github.com/dsh-actor/dsh-actor/tools"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(proctest.Main(m)) }

// agent is a session with a directory.
type agent struct {
	id  messages.SessionID
	cwd string
}

func (a *agent) ID() messages.SessionID { return a.id }
func (a *agent) Epoch() messages.Epoch  { return 1 }
func (a *agent) Cwd() string            { return a.cwd }
func (a *agent) ApprovalPolicy() string { return pipeline.PolicyAsk }
func (a *agent) Inject(context.Context, messages.Context) (messages.Accepted, error) {
	return messages.Accepted{}, nil
}
func (a *agent) Record(context.Context, ...messages.EventData) error { return nil }
func (a *agent) Checkpoint(context.Context) error                    { return nil }

// bench is a Kit, its tools in a pipeline, and a session in a directory of its
// own.
type bench struct {
	t     testing.TB
	kit   *tools.Kit
	pipe  *pipeline.Pipeline
	agent *agent
	dir   string
}

func newBench(t testing.TB, cfg tools.Config) *bench {
	t.Helper()
	proctest.VerifyNone(t)
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	b := &bench{t: t, kit: tools.New(cfg), pipe: pipeline.New(pipeline.Config{}), agent: &agent{"s-1", dir}, dir: dir}
	if _, err := b.kit.Register(b.pipe.Tools()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if r := b.kit.Drain(context.Background()); !r.Quiet() {
			t.Errorf("drain: %v", r.Err())
		}
	})
	return b
}

// call runs a tool with the arguments.
func (b *bench) call(name string, args any) *messages.Result {
	return b.callIn(context.Background(), b.agent, name, args)
}

func (b *bench) callIn(ctx context.Context, a pipeline.Agent, name string, args any) *messages.Result {
	b.t.Helper()
	j, err := messages.MarshalJSON(args)
	if err != nil {
		b.t.Fatal(err)
	}
	return b.pipe.Execute(ctx, pipeline.Input{ID: "c-1", Name: name, Arguments: string(j), Agent: a})
}

// ok runs a tool that must succeed and returns what the model reads.
func (b *bench) ok(name string, args any) string {
	b.t.Helper()
	r := b.call(name, args)
	if r.IsError() {
		b.t.Fatalf("%s %v: %s", name, args, r.Content().Text())
	}
	return r.Content().Text()
}

// fails runs a tool that must fail and returns what the model reads.
func (b *bench) fails(name string, args any) string {
	b.t.Helper()
	r := b.call(name, args)
	if !r.IsError() {
		b.t.Fatalf("%s %v succeeded: %s", name, args, r.Content().Text())
	}
	return r.Content().Text()
}

func (b *bench) path(name string) string { return filepath.Join(b.dir, name) }

// file makes a file and returns its path.
func (b *bench) file(name, text string) string {
	b.t.Helper()
	path := b.path(name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		b.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		b.t.Fatal(err)
	}
	return path
}

func (b *bench) content(path string) string {
	b.t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		b.t.Fatal(err)
	}
	return string(data)
}

type in = map[string]any

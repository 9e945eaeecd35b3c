//go:build unix

package mcp_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/dsh-actor/dsh-actor/internal/proc/proctest"
	"github.com/dsh-actor/dsh-actor/messages"
	"github.com/dsh-actor/dsh-actor/pipeline"
	"github.com/dsh-actor/dsh-actor/tools/mcp"
)

// bench is a manager, and a pipeline with the tools of its servers.
type bench struct {
	t       testing.TB
	manager *mcp.Manager
	pipe    *pipeline.Pipeline
	failed  []mcp.Failure
	remove  func()

	mu       sync.Mutex
	warnings []string
	warned   chan struct{}
}

// stdio is a server that the test binary is.
func stdio(name, kind string) mcp.Server {
	return mcp.Server{Name: name, Command: os.Args[0], Env: []string{serverEnv + "=" + kind}}
}

func newBench(t testing.TB, cfg mcp.Config) *bench {
	t.Helper()
	proctest.VerifyNone(t)
	b := &bench{t: t, pipe: pipeline.New(pipeline.Config{}), warned: make(chan struct{}, 100)}
	cfg.Warn = func(err error) {
		b.mu.Lock()
		b.warnings = append(b.warnings, err.Error())
		b.mu.Unlock()
		b.warned <- struct{}{}
	}
	if cfg.Grace == 0 {
		cfg.Grace = 5 * time.Second
	}
	var err error
	if b.manager, err = mcp.New(cfg); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if r := b.manager.Drain(context.Background()); !r.Quiet() {
			t.Errorf("drain: %v", r.Err())
		}
	})
	b.remove, b.failed = b.manager.Register(context.Background(), b.pipe.Tools())
	return b
}

func (b *bench) call(name, arguments string) *messages.Result {
	return b.callIn(context.Background(), name, arguments)
}

func (b *bench) callIn(ctx context.Context, name, arguments string) *messages.Result {
	return b.pipe.Execute(ctx, pipeline.Input{ID: "c", Name: name, Arguments: arguments})
}

func (b *bench) names() []string {
	var names []string
	for _, s := range b.pipe.Tools().Specs().All() {
		names = append(names, s.Name)
	}
	return names
}

func (b *bench) allWarnings() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return strings.Join(b.warnings, "\n")
}

func TestCall(t *testing.T) {
	b := newBench(t, mcp.Config{Servers: []mcp.Server{stdio("srv", "plain")}})
	if len(b.failed) > 0 {
		t.Fatalf("failed: %v", b.failed)
	}
	for _, tc := range []struct {
		tool, arguments string
		fails           bool
		text, value     string
	}{
		{tool: "echo", arguments: `{"text":"hi"}`, text: "mcp-echo:hi", value: `[{"type":"text","text":"mcp-echo:hi"}]`}, // Z-44
		{tool: "echo", arguments: `{"text":"<&>\u00e9"}`, text: "mcp-echo:<&>é"},
		{tool: "fail", arguments: `{"text":"x"}`, fails: true, text: "it failed: x"},
		{tool: "nothing", arguments: `{"text":""}`, text: "(the tool answered with no content)", value: `[]`},
		{tool: "structured", arguments: `{"text":""}`, text: `{"n":1}`},
		{tool: "echo", arguments: `{}`, fails: true, text: "Error: invalid arguments: at '': missing property 'text'"}, // Z-28
		{tool: "echo", arguments: `{"text":7}`, fails: true, text: "Error: invalid arguments: at '/text': got number, want string"},
		{tool: "echo", arguments: `no json`, fails: true, text: "Error: invalid arguments: at '': got string, want object"},
	} {
		r := b.call("mcp__srv__"+tc.tool, tc.arguments)
		if r.IsError() != tc.fails || r.Content().Text() != tc.text {
			t.Errorf("%s %s: error %v, %q", tc.tool, tc.arguments, r.IsError(), r.Content().Text())
		}
		if tc.value != "" && string(r.Value()) != tc.value {
			t.Errorf("%s: value %s", tc.tool, r.Value())
		}
	}
	if r := b.call("mcp__srv__echo", `{}`); r.Info().Code != messages.CodeInvalidArgs {
		t.Errorf("code %q", r.Info().Code)
	}
}

func TestContentOfAllKinds(t *testing.T) {
	b := newBench(t, mcp.Config{Servers: []mcp.Server{stdio("srv", "plain")}})
	want := []messages.Block{
		messages.TextBlock{Text: "one"},
		messages.ImageBlock{MediaType: "image/png", Data: "cG5n"},
		messages.TextBlock{Text: "inside"},
		messages.TextBlock{Text: `[link to resource "b": file:///b]`},
		messages.TextBlock{Text: "[audio content of type audio/wav]"},
	}
	var got []messages.Block
	for c := range b.call("mcp__srv__many", `{"text":""}`).Content().Blocks() {
		got = append(got, c)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("content (-want +got):\n%s", diff)
	}
}

// P-3: the server's hint decides whether calls may overlap, nothing else does.
func TestReadOnlyToolsOverlap(t *testing.T) {
	b := newBench(t, mcp.Config{Servers: []mcp.Server{stdio("srv", "plain")}})
	for name, want := range map[string]bool{"mcp__srv__echo": true, "mcp__srv__fail": false} {
		tool, ok := b.pipe.Tools().Lookup(name)
		if !ok {
			t.Fatalf("no %s", name)
		}
		if got := tool.Concurrent != nil && tool.Concurrent(`{"text":""}`); got != want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// Several servers, some of which fail: the others are offered, and the failure
// says why.
func TestServersThatFail(t *testing.T) {
	b := newBench(t, mcp.Config{
		StartTimeout: 3 * time.Second, Grace: 100 * time.Millisecond,
		Servers: []mcp.Server{
			stdio("good one", "plain"), stdio("broken", "broken"), stdio("silent", "silent"),
			{Name: "missing", Command: "/no/such/server"}, {Name: "refused", URL: "http://127.0.0.1:1/mcp"},
		},
	})
	if r := b.call("mcp__good_one__echo", `{"text":"x"}`); r.IsError() {
		t.Errorf("the good one: %q", r.Content().Text())
	}
	want := map[string]string{
		"broken": ": cannot open the database", "silent": "it did not answer within 3s",
		"missing": `program "/no/such/server"`, "refused": "refused",
	}
	for _, f := range b.failed {
		if !strings.Contains(f.Err.Error(), want[f.Server]) || want[f.Server] == "" {
			t.Errorf("%s: %v", f.Server, f.Err)
		}
		delete(want, f.Server)
	}
	if len(want) > 0 {
		t.Errorf("these did not fail: %v", want)
	}
	if _, err := b.manager.Call(context.Background(), "unknown", "x", "{}"); err == nil {
		t.Error("an unknown server answers")
	}
}

// A server that ends during a call fails it, is not asked again, and is started
// anew by the next.
func TestServerThatDies(t *testing.T) {
	b := newBench(t, mcp.Config{Servers: []mcp.Server{stdio("srv", "plain")}})
	before := b.call("mcp__srv__pid", `{"text":""}`).Content().Text()
	r := b.call("mcp__srv__die", `{"text":""}`)
	if !r.IsError() || !strings.Contains(r.Content().Text(), `MCP server "srv" ended during the call: out of memory`) {
		t.Errorf("the call: %q", r.Content().Text())
	}
	<-b.warned
	if w := b.allWarnings(); !strings.Contains(w, `MCP server "srv" ended: `) || !strings.HasSuffix(w, ": out of memory") {
		t.Errorf("warnings: %q", w)
	}
	after := b.call("mcp__srv__pid", `{"text":""}`)
	if after.IsError() || after.Content().Text() == before {
		t.Errorf("the next call: %q, before %q", after.Content().Text(), before)
	}
}

// A cancelled call is an abort, and its server lives on (P-21).
func TestCancel(t *testing.T) {
	b := newBench(t, mcp.Config{Servers: []mcp.Server{stdio("srv", "plain")}})
	fifo := filepath.Join(t.TempDir(), "fifo")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		_, _ = os.ReadFile(fifo)
		cancel()
	}()
	r := b.callIn(ctx, "mcp__srv__block", `{"text":"`+fifo+`"}`)
	if r.Info().Code != messages.CodeAborted {
		t.Errorf("result: %+v %q", r.Info(), r.Content().Text())
	}
	if r := b.call("mcp__srv__echo", `{"text":"x"}`); r.IsError() {
		t.Errorf("the next call: %q", r.Content().Text())
	}
}

// P-31
func TestCallTimeout(t *testing.T) {
	s := stdio("srv", "plain")
	s.Timeout = 100 * time.Millisecond
	b := newBench(t, mcp.Config{Servers: []mcp.Server{s}})
	if r := b.call("mcp__srv__block", `{"text":""}`); r.Info().Code != messages.CodeToolTimeout {
		t.Errorf("result: %+v %q", r.Info(), r.Content().Text())
	}
}

// Z-20
func TestServerEnvironment(t *testing.T) {
	s := stdio("srv", "plain")
	s.Env = append(s.Env, "MY_TOKEN=given")
	b := newBench(t, mcp.Config{
		Servers: []mcp.Server{s},
		BaseEnv: append(os.Environ(), "AMBIENT_TOKEN=secret", "PLAIN=p", "OTEL_SERVICE_NAME=ours", "TRACEPARENT=old"),
	})
	for name, want := range map[string]string{"MY_TOKEN": "given", "AMBIENT_TOKEN": "", "PLAIN": "p", "OTEL_SERVICE_NAME": "", "TRACEPARENT": ""} {
		got := b.call("mcp__srv__env", `{"text":"`+name+`"}`).Value()
		if want := `[{"type":"text","text":"` + want + `"}]`; string(got) != want {
			t.Errorf("%s: %s", name, got)
		}
	}
}

// When the server's tools change, what is offered changes with them.
func TestToolsChange(t *testing.T) {
	b := newBench(t, mcp.Config{Servers: []mcp.Server{stdio("srv", "plain")}})
	changed := make(chan struct{})
	go func() { // until the new one is there
		defer close(changed)
		for {
			if _, ok := b.pipe.Tools().Lookup("mcp__srv__new_tool_"); ok {
				return
			}
			<-time.After(time.Millisecond)
		}
	}()
	b.call("mcp__srv__grow", `{"text":""}`)
	select {
	case <-changed:
	case <-time.After(20 * time.Second):
		t.Fatalf("offered: %v", b.names())
	}
	if r := b.call("mcp__srv__new_tool_", `{"text":""}`); r.Content().Text() != "new" {
		t.Errorf("the new tool: %q", r.Content().Text())
	}
	if _, ok := b.pipe.Tools().Lookup("mcp__srv__env"); ok {
		t.Error("the removed tool is still offered")
	}
	b.remove()
	if names := b.names(); len(names) > 0 {
		t.Errorf("after remove: %v", names)
	}
}

// A session's own scope and the runtime's can offer the same servers.
func TestSeveralScopes(t *testing.T) {
	b := newBench(t, mcp.Config{Servers: []mcp.Server{stdio("srv", "plain")}})
	other := pipeline.New(pipeline.Config{})
	remove, failed := b.manager.Register(context.Background(), other.Tools())
	if len(failed) > 0 {
		t.Fatal(failed)
	}
	remove()
	if _, ok := b.pipe.Tools().Lookup("mcp__srv__echo"); !ok {
		t.Error("removed from another scope")
	}
	if _, ok := other.Tools().Lookup("mcp__srv__echo"); ok {
		t.Error("still offered")
	}
}

// Drain ends the stubborn, with its children, within the graces; calls that are
// under way fail, and later ones are refused.
func TestDrain(t *testing.T) {
	b := newBench(t, mcp.Config{
		Servers: []mcp.Server{stdio("stubborn", "stubborn"), stdio("plain", "plain"), stdio("chatty", "chatty")},
		Grace:   300 * time.Millisecond,
	})
	if len(b.failed) > 0 {
		t.Fatal(b.failed)
	}
	fifo := filepath.Join(t.TempDir(), "fifo")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	result := make(chan *messages.Result)
	go func() { result <- b.call("mcp__stubborn__block", `{"text":"`+fifo+`"}`) }()
	_, _ = os.ReadFile(fifo)
	began := time.Now()
	r := b.manager.Drain(context.Background())
	if !r.Quiet() || r.Ended["processes"] < 2 {
		t.Errorf("report: %+v", r)
	}
	if d := time.Since(began); d > 10*time.Second {
		t.Errorf("took %v", d)
	}
	if r := <-result; !r.IsError() {
		t.Errorf("the call under way: %q", r.Content().Text())
	}
	if r := b.call("mcp__plain__echo", `{"text":"x"}`); !r.IsError() || !strings.Contains(r.Content().Text(), "shut down") {
		t.Errorf("a call afterwards: %q", r.Content().Text())
	}
}

// A server that is being started when the drain begins is ended too.
func TestDrainWhileStarting(t *testing.T) {
	proctest.VerifyNone(t)
	for _, kind := range []string{"silent", "plain"} {
		m, err := mcp.New(mcp.Config{Servers: []mcp.Server{stdio("srv", kind)}, Grace: 50 * time.Millisecond})
		if err != nil {
			t.Fatal(err)
		}
		m.Start()
		if r := m.Drain(context.Background()); !r.Quiet() {
			t.Errorf("%s: %v", kind, r.Err())
		}
	}
}

func TestHTTP(t *testing.T) {
	var mu sync.Mutex
	var auth []string
	s := testServer()
	handler := sdk.NewStreamableHTTPHandler(func(r *http.Request) *sdk.Server { return s }, nil)
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		auth = append(auth, r.Header.Get("Authorization"))
		mu.Unlock()
		handler.ServeHTTP(w, r)
	}))
	t.Cleanup(web.Close)
	b := newBench(t, mcp.Config{Servers: []mcp.Server{{Name: "web", URL: web.URL, Headers: map[string]string{"Authorization": "Bearer x"}}}})
	if len(b.failed) > 0 {
		t.Fatal(b.failed)
	}
	if r := b.call("mcp__web__echo", `{"text":"hi"}`); r.Content().Text() != "mcp-echo:hi" {
		t.Errorf("echo: %q", r.Content().Text())
	}
	v, err := b.manager.Call(context.Background(), "web", "echo", `{"text":"hook"}`)
	if err != nil || string(v) != `[{"type":"text","text":"mcp-echo:hook"}]` {
		t.Errorf("Call: %s, %v", v, err)
	}
	if r := b.manager.Drain(context.Background()); !r.Quiet() {
		t.Errorf("drain: %v", r.Err())
	}
	mu.Lock()
	defer mu.Unlock()
	for i, a := range auth {
		if a != "Bearer x" {
			t.Errorf("request %d: authorization %q", i, a)
		}
	}
}

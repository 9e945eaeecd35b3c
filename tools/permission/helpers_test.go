package permission

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/dsh-actor/dsh-actor/messages"
	"github.com/dsh-actor/dsh-actor/pipeline"
)

// world is a directory tree with a workspace in it and something beside.
type world struct {
	t    testing.TB
	top  string // resolved
	work string // the workspace
	home string
}

// newWorld makes
//
//	work/a.txt work/src/main.go work/src/sub/x.go work/.env work/.git/config
//	work/secrets/key.pem
//	home/.ssh/id  out/secret.txt
func newWorld(t testing.TB) world {
	t.Helper()
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	w := world{t, top, filepath.Join(top, "work"), filepath.Join(top, "home")}
	for _, name := range []string{
		"work/a.txt", "work/src/main.go", "work/src/sub/x.go", "work/.env", "work/.git/config", "work/secrets/key.pem",
		"home/.ssh/id", "out/secret.txt", "extra/e.txt",
	} {
		w.file(name)
	}
	return w
}

func (w world) file(name string) {
	w.t.Helper()
	path := w.path(name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		w.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte("x\n"), 0o600); err != nil {
		w.t.Fatal(err)
	}
}

// link makes a symbolic link; the target is taken as it is.
func (w world) link(name, target string) {
	w.t.Helper()
	if err := os.Symlink(target, w.path(name)); err != nil {
		w.t.Skipf("symbolic links are not to be had here: %v", err)
	}
}

func (w world) path(name string) string { return filepath.Join(w.top, filepath.FromSlash(name)) }

// expand replaces TOP, the directory above all of it.
func (w world) expand(text string) string {
	return strings.ReplaceAll(text, "TOP", filepath.ToSlash(w.top))
}

func (w world) workspace(directories ...string) *workspace {
	return newWorkspace(w.work, "", w.work, w.home, directories, false)
}

// config has rules in the form "deny Bash(rm *)".
func (w world) config(mode Mode, rules ...string) Config {
	cfg := Config{Mode: mode, ProjectDir: w.work, Home: w.home}
	for _, r := range rules {
		behavior, text, _ := strings.Cut(w.expand(r), " ")
		cfg.Rules = append(cfg.Rules, Entry{Behavior: Behavior(behavior), Rule: text})
	}
	return cfg
}

func (w world) policy(mode Mode, rules ...string) *Policy {
	w.t.Helper()
	p, err := New(w.config(mode, rules...))
	if err != nil {
		w.t.Fatal(err)
	}
	return p
}

// request makes a call of "Tool argument": a command, a path, or JSON.
func (w world) request(call string) Request {
	tool, argument, _ := strings.Cut(w.expand(call), " ")
	return Request{Session: "s-1", Tool: tool, Arguments: arguments(tool, argument), Cwd: w.work}
}

// arguments makes the arguments of a call of its one argument that counts.
func arguments(tool, argument string) messages.JSON {
	if strings.HasPrefix(argument, `{"`) {
		return messages.JSON(argument)
	}
	_, name := classOf(tool)
	if name == "" {
		return "{}"
	}
	return `{"` + messages.JSON(name) + `":` + messages.QuoteJSON(argument) + `}`
}

func (w world) explain(p *Policy, call string) Verdict { return p.Explain(w.request(call)) }

// agent is a session for tests.
type agent struct {
	id  messages.SessionID
	cwd string

	mu     sync.Mutex
	events []messages.EventData
}

func (a *agent) ID() messages.SessionID { return a.id }
func (a *agent) Epoch() messages.Epoch  { return 1 }
func (a *agent) Cwd() string            { return a.cwd }
func (a *agent) ApprovalPolicy() string { return pipeline.PolicyAsk }

func (a *agent) Inject(context.Context, messages.Context) (messages.Accepted, error) {
	return messages.Accepted{}, nil
}

func (a *agent) Record(_ context.Context, events ...messages.EventData) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.events = append(a.events, events...)
	return nil
}

func (a *agent) Checkpoint(context.Context) error { return nil }

// stand is a pipeline with tools that say they ran.
type stand struct {
	world
	pipeline *pipeline.Pipeline
	agent    *agent
}

func newStand(t testing.TB) *stand {
	t.Helper()
	w := newWorld(t)
	s := &stand{w, pipeline.New(pipeline.Config{Warn: func(err error) { t.Errorf("warning: %v", err) }}), &agent{id: "s-1", cwd: w.work}}
	for _, name := range []string{"Bash", "Read", "Write", "Edit", "Glob", "Grep", "mcp__srv__echo", "WebFetch"} {
		tool := pipeline.Tool{
			Name: name,
			Output: &pipeline.Output{Render: func(_, value messages.JSON) (messages.Content, error) {
				return messages.Text(string(value)), nil
			}},
			Run: func(context.Context, *pipeline.Invocation) (messages.JSON, error) { return `"ran"`, nil },
		}
		if _, err := s.pipeline.Tools().Register(tool); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

// install installs a policy, last, as a host does.
func (s *stand) install(cfg Config) *Policy {
	s.t.Helper()
	p, err := New(cfg)
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(p.Install(s.pipeline))
	return p
}

// run makes a call and returns "ran", or what the model reads.
func (s *stand) run(call string) string {
	s.t.Helper()
	r := s.request(call)
	result := s.pipeline.Execute(s.t.Context(), pipeline.Input{
		ID: "c-1", Name: r.Tool, Arguments: string(r.Arguments), Agent: s.agent,
	})
	if result.IsError() {
		return result.Message()
	}
	return "ran"
}

type (
	nextPre    = pipeline.Next[messages.PreToolDecision]
	nextAnswer = pipeline.Next[messages.ApprovalAnswer]
)

// decide registers a listener with a fixed decision, as a hook has.
func (s *stand) decide(d messages.PreToolDecision, opts ...pipeline.Option) {
	s.pipeline.Seams().PreExecute.Use(func(context.Context, *pipeline.Call, nextPre) (messages.PreToolDecision, error) {
		return d, nil
	}, opts...)
}

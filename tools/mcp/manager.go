package mcp

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/dsh-actor/dsh-actor/internal/proc"
	"github.com/dsh-actor/dsh-actor/messages"
	"github.com/dsh-actor/dsh-actor/pipeline"
)

// ErrClosed is the failure of a call after the manager was drained.
var ErrClosed = errors.New("the MCP servers were shut down")

// Manager owns MCP servers and offers their tools. It is safe for concurrent
// use.
type Manager struct {
	cfg     Config
	servers map[string]*server // by name in tools
	owner   *proc.Owner
	work    sync.WaitGroup // every goroutine of ours
	ctx     context.Context
	cancel  context.CancelCauseFunc

	mu     sync.Mutex
	closed bool
}

// New checks the configuration. Nothing is started yet.
func New(cfg Config) (*Manager, error) {
	byName, err := cfg.validate()
	if err != nil {
		return nil, err
	}
	if cfg.BaseEnv == nil {
		cfg.BaseEnv = os.Environ()
	}
	if cfg.StartTimeout <= 0 {
		cfg.StartTimeout = 30 * time.Second
	}
	if cfg.Grace <= 0 {
		cfg.Grace = 2 * time.Second
	}
	if cfg.Name == "" {
		cfg.Name, cfg.Version = "dsh-actor", "0"
	}
	if cfg.HTTPClient == nil {
		cfg.HTTPClient = &http.Client{Transport: http.DefaultTransport.(*http.Transport).Clone()}
	}
	m := &Manager{cfg: cfg, servers: make(map[string]*server), owner: proc.New(proc.Config{})}
	m.ctx, m.cancel = context.WithCancelCause(context.Background())
	for name, s := range byName {
		m.servers[name] = &server{manager: m, cfg: s, name: name}
	}
	return m, nil
}

// Start connects to all servers in the background, so that a later Register or
// call does not wait as long. It may be left out.
func (m *Manager) Start() {
	for _, s := range m.servers {
		m.spawn(func() { _, _ = s.connect(m.ctx) })
	}
}

// Failure is a server whose tools are not offered.
type Failure struct {
	Server string
	Err    error
}

// Register connects to all servers, at the same time, and offers their tools in
// the scope. A server that fails does not keep the others from being offered.
// When a server says that its tools have changed, or is started again, they are
// offered anew. The returned function takes all of them back.
func (m *Manager) Register(ctx context.Context, scope *pipeline.Tools) (remove func(), failed []Failure) {
	errs := make([]error, len(m.servers))
	names := slices.Sorted(maps.Keys(m.servers))
	var wg sync.WaitGroup
	for i, name := range names {
		wg.Go(func() { errs[i] = m.servers[name].offer(ctx, scope) })
	}
	wg.Wait()
	for i, err := range errs {
		if err != nil {
			failed = append(failed, Failure{Server: m.servers[names[i]].cfg.Name, Err: err})
		}
	}
	return sync.OnceFunc(func() {
		for _, s := range m.servers {
			s.withdraw(scope)
		}
	}), failed
}

// Call calls a tool by the names that the server and the tool give themselves.
// The value is the content of the answer; an answer that is an error is an
// error. It is for what is no tool call of a model, such as a hook.
func (m *Manager) Call(ctx context.Context, serverName, tool string, arguments messages.JSON) (messages.JSON, error) {
	s := m.servers[toolName(serverName)]
	if s == nil {
		return "", fmt.Errorf("there is no MCP server %q", serverName)
	}
	return s.call(ctx, tool, arguments)
}

// Drain ends all servers and waits for them: each sees the end of its input, has
// the grace to end by itself, and is then ended as a process tree. When ctx is
// done nothing is waited for that can be killed. Calls that are under way fail.
func (m *Manager) Drain(ctx context.Context) messages.Report {
	began := time.Now()
	m.mu.Lock()
	m.closed = true
	m.mu.Unlock()
	m.cancel(ErrClosed)

	var wg sync.WaitGroup
	for _, s := range m.servers {
		wg.Go(func() { s.close(ctx) })
	}
	wg.Wait()
	killed := m.owner.Drain(ctx, m.cfg.Grace)
	m.work.Wait()
	m.cfg.HTTPClient.CloseIdleConnections()

	r := messages.Report{Owner: "MCP servers", TookMS: time.Since(began).Milliseconds()}
	r.Count("processes", killed.Processes)
	for _, p := range killed.Left {
		r.Leftovers = append(r.Leftovers, messages.Leftover{Kind: "process", Name: p.Name, PID: p.PID})
	}
	return r
}

// spawn runs f in a goroutine that Drain waits for, unless it has begun.
func (m *Manager) spawn(f func()) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed {
		return false
	}
	m.work.Go(f)
	return true
}

func (m *Manager) warn(format string, args ...any) {
	if m.cfg.Warn != nil {
		m.cfg.Warn(fmt.Errorf(format, args...))
	}
}

package mcp

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/dsh-actor/dsh-actor/internal/proc"
	"github.com/dsh-actor/dsh-actor/messages"
	"github.com/dsh-actor/dsh-actor/otel"
)

// conn is a connection to a server, and the server's process if it is ours.
type conn struct {
	server  *server
	session *sdk.ClientSession
	process *proc.Process // nil for HTTP

	gone chan struct{} // closed when the session has ended, and the process

	mu     sync.Mutex
	stderr string // the end of what the process said, valid after gone
}

// open starts or dials the server and introduces us.
func (s *server) open(ctx context.Context) (*conn, error) {
	c := &conn{server: s, gone: make(chan struct{})}
	transport, err := c.transport()
	if err != nil {
		return nil, err
	}
	client := sdk.NewClient(
		&sdk.Implementation{Name: s.manager.cfg.Name, Version: s.manager.cfg.Version},
		&sdk.ClientOptions{
			Capabilities:           &sdk.ClientCapabilities{},
			ToolListChangedHandler: s.toolsChanged,
		})
	c.session, err = client.Connect(ctx, transport, nil)
	if err != nil {
		if cause := context.Cause(ctx); cause != nil {
			err = cause
		}
		if c.process != nil {
			c.process.Kill(err)
			c.reap()
		}
		return nil, fmt.Errorf("%w%s", err, c.lastWords())
	}
	// The server's end may come at any time; what waits for it is ours to join.
	if !s.manager.spawn(c.watch) {
		c.close()
		c.watch()
		return nil, ErrClosed
	}
	return c, nil
}

func (c *conn) transport() (sdk.Transport, error) {
	cfg, m := &c.server.cfg, c.server.manager
	if cfg.URL != "" {
		client := *m.cfg.HTTPClient
		if len(cfg.Headers) > 0 {
			client.Transport = &withHeaders{base: client.Transport, headers: cfg.Headers}
		}
		return &sdk.StreamableClientTransport{Endpoint: cfg.URL, HTTPClient: &client}, nil
	}
	p, err := m.owner.Start(context.WithoutCancel(m.ctx), proc.Spec{
		Argv:      append([]string{cfg.Command}, cfg.Args...),
		Dir:       cfg.Dir,
		Env:       proc.Env{Base: otel.StripEnv(m.cfg.BaseEnv), Drop: []string{"DSH_*"}, Set: cfg.Env},
		StdinPipe: true,
		Stdout:    proc.Capture{Pipe: true},
		Stderr:    proc.Capture{Limit: 4 << 10, Keep: proc.KeepTail},
		Grace:     m.cfg.Grace,
		// A server that has ended has no use for what it left running.
		Background: proc.BackgroundEnd,
	})
	if err != nil {
		return nil, err
	}
	c.process = p
	// The connection closes its reader too; but what the server still says while
	// it ends must not kill it.
	return &sdk.IOTransport{Reader: io.NopCloser(p.Stdout()), Writer: p.Stdin()}, nil
}

// withHeaders adds headers to every request.
type withHeaders struct {
	base    http.RoundTripper
	headers map[string]string
}

func (t *withHeaders) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	for k, v := range t.headers {
		r.Header.Set(k, v)
	}
	base := t.base
	if base == nil {
		base = http.DefaultTransport
	}
	return base.RoundTrip(r)
}

// watch waits for the end of the session. A process that outlives its session is
// of no use, and ends with it.
func (c *conn) watch() {
	err := c.session.Wait()
	c.close() // ends what the session has running, also if the server ended it
	if c.process != nil {
		c.await(c.server.manager.cfg.Grace)
		c.process.Kill(errors.New("the connection to the MCP server ended"))
		c.reap()
	}
	close(c.gone)
	m := c.server.manager
	if m.ctx.Err() == nil {
		m.warn("MCP server %q ended: %v%s", c.server.cfg.Name, err, c.lastWords())
	}
}

// await waits for the process to end by itself.
func (c *conn) await(d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-c.process.Done():
	case <-timer.C:
	}
}

// reap waits for the end of the process and keeps its last words.
func (c *conn) reap() {
	out := c.process.Wait()
	c.process.Stdout().Close()
	c.mu.Lock()
	defer c.mu.Unlock()
	c.stderr = messages.ValidUTF8(strings.TrimSpace(string(out.Stderr.Data)))
}

// lastWords is the last line that the process wrote to its standard error, for
// messages.
func (c *conn) lastWords() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.stderr == "" {
		return ""
	}
	return ": " + c.stderr[strings.LastIndexByte(c.stderr, '\n')+1:]
}

func (c *conn) ended() bool {
	select {
	case <-c.gone:
		return true
	default:
	}
	if c.process == nil {
		return false
	}
	select {
	case <-c.process.Done():
		return true
	default:
		return false
	}
}

// close ends the session, which ends the input of a process.
func (c *conn) close() { _ = c.session.Close() }

// shutDown closes the session and waits for its end. Whoever does not end in
// time is ended by the drain of the processes.
func (c *conn) shutDown(ctx context.Context, grace time.Duration) {
	closed := make(chan struct{})
	c.server.manager.work.Go(func() { // joined by Drain
		defer close(closed)
		c.close()
	})
	ctx, cancel := context.WithTimeout(ctx, grace)
	defer cancel()
	for _, end := range []<-chan struct{}{closed, c.gone} {
		select {
		case <-end:
		case <-ctx.Done():
		}
	}
}

// list returns the tools of the server.
func (c *conn) list(ctx context.Context) ([]*sdk.Tool, error) {
	if caps := c.session.InitializeResult().Capabilities; caps == nil || caps.Tools == nil {
		return nil, nil
	}
	var tools []*sdk.Tool
	for t, err := range c.session.Tools(ctx, nil) {
		if err != nil {
			return nil, err
		}
		tools = append(tools, t)
	}
	return tools, nil
}

func (c *conn) call(ctx context.Context, tool string, arguments messages.JSON) (*sdk.CallToolResult, error) {
	if arguments == "" {
		arguments = "{}"
	}
	return c.session.CallTool(ctx, &sdk.CallToolParams{
		Meta: traceMeta(ctx), Name: tool, Arguments: jsontext.Value(arguments),
	})
}

// traceMeta carries the trace to the server (SEP-414).
func traceMeta(ctx context.Context) sdk.Meta {
	var meta sdk.Meta
	for _, entry := range otel.EnvCarrier(ctx) {
		if meta == nil {
			meta = sdk.Meta{}
		}
		name, value, _ := strings.Cut(entry, "=")
		meta[strings.ToLower(name)] = value
	}
	return meta
}

// annotate puts what is known of a call on the span of the tool's body.
func (c *conn) annotate(ctx context.Context, err error) {
	t := c.server.manager.cfg.Tracer
	if t == nil {
		return
	}
	in := otel.MCPCall{Session: c.session.ID(), Protocol: c.session.InitializeResult().ProtocolVersion, Transport: "pipe"}
	if u, perr := url.Parse(c.server.cfg.URL); perr == nil && u.Host != "" {
		in.Transport = "tcp"
		in.ServerAddress = u.Hostname()
		if _, port, err := net.SplitHostPort(u.Host); err == nil {
			in.ServerPort, _ = strconv.Atoi(port)
		}
	}
	var wire *jsonrpc.Error
	if errors.As(err, &wire) {
		in.StatusCode = strconv.FormatInt(wire.Code, 10)
	}
	t.AnnotateMCP(ctx, in)
}

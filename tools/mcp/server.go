package mcp

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/dsh-actor/dsh-actor/messages"
	"github.com/dsh-actor/dsh-actor/pipeline"
)

// server is one server and the connection to it, if there is one.
type server struct {
	manager *Manager
	cfg     Server
	name    string // in tools

	mu      sync.Mutex
	live    *conn
	dialing *dial
	closed  bool

	offers sync.Mutex // serializes changes of what is offered
	scopes map[*pipeline.Tools][]offered
}

// dial is a connection that is being made, for everybody who wants it.
type dial struct {
	done chan struct{}
	conn *conn
	err  error
}

// connect returns the live connection, making one if there is none. ctx bounds
// the waiting only: others may wait for the same connection.
func (s *server) connect(ctx context.Context) (*conn, error) {
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return nil, ErrClosed
	}
	if c := s.live; c != nil && !c.ended() {
		s.mu.Unlock()
		return c, nil
	}
	d := s.dialing
	if d == nil {
		d = &dial{done: make(chan struct{})}
		s.dialing = d
		again := s.live != nil
		if !s.manager.spawn(func() { s.dial(d, again) }) {
			s.dialing = nil
			s.mu.Unlock()
			return nil, ErrClosed
		}
	}
	s.mu.Unlock()
	select {
	case <-d.done:
		return d.conn, d.err
	case <-ctx.Done():
		return nil, fmt.Errorf("wait for MCP server %q: %w", s.cfg.Name, context.Cause(ctx))
	}
}

func (s *server) dial(d *dial, again bool) {
	ctx, cancel := context.WithTimeoutCause(s.manager.ctx, s.manager.cfg.StartTimeout,
		fmt.Errorf("it did not answer within %v", s.manager.cfg.StartTimeout))
	defer cancel()
	c, err := s.open(ctx)
	if err != nil {
		err = fmt.Errorf("start MCP server %q: %w", s.cfg.Name, err)
	}
	s.mu.Lock()
	d.conn, d.err, s.dialing = c, err, nil
	if c != nil {
		s.live = c
	}
	closed := s.closed
	s.mu.Unlock()
	close(d.done)
	if c == nil {
		return
	}
	if closed { // close has not seen it
		c.close()
		return
	}
	if again {
		s.refresh(c)
	}
}

// toolsChanged is told by the server; the goroutine is the connection's own.
func (s *server) toolsChanged(context.Context, *sdk.ToolListChangedRequest) {
	s.mu.Lock()
	c := s.live
	s.mu.Unlock()
	if c != nil {
		s.manager.spawn(func() { s.refresh(c) })
	}
}

// refresh lists the tools again and offers them in every scope.
func (s *server) refresh(c *conn) {
	ctx, cancel := context.WithTimeout(s.manager.ctx, s.manager.cfg.StartTimeout)
	defer cancel()
	tools, err := c.list(ctx)
	if err != nil {
		if s.manager.ctx.Err() == nil {
			s.manager.warn("list the tools of MCP server %q again: %w", s.cfg.Name, err)
		}
		return
	}
	s.offers.Lock()
	defer s.offers.Unlock()
	for scope := range s.scopes {
		s.replace(scope, tools)
	}
}

// offer connects and offers the tools in a scope.
func (s *server) offer(ctx context.Context, scope *pipeline.Tools) error {
	c, err := s.connect(ctx)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, s.manager.cfg.StartTimeout)
	defer cancel()
	tools, err := c.list(ctx)
	if err != nil {
		return fmt.Errorf("list the tools of MCP server %q: %w", s.cfg.Name, err)
	}
	s.offers.Lock()
	defer s.offers.Unlock()
	s.replace(scope, tools)
	return nil
}

// call sends a call once.
func (s *server) call(ctx context.Context, tool string, arguments messages.JSON) (messages.JSON, error) {
	c, err := s.connect(ctx)
	if err != nil {
		return "", err
	}
	r, err := c.call(ctx, tool, arguments)
	c.annotate(ctx, err)
	if err != nil {
		if errors.Is(err, sdk.ErrConnectionClosed) || errors.Is(err, io.EOF) || c.ended() {
			select { // for what it said at the end
			case <-c.gone:
			case <-ctx.Done():
			}
			return "", fmt.Errorf("MCP server %q ended during the call%s", s.cfg.Name, c.lastWords())
		}
		return "", fmt.Errorf("MCP server %q: %w", s.cfg.Name, err)
	}
	value, err := valueOf(r)
	if err != nil {
		return "", fmt.Errorf("MCP server %q: %w", s.cfg.Name, err)
	}
	if r.IsError {
		return "", failure(value)
	}
	return value, nil
}

// close ends the connection. It waits for the server's own end for the grace, or
// until ctx is done.
func (s *server) close(ctx context.Context) {
	s.mu.Lock()
	s.closed = true
	c, d := s.live, s.dialing
	s.mu.Unlock()
	if d != nil {
		<-d.done // its context is done
	}
	if c != nil {
		c.shutDown(ctx, s.manager.cfg.Grace)
	}
}

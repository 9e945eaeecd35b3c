package mcp

import (
	"context"
	"slices"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/dsh-actor/dsh-actor/messages"
	"github.com/dsh-actor/dsh-actor/pipeline"
	"github.com/dsh-actor/dsh-actor/tools/internal/plain"
)

// offered is a tool that is registered in a scope.
type offered struct {
	tool   pipeline.Tool
	remove func()
}

// same reports whether two definitions read the same to a model.
func (o *offered) same(t *pipeline.Tool) bool {
	return o.tool.Name == t.Name && o.tool.Description == t.Description && o.tool.Parameters == t.Parameters &&
		(o.tool.Concurrent == nil) == (t.Concurrent == nil)
}

// replace makes a scope offer these tools of the server and no others. What has
// not changed stays where it is. The caller holds s.offers.
func (s *server) replace(scope *pipeline.Tools, tools []*sdk.Tool) {
	if s.scopes == nil {
		s.scopes = make(map[*pipeline.Tools][]offered)
	}
	var wanted []pipeline.Tool
	for _, t := range tools {
		def, err := s.define(t)
		if err == nil && slices.ContainsFunc(wanted, func(w pipeline.Tool) bool { return w.Name == def.Name }) {
			s.manager.warn("MCP server %q: tool %q has the name of another one", s.cfg.Name, t.Name)
			continue
		}
		if err != nil {
			s.manager.warn("MCP server %q: tool %q is not offered: %w", s.cfg.Name, t.Name, err)
			continue
		}
		wanted = append(wanted, def)
	}
	kept := make([]offered, 0, len(wanted))
	for _, o := range s.scopes[scope] {
		if slices.ContainsFunc(wanted, func(w pipeline.Tool) bool { return o.same(&w) }) {
			kept = append(kept, o)
		} else {
			o.remove()
		}
	}
	for _, w := range wanted {
		if slices.ContainsFunc(kept, func(o offered) bool { return o.tool.Name == w.Name }) {
			continue
		}
		remove, err := scope.Register(w)
		if err != nil {
			s.manager.warn("MCP server %q: %w", s.cfg.Name, err)
			continue
		}
		kept = append(kept, offered{tool: w, remove: remove})
	}
	s.scopes[scope] = kept
}

// withdraw takes the server's tools out of a scope.
func (s *server) withdraw(scope *pipeline.Tools) {
	s.offers.Lock()
	defer s.offers.Unlock()
	for _, o := range s.scopes[scope] {
		o.remove()
	}
	delete(s.scopes, scope)
}

// define makes the definition of a server's tool.
func (s *server) define(t *sdk.Tool) (pipeline.Tool, error) {
	schema := messages.JSON(`{"type":"object"}`)
	if t.InputSchema != nil {
		var err error
		if schema, err = messages.MarshalJSON(t.InputSchema); err != nil {
			return pipeline.Tool{}, err
		}
	}
	check, err := compileSchema(schema)
	if err != nil {
		s.manager.warn("MCP server %q: tool %q: arguments are not validated: %w", s.cfg.Name, t.Name, err)
	}
	name := t.Name // as the server knows it
	def := pipeline.Tool{
		Name: ToolName(s.cfg.Name, t.Name), Description: messages.ValidUTF8(t.Description), Parameters: schema,
		Timeout:         s.cfg.Timeout,
		Output:          &pipeline.Output{Render: render},
		FinalizeContent: plain.Failure,
		Run: func(ctx context.Context, inv *pipeline.Invocation) (messages.JSON, error) {
			arguments := inv.Call().Arguments()
			if err := check.check(arguments); err != nil {
				return "", err
			}
			value, err := s.call(ctx, name, arguments)
			if err != nil && ctx.Err() != nil {
				return "[]", nil // the pipeline makes an abort or a timeout of it
			}
			return value, err
		},
	}
	if t.Annotations != nil && t.Annotations.ReadOnlyHint {
		def.Concurrent = func(messages.JSON) bool { return true }
	}
	return def, nil
}

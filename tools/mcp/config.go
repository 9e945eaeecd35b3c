package mcp

import (
	"fmt"
	"net/http"
	"net/url"
	"time"

	"github.com/dsh-actor/dsh-actor/otel"
)

// Server is one MCP server: a command that speaks over its standard input and
// output, or the address of one that speaks streamable HTTP.
type Server struct {
	// Name is part of the names of the tools. Characters that models do not
	// accept become underscores.
	Name string

	Command string
	Args    []string
	// Env are trusted "NAME=value" entries for the command.
	Env []string
	Dir string

	URL string
	// Headers are sent with every request.
	Headers map[string]string

	// Timeout bounds one call; zero is no bound.
	Timeout time.Duration
}

// Config makes a [Manager].
type Config struct {
	Servers []Server
	// BaseEnv is the ambient environment of commands, from which names that look
	// like secrets are removed. Nil is os.Environ().
	BaseEnv []string
	// StartTimeout is the time that a server has to start, to introduce itself
	// and to list its tools. Zero is 30 s.
	StartTimeout time.Duration
	// Grace is the time that a server has to end when its input ends, and again
	// when it gets SIGTERM. Zero is 2 s.
	Grace time.Duration
	// Name and Version introduce us to servers. Empty is dsh-actor.
	Name, Version string
	// HTTPClient is used for servers with an address; nil is a client of its own.
	HTTPClient *http.Client
	// Tracer puts what is known of a call on its span. Nil does not.
	Tracer *otel.Tracer
	// Warn is told what goes wrong where nobody waits for it: a server that ends
	// or that cannot list its tools again, a tool that cannot be offered. Nil
	// drops it. It may be called by any goroutine.
	Warn func(error)
}

// validate checks the servers and returns them by their names in tools.
func (c *Config) validate() (map[string]Server, error) {
	byName := make(map[string]Server)
	for _, s := range c.Servers {
		name := toolName(s.Name)
		switch {
		case s.Name == "":
			return nil, fmt.Errorf("MCP server without a name")
		case s.Command == "" && s.URL == "":
			return nil, fmt.Errorf("MCP server %q has neither a command nor a URL", s.Name)
		case s.Command != "" && s.URL != "":
			return nil, fmt.Errorf("MCP server %q has both a command and a URL", s.Name)
		}
		if s.URL != "" {
			if u, err := url.Parse(s.URL); err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
				return nil, fmt.Errorf("MCP server %q: %q is no http address", s.Name, s.URL)
			}
		}
		if other, taken := byName[name]; taken {
			return nil, fmt.Errorf("MCP servers %q and %q have the same name in tools, %q", other.Name, s.Name, name)
		}
		byName[name] = s
	}
	return byName, nil
}

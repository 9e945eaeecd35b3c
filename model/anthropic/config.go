package anthropic

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/dsh-actor/dsh-actor/messages"
	"github.com/dsh-actor/dsh-actor/model"
	"github.com/dsh-actor/dsh-actor/model/internal/wire"
)

// DefaultBaseURL is the public API.
const DefaultBaseURL = "https://api.anthropic.com"

// DefaultMaxTokens is the limit on an answer that the API requires and the
// request does not give. Models older than Claude 4 allow less.
const DefaultMaxTokens = 32_000

const apiVersion = "2023-06-01"

// Config says how to reach the API. The zero value of each field is its default.
type Config struct {
	// BaseURL is where /v1/messages is; default [DefaultBaseURL].
	BaseURL string
	// APIKey is sent as x-api-key. AuthToken is sent as a bearer token instead of
	// it. Without both the request carries no key, as some gateways want it.
	APIKey, AuthToken string
	// Betas are values of the header anthropic-beta.
	Betas []string
	// Header is sent with each request.
	Header http.Header

	// MaxTokens is the limit on an answer when the request has none; default
	// [DefaultMaxTokens].
	MaxTokens int64
	// Extra has members for each request's body, such as
	//
	//	{"thinking": {"type": "enabled", "budget_tokens": 8000}}
	//
	// It cannot have those that the adapter writes itself.
	Extra messages.JSON
	// CacheTTL is how long prompt caches live: "5m" (the default) or "1h". NoCache
	// sends no cache marks at all.
	CacheTTL string
	NoCache  bool

	// HTTPClient sends the requests; redirects are never followed. The default has
	// connections of its own, takes a proxy from the process's environment, and is
	// closed by [Model.Close].
	HTTPClient *http.Client
	// ConnectTimeout limits connecting, 30 s by default, and IdleTimeout any
	// silence after that, before the answer and in it, 5 min by default. The
	// request then fails with code TIMEOUT. Negative is no limit.
	ConnectTimeout, IdleTimeout time.Duration
	// MaxEventBytes limits one event of the stream, 16 MiB by default.
	MaxEventBytes int
	// Now is the clock that a retry-after date is compared with; default time.Now.
	Now func() time.Time
}

// FromEnv returns a configuration from ANTHROPIC_BASE_URL, ANTHROPIC_API_KEY and
// ANTHROPIC_AUTH_TOKEN. If both secrets are there, the token is what is sent.
func FromEnv(getenv func(string) string) Config {
	return Config{
		BaseURL:   strings.TrimSpace(getenv("ANTHROPIC_BASE_URL")),
		APIKey:    strings.TrimSpace(getenv("ANTHROPIC_API_KEY")),
		AuthToken: strings.TrimSpace(getenv("ANTHROPIC_AUTH_TOKEN")),
	}
}

// Model is the adapter. It is safe for concurrent use.
type Model struct {
	client    *wire.Client
	endpoint  *url.URL
	header    http.Header
	maxTokens int64
	extra     wire.Extra
	cache     string // a cache mark's JSON, "" for none
}

var _ model.Model = (*Model)(nil)

// New checks cfg and returns the adapter. It sends nothing.
func New(cfg Config) (*Model, error) {
	m, err := newModel(cfg)
	if err != nil {
		return nil, fmt.Errorf("anthropic: %w", err)
	}
	return m, nil
}

func newModel(cfg Config) (*Model, error) {
	if cfg.BaseURL == "" {
		cfg.BaseURL = DefaultBaseURL
	}
	client, err := wire.NewClient(wire.Config{
		BaseURL: cfg.BaseURL, HTTPClient: cfg.HTTPClient, ConnectTimeout: cfg.ConnectTimeout,
		IdleTimeout: cfg.IdleTimeout, MaxEventBytes: cfg.MaxEventBytes, Header: cfg.Header.Clone(), Now: cfg.Now,
	})
	if err != nil {
		return nil, err
	}
	m := &Model{client: client, endpoint: client.URL("v1/messages"), maxTokens: cfg.MaxTokens}
	if m.maxTokens <= 0 {
		m.maxTokens = DefaultMaxTokens
	}
	if m.header, err = header(cfg); err != nil {
		return nil, err
	}
	if m.extra, err = wire.ParseExtra(cfg.Extra, "model", "messages", "system", "tools", "stream", "max_tokens", "temperature", "stop_sequences"); err != nil {
		return nil, fmt.Errorf("extra: %w", err)
	}
	switch {
	case cfg.NoCache:
	case cfg.CacheTTL == "" || cfg.CacheTTL == "5m":
		m.cache = `{"type":"ephemeral"}`
	case cfg.CacheTTL == "1h":
		m.cache = `{"type":"ephemeral","ttl":"1h"}`
	default:
		return nil, fmt.Errorf("cache TTL %q: want 5m or 1h", cfg.CacheTTL)
	}
	return m, nil
}

func header(cfg Config) (http.Header, error) {
	if err := errors.Join(wire.CheckHeaderValue("the API key", cfg.APIKey), wire.CheckHeaderValue("the auth token", cfg.AuthToken)); err != nil {
		return nil, err
	}
	h := http.Header{}
	h.Set("Anthropic-Version", apiVersion)
	switch {
	case cfg.AuthToken != "":
		h.Set("Authorization", "Bearer "+cfg.AuthToken)
	case cfg.APIKey != "":
		h.Set("X-Api-Key", cfg.APIKey)
	}
	if len(cfg.Betas) > 0 {
		h.Set("Anthropic-Beta", strings.Join(cfg.Betas, ","))
	}
	return h, nil
}

// Stream sends the request, once for each time that the sequence is read.
func (m *Model) Stream(ctx context.Context, req model.Request) iter.Seq2[messages.Chunk, error] {
	return func(yield func(messages.Chunk, error) bool) {
		if ctx.Err() != nil {
			yield(nil, context.Cause(ctx))
			return
		}
		body, err := m.encode(&req)
		if err != nil {
			yield(nil, err)
			return
		}
		m.client.Exchange(ctx, wire.Call{URL: m.endpoint, Header: m.header, Body: body}, &decoder{}, wire.NewOut(ctx, &req, yield))
	}
}

// Close ends the connections that are kept for further requests, unless the host
// gave an HTTP client. It may be called at any time.
func (m *Model) Close() { m.client.Close() }

// Server returns the address and port of the API, for traces.
func (m *Model) Server() (address string, port int) { return m.client.Server() }

// String returns the API's host. It shows no secret.
func (m *Model) String() string { return "anthropic " + m.endpoint.Host }

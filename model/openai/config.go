package openai

import (
	"cmp"
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

// Base URLs of the public APIs.
const (
	DefaultBaseURL  = "https://api.openai.com/v1"
	DeepSeekBaseURL = "https://api.deepseek.com"
)

// API is one of the two protocols.
type API string

// APIs.
const (
	// Responses is OpenAI's own and the default.
	Responses API = "responses"
	// Chat is Chat Completions, which most other servers speak.
	Chat API = "chat"
)

// Config says how to reach the API. The zero value of each field is its default.
type Config struct {
	// API is the protocol; default [Responses].
	API API
	// BaseURL is where /responses or /chat/completions is; default
	// [DefaultBaseURL].
	BaseURL string
	// APIKey is sent as a bearer token. Without it the request carries none, as
	// local servers want it.
	APIKey string
	// Organization and Project choose whom OpenAI bills.
	Organization, Project string
	// Header is sent with each request.
	Header http.Header

	// MaxTokens limits an answer when the request does not; default: the provider
	// decides.
	MaxTokens int64
	// MaxTokensName is the member that carries the limit in Chat Completions;
	// default "max_tokens". OpenAI's reasoning models want
	// "max_completion_tokens".
	MaxTokensName string
	// Extra has members for each request's body, such as
	//
	//	{"reasoning": {"effort": "high", "summary": "auto"}}
	//
	// It cannot have those that carry the request itself; others that the adapter
	// would write (store, include, prompt_cache_key, stream_options) it replaces.
	Extra messages.JSON

	// Store lets the provider keep the answers (Responses only).
	Store bool
	// NoReasoning does not ask for encrypted reasoning (Responses only).
	NoReasoning bool
	// NoUsage does not ask for token counts, for servers that refuse
	// stream_options (Chat Completions only).
	NoUsage bool

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

// FromEnv returns a configuration for OpenAI's Responses API from
// OPENAI_BASE_URL, OPENAI_API_KEY, OPENAI_ORG_ID and OPENAI_PROJECT_ID.
func FromEnv(getenv func(string) string) Config {
	return Config{
		API:          Responses,
		BaseURL:      strings.TrimSpace(getenv("OPENAI_BASE_URL")),
		APIKey:       strings.TrimSpace(getenv("OPENAI_API_KEY")),
		Organization: strings.TrimSpace(getenv("OPENAI_ORG_ID")),
		Project:      strings.TrimSpace(getenv("OPENAI_PROJECT_ID")),
	}
}

// DeepSeek returns a configuration for DeepSeek's Chat Completions from
// DEEPSEEK_API_KEY and DEEPSEEK_BASE_URL.
func DeepSeek(getenv func(string) string) Config {
	return Config{
		API:     Chat,
		BaseURL: cmp.Or(strings.TrimSpace(getenv("DEEPSEEK_BASE_URL")), DeepSeekBaseURL),
		APIKey:  strings.TrimSpace(getenv("DEEPSEEK_API_KEY")),
	}
}

// Model is the adapter. It is safe for concurrent use.
type Model struct {
	cfg      Config // what the encoders read
	client   *wire.Client
	endpoint *url.URL
	header   http.Header
	extra    wire.Extra
}

var _ model.Model = (*Model)(nil)

// New checks cfg and returns the adapter. It sends nothing.
func New(cfg Config) (*Model, error) {
	m, err := newModel(cfg)
	if err != nil {
		return nil, fmt.Errorf("openai: %w", err)
	}
	return m, nil
}

func newModel(cfg Config) (*Model, error) {
	cfg.API = cmp.Or(cfg.API, Responses)
	cfg.MaxTokensName = cmp.Or(cfg.MaxTokensName, "max_tokens")
	client, err := wire.NewClient(wire.Config{
		BaseURL: cmp.Or(cfg.BaseURL, DefaultBaseURL), HTTPClient: cfg.HTTPClient, ConnectTimeout: cfg.ConnectTimeout,
		IdleTimeout: cfg.IdleTimeout, MaxEventBytes: cfg.MaxEventBytes, Header: cfg.Header.Clone(), Now: cfg.Now,
	})
	if err != nil {
		return nil, err
	}
	m := &Model{client: client}
	reserved := []string{"model", "stream", "tools", "temperature"}
	switch cfg.API {
	case Responses:
		m.endpoint = client.URL("responses")
		reserved = append(reserved, "input", "instructions", "max_output_tokens")
	case Chat:
		m.endpoint = client.URL("chat/completions")
		reserved = append(reserved, "messages", "stop", cfg.MaxTokensName)
	default:
		return nil, fmt.Errorf("API %q: want %q or %q", cfg.API, Responses, Chat)
	}
	if m.extra, err = wire.ParseExtra(cfg.Extra, reserved...); err != nil {
		return nil, fmt.Errorf("extra: %w", err)
	}
	if m.header, err = header(cfg); err != nil {
		return nil, err
	}
	m.cfg = cfg
	m.cfg.APIKey = "" // it is in the header
	return m, nil
}

func header(cfg Config) (http.Header, error) {
	err := errors.Join(
		wire.CheckHeaderValue("the API key", cfg.APIKey),
		wire.CheckHeaderValue("the organization", cfg.Organization),
		wire.CheckHeaderValue("the project", cfg.Project),
	)
	if err != nil {
		return nil, err
	}
	h := http.Header{}
	if cfg.APIKey != "" {
		h.Set("Authorization", "Bearer "+cfg.APIKey)
	}
	if cfg.Organization != "" {
		h.Set("Openai-Organization", cfg.Organization)
	}
	if cfg.Project != "" {
		h.Set("Openai-Project", cfg.Project)
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
		m.client.Exchange(ctx, wire.Call{URL: m.endpoint, Header: m.header, Body: body}, m.decoder(), wire.NewOut(ctx, &req, yield))
	}
}

func (m *Model) encode(req *model.Request) ([]byte, error) {
	if m.cfg.API == Chat {
		return m.encodeChat(req)
	}
	return m.encodeResponses(req)
}

func (m *Model) decoder() wire.Decoder {
	if m.cfg.API == Chat {
		return &chatDecoder{}
	}
	return &responsesDecoder{}
}

// Close ends the connections that are kept for further requests, unless the host
// gave an HTTP client. It may be called at any time.
func (m *Model) Close() { m.client.Close() }

// Server returns the address and port of the API, for traces.
func (m *Model) Server() (address string, port int) { return m.client.Server() }

// String returns the protocol and the API's host. It shows no secret.
func (m *Model) String() string { return "openai " + string(m.cfg.API) + " " + m.endpoint.Host }

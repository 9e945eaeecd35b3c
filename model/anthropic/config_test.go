package anthropic

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/dsh-actor/dsh-actor/messages"
	"github.com/dsh-actor/dsh-actor/model/internal/wiretest"
)

func TestKeepsTheContract(t *testing.T) {
	stream := recorded(t, "text")
	limited := wiretest.JSON(429, `{"type":"error","error":{"type":"rate_limit_error","message":"slow down"},"request_id":"req_1"}`)
	limited.Header["Retry-After"] = "1.5"
	wiretest.Contract{
		New: func(t *testing.T, url string) wiretest.Adapter {
			m, err := New(Config{BaseURL: url})
			if err != nil {
				t.Fatal(err)
			}
			return m
		},
		Text: stream, Calls: recorded(t, "calls"), Stalled: stream[:strings.Index(stream, "event: content_block_stop")],
		Failing: limited,
		Failure: messages.Failure{Code: messages.CodeRateLimited, Status: 429, ProviderRetryAfterMS: 1500},
	}.Run(t)
}

func TestHeaders(t *testing.T) {
	for _, c := range []struct {
		name string
		cfg  Config
		want http.Header
	}{
		{"key", Config{APIKey: "sk"}, http.Header{"X-Api-Key": {"sk"}}},
		{"token", Config{APIKey: "sk", AuthToken: "tok"}, http.Header{"Authorization": {"Bearer tok"}}},
		{"none", Config{}, http.Header{}},
		{"more", Config{Betas: []string{"a", "b"}, Header: http.Header{"X-Mine": {"1"}, "User-Agent": {"me"}}},
			http.Header{"Anthropic-Beta": {"a,b"}, "X-Mine": {"1"}, "User-Agent": {"me"}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := wiretest.Serve(t, wiretest.Always(wiretest.Stream(recorded(t, "text"))))
			c.cfg.BaseURL = s.URL
			m, err := New(c.cfg)
			if err != nil {
				t.Fatal(err)
			}
			defer m.Close()
			if _, err := wiretest.Collect(t.Context(), m, ask(user(text("x")))); err != nil {
				t.Fatal(err)
			}
			r := s.Requests()[0]
			if r.Method != "POST" || r.Path != "/v1/messages" {
				t.Errorf("%s %s", r.Method, r.Path)
			}
			c.want.Set("Anthropic-Version", "2023-06-01")
			c.want.Set("Accept", "text/event-stream")
			c.want.Set("Accept-Encoding", "identity")
			c.want.Set("Content-Type", "application/json")
			if c.want.Get("User-Agent") == "" {
				c.want.Set("User-Agent", "dsh-actor")
			}
			r.Header.Del("Content-Length")
			if diff := cmp.Diff(c.want, r.Header); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestFromEnv(t *testing.T) {
	env := map[string]string{"ANTHROPIC_BASE_URL": "http://localhost:1 ", "ANTHROPIC_API_KEY": " sk\n", "ANTHROPIC_AUTH_TOKEN": "tok", "HOME": "x"}
	got := FromEnv(func(name string) string { return env[name] })
	if got.BaseURL != "http://localhost:1" || got.APIKey != "sk" || got.AuthToken != "tok" {
		t.Errorf("%+v", got)
	}
	m, err := New(FromEnv(func(string) string { return "" }))
	if err != nil {
		t.Fatal(err)
	}
	if host, port := m.Server(); host != "api.anthropic.com" || port != 443 {
		t.Errorf("%s %d", host, port)
	}
}

func TestConfig(t *testing.T) {
	for _, c := range []struct {
		cfg  Config
		want string
	}{
		{Config{BaseURL: "nowhere"}, "anthropic: base URL"},
		{Config{APIKey: "sk-secret\r\nX: y"}, "the API key has a control character"},
		{Config{AuthToken: "secret\x00"}, "the auth token has a control character"},
		{Config{Extra: `{"messages":[]}`}, `extra: the member "messages" is the adapter's own`},
		{Config{Extra: `{`}, "extra: "},
		{Config{CacheTTL: "1d"}, `cache TTL "1d"`},
	} {
		_, err := New(c.cfg)
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "secret") {
			t.Errorf("%+v: %v", c.cfg, err)
		}
	}
	m, err := New(Config{APIKey: "sk-secret", AuthToken: "secret"})
	if err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprint(m) + fmt.Sprintf(" %v %s", m, m); got != "anthropic api.anthropic.com anthropic api.anthropic.com anthropic api.anthropic.com" {
		t.Error(got)
	}
}

// A sequence that is read twice sends two requests; one that is not read, none.
func TestEachReadIsARequest(t *testing.T) {
	s := wiretest.Serve(t, wiretest.Always(wiretest.Stream(recorded(t, "text"))))
	m, err := New(Config{BaseURL: s.URL, IdleTimeout: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	seq := m.Stream(t.Context(), ask(user(text("x"))))
	if n := len(s.Requests()); n != 0 {
		t.Errorf("%d requests before the first read", n)
	}
	for range 2 {
		for _, err := range seq {
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	if n := len(s.Requests()); n != 2 {
		t.Errorf("%d requests", n)
	}
}

package host

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dsh-actor/dsh-actor/model"
)

func env(pairs ...string) func(string) string {
	m := map[string]string{}
	for i := 0; i+1 < len(pairs); i += 2 {
		m[pairs[i]] = pairs[i+1]
	}
	return func(name string) string { return m[name] }
}

// TestChoose covers the order of the issue: the scenario, the named model, the first
// key, the built-in script.
func TestChoose(t *testing.T) {
	scenario := filepath.Join(t.TempDir(), "greet.yaml")
	if err := os.WriteFile(scenario, []byte("prompt: What?\nturns:\n  - text: hi\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	all := []string{"ANTHROPIC_API_KEY", "k1", "OPENAI_API_KEY", "k2", "DEEPSEEK_API_KEY", "k3"}
	for _, tt := range []struct {
		name, scenario, model string
		env                   []string
		want                  string // provider/model
		key                   string
		notice                bool
		wantErr               string
	}{
		{name: "nothing", want: "scripted/built-in", key: "none", notice: true},
		{name: "scenario", scenario: scenario, env: all, want: "scripted/greet", key: "none"},
		{name: "scenario under another name", scenario: scenario, model: "m", want: "scripted/m", key: "none"},
		{name: "no such scenario", scenario: scenario + "x", wantErr: "scenario: "},
		{name: "all keys", env: all, want: "anthropic/claude-opus-5-5", key: "ANTHROPIC_API_KEY"},
		{name: "a token", env: []string{"ANTHROPIC_AUTH_TOKEN", "t"}, want: "anthropic/claude-opus-5-5", key: "ANTHROPIC_AUTH_TOKEN"},
		{name: "openai and deepseek", env: all[2:], want: "openai/gpt-5.5", key: "OPENAI_API_KEY"},
		{name: "deepseek", env: all[4:], want: "deepseek/deepseek-chat", key: "DEEPSEEK_API_KEY"},
		{name: "model of the environment", env: append([]string{"OPENAI_MODEL", "o9"}, all[2:]...), want: "openai/o9", key: "OPENAI_API_KEY"},
		{name: "an alias in the environment", env: append([]string{"ANTHROPIC_MODEL", "haiku"}, all...), want: "anthropic/claude-haiku-5-5", key: "ANTHROPIC_API_KEY"},
		{name: "an empty key is none", env: []string{"ANTHROPIC_API_KEY", "", "OPENAI_API_KEY", "k"}, want: "openai/gpt-5.5", key: "OPENAI_API_KEY"},
		{name: "by provider", model: "deepseek/m", env: all, want: "deepseek/m", key: "DEEPSEEK_API_KEY"},
		{name: "by provider alone", model: "deepseek/", env: all, want: "deepseek/deepseek-chat", key: "DEEPSEEK_API_KEY"},
		{name: "by name", model: "gpt-4.1", env: all, want: "openai/gpt-4.1", key: "OPENAI_API_KEY"},
		{name: "by alias", model: "sonnet", env: all, want: "anthropic/claude-sonnet-5-5", key: "ANTHROPIC_API_KEY"},
		{name: "a name of nobody", model: "llama", env: all[2:], want: "openai/llama", key: "OPENAI_API_KEY"},
		{name: "a name with a slash of nobody", model: "org/llama", env: all[2:], want: "openai/org/llama", key: "OPENAI_API_KEY"},
		{name: "the script by name", model: "scripted", env: all, want: "scripted/built-in", key: "none"},
		{name: "a provider without its key", model: "claude-x", env: all[2:], wantErr: "model anthropic/claude-x: the provider's key is not set: ANTHROPIC_API_KEY or ANTHROPIC_AUTH_TOKEN"},
		{name: "a name of nobody, no key", model: "llama", wantErr: "write anthropic/llama, openai/llama, deepseek/llama"},
		{name: "a bad base URL", env: []string{"ANTHROPIC_API_KEY", "k", "ANTHROPIC_BASE_URL", "::"}, wantErr: "model anthropic/claude-opus-5-5: "},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := choose(tt.scenario, tt.model, env(tt.env...), providers())
			if tt.wantErr != "" {
				if err == nil || !strings.Contains(err.Error(), tt.wantErr) {
					t.Fatalf("error %v, want one with %q", err, tt.wantErr)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			defer got.Close()
			if name := got.Provider + "/" + got.Model; name != tt.want || got.KeySource != tt.key || (got.Notice != "") != tt.notice {
				t.Errorf("got %s, key %s, notice %q; want %s, key %s", name, got.KeySource, got.Notice, tt.want, tt.key)
			}
			if tt.scenario != "" && got.Prompt != "What?" {
				t.Errorf("prompt %q", got.Prompt)
			}
		})
	}
}

// TestChooseCloses: a choice closes what it opened.
func TestChooseCloses(t *testing.T) {
	opened, closed := 0, 0
	p := provider{name: "p", keys: []string{"K"}, defaultModel: "m", open: func(func(string) string) (model.Model, func(), error) {
		opened++
		return nil, func() { closed++ }, nil
	}}
	c, err := choose("", "", env("K", "k"), []provider{p})
	if err != nil {
		t.Fatal(err)
	}
	c.Close()
	if opened != 1 || closed != 1 {
		t.Errorf("opened %d, closed %d", opened, closed)
	}
	failing := errors.New("no")
	p.open = func(func(string) string) (model.Model, func(), error) { return nil, nil, failing }
	if _, err := choose("", "", env("K", "k"), []provider{p}); !errors.Is(err, failing) {
		t.Errorf("error %v, want %v", err, failing)
	}
}

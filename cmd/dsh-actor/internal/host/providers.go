package host

import (
	"github.com/dsh-actor/dsh-actor/model"
	"github.com/dsh-actor/dsh-actor/model/anthropic"
	"github.com/dsh-actor/dsh-actor/model/openai"
)

// providers are those that have an adapter, in the order in which their keys are
// looked for. The default models are what each provider's own programs or
// documentation use when nobody chooses.
func providers() []provider {
	return []provider{
		{
			name: "anthropic", keys: []string{"ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN"},
			modelVar: "ANTHROPIC_MODEL", defaultModel: "claude-opus-5-5",
			prefixes: []string{"claude-"},
			aliases: map[string]string{
				"opus": "claude-opus-5-5", "sonnet": "claude-sonnet-5-5", "haiku": "claude-haiku-5-5",
			},
			open: func(getenv func(string) string) (model.Model, func(), error) {
				m, err := anthropic.New(anthropic.FromEnv(getenv))
				if err != nil {
					return nil, nil, err
				}
				return m, m.Close, nil
			},
		},
		{
			name: "openai", keys: []string{"OPENAI_API_KEY"},
			modelVar: "OPENAI_MODEL", defaultModel: "gpt-5.5",
			prefixes: []string{"gpt-", "chatgpt-", "o1", "o3", "o4"},
			open: func(getenv func(string) string) (model.Model, func(), error) {
				return openOpenAI(openai.FromEnv(getenv))
			},
		},
		{
			name: "deepseek", keys: []string{"DEEPSEEK_API_KEY"},
			modelVar: "DEEPSEEK_MODEL", defaultModel: "deepseek-chat",
			prefixes: []string{"deepseek-"},
			open: func(getenv func(string) string) (model.Model, func(), error) {
				return openOpenAI(openai.DeepSeek(getenv))
			},
		},
	}
}

func openOpenAI(cfg openai.Config) (model.Model, func(), error) {
	m, err := openai.New(cfg)
	if err != nil {
		return nil, nil, err
	}
	return m, m.Close, nil
}

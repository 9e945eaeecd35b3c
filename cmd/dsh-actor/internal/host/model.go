package host

import (
	_ "embed" // the built-in scenario
	"errors"
	"fmt"
	"strings"

	"github.com/dsh-actor/dsh-actor/model"
	"github.com/dsh-actor/dsh-actor/model/scripted"
)

//go:embed builtin.yaml
var builtin []byte

// Choice is the model that a session runs on.
type Choice struct {
	// Provider and Model are the names that requests carry.
	Provider, Model string
	// KeySource names the variable that the key came from, "none" if there is no key.
	KeySource string
	// Prompt is what to send if the user has nothing to say, "" if the model has no
	// such thing.
	Prompt string
	// Notice is what the user should know about the choice, "" if it is what was
	// asked for.
	Notice string

	adapter model.Model
	close   func()
}

// Close ends the model's connections.
func (c *Choice) Close() { c.close() }

// provider is one that has an adapter.
type provider struct {
	name         string
	keys         []string // variables with a key, the first that is set counts
	modelVar     string   // variable with a model name
	defaultModel string
	prefixes     []string          // of model names that are the provider's
	aliases      map[string]string // of model names
	open         func(getenv func(string) string) (adapter model.Model, close func(), err error)
}

// keySource returns the variable that has a key, "" if none has.
func (p *provider) keySource(getenv func(string) string) string {
	for _, name := range p.keys {
		if getenv(name) != "" {
			return name
		}
	}
	return ""
}

// owns reports whether a model name is the provider's.
func (p *provider) owns(name string) bool {
	if _, ok := p.aliases[name]; ok {
		return true
	}
	for _, prefix := range p.prefixes {
		if strings.HasPrefix(name, prefix) {
			return true
		}
	}
	return false
}

// choose picks the model: the scenario's; else the named one; else the default
// model of the first provider whose key is set; else the built-in script.
func choose(scenario, name string, getenv func(string) string, providers []provider) (*Choice, error) {
	if scenario != "" {
		script, err := scripted.Load(scenario)
		if err != nil {
			return nil, fmt.Errorf("scenario: %w", err)
		}
		return script2choice(script, name), nil
	}
	switch name {
	case "":
		return chooseByKey(getenv, providers)
	case scripted.DefaultProvider:
		return builtinChoice("")
	}
	return chooseByName(name, getenv, providers)
}

func script2choice(script *scripted.Script, name string) *Choice {
	info := script.Info()
	if name == "" {
		name = info.Model
	}
	return &Choice{
		Provider: info.Provider, Model: name, KeySource: "none", Prompt: info.Prompt,
		adapter: script, close: func() {},
	}
}

func builtinChoice(notice string) (*Choice, error) {
	script, err := scripted.Parse("built-in.yaml", builtin)
	if err != nil {
		return nil, fmt.Errorf("built-in scenario: %w", err)
	}
	c := script2choice(script, "")
	c.Prompt = "" // it is for trying out, but somebody has to begin
	c.Notice = notice
	return c, nil
}

func chooseByKey(getenv func(string) string, providers []provider) (*Choice, error) {
	var keys []string
	for i := range providers {
		p := &providers[i]
		if p.keySource(getenv) != "" {
			return p.choose("", getenv)
		}
		keys = append(keys, p.keys[0])
	}
	return builtinChoice(fmt.Sprintf("no model is configured (%s): using the built-in scripted model",
		strings.Join(keys, ", ")))
}

// chooseByName finds the provider of a model name: "provider/name", or a name that
// is known to be a provider's, or else the first provider whose key is set.
func chooseByName(name string, getenv func(string) string, providers []provider) (*Choice, error) {
	if before, after, ok := strings.Cut(name, "/"); ok {
		for i := range providers {
			if providers[i].name == before {
				return providers[i].choose(after, getenv)
			}
		}
	}
	for i := range providers {
		if providers[i].owns(name) {
			return providers[i].choose(name, getenv)
		}
	}
	var names, keys []string
	for i := range providers {
		p := &providers[i]
		if p.keySource(getenv) != "" {
			return p.choose(name, getenv)
		}
		names, keys = append(names, p.name+"/"+name), append(keys, p.keys[0])
	}
	if len(providers) == 0 {
		return nil, fmt.Errorf("model %q: no provider is built in", name)
	}
	return nil, fmt.Errorf("model %q: no provider's key is set (%s), and the name does not say whose it is; write %s",
		name, strings.Join(keys, ", "), strings.Join(names, ", "))
}

// errNoKey says which variable is missing.
var errNoKey = errors.New("the provider's key is not set")

func (p *provider) choose(name string, getenv func(string) string) (*Choice, error) {
	source := p.keySource(getenv)
	if source == "" {
		return nil, fmt.Errorf("model %s: %w: %s", strings.TrimSuffix(p.name+"/"+name, "/"), errNoKey, strings.Join(p.keys, " or "))
	}
	if name == "" {
		name = getenv(p.modelVar)
	}
	if name == "" {
		name = p.defaultModel
	}
	if full, ok := p.aliases[name]; ok {
		name = full
	}
	adapter, end, err := p.open(getenv)
	if err != nil {
		return nil, fmt.Errorf("model %s/%s: %w", p.name, name, err)
	}
	return &Choice{Provider: p.name, Model: name, KeySource: source, adapter: adapter, close: end}, nil
}

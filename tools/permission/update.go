package permission

import (
	"fmt"

	"github.com/dsh-actor/dsh-actor/messages"
)

// UpdateType is what an update changes.
type UpdateType string

// Types of updates, as Claude Code's permission suggestions name them.
const (
	AddRules       UpdateType = "addRules"
	SetMode        UpdateType = "setMode"
	AddDirectories UpdateType = "addDirectories"
)

// Update changes the permissions of one session: it is what "always" adds.
type Update struct {
	Type UpdateType
	// Behavior and Rules are of AddRules. An empty behavior is Allow.
	Behavior Behavior
	Rules    []string
	// Mode is of SetMode.
	Mode Mode
	// Directories are of AddDirectories.
	Directories []string
}

// String says what the update does, in a few words.
func (u Update) String() string {
	switch u.Type {
	case AddRules:
		return fmt.Sprintf("%s %v", u.behavior(), u.Rules)
	case SetMode:
		return "mode " + string(u.Mode)
	case AddDirectories:
		return fmt.Sprintf("work in %v", u.Directories)
	}
	return string(u.Type)
}

func (u Update) behavior() Behavior {
	if u.Behavior == "" {
		return Allow
	}
	return u.Behavior
}

// Apply changes the permissions of one session until it ends. It fails, and
// changes nothing, for what is not in force as written.
func (p *Policy) Apply(id messages.SessionID, u Update) error {
	return p.apply(id, u, false)
}

func (p *Policy) apply(id messages.SessionID, u Update, overAsk bool) error {
	switch u.Type {
	case SetMode:
		return p.SetMode(id, u.Mode)
	case AddDirectories:
		if len(u.Directories) == 0 {
			return fmt.Errorf("permission update %s: no directories", u.Type)
		}
		p.session(id).change(func(g *grants) {
			g.directories = append(g.directories[:len(g.directories):len(g.directories)], u.Directories...)
		})
		return nil
	case AddRules:
		return p.addRules(id, u, overAsk)
	}
	return fmt.Errorf("permission update: unknown type %q", u.Type)
}

func (p *Policy) addRules(id messages.SessionID, u Update, overAsk bool) error {
	if len(u.Rules) == 0 {
		return fmt.Errorf("permission update %s: no rules", u.Type)
	}
	added := make([]*compiled, 0, len(u.Rules))
	for _, text := range u.Rules {
		c, diags := compileEntry(Entry{Behavior: u.behavior(), Rule: text})
		for _, d := range diags {
			if d.Severity == SeverityError {
				return fmt.Errorf("permission update: %s", d.Message)
			}
		}
		c.overAsk = overAsk
		added = append(added, c)
	}
	p.session(id).change(func(g *grants) {
		g.rules = g.rules.clone()
		for _, c := range added {
			g.rules.add(c)
		}
	})
	return nil
}

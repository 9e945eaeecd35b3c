package permission

import (
	"strings"

	"github.com/dsh-actor/dsh-actor/messages"
)

// Condition is the rule of a hook's "if": one permission rule that says for which
// calls the hook runs. It does not change.
//
// It is read as the real program reads it (measured), which differs from a rule of
// the permissions: a tool is named by its full name only, no other tool of its kind
// and no MCP server; and of a command inside a substitution only the name of the
// program is compared, so that the hook runs rather than not.
type Condition struct {
	rule   Rule
	always bool
}

// ParseCondition parses the text of "if". Empty is always. A condition that cannot
// be parsed never holds; the error says what is wrong with it.
func ParseCondition(text string) (Condition, error) {
	if strings.TrimSpace(text) == "" {
		return Condition{always: true}, nil
	}
	r, err := ParseRule(text)
	return Condition{rule: r}, err
}

// Place is what the paths of a condition and of a call are relative to. All are
// absolute, or empty if unknown.
type Place struct {
	Cwd        string
	ProjectDir string
	Home       string
}

// Holds reports whether the condition is true of a call. A call whose text cannot
// be judged counts as one that the condition is about. Arguments must have passed
// [messages.CheckJSON].
func (c Condition) Holds(tool string, arguments messages.JSON, at Place) bool {
	if c.always {
		return true
	}
	if c.rule.tool != canonical(tool) || c.rule.tool == "" {
		return false
	}
	s := newSubject(tool, arguments, nil)
	if c.rule.kind != commandSpecifier {
		s.look.workspace = newWorkspace(at.Cwd, "", at.ProjectDir, at.Home, nil, foldsCase())
		return c.rule.narrows(s, Ask)
	}
	if s.missing != "" {
		return true
	}
	sc := s.commands()
	if c.rule.command.narrows(sc) {
		return true
	}
	for i := range sc.commands {
		if cmd := &sc.commands[i]; cmd.nested && len(cmd.words) > 0 && c.rule.command.namesCommand(cmd.name()) {
			return true
		}
	}
	return false
}

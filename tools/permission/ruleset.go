package permission

import (
	"fmt"
	"slices"
	"strings"
)

// Entry is one rule with what it does and where it stands.
type Entry struct {
	Behavior Behavior
	// Rule is the rule's text, such as Bash(git *).
	Rule string
	// Origin is where it was written; zero for a rule of no file.
	Origin Origin
}

// String is the rule and its place.
func (e Entry) String() string {
	if place := e.Origin.String(); place != "" {
		return e.Rule + " (" + place + ")"
	}
	return e.Rule
}

// compiled is an entry in force.
type compiled struct {
	Entry
	rule Rule
	// overAsk says that a person gave the rule in answer to a question that an ask
	// rule put, so that it answers that rule's next question too.
	overAsk bool
}

// ruleSet is the rules in force. It does not change.
type ruleSet struct {
	allow, ask, deny []*compiled
	allowShell       []*Rule // those of allow that name the shell tool
}

// compile makes the rules of entries. What is wrong with them is told; a rule that
// cannot be parsed is not in force.
//
// A deny or ask rule that cannot be parsed names nothing. The alternative, to let
// it name everything that it might have meant, would lock a session out of its
// tools for a typing error, and a guess which tools were meant is what a rule is
// there to replace. It is an error that the host must show, and that
// [Config.Strict] makes fatal.
func compile(entries []Entry) (set ruleSet, diags []Diagnostic) {
	for _, e := range entries {
		c, d := compileEntry(e)
		diags = append(diags, d...)
		if c != nil {
			set.add(c)
		}
	}
	return set, diags
}

func (s *ruleSet) add(c *compiled) {
	switch c.Behavior {
	case Allow:
		s.allow = append(s.allow, c)
		if c.rule.names("Bash", Allow) && c.rule.anchored() {
			s.allowShell = append(s.allowShell, &c.rule)
		}
	case Ask:
		s.ask = append(s.ask, c)
	case Deny:
		s.deny = append(s.deny, c)
	}
}

// compileEntry parses one rule. The result is nil if it cannot be in force.
func compileEntry(e Entry) (*compiled, []Diagnostic) {
	switch e.Behavior {
	case Allow, Ask, Deny:
	default:
		return nil, []Diagnostic{e.diagnose(SeverityError, "unknown behavior %q; the rule is not in force", e.Behavior)}
	}
	r, err := ParseRule(e.Rule)
	if err != nil {
		loss := "it allows nothing"
		if e.Behavior.narrows() {
			loss = "what it was to " + string(e.Behavior) + " is not held back"
		}
		return nil, []Diagnostic{e.diagnose(SeverityError, "malformed rule: %v; it is not in force, and %s", err, loss)}
	}
	e.Rule = r.String()
	return &compiled{Entry: e, rule: r}, e.lint(&r)
}

// lint finds rules that do something else than they seem to.
func (e Entry) lint(r *Rule) (diags []Diagnostic) {
	switch {
	case r.kind == opaqueSpecifier && e.Behavior.narrows():
		diags = append(diags, e.diagnose(SeverityError,
			"%s takes no specifier that is known here; the rule is for every call of it", r.tool))
	case r.kind == opaqueSpecifier:
		diags = append(diags, e.diagnose(SeverityError, "%s takes no specifier that is known here; the rule allows nothing", r.tool))
	case e.Behavior == Allow && !r.anchored():
		diags = append(diags, e.diagnose(SeverityError,
			"a rule that allows must name its tool, or the server of MCP tools (mcp__server__*); it allows nothing"))
	}
	if known := similarTool(r.tool); known != "" {
		diags = append(diags, e.diagnose(SeverityWarning, "there is no tool %q; %q is written so", r.tool, known))
	}
	return diags
}

// similarTool returns a built-in tool whose name differs in case only.
func similarTool(name string) string {
	for _, known := range [...]string{"Bash", "Read", "Write", "Edit", "MultiEdit", "NotebookEdit", "NotebookRead", "Glob", "Grep", "LS", "WebFetch", "WebSearch", "Agent", "Skill"} {
		if known != name && strings.EqualFold(known, name) {
			return known
		}
	}
	return ""
}

// diagnose names the rule with what is wrong with it.
func (e Entry) diagnose(severity Severity, format string, args ...any) Diagnostic {
	return e.Origin.Diagnose(severity, "%s rule %q: %s", e.Behavior, e.Rule, fmt.Sprintf(format, args...))
}

// clone returns a set that can be added to.
func (s ruleSet) clone() ruleSet {
	return ruleSet{
		allow: slices.Clip(s.allow), ask: slices.Clip(s.ask), deny: slices.Clip(s.deny), allowShell: slices.Clip(s.allowShell),
	}
}

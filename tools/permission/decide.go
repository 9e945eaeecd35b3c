package permission

import (
	"fmt"
	"slices"

	"github.com/dsh-actor/dsh-actor/messages"
)

// Verdict is a decision on a call and why.
type Verdict struct {
	Behavior Behavior
	// Reason says why; for an allow it may be empty. The model reads it.
	Reason string
	// Mode is the session's mode.
	Mode Mode
	// ByRule says that a rule decided, not the mode. Rule is that rule, unless
	// several allow together.
	ByRule bool
	Rule   *Entry
}

// Request is a call to judge outside of the pipeline.
type Request struct {
	Session   messages.SessionID
	Tool      string
	Arguments messages.JSON // a value that passed [messages.CheckJSON]
	Cwd       string        // the session's working directory, absolute
	Dir       string        // where relative paths begin, absolute; "" is Cwd
}

// Explain says what the policy decides on a call: a deny rule first, then the
// mode's denial, then an ask rule, then the rest. It changes nothing.
func (p *Policy) Explain(r Request) Verdict {
	v := p.view(r.Session)
	s := p.subject(v, r.Tool, r.Arguments, r.Cwd, r.Dir)
	if verdict, ok := v.denied(s); ok {
		return verdict
	}
	verdict := v.byMode(s)
	if verdict.Behavior != Allow {
		return verdict
	}
	if asked, ok := v.asked(s); ok {
		return asked
	}
	return verdict
}

// denied finds a deny rule for the call.
func (v view) denied(s *subject) (Verdict, bool) {
	for _, rules := range [...][]*compiled{v.base.rules.deny, v.grants.rules.deny} {
		for _, c := range rules {
			if c.rule.narrows(s, Deny) {
				return v.byRule(Deny, c, fmt.Sprintf("permission to use %s is denied by the rule %s%s", s.tool, c.Entry, s.doubt(c))), true
			}
		}
	}
	return Verdict{}, false
}

// doubt explains why a rule reaches a command line that it does not seem to name.
func (s *subject) doubt(c *compiled) string {
	if c.rule.kind == commandSpecifier && s.class == shell && s.commands().err != nil {
		return fmt.Sprintf(", which may be about it: the command line cannot be read (%v)", s.commands().err)
	}
	return ""
}

// asked finds an ask rule for the call. What a person granted in answer to an ask
// rule is not asked again. In the mode dontAsk nobody is asked, and what would be
// is denied.
func (v view) asked(s *subject) (Verdict, bool) {
	for _, rules := range [...][]*compiled{v.base.rules.ask, v.grants.rules.ask} {
		for _, c := range rules {
			if !c.rule.narrows(s, Ask) {
				continue
			}
			if v.answered(s) {
				return Verdict{}, false
			}
			if v.mode() == ModeDontAsk {
				return v.byRule(Deny, c, fmt.Sprintf("%s needs approval by the rule %s, and nobody is asked in the mode %s%s",
					s.tool, c.Entry, ModeDontAsk, s.doubt(c))), true
			}
			return v.byRule(Ask, c, fmt.Sprintf("%s needs approval by the rule %s%s", s.tool, c.Entry, s.doubt(c))), true
		}
	}
	return Verdict{}, false
}

// answered reports whether a person granted the call in answer to an ask rule.
func (v view) answered(s *subject) bool {
	for _, c := range v.grants.rules.allow {
		if c.overAsk && v.allows(s, []*compiled{c}, []*Rule{&c.rule}, false) {
			return true
		}
	}
	return false
}

func (v view) byRule(b Behavior, c *compiled, reason string) Verdict {
	return Verdict{Behavior: b, Reason: reason, Mode: v.mode(), ByRule: true, Rule: &c.Entry}
}

// byMode is the decision where neither a deny nor an ask rule decides: the mode's,
// or that of rules that allow. In the mode plan no rule allows an edit: a plan is
// what the mode is for.
func (v view) byMode(s *subject) Verdict {
	mode := v.mode()
	if mode == ModeBypass {
		return Verdict{Behavior: Allow, Mode: mode}
	}
	r, why := s.row()
	behavior := mode.behavior(r)
	if behavior == Allow {
		return Verdict{Behavior: Allow, Mode: mode}
	}
	if mode != ModePlan || s.class != editing {
		if rule, ok := v.allowed(s); ok {
			return Verdict{Behavior: Allow, Mode: mode, ByRule: true, Rule: rule}
		}
	}
	verb := "needs approval"
	if behavior == Deny {
		verb = "is not allowed"
	}
	return Verdict{Behavior: behavior, Mode: mode, Reason: fmt.Sprintf("%s %s in the mode %s: %s", s.tool, verb, mode, why)}
}

// allowed reports whether rules allow the call. Rule is the one that does, nil if
// it takes several.
func (v view) allowed(s *subject) (rule *Entry, ok bool) {
	rules := v.base.rules.allow
	shellRules := v.base.rules.allowShell
	if more := &v.grants.rules; len(more.allow) > 0 {
		rules = slices.Concat(rules, more.allow)
		shellRules = slices.Concat(shellRules, more.allowShell)
	}
	if len(rules) == 0 {
		return nil, false
	}
	if s.class != shell {
		for _, c := range rules {
			if v.allows(s, []*compiled{c}, nil, true) {
				return &c.Entry, true
			}
		}
	}
	return nil, v.allows(s, rules, shellRules, true)
}

// allows reports whether the rules together allow the call. ReadOnly says that
// commands of a line which only read need no rule.
func (v view) allows(s *subject, rules []*compiled, shellRules []*Rule, readOnly bool) bool {
	if s.missing != "" {
		return false
	}
	if s.class == shell {
		return len(shellRules) > 0 &&
			s.look.allowsScript(s.commands(), shellRules, permits{edits: v.edits(s.look.workspace), readOnly: readOnly})
	}
	for _, c := range rules {
		if c.rule.allows(s) {
			return true
		}
	}
	if s.class == other {
		return false
	}
	targets, ok := s.paths()
	if !ok {
		return false
	}
	named := false // of the targets, one
	for _, t := range targets {
		if s.class != editing && s.look.inside(t) && len(targets) > 1 {
			// A search in a directory whose pattern leads elsewhere: only that takes a rule.
			continue
		}
		named = true
		if s.class == search {
			t = t.child().child() // all that lies below, not the directory alone
		}
		if !allowsTarget(rules, s.look.workspace, s.tool, t) {
			return false
		}
	}
	return named
}

// allowsTarget reports whether path rules name the path as it was given and where
// its links lead. A protected path takes a rule that names what protects it.
func allowsTarget(rules []*compiled, w *workspace, tool string, t target) bool {
	lexical, resolved := false, false
	for _, c := range rules {
		r := &c.rule
		if r.kind != pathSpecifier || !r.names(tool, Allow) || t.protected() && !protectedPath(r.spec) {
			continue
		}
		for i := range r.paths {
			l, d := r.paths[i].permits(w, t)
			lexical, resolved = lexical || l, resolved || d
		}
	}
	return lexical && resolved
}

// edits returns whether a command line may write to a file: where Write may.
func (v view) edits(w *workspace) func(t target) bool {
	mode := v.mode()
	if mode == ModePlan {
		return nil
	}
	return func(t target) bool {
		if mode == ModeAcceptEdits && w.inside(t) && !t.protected() {
			return true
		}
		rules := slices.Concat(v.base.rules.allow, v.grants.rules.allow)
		for _, c := range rules {
			if c.rule.kind == noSpecifier && c.rule.names("Write", Allow) && c.rule.anchored() {
				return true
			}
		}
		return allowsTarget(rules, w, "Write", t)
	}
}

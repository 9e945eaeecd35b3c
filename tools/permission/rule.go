package permission

import (
	"errors"
	"fmt"
	"net/url"
	"path"
	"strings"

	"github.com/dsh-actor/dsh-actor/messages"
)

// Behavior is what a rule does with the calls that it names.
type Behavior string

// Behaviors.
const (
	Allow Behavior = "allow"
	Ask   Behavior = "ask"
	Deny  Behavior = "deny"
)

// narrows reports whether the behavior takes something away. Where it cannot be
// told whether such a rule names a call, it does; of a rule that allows, it does
// not.
func (b Behavior) narrows() bool { return b != Allow }

// Rule is a parsed permission rule: Tool or Tool(specifier). It does not change.
type Rule struct {
	text    string
	tool    string // may have stars if there is no specifier
	spec    string
	kind    specifier
	command commandPattern
	paths   []pathPattern
}

// specifier is what the parentheses of a rule hold.
type specifier int

const (
	noSpecifier specifier = iota
	commandSpecifier
	pathSpecifier
	domainSpecifier
	nameSpecifier   // of a subagent or a skill
	opaqueSpecifier // of a tool whose specifiers are not known here
)

// String returns the rule as it was written, without blanks around it.
func (r *Rule) String() string { return r.text }

// Tool returns the tool that the rule names. It may have stars.
func (r *Rule) Tool() string { return r.tool }

// Specifier returns what the parentheses hold, "" if there are none.
func (r *Rule) Specifier() string { return r.spec }

// ParseRule parses a rule in Claude's syntax. A specifier may hold parentheses; a
// backslash before one takes its meaning away. The error says what is wrong, not
// which rule.
func ParseRule(text string) (Rule, error) {
	r := Rule{text: strings.TrimSpace(text)}
	tool, spec, hasSpec, err := splitRule(r.text)
	if err != nil {
		return Rule{}, err
	}
	r.tool, r.spec = canonical(tool), spec
	if err := checkToolName(tool, hasSpec); err != nil {
		return Rule{}, err
	}
	if !hasSpec {
		return r, nil
	}
	switch c, _ := classOf(r.tool); {
	case c == shell:
		r.kind = commandSpecifier
		r.command, err = parseCommandPattern(spec)
		if r.command.anything() {
			r.kind = noSpecifier
		}
	case c == reading || c == editing || c == search:
		r.kind = pathSpecifier
		r.paths, err = parsePathPatterns(spec)
	case spec == "*":
		r.kind = noSpecifier
	case r.tool == "WebFetch" && strings.HasPrefix(spec, "domain:"):
		r.kind = domainSpecifier
	case r.tool == "Agent" || r.tool == "Skill":
		r.kind = nameSpecifier
		if _, err := path.Match(spec, ""); err != nil {
			return Rule{}, err
		}
	default:
		r.kind = opaqueSpecifier
	}
	if err != nil {
		return Rule{}, err
	}
	return r, nil
}

// splitRule parts tool and specifier.
func splitRule(text string) (tool, spec string, hasSpec bool, err error) {
	if text == "" {
		return "", "", false, errors.New("empty rule")
	}
	open := strings.IndexByte(text, '(')
	if open < 0 {
		if strings.IndexByte(text, ')') >= 0 {
			return "", "", false, errors.New("closing parenthesis without an opening one")
		}
		return text, "", false, nil
	}
	if !strings.HasSuffix(text, ")") || escaped(text, len(text)-1) {
		return "", "", false, errors.New("the rule does not end with a closing parenthesis")
	}
	spec = unescapeParens.Replace(text[open+1 : len(text)-1])
	if strings.TrimSpace(spec) == "" {
		return "", "", false, errors.New("nothing between the parentheses")
	}
	return text[:open], spec, true, nil
}

// escaped reports whether an odd number of backslashes precedes text[i].
func escaped(text string, i int) bool {
	n := 0
	for i > n && text[i-n-1] == '\\' {
		n++
	}
	return n%2 == 1
}

var (
	unescapeParens = strings.NewReplacer(`\(`, `(`, `\)`, `)`)
	escapeParens   = strings.NewReplacer(`(`, `\(`, `)`, `\)`)
)

// checkToolName refuses what is no name of a tool, such as two rules in one.
func checkToolName(name string, hasSpec bool) error {
	if name == "" {
		return errors.New("no tool name")
	}
	for _, c := range name {
		switch {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', strings.ContainsRune("_-.:/@", c), c > 127:
		case c == '*' && !hasSpec:
		default:
			return fmt.Errorf("%q cannot be in the name of a tool", c)
		}
	}
	return nil
}

// SplitRules parts a list of rules as the command line takes it, at commas and
// blanks outside of parentheses.
func SplitRules(list string) (rules []string) {
	depth, begin := 0, 0
	take := func(end int) {
		if rule := strings.TrimSpace(list[begin:end]); rule != "" {
			rules = append(rules, rule)
		}
		begin = end + 1
	}
	for i := 0; i < len(list); i++ {
		switch c := list[i]; {
		case (c == '(' || c == ')') && escaped(list, i):
		case c == '(':
			depth++
		case c == ')' && depth > 0:
			depth--
		case depth == 0 && (c == ',' || c == ' ' || c == '\n' || c == '\t'):
			take(i)
		}
	}
	if begin <= len(list) {
		take(len(list))
	}
	return rules
}

// names reports whether the rule is about the tool. A rule without specifier names
// one tool, all tools of an MCP server (mcp__server), or what its stars stand for.
// A path rule reaches further: Read(...) every tool that reads, and, if it denies,
// every tool that edits, for an edit tells what it replaced; Edit(...) every tool
// that edits.
func (r *Rule) names(tool string, b Behavior) bool {
	tool = canonical(tool)
	if r.tool == tool {
		return true
	}
	switch r.kind {
	case noSpecifier:
		if strings.Contains(r.tool, "*") {
			return matchStars(strings.Split(r.tool, "*"), tool)
		}
		server, mcp := strings.CutPrefix(r.tool, mcpPrefix)
		// mcp__a__b may be a tool of a or, if names hold two underscores, a server.
		return mcp && strings.HasPrefix(tool, r.tool+"__") && (b.narrows() || !strings.Contains(server, "__"))
	case pathSpecifier:
		switch c, _ := classOf(tool); r.tool {
		case "Read":
			return c == reading || c == search || c == editing && b == Deny
		case "Edit":
			return c == editing
		}
	}
	return false
}

// anchored reports whether the rule says which tools it means: by name, or by
// stars behind the name of an MCP server. Only such a rule may allow.
func (r *Rule) anchored() bool {
	head, _, star := strings.Cut(r.tool, "*")
	if !star {
		return true
	}
	server, found := strings.CutPrefix(head, mcpPrefix)
	return found && strings.Index(server, "__") > 0
}

// narrows reports whether a rule that denies or asks is about the call, or could
// be: what it cannot tell counts (conservative, fail closed).
func (r *Rule) narrows(s *subject, b Behavior) bool {
	if r.kind == pathSpecifier && s.class == shell {
		return r.narrowsFiles(s, b)
	}
	if !r.names(s.tool, b) {
		return false
	}
	switch r.kind {
	case commandSpecifier:
		return s.missing == "" && r.command.narrows(s.commands())
	case pathSpecifier:
		return r.narrowsPaths(s)
	case domainSpecifier:
		host, ok := urlHost(s.arguments)
		return !ok || matchDomain(strings.TrimPrefix(r.spec, "domain:"), host)
	case nameSpecifier:
		name, ok := agentName(s.arguments)
		return !ok || matchName(r.spec, name, false)
	}
	return true
}

// narrowsPaths tests a path rule on the paths of a file tool's call.
func (r *Rule) narrowsPaths(s *subject) bool {
	targets, ok := s.paths()
	if !ok && s.missing == "" {
		return true // a path that cannot be judged
	}
	for i := range r.paths {
		for _, t := range targets {
			if r.paths[i].narrows(s.look.workspace, t) {
				return true
			}
			// A search reads what lies below: a rule for all of it is a rule for the search.
			if s.class == search && r.paths[i].narrows(s.look.workspace, t.child()) {
				return true
			}
		}
	}
	return false
}

// child is some file below the target that no pattern names but by wildcards.
func (t target) child() target {
	c := target{lexical: t.lexical + "/\x01"}
	if t.resolved != "" {
		c.resolved = t.resolved + "/\x01"
	}
	return c
}

// allows reports whether a rule that allows covers a call that is no command line
// and no path: those take all rules together.
func (r *Rule) allows(s *subject) bool {
	if !r.names(s.tool, Allow) || !r.anchored() {
		return false
	}
	switch r.kind {
	case noSpecifier:
		return true
	case domainSpecifier:
		host, ok := urlHost(s.arguments)
		return ok && matchDomain(strings.TrimPrefix(r.spec, "domain:"), host)
	case nameSpecifier:
		name, ok := agentName(s.arguments)
		return ok && matchName(r.spec, name, false)
	}
	return false
}

// urlHost returns the host of the call's url.
func urlHost(arguments messages.JSON) (string, bool) {
	text, ok := stringMember(arguments, "url")
	if !ok {
		return "", false
	}
	u, err := url.Parse(text)
	if err != nil || u.Hostname() == "" {
		return "", false
	}
	return strings.TrimSuffix(strings.ToLower(u.Hostname()), "."), true
}

// matchDomain reports whether host is the domain or below *.domain.
func matchDomain(domain, host string) bool {
	domain = strings.ToLower(strings.TrimSpace(domain))
	if strings.Contains(domain, "*") {
		return matchStars(strings.Split(domain, "*"), host)
	}
	return domain == host
}

// agentName returns the name of the subagent or skill that the call is about.
func agentName(arguments messages.JSON) (string, bool) {
	for _, member := range [...]string{"subagent_type", "skill", "command"} {
		if name, ok := stringMember(arguments, member); ok {
			return name, true
		}
	}
	return "", false
}

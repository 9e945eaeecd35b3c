package permission

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParseRule(t *testing.T) {
	for text, want := range map[string]string{
		"Bash":                         "Bash|",
		" Bash ":                       "Bash|",
		"Bash(git *)":                  "Bash|git *",
		`Bash(python -c "print\(1\)")`: `Bash|python -c "print(1)"`,
		"Bash(echo (x))":               "Bash|echo (x)",
		"mcp__srv__tool":               "mcp__srv__tool|",
		"mcp__my-srv":                  "mcp__my-srv|",
		"mcp__*":                       "mcp__*|",
		"Task(explorer)":               "Agent|explorer",
		"WebFetch(domain:go.dev)":      "WebFetch|domain:go.dev",
		"Tool(x\\\\)":                  `Tool|x\\`,
	} {
		r, err := ParseRule(text)
		if err != nil {
			t.Errorf("%q: %v", text, err)
			continue
		}
		if got := r.Tool() + "|" + r.Specifier(); got != want || r.String() != strings.TrimSpace(text) {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
	for text, want := range map[string]string{
		"":                 "empty rule",
		"  ":               "empty rule",
		"Bash(":            "the rule does not end with a closing parenthesis",
		"Bash(git *":       "the rule does not end with a closing parenthesis",
		`Bash(git *\)`:     "the rule does not end with a closing parenthesis",
		"Bash(git *) x":    "the rule does not end with a closing parenthesis",
		"Bash(git *)|Read": "the rule does not end with a closing parenthesis",
		"Bash()":           "nothing between the parentheses",
		"Bash( )":          "nothing between the parentheses",
		"(x)":              "no tool name",
		"Bash)":            "closing parenthesis without an opening one",
		"Bash Read":        `' ' cannot be in the name of a tool`,
		"Bash,Read":        `',' cannot be in the name of a tool`,
		"Bash|Read":        `'|' cannot be in the name of a tool`,
		"Ba*(x)":           `'*' cannot be in the name of a tool`,
		"Bash(:*)":         "no command",
		"Bash(\x01)":       "control characters",
		"Read(!x)":         "a path rule cannot be negated",
		"Read([)":          "syntax error in pattern",
		"Read(a/../b)":     ".. in the middle of a path rule",
		"Agent([)":         "syntax error in pattern",
	} {
		if r, err := ParseRule(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %+v, %v; want %q", text, r, err, want)
		}
	}
}

// --allowedTools and --disallowedTools take lists.
func TestSplitRules(t *testing.T) {
	for list, want := range map[string][]string{
		"":                              nil,
		" , ,":                          nil,
		"Read":                          {"Read"},
		"Read,Edit Write\nGlob":         {"Read", "Edit", "Write", "Glob"},
		"Bash(git log *) Read":          {"Bash(git log *)", "Read"},
		"Bash(git log:*),Edit(*.{a,b})": {"Bash(git log:*)", "Edit(*.{a,b})"},
		"Bash(f (x, y)),Read":           {"Bash(f (x, y))", "Read"},
		`Bash(echo \)),Read`:            {`Bash(echo \))`, "Read"},
		"Bash(a":                        {"Bash(a"},
		"a) b":                          {"a)", "b"},
	} {
		if diff := cmp.Diff(want, SplitRules(list)); diff != "" {
			t.Errorf("%q (-want +got):\n%s", list, diff)
		}
	}
}

// Which tools a rule without specifier names.
func TestRuleNamesTool(t *testing.T) {
	for _, c := range []struct {
		rule, tool string
		narrows    bool
		allows     bool
	}{
		{"Bash", "Bash", true, true}, {"Bash", "BashOutput", false, false}, {"bash", "Bash", false, false},
		{"mcp__srv", "mcp__srv__echo", true, true}, {"mcp__srv", "mcp__srv", true, true}, {"mcp__srv", "mcp__srv2__echo", false, false},
		{"mcp__srv__*", "mcp__srv__echo", true, true}, {"mcp__srv__*", "mcp__srv2__echo", false, false}, {"mcp__srv__e*", "mcp__srv__echo", true, true},
		{"mcp__srv__echo", "mcp__srv__echo", true, true}, {"mcp__srv__echo", "mcp__srv__echo2", false, false}, {"mcp__srv__echo", "mcp__srv__echo__x", true, false},
		{"mcp__*", "mcp__srv__echo", true, false}, {"mcp__*", "Bash", false, false}, {"*", "Bash", true, false}, {"*", "mcp__srv__echo", true, false},
		{"mcp__*__echo", "mcp__srv__echo", true, false}, {"mcp____*", "mcp____x", true, false}, {"Task", "Agent", true, true}, {"Agent", "Task", true, true},
		{"Read", "Grep", false, false}, {"Edit", "Write", false, false}, {"Ba*", "Bash", true, false},
	} {
		r, err := ParseRule(c.rule)
		if err != nil {
			t.Fatal(err)
		}
		s := newSubject(c.tool, `{"command":"ls","file_path":"/x"}`, newWorkspace("/", "", "", "", nil, false))
		if got := r.narrows(s, Deny); got != c.narrows {
			t.Errorf("%s narrows %s: %v", c.rule, c.tool, got)
		}
		if got := r.allows(s); got != c.allows {
			t.Errorf("%s allows %s: %v", c.rule, c.tool, got)
		}
	}
}

// Specifiers of tools that are neither commands nor paths.
func TestOtherSpecifiers(t *testing.T) {
	w := newWorld(t)
	for _, c := range []struct {
		rule, call string
		want       Behavior
	}{
		{"allow WebFetch(domain:go.dev)", `WebFetch {"url":"https://go.dev/x"}`, Allow},
		{"allow WebFetch(domain:go.dev)", `WebFetch {"url":"https://GO.dev:443"}`, Allow},
		{"allow WebFetch(domain:go.dev)", `WebFetch {"url":"https://pkg.go.dev/x"}`, Ask},
		{"allow WebFetch(domain:go.dev)", `WebFetch {"url":"https://go.dev@evil.com/"}`, Ask},
		{"allow WebFetch(domain:go.dev)", `WebFetch {"url":"https://evil.com/go.dev"}`, Ask},
		{"allow WebFetch(domain:*.go.dev)", `WebFetch {"url":"https://pkg.go.dev/x"}`, Allow},
		{"allow WebFetch(domain:*.go.dev)", `WebFetch {"url":"https://go.dev.evil.com"}`, Ask},
		{"allow WebFetch(domain:go.dev)", `WebFetch {"url":"::"}`, Ask},
		{"allow WebFetch(domain:go.dev)", `WebFetch`, Ask},
		{"deny WebFetch(domain:evil.com)", `WebFetch {"url":"https://evil.com./x"}`, Deny},
		{"deny WebFetch(domain:evil.com)", `WebFetch {"url":"https://go.dev"}`, Ask},
		{"deny WebFetch(domain:evil.com)", `WebFetch {"url":"::"}`, Deny}, // cannot be judged
		{"allow Agent(explore*)", `Agent {"subagent_type":"explorer"}`, Allow},
		{"allow Agent(explorer)", `Task {"subagent_type":"explorer"}`, Allow},
		{"allow Agent(explorer)", `Agent {"subagent_type":"writer"}`, Ask},
		{"allow Agent(explorer)", `Agent`, Ask},
		{"deny Agent(explorer)", `Agent`, Deny},
		{"allow Skill(deploy)", `Skill {"skill":"deploy"}`, Allow},
		{"allow Other(x)", `Other {"x":"x"}`, Ask},
		{"deny Other(x)", `Other {"x":"y"}`, Deny}, // cannot be judged
		{"deny Other(x)", `Bash ls`, Allow},
		{"allow Other(*)", `Other`, Allow},
		{"allow TodoWrite", `TodoWrite`, Allow},
	} {
		if v := w.explain(w.policy(ModeDefault, c.rule), c.call); v.Behavior != c.want {
			t.Errorf("%s, %s: %s, want %s", c.rule, c.call, v.Behavior, c.want)
		}
	}
}

func TestCommandPattern(t *testing.T) {
	for _, c := range []struct {
		pattern, text string
		want          bool
	}{
		{"git *", "git", true}, {"git *", "git x", true}, {"git *", "gitk", false}, {"git *", "git  x", true}, {"git:*", "git x", true}, {"git:*", "git", true},
		{"git:*", "git:x", false}, {"git*", "gitk", true}, {"git*", "git", true}, {"git", "git x", false}, {"* x", "a x", true}, {"* x", "x", false}, {"a * b", "a b", false},
		{"a * b", "a x b", true}, {"a*b*c", "abc", true}, {"a*b*c", "axxbyyc", true}, {"a*b*c", "acb", false}, {"a*a", "a", false}, {"a*a", "aa", true}, {"**", "x", true},
		{`a \*`, "a *", true}, {`a \*`, "a b", false}, {`a \\*`, `a \b`, true}, {"git:* x", "git:y x", true}, {"a * *", "a", false}, {"a * *", "a b", true},
	} {
		p, err := parseCommandPattern(c.pattern)
		if err != nil {
			t.Fatal(err)
		}
		if got := p.covers(c.text); got != c.want {
			t.Errorf("%q covers %q: %v", c.pattern, c.text, got)
		}
		if c.want && !p.could(c.text) {
			t.Errorf("%q could not be %q", c.pattern, c.text)
		}
	}
	// What a word may expand to.
	for _, c := range []struct {
		pattern, text string
		want          bool
	}{
		{"rm *", "\x03", true}, {"rm *", "\x02", true}, {"rm *", "\x02 x", true}, {"rm x", "r\x02 x", true}, {"rm x", "rm\x03x", true}, {"rm x", "rm\x02x", false},
		{"rm *", "\x02/rm x", false}, {"rm *", "ls \x03", false}, {"rm *", "echo\x01rm x", false}, {"rm x", "rm\x01x", true}, {"a*b", "\x02b", true}, {"a*b", "x\x03", false},
		{"git push", "git \x02", true}, {"git push", "\x02 \x02", true}, {"git push", "\x02", false}, {"git push", "\x03", true}, {"", "x", false},
	} {
		if c.pattern == "" {
			continue
		}
		p, err := parseCommandPattern(c.pattern)
		if err != nil {
			t.Fatal(err)
		}
		if got := p.could(c.text); got != c.want {
			t.Errorf("%q could be %q: %v", c.pattern, c.text, got)
		}
		if p.covers(c.text) && !strings.Contains(c.pattern, "*") {
			t.Errorf("%q covers %q", c.pattern, c.text)
		}
	}
}

// Which variables may be set before a command that a rule allows.
func TestHarmlessVariables(t *testing.T) {
	for _, name := range []string{"FOO", "NODE_ENV", "CI", "DEBUG", "GOOS", "PORT", "LANG", "TZ", "NO_COLOR", "RUST_LOG", "VERBOSE"} {
		if !harmless(assignment{name, true}) {
			t.Errorf("%s is refused", name)
		}
	}
	for _, name := range []string{
		"PATH", "path", "LD_PRELOAD", "LD_LIBRARY_PATH", "DYLD_INSERT_LIBRARIES", "BASH_ENV", "ENV", "IFS", "SHELL", "SHELLOPTS", "PS4", "PROMPT_COMMAND",
		"GIT_SSH", "GIT_SSH_COMMAND", "GIT_EXTERNAL_DIFF", "GIT_CONFIG_COUNT", "GIT_DIR", "EDITOR", "VISUAL", "PAGER", "MANPAGER", "BROWSER", "LESSOPEN",
		"NODE_OPTIONS", "NODE_PATH", "NPM_CONFIG_SCRIPT_SHELL", "npm_config_script_shell", "PYTHONPATH", "PYTHONSTARTUP", "PYTHONHOME", "PERL5OPT", "PERL5LIB",
		"RUBYOPT", "RUBYLIB", "JAVA_TOOL_OPTIONS", "_JAVA_OPTIONS", "CLASSPATH", "MAVEN_OPTS", "GOFLAGS", "GOPROXY", "GOTOOLCHAIN", "CC", "CFLAGS", "LDFLAGS",
		"RUSTC_WRAPPER", "CARGO_HOME", "MAKEFLAGS", "HOME", "XDG_CONFIG_HOME", "http_proxy", "HTTPS_PROXY", "SSH_ASKPASS", "RSYNC_RSH", "CVS_RSH", "TAR_OPTIONS",
		"OPENSSL_CONF", "DOCKER_HOST", "KUBECONFIG", "AWS_CONFIG_FILE", "PHPRC", "GCONV_PATH", "FZF_DEFAULT_COMMAND", "INPUTRC",
	} {
		if harmless(assignment{name, true}) {
			t.Errorf("%s is harmless", name)
		}
	}
	if harmless(assignment{"FOO", false}) {
		t.Error("an element of an array is harmless")
	}
}

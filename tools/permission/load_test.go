package permission

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// write makes a settings file.
func (w world) write(name, text string) {
	w.t.Helper()
	w.file(name)
	if err := os.WriteFile(w.path(name), []byte(w.expand(text)), 0o600); err != nil {
		w.t.Fatal(err)
	}
}

// load makes the policy of settings files, and what is told of it.
func (w world) load(o LoadOptions) (*Policy, []string, error) {
	w.t.Helper()
	o.Home, o.ProjectDir = w.home, w.work
	cfg, diags, err := Load(o)
	if err != nil {
		return nil, nil, err
	}
	p, err := New(cfg)
	if err != nil {
		w.t.Fatal(err)
	}
	var lines []string
	for _, d := range append(diags, p.Diagnostics()...) {
		lines = append(lines, filepath.ToSlash(strings.ReplaceAll(d.String(), w.top, "TOP")))
	}
	return p, lines, nil
}

// Oracle section 10: the layers join, and the most specific mode holds.
func TestLoad(t *testing.T) {
	w := newWorld(t)
	w.write("home/.claude/settings.json", `{"permissions":{"deny":["Bash(rm *)"],"allow":["Bash(make *)"],"defaultMode":"plan"}}`)
	w.write("work/.claude/settings.json", `{"permissions":{"ask":["Bash(git push *)"],"additionalDirectories":["../extra"]}}`)
	w.write("work/.claude/settings.local.json", `{"permissions":{"defaultMode":"acceptEdits"}}`)
	p, diags, err := w.load(LoadOptions{Settings: `{"permissions":{"allow":["mcp__srv"]}}`, Allowed: []string{"WebFetch"}, Disallowed: []string{"Grep"}})
	if err != nil || diags != nil {
		t.Fatal(err, diags)
	}
	for call, want := range map[string]Behavior{
		"Bash rm x": Deny, "Bash make": Allow, "Bash git push": Ask, "Read TOP/extra/e.txt": Allow, "Write a.txt": Allow, "mcp__srv__x": Allow,
		"WebFetch": Allow, "Grep": Deny, "Bash npm x": Ask,
	} {
		if v := w.explain(p, call); v.Behavior != want {
			t.Errorf("%s: %s, want %s", call, v.Behavior, want)
		}
	}
	want := "permission to use Bash is denied by the rule Bash(rm *) (TOP/home/.claude/settings.json:1:25)"
	if got := strings.ReplaceAll(w.explain(p, "Bash rm x").Reason, w.top, "TOP"); filepath.ToSlash(got) != want {
		t.Errorf("reason %q, want %q", got, want)
	}
	if v := w.explain(p, "Bash rm x"); !v.ByRule || v.Rule == nil || v.Rule.Origin.Pointer != "/permissions/deny/0" {
		t.Errorf("verdict %+v", v)
	}
	if p.Mode("s-1") != ModeAcceptEdits {
		t.Errorf("mode %s", p.Mode("s-1"))
	}
	if p, _, err = w.load(LoadOptions{Mode: "dontAsk", Sources: []string{"user"}}); err != nil || p.Mode("") != ModeDontAsk {
		t.Errorf("mode %v, %v", p, err)
	}
	if v := w.explain(p, "Bash git push"); v.ByRule {
		t.Errorf("an unselected source counts: %v", v)
	}
}

// A rule that is not in force is told with file, pointer, rule and cause.
func TestDiagnostics(t *testing.T) {
	w := newWorld(t)
	w.write("work/.claude/settings.json", `{
  "permissions": {
    "deny": ["Bash(rm *", "Other(x)", "bash(rm *)", 7],
    "ask": ["", "mcp__*"],
    "allow": ["*", "Other(y)", "Bash(ls *)"],
    "defaultMode": "auto"
  }
}`)
	p, diags, err := w.load(LoadOptions{Allowed: []string{"Bash("}})
	if err != nil {
		t.Fatal(err)
	}
	const file = "TOP/work/.claude/settings.json"
	if diff := cmp.Diff([]string{
		file + ":3:53: error: a rule must be a string, not a number; it is not in force (/permissions/deny/3)",
		file + ":6:20: error: unknown permission mode \"auto\" ([default acceptEdits plan dontAsk bypassPermissions]); the mode is default (/permissions/defaultMode)",
		file + ":3:14: error: deny rule \"Bash(rm *\": malformed rule: the rule does not end with a closing parenthesis; it is not in force, and what it was to deny is not held back (/permissions/deny/0)",
		file + ":3:27: error: deny rule \"Other(x)\": Other takes no specifier that is known here; the rule is for every call of it (/permissions/deny/1)",
		file + ":3:39: error: deny rule \"bash(rm *)\": bash takes no specifier that is known here; the rule is for every call of it (/permissions/deny/2)",
		file + ":3:39: warning: deny rule \"bash(rm *)\": there is no tool \"bash\"; \"Bash\" is written so (/permissions/deny/2)",
		file + ":4:13: error: ask rule \"\": malformed rule: empty rule; it is not in force, and what it was to ask is not held back (/permissions/ask/0)",
		file + ":5:15: error: allow rule \"*\": a rule that allows must name its tool, or the server of MCP tools (mcp__server__*); it allows nothing (/permissions/allow/0)",
		file + ":5:20: error: allow rule \"Other(y)\": Other takes no specifier that is known here; the rule allows nothing (/permissions/allow/1)",
		"--allowedTools: error: allow rule \"Bash(\": malformed rule: the rule does not end with a closing parenthesis; it is not in force, and it allows nothing",
	}, diags); diff != "" {
		t.Errorf("diagnostics (-want +got):\n%s", diff)
	}
	// The malformed deny rule names nothing; the others are in force.
	for call, want := range map[string]Behavior{"Bash rm x": Ask, "Other": Deny, "mcp__srv__x": Ask, "Bash ls": Allow} {
		if v := w.explain(p, call); v.Behavior != want {
			t.Errorf("%s: %s, want %s", call, v.Behavior, want)
		}
	}
}

// Strict makes such a rule fatal.
func TestStrict(t *testing.T) {
	for _, rule := range []Entry{{Behavior: Deny, Rule: "Bash("}, {Behavior: "x", Rule: "Bash"}, {Behavior: Allow, Rule: "*"}} {
		if _, err := New(Config{Rules: []Entry{rule}, Strict: true}); err == nil {
			t.Errorf("%v is accepted", rule)
		}
		if p, err := New(Config{Rules: []Entry{rule}}); err != nil || len(p.Diagnostics()) != 1 {
			t.Errorf("%v: %v", rule, err)
		}
	}
	if _, err := New(Config{Rules: []Entry{{Behavior: Deny, Rule: "bash"}}, Strict: true}); err != nil {
		t.Errorf("a warning is fatal: %v", err)
	}
}

func TestLoadRefuses(t *testing.T) {
	w := newWorld(t)
	w.write("work/.claude/settings.json", `{"permissions":{"disableBypassPermissionsMode":"disable","defaultMode":"bypassPermissions"}}`)
	for want, o := range map[string]LoadOptions{
		"settings file not found":              {Settings: "missing.json"},
		"unknown source":                       {Sources: []string{"everything"}},
		`unknown permission mode "x"`:          {Mode: "x"},
		`mode "bypassPermissions" is disabled`: {Mode: "bypassPermissions"},
	} {
		if _, _, err := w.load(o); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v, want %s", o, err, want)
		}
	}
	p, diags, err := w.load(LoadOptions{})
	if err != nil || p.Mode("") != ModeDefault || len(diags) != 1 {
		t.Errorf("%v, %v, %v", p, diags, err)
	}
	if p.SetMode("s-1", ModeBypass) == nil {
		t.Error("a forbidden mode is accepted")
	}
}

// Replace changes what holds; what a session was granted stays.
func TestReplace(t *testing.T) {
	w := newWorld(t)
	p := w.policy(ModeDefault)
	if err := p.Apply("s-1", Update{Type: AddRules, Rules: []string{"Bash(npm *)"}}); err != nil {
		t.Fatal(err)
	}
	if err := p.SetMode("s-1", ModeBypass); err != nil {
		t.Fatal(err)
	}
	if err := p.Replace(w.config("nonsense")); err == nil {
		t.Fatal("a bad config is accepted")
	}
	cfg := w.config(ModePlan, "deny Read(a.txt)")
	cfg.DisableBypass = true
	if err := p.Replace(cfg); err != nil {
		t.Fatal(err)
	}
	cfg.Rules[0].Rule = "changed by the caller"
	if got := p.Mode("s-1"); got != ModePlan {
		t.Errorf("a session keeps a mode that is forbidden now: %s", got)
	}
	for call, want := range map[string]Behavior{"Read a.txt": Deny, "Bash npm x": Allow, "Bash make": Deny} {
		if v := w.explain(p, call); v.Behavior != want {
			t.Errorf("%s: %s, want %s", call, v.Behavior, want)
		}
	}
}

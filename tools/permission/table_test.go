package permission

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/dsh-actor/dsh-actor/messages"
	"github.com/dsh-actor/dsh-actor/pipeline"
)

// SPEC table P, cell by cell, through the pipeline: the decision that reaches the
// outermost listener, and what becomes of the call when nobody answers (P-9).
func TestTableP(t *testing.T) {
	const (
		allow = "allow"
		ask   = "ask"
		deny  = "deny"
	)
	rows := []struct {
		name  string
		calls []string
		want  [5]string // default, acceptEdits, plan, dontAsk, bypassPermissions
	}{
		{
			"reads in the workspace",
			[]string{
				"Read TOP/work/a.txt", "Read a.txt", "Read new.txt", "Read .git/config", "Glob src", "Glob {}", `Glob {"pattern":"**/*.go"}`,
				`Glob {"pattern":"src/*.go","path":"TOP/work"}`, "Grep TOP/work", `Grep {"pattern":"/etc/x","glob":"*.go"}`, "Bash ls -la", "Bash git status && git diff | head",
			},
			[5]string{allow, allow, allow, allow, allow},
		},
		{
			"edits in the workspace",
			[]string{"Write TOP/work/new/deep/file", "Write a.txt", "Edit src/main.go", "Edit TOP/work/src/../a.txt"},
			[5]string{ask, allow, deny, deny, allow},
		},
		{
			"everything else",
			[]string{
				"Bash npm test", "Bash ls > x", "Bash cat /etc/passwd", "Bash echo $(rm x)", "Bash echo )", "Bash ", `Bash {"command":1}`, `Bash {"cmd":"ls"}`,
				"mcp__srv__echo", "WebFetch", "Read TOP/out/secret.txt", "Read ../out/secret.txt", "Read /etc/passwd", "Read ~/.ssh/id", "Read ", `Read {"path":"a.txt"}`,
				"Read src/../../out/secret.txt", "Glob ..", "Glob /", `Glob {"pattern":"/etc/*"}`, `Glob {"pattern":"../**"}`, `Glob {"pattern":"~/*"}`,
				`Glob {"pattern":"src/*/../../../*"}`, `Glob {"pattern":"{/etc,src}/*"}`, "Grep TOP/out", "Grep TOP", "Write TOP/out/x", "Edit ../x", "Write /etc/passwd",
				"Write .git/config", "Write .git/hooks/pre-commit", "Edit .GIT/config", "Write src/.git", "Write .claude/settings.json", "Edit .claude/settings.local.json",
				"Write src/.claude/settings.json",
			},
			[5]string{ask, ask, deny, deny, allow},
		},
	}
	modes := []Mode{ModeDefault, ModeAcceptEdits, ModePlan, ModeDontAsk, ModeBypass}
	for i, mode := range modes {
		s := newStand(t)
		s.install(s.config(mode))
		var decision messages.PreToolDecision
		s.pipeline.Seams().PreExecute.Use(func(ctx context.Context, _ *pipeline.Call, next nextPre) (d messages.PreToolDecision, err error) {
			decision, err = next(ctx)
			return decision, err
		}, pipeline.Prepend())
		for _, r := range rows {
			for _, call := range r.calls {
				result := s.run(call)
				got, reason := allow, ""
				switch d := decision.(type) {
				case messages.ToolDeny:
					got, reason = deny, d.Reason
				case messages.ToolAsk:
					got, reason = ask, d.Reason
					if d.Origin != messages.AskByMode {
						t.Errorf("%s, %s: origin %q", mode, call, d.Origin)
					}
				}
				if got != r.want[i] {
					t.Errorf("%s, %s, %s: %s, want %s (%s)", mode, r.name, call, got, r.want[i], reason)
				}
				// Nobody answers: an ask is denied with its reason (P-9, Z-50).
				want := "ran"
				if got != allow {
					want = reason
					if reason == "" {
						t.Errorf("%s, %s: no reason", mode, call)
					}
				}
				if result != want {
					t.Errorf("%s, %s: result %q, want %q", mode, call, result, want)
				}
			}
		}
	}
}

// SPEC table P: mode by tool by rule. Deny rules are stronger than everything,
// bypassPermissions included; ask rules than allow rules and than the mode; allow
// rules than the mode, but for edits in the mode plan.
func TestRulesAndModes(t *testing.T) {
	calls := map[string]string{ // a call, and a rule that names it
		"Read a.txt":           "Read(a.txt)",
		"Read /etc/passwd":     "Read(//etc/passwd)",
		"Write a.txt":          "Edit(a.txt)",
		"Edit src/main.go":     "Edit(src/**)",
		"Write TOP/out/x":      "Write(//TOP/out/*)",
		"Write .git/config":    "Edit(.git/**)",
		"Bash ls":              "Bash(ls *)",
		"Bash npm test":        "Bash(npm test)",
		"Bash git push origin": "Bash(git push:*)",
		"mcp__srv__echo":       "mcp__srv",
		"Grep TOP/out":         "Read(//TOP/out/**)",
		"WebFetch {\"url\":\"https://go.dev/x\"}": "WebFetch(domain:go.dev)",
	}
	w := newWorld(t)
	for call, rule := range calls {
		for _, mode := range Modes() {
			explain := func(rules ...string) Behavior { return w.explain(w.policy(mode, rules...), call).Behavior }
			byMode := explain()
			edits := strings.HasPrefix(call, "Write") || strings.HasPrefix(call, "Edit")
			allowed := Allow
			if mode == ModePlan && edits {
				allowed = byMode
			}
			asked := Ask
			if mode == ModeDontAsk {
				asked = Deny
			}
			if byMode != Allow {
				asked = byMode // the mode asks or denies already
			}
			askedAllowed := Ask
			switch {
			case mode == ModeDontAsk:
				askedAllowed = Deny
			case allowed != Allow:
				askedAllowed = allowed
			}
			for _, c := range []struct {
				rules []string
				want  Behavior
			}{
				{[]string{"deny " + rule}, Deny},
				{[]string{"ask " + rule}, asked},
				{[]string{"allow " + rule}, allowed},
				{[]string{"deny " + rule, "ask " + rule}, Deny},
				{[]string{"deny " + rule, "allow " + rule}, Deny},
				{[]string{"ask " + rule, "allow " + rule}, askedAllowed},
				{[]string{"allow " + rule, "ask " + rule, "deny " + rule}, Deny},
				{[]string{"allow Other", "ask Other", "deny Other"}, byMode},
			} {
				if got := explain(c.rules...); got != c.want {
					t.Errorf("%s, %s, %v: %s, want %s", mode, call, c.rules, got, c.want)
				}
			}
		}
	}
}

// SPEC table P, Z-35, Z-40: ask rules are outermost, bridges stand between, the
// mode is innermost, deny rules are guards.
func TestOrder(t *testing.T) {
	once := func(context.Context, Question) (Answer, error) { return Answer{Kind: AnswerOnce}, nil }
	for _, c := range []struct {
		name  string
		mode  Mode
		rules []string
		hook  messages.PreToolDecision // of a bridge that was there before
		late  messages.PreToolDecision // of a listener that came after
		asker Asker
		call  string
		want  string
	}{
		{name: "a hook's allow pre-approves against the mode", mode: ModeDontAsk, hook: messages.ToolAllow{}, call: "Bash npm test", want: "ran"},
		{
			name: "but not against an ask rule", mode: ModeBypass, rules: []string{"ask Bash(npm *)"}, hook: messages.ToolAllow{}, call: "Bash npm test",
			want: "Bash needs approval by the rule Bash(npm *)",
		},
		{
			name: "nor against a deny rule", mode: ModeBypass, rules: []string{"deny Bash(npm *)"}, hook: messages.ToolAllow{}, call: "Bash npm test",
			want: "permission to use Bash is denied by the rule Bash(npm *)",
		},
		{name: "a hook's denial stands", mode: ModeBypass, rules: []string{"allow Bash"}, hook: messages.ToolDeny{Reason: "no"}, call: "Bash ls", want: "no"},
		{name: "a hook's ask stands", mode: ModeBypass, rules: []string{"allow Bash"}, hook: messages.ToolAsk{Reason: "sure?", Origin: messages.AskByHook}, call: "Bash ls", want: "sure?"},
		{
			name: "an approval does not lift a deny rule", mode: ModeDefault, rules: []string{"deny Bash(npm *)"}, asker: once,
			hook: messages.ToolAsk{Origin: messages.AskByHook}, call: "Bash npm test", want: "permission to use Bash is denied by the rule Bash(npm *)",
		},
		{name: "an approval lifts an ask rule", mode: ModeBypass, rules: []string{"ask Bash(npm *)"}, asker: once, call: "Bash npm test", want: "ran"},
		{name: "an approval lifts the mode's ask", mode: ModeDefault, asker: once, call: "Bash npm test", want: "ran"},
		{name: "nobody is asked in dontAsk", mode: ModeDontAsk, asker: once, call: "Bash npm test", want: "Bash is not allowed in the mode dontAsk: the command is not read-only: npm is not known to be read-only"},
		{
			name: "nor by an ask rule", mode: ModeDontAsk, rules: []string{"ask Bash(npm *)", "allow Bash"}, asker: once, call: "Bash npm test",
			want: "Bash needs approval by the rule Bash(npm *), and nobody is asked in the mode dontAsk",
		},
		{name: "a later listener's allow does not pre-approve", mode: ModeDontAsk, late: messages.ToolAllow{}, call: "Bash npm test", want: "Bash is not allowed in the mode dontAsk: the command is not read-only: npm is not known to be read-only"},
		{name: "but its denial stands", mode: ModeBypass, late: messages.ToolDeny{Reason: "no"}, call: "Bash ls", want: "no"},
		{name: "and its ask", mode: ModeBypass, late: messages.ToolAsk{Reason: "sure?", Origin: messages.AskByHook}, call: "Bash ls", want: "sure?"},
		{name: "unless the mode denies", mode: ModePlan, late: messages.ToolAsk{Reason: "sure?"}, call: "Write a.txt", want: "Write is not allowed in the mode plan: it changes a.txt"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newStand(t)
			if c.hook != nil {
				s.decide(c.hook)
			}
			cfg := s.config(c.mode, c.rules...)
			asked := 0
			if c.asker != nil {
				cfg.Asker = func(ctx context.Context, q Question) (Answer, error) {
					asked++
					return c.asker(ctx, q)
				}
			}
			s.install(cfg)
			if c.late != nil {
				s.decide(c.late)
			}
			if got := s.run(c.call); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
			if c.want != "ran" && asked > 0 {
				t.Error("a person was asked in vain")
			}
		})
	}
}

// A failing listener inside fails the call, as the pipeline says (P-14).
func TestListenerFailurePasses(t *testing.T) {
	s := newStand(t)
	s.install(s.config(ModeBypass, "ask Bash"))
	s.pipeline.Seams().PreExecute.Use(func(context.Context, *pipeline.Call, nextPre) (messages.PreToolDecision, error) {
		return nil, fmt.Errorf("boom")
	})
	if got := s.run("Bash ls"); got != "boom" {
		t.Errorf("got %q", got)
	}
}

// Removing the policy removes all of it; a second installation beside the first
// changes nothing.
func TestInstallTwiceAndRemove(t *testing.T) {
	s := newStand(t)
	p, err := New(s.config(ModePlan, "deny Bash(ls *)", "ask Read(a.txt)"))
	if err != nil {
		t.Fatal(err)
	}
	first := p.Install(s.pipeline)
	second := p.Install(s.pipeline)
	check := func() {
		t.Helper()
		for call, want := range map[string]string{
			"Bash ls": "permission to use Bash is denied by the rule Bash(ls *)", "Read a.txt": "Read needs approval by the rule Read(a.txt)",
			"Write a.txt": "Write is not allowed in the mode plan: it changes a.txt", "Bash pwd": "ran",
		} {
			if got := s.run(call); got != want {
				t.Errorf("%s: %q, want %q", call, got, want)
			}
		}
	}
	check()
	first()
	check()
	second()
	second()
	for _, call := range []string{"Bash ls", "Read a.txt", "Write a.txt"} {
		if got := s.run(call); got != "ran" {
			t.Errorf("%s after the removal: %q", call, got)
		}
	}
	if _, err := Install(s.pipeline, Config{Mode: "x"}); err == nil || !strings.Contains(err.Error(), `unknown permission mode "x"`) {
		t.Errorf("got %v", err)
	}
	remove, err := Install(s.pipeline, s.config(ModeBypass, "deny Bash"))
	if err != nil {
		t.Fatal(err)
	}
	if got := s.run("Bash ls"); got == "ran" {
		t.Error("not installed")
	}
	remove()
}

// Relative paths begin where the shell is, if the host says so.
func TestCwdOfCall(t *testing.T) {
	s := newStand(t)
	cfg := s.config(ModeDontAsk)
	cwd := ""
	cfg.Cwd = func(*pipeline.Call) string { return cwd }
	s.install(cfg)
	for dir, want := range map[string]string{
		"":               "ran",
		s.path("work"):   "ran",
		s.path("out"):    "Bash is not allowed in the mode dontAsk: the command is not read-only: src/main.go is outside of the workspace",
		s.path("out/no"): "Bash is not allowed in the mode dontAsk: the command is not read-only: src/main.go is outside of the workspace",
	} {
		cwd = dir
		if got := s.run("Bash cat src/main.go"); got != want {
			t.Errorf("in %s: %q", dir, got)
		}
	}
	cwd = s.path("work/src")
	if got := s.run("Bash cat ../a.txt"); got != "ran" {
		t.Errorf("a relative path does not begin at the shell's directory: %q", got)
	}
	// A deny rule of the project holds wherever the shell is.
	s2 := newStand(t)
	cfg = s2.config(ModeBypass, "deny Read(secrets/**)")
	cfg.Cwd = func(*pipeline.Call) string { return s2.path("work/secrets") }
	s2.install(cfg)
	if got := s2.run("Read key.pem"); got == "ran" {
		t.Error("a change of directory disarmed a deny rule")
	}
}

// A call without a session has no workspace, and no person to ask.
func TestCallWithoutAgent(t *testing.T) {
	s := newStand(t)
	s.install(Config{Asker: func(context.Context, Question) (Answer, error) { return Answer{Kind: AnswerOnce}, nil }})
	r := s.pipeline.Execute(t.Context(), pipeline.Input{ID: "c", Name: "Read", Arguments: `{"file_path":"a.txt"}`})
	if want := `tool "Read" requires approval, but the call has no agent to route it through`; r.Message() != want {
		t.Errorf("got %q, want %q", r.Message(), want)
	}
}

package permission

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"github.com/dsh-actor/dsh-actor/messages"
)

// draws of rules and calls that have to do with each other.
var (
	drawTool = rapid.SampledFrom([]string{"Bash", "Read", "Write", "Edit", "Grep", "Glob", "mcp__srv__echo", "WebFetch", "Other"})
	drawWord = rapid.SampledFrom([]string{"git", "push", "rm", "-rf", "ls", "*", "cat", "a.txt", ".env", "src", "$X", "$(rm x)", "'a b'", "FOO=1", "../out", ">", "2>&1", "echo"})
	drawJoin = rapid.SampledFrom([]string{" ", " ", " ", " && ", "; ", " | ", "\n", " || ", ""})
	drawPath = rapid.SampledFrom([]string{"a.txt", ".env", "src/main.go", "src/**", "*.go", "*", "**", "secrets/**", "//**", "/src/*", "~/x", "../out/**", "[ab].txt", ".git/config", "src", "", "\x00"})
	drawMode = rapid.SampledFrom(Modes())
)

func drawCommand(t *rapid.T, label string) string {
	text := ""
	for range rapid.IntRange(0, 5).Draw(t, label+" words") {
		text += drawWord.Draw(t, label) + drawJoin.Draw(t, label)
	}
	return text
}

func drawRule(t *rapid.T) string {
	tool := drawTool.Draw(t, "rule's tool")
	if rapid.IntRange(0, 3).Draw(t, "bare") == 0 {
		return tool
	}
	switch c, _ := classOf(tool); c {
	case shell:
		return "Bash(" + drawCommand(t, "rule") + ")"
	case other:
		return rapid.SampledFrom([]string{"mcp__srv", "mcp__*", "*", "WebFetch(domain:x)", "Other(x)", "Bash("}).Draw(t, "rule")
	}
	return tool + "(" + drawPath.Draw(t, "rule's path") + ")"
}

func drawRules(t *rapid.T) (rules []Entry) {
	for range rapid.IntRange(0, 5).Draw(t, "rules") {
		b := rapid.SampledFrom([]Behavior{Allow, Ask, Deny}).Draw(t, "behavior")
		rules = append(rules, Entry{Behavior: b, Rule: drawRule(t)})
	}
	return rules
}

func drawRequest(t *rapid.T, w world) Request {
	tool := drawTool.Draw(t, "tool")
	r := Request{Session: "s-1", Tool: tool, Cwd: w.work}
	switch c, _ := classOf(tool); c {
	case shell:
		r.Arguments = arguments(tool, drawCommand(t, "command"))
	case other:
		r.Arguments = messages.JSON(rapid.SampledFrom([]string{"{}", `{"url":"https://x/"}`, "[]", `"text"`}).Draw(t, "arguments"))
	default:
		r.Arguments = arguments(tool, drawPath.Draw(t, "path"))
	}
	return r
}

// strictness orders verdicts.
func strictness(b Behavior) int {
	switch b {
	case Allow:
		return 0
	case Ask:
		return 1
	default:
		return 2
	}
}

// SPEC table P: more rules that narrow never make a call freer, more rules that
// allow never make it less free, and a stricter mode is stricter. A deny rule that
// is a call's own denies it in every mode.
func TestRulesAreMonotone(t *testing.T) {
	w := newWorld(t)
	rapid.Check(t, func(t *rapid.T) {
		rules, mode, request := drawRules(t), drawMode.Draw(t, "mode"), drawRequest(t, w)
		verdict := func(mode Mode, more ...Entry) Behavior {
			p, err := New(Config{Mode: mode, ProjectDir: w.work, Home: w.home, Rules: append(append([]Entry{}, rules...), more...)})
			if err != nil {
				t.Fatal(err)
			}
			return p.Explain(request).Behavior
		}
		before := verdict(mode)
		rule := drawRule(t)
		for _, c := range []struct {
			behavior Behavior
			freer    bool // may become freer, not stricter
		}{{Deny, false}, {Ask, false}, {Allow, true}} {
			after := verdict(mode, Entry{Behavior: c.behavior, Rule: rule})
			if change := strictness(after) - strictness(before); change < 0 && !c.freer || change > 0 && c.freer {
				t.Fatalf("%s %s turns %s of %s %s into %s (mode %s, rules %v)", c.behavior, rule, before, request.Tool, request.Arguments, after, mode, rules)
			}
		}
		if free := verdict(ModeBypass); strictness(free) > strictness(before) {
			t.Fatalf("%s in bypass, %s in %s", free, before, mode)
		}
		if none := verdict(ModeDontAsk); none == Ask {
			t.Fatal("dontAsk asks")
		}
		if own := verdict(mode, Entry{Behavior: Deny, Rule: request.Tool}); own != Deny {
			t.Fatalf("%s is not denied by its own rule: %s", request.Tool, own)
		}
	})
}

// What the pipeline does is what Explain says, whatever the rules.
func TestPipelineAgrees(t *testing.T) {
	s := newStand(t)
	p := s.install(s.config(ModeDefault))
	rapid.Check(t, func(t *rapid.T) {
		cfg := Config{Mode: drawMode.Draw(t, "mode"), ProjectDir: s.work, Home: s.home, Rules: drawRules(t)}
		if err := p.Replace(cfg); err != nil {
			t.Fatal(err)
		}
		r := drawRequest(t, s.world)
		if r.Tool == "Other" {
			t.Skip("no such tool")
		}
		want := p.Explain(r)
		got := s.run(fmt.Sprintf("%s %s", r.Tool, r.Arguments))
		if r.Arguments[0] != '{' || r.Arguments == "{}" {
			t.Skip("arguments that the test's calls cannot have")
		}
		if (want.Behavior == Allow) != (got == "ran") {
			t.Fatalf("%s %s: %q, but %s (%s)", r.Tool, r.Arguments, got, want.Behavior, want.Reason)
		}
	})
}

// A line that an allow rule covers, or that reads only, is covered with any deny
// rule's reach: what rules that allow see of a line, rules that narrow see too.
func TestAllowedIsSeenByDeny(t *testing.T) {
	w := newWorld(t)
	ws := w.workspace()
	rapid.Check(t, func(t *rapid.T) {
		rule, err := ParseRule("Bash(" + drawCommand(t, "rule") + ")")
		if err != nil || rule.kind != commandSpecifier {
			t.Skip("no rule")
		}
		s := newSubject("Bash", arguments("Bash", drawCommand(t, "command")), ws)
		for i := range s.commands().commands {
			c := &s.commands().commands[i]
			if len(c.words) > 0 && c.covered(&rule.command) && !rule.narrows(s, Deny) {
				t.Fatalf("%s allows a command of %q and does not deny it", rule.String(), s.argument)
			}
		}
	})
}

package permission

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/google/go-cmp/cmp"

	"github.com/dsh-actor/dsh-actor/messages"
)

// Oracle section 7, if_rules.json: the measured verdicts of Claude Code 2.1.332.
func TestMeasuredConditions(t *testing.T) {
	data, err := os.ReadFile("testdata/if_rules.json")
	if err != nil {
		t.Fatal(err)
	}
	var oracle struct {
		Calls   []string `json:"tool_calls"`
		Results []struct {
			If    string   `json:"if"`
			Fired []string `json:"fired_for"`
		} `json:"results"`
	}
	if err := json.Unmarshal(data, &oracle); err != nil {
		t.Fatal(err)
	}
	if len(oracle.Calls) != 9 || len(oracle.Results) != 27 {
		t.Fatalf("%d calls and %d results", len(oracle.Calls), len(oracle.Results))
	}
	w := newWorld(t)
	// The oracle lists calls by what tells them apart, and one call of a tool of the
	// program's own.
	type call struct {
		shown, tool string
		arguments   messages.JSON
	}
	calls := []call{{"ToolSearch", "ToolSearch", "{}"}}
	for _, text := range oracle.Calls {
		tool, argument, ok := strings.Cut(text, ": ")
		shown := strings.ReplaceAll(argument, "{PROJ}", "")
		if !ok {
			shown = tool
		}
		calls = append(calls, call{shown, tool, arguments(tool, strings.ReplaceAll(argument, "{PROJ}", w.work))})
	}
	at := Place{Cwd: w.work, ProjectDir: w.work, Home: w.home}
	for _, r := range oracle.Results {
		c, err := ParseCondition(strings.ReplaceAll(r.If, "{PROJ}", w.work))
		if malformed := r.If == "Bash(" || r.If == "Bash(git *)|Read"; (err != nil) != malformed {
			t.Errorf("%q: error %v", r.If, err)
		}
		fired := []string{}
		for _, call := range calls {
			if c.Holds(call.tool, call.arguments, at) {
				fired = append(fired, call.shown)
			}
		}
		slices.Sort(fired)
		slices.Sort(r.Fired)
		if diff := cmp.Diff(r.Fired, fired); diff != "" {
			t.Errorf("if %q (-measured +got):\n%s", r.If, diff)
		}
	}
}

// PAIN 59: what cannot be read runs the hook.
func TestConditionsOfUnreadable(t *testing.T) {
	for _, c := range []struct {
		text, command string
		want          bool
	}{
		{"Bash(rm *)", "echo $(rm -rf x)", true},
		{"Bash(rm *)", "FOO=1 rm x", true},
		{"Bash(rm *)", "a && rm x", true},
		{"Bash(rm *)", `rm "unterminated`, true},
		{"Bash(rm *)", `echo "unterminated`, true},
		{"Bash(rm *)", "$(cat name) x", true},
		{"Bash(rm *)", "echo x", false},
		{"Bash(rm *)", "rmdir x", false},
	} {
		cond, err := ParseCondition(c.text)
		if err != nil {
			t.Fatal(err)
		}
		if got := cond.Holds("Bash", arguments("Bash", c.command), Place{}); got != c.want {
			t.Errorf("if %s of %q: %v, want %v", c.text, c.command, got, c.want)
		}
	}
	always, err := ParseCondition(" ")
	if err != nil || !always.Holds("Anything", "{}", Place{}) {
		t.Error("an empty condition does not hold always")
	}
	if never, err := ParseCondition("Bash("); err == nil || never.Holds("Bash", "{}", Place{}) {
		t.Error("a malformed condition holds")
	}
	if task, _ := ParseCondition("Task(explorer)"); !task.Holds("Agent", `{"subagent_type":"explorer"}`, Place{}) {
		t.Error("Task does not mean Agent")
	}
}

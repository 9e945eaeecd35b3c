package app

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestPrepare(t *testing.T) {
	tests := []struct {
		name      string
		in, wants []string
	}{
		{"nothing", nil, nil},
		{"a command", []string{"version"}, []string{"version"}},
		{"run", []string{"run", "hello"}, []string{"run", "hello"}},
		{"as claude -p", []string{"-p", "hello"}, []string{"run", "-p", "hello"}},
		{"as claude -p, the flag later", []string{"--model", "m", "--print", "hello"}, []string{"run", "--model", "m", "--print", "hello"}},
		{"-p behind --", []string{"--model", "m", "--", "-p"}, []string{"--model", "m", "--", "-p"}},
		{"a command with -p", []string{"help", "-p"}, []string{"help", "-p"}},
		{"a list", []string{"run", "--allowedTools", "Read", "Bash(git *)", "--model", "m"},
			[]string{"run", "--allowedTools=Read", "--allowedTools=Bash(git *)", "--model", "m"}},
		{"the other spelling", []string{"run", "--disallowed-tools", "Read", "Edit"}, []string{"run", "--disallowed-tools=Read", "--disallowed-tools=Edit"}},
		{"a list eats the prompt, as in claude", []string{"-p", "--allowedTools", "Read", "say hi"}, []string{"run", "-p", "--allowedTools=Read", "--allowedTools=say hi"}},
		{"unless there is --", []string{"-p", "--allowedTools", "Read", "--", "say hi"}, []string{"run", "-p", "--allowedTools=Read", "--", "say hi"}},
		{"a list with =", []string{"run", "--allowedTools=Read Edit", "hi"}, []string{"run", "--allowedTools=Read Edit", "hi"}},
		{"an empty list", []string{"run", "--allowedTools", "--model", "m"}, []string{"run", "--allowedTools", "--model", "m"}},
		{"directories", []string{"run", "--add-dir", "a", "b"}, []string{"run", "--add-dir=a", "--add-dir=b"}},
		{"a list behind --", []string{"run", "--", "--allowedTools", "a", "b"}, []string{"run", "--", "--allowedTools", "a", "b"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.wants, prepare(tt.in)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestNearestFlag(t *testing.T) {
	c := (&app{}).runCommand()
	for name, want := range map[string]string{
		"modle": "--model", "ouput-format": "--output-format", "output": "--output-format", "ouput": "--output-format",
		"maxturns": "--max-turns", "permission": "--permission-mode", "allowed": "--allowedTools", "alowedtools": "--allowedTools",
		"session": "--session-id", "dangerously-skip": "--dangerously-skip-permissions", "zzz": "", "something-else-entirely": "",
	} {
		if got := nearest(c, name); got != want {
			t.Errorf("nearest(%q) = %q, want %q", name, got, want)
		}
	}
}

func TestDistance(t *testing.T) {
	for _, tt := range []struct {
		a, b string
		want int
	}{{"", "", 0}, {"", "abc", 3}, {"abc", "", 3}, {"abc", "abc", 0}, {"abc", "abd", 1}, {"abc", "ab", 1}, {"kitten", "sitting", 3}, {"modle", "model", 2}} {
		if got := distance(tt.a, tt.b); got != tt.want {
			t.Errorf("distance(%q, %q) = %d, want %d", tt.a, tt.b, got, tt.want)
		}
	}
}

func TestUUID(t *testing.T) {
	if a, b := newUUID(), newUUID(); a == b || !isUUID(a) {
		t.Errorf("newUUID: %q, %q", a, b)
	}
	for _, s := range []string{"", "x", "291fdabd-a3fe-4736-b0b9-aad4a536794", "291fdabd-a3fe-4736-b0b9-aad4a536794g", "291fdabd_a3fe-4736-b0b9-aad4a5367940", "291fdabda3fe-4736-b0b9-aad4a53679-40"} {
		if isUUID(s) {
			t.Errorf("isUUID(%q)", s)
		}
	}
}

func TestOneLine(t *testing.T) {
	if got := oneLine("a\r\nb\n\nc"); got != "a; b; c" {
		t.Errorf("oneLine: %q", got)
	}
}

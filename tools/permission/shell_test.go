package permission

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// What the words of a command line are, unquoted; what they do not say is marked:
// a blank inside a word _, anything without a break ?, anything %.
func TestWords(t *testing.T) {
	show := strings.NewReplacer("\x01", "_", "\x02", "?", "\x03", "%")
	for line, want := range map[string]string{
		`a  b`:                              "a b",
		`a 'b c' "d e"`:                     "a b_c d_e",
		`a\ b c\d`:                          "a_b cd",
		"a\\\nb \"c\\\nd\"":                 "ab cd",
		`"a\"b" "c\d" "\$e" "\\"`:           `a"b c\d $e \`,
		`'a\b'`:                             `a\b`,
		`$'ab' $'a\x62'`:                    "ab ?",
		`$"ab"`:                             "?",
		`a$X "b$X" ${X} "${X}"`:             "a% b? % ?",
		`$# $? $$ ${#X}`:                    "? ? ? ?",
		`$HOME/x "$HOME"`:                   "?/x ?",
		`HOME=1 a $HOME`:                    "a %",
		`read HOME; a $HOME`:                "read HOME;a %",
		`a $(b) "$(c)"`:                     "a % ?;b;c",
		"a `b`":                             "a %;b",
		`a <(b)`:                            "a ?;b",
		`a $((1))`:                          "a ?",
		`a ${X:-b}`:                         "a %",
		`export A=b C D+=e`:                 "export A=b C D+=e",
		`A=b c`:                             "c",
		`f() { a; }`:                        "a",
		`if a; then b; else c; fi`:          "a;b;c",
		`a <<E` + "\nx\nE":                  "a",
		`sh -c 'a; b'`:                      "sh -c a;_b;a;b",
		`sh -c "$X"`:                        "sh -c ?;%",
		`eval a b`:                          "eval a b;a b",
		`trap 'a b' EXIT`:                   "trap a_b EXIT;a b",
		"sh <<E\na b\nE":                    "sh;a b",
		`sh <<< 'a b'`:                      "sh;a b",
		`sh -c 'sh -c "sh -c \"sh -c a\""'`: `sh -c sh_-c_"sh_-c_\"sh_-c_a\"";sh -c sh_-c_"sh_-c_a";sh -c sh_-c_a;sh -c a;a`,
		`[ -f x ]`:                          "[ -f x ]",
	} {
		s := parseScript(line)
		if s.err != nil {
			t.Errorf("%q: %v", line, s.err)
			continue
		}
		var commands []string
		for i := range s.commands {
			if len(s.commands[i].words) > 0 {
				commands = append(commands, show.Replace(joinWords(s.commands[i].words, wordText)))
			}
		}
		if got := strings.Join(commands, ";"); got != want {
			t.Errorf("%q: %s, want %s", line, got, want)
		}
	}
}

// What a rule that narrows is tested on.
func TestWildTexts(t *testing.T) {
	show := strings.NewReplacer("\x01", "_", "\x02", "?", "\x03", "%")
	for line, want := range map[string][]string{
		"ls":                  {"ls"},
		"ls -la a":            {"ls -la a"},
		"/bin/ls a":           {"/bin/ls a", "ls a"},
		"A=b 'ls'  a":         {"'ls' a", "A=b 'ls'  a", "ls a"},
		"sudo -u x /bin/rm a": {"sudo -u x /bin/rm a", "x /bin/rm a", "/bin/rm a", "rm a", "a"},
		"$X a":                {"$X a", "% a", "a"},
		"ls a*":               {"ls a*", "ls a%"},
		"ls a? [b]c {d,e}":    {"ls a? [b]c {d,e}", "ls a? % %"},
	} {
		s := parseScript(line)
		var got []string
		for _, form := range s.forms() {
			got = append(got, show.Replace(form))
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%q (-want +got):\n%s", line, diff)
		}
	}
}

// A line that could make the parser overflow its stack is not given to it.
func TestNestingIsBounded(t *testing.T) {
	for _, unit := range []string{
		"(", "$(", "{ ", "if ", "while ", "until ", "for x in $(", "case x in x) ", "`", "\"$(", "((", "$((", "a[", "${x:-", "${x/", "<(", "time ", "f(){ ",
		"! ", "coproc ", "select ", "@(", "[[ ( ", "x=(", "function f ", "then ", "do ", "else ",
	} {
		for _, n := range []int{maxNesting, 1 << 16, maxCommand, maxCommand + 1} {
			text := strings.Repeat(unit, n/len(unit)+1)
			s := parseScript(text)
			if len(text) > maxCommand && s.err == nil {
				t.Errorf("%d bytes of %q are read", len(text), unit)
			}
		}
	}
	// Long lines that do not nest are read.
	for _, text := range []string{
		"echo " + strings.Repeat("word ", 10000), "cat <<'E'\n" + strings.Repeat("some text\n", 10000) + "E\n", strings.Repeat("ls; ", 10000),
	} {
		if s := parseScript(text); s.err != nil {
			t.Errorf("%.20q…: %v", text, s.err)
		}
	}
}

// The cache gives what parsing gives, and keeps neither much nor long lines.
func TestScriptCache(t *testing.T) {
	c := newScriptCache()
	first := c.parse("git status && ls")
	if again := c.parse("git status && ls"); again != first {
		t.Error("a line is parsed again")
	}
	for i := range 10 * cachedScripts {
		line := "echo x" + strings.Repeat("x", i)
		if got := c.parse(line); got.text != line {
			t.Fatalf("%q: %q", line, got.text)
		}
	}
	long := "echo " + strings.Repeat("x", maxCachedScript)
	if kept := c.parse(long); kept == c.parse(long) {
		t.Error("a long line is kept")
	}
	if s := (*scriptCache)(nil).parse("ls"); len(s.commands) != 1 {
		t.Error("no cache, no script")
	}
}

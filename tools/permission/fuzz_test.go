package permission

import (
	"strings"
	"testing"

	"mvdan.cc/sh/v3/syntax"
)

// Whatever a rule says, parsing it ends; a rule that parses says the same when it
// is parsed again, and can be tested on any call.
func FuzzParseRule(f *testing.F) {
	for _, seed := range []string{
		"Bash", "Bash(git *)", "Bash(git:*)", "Read(**/*.{a,b})", "Edit(//x/**)", "mcp__a__*", "Bash(", "*", `Bash(echo \(\))`, "Read(~/x)", "Read([a-z]*)",
		"WebFetch(domain:*.x)", "Task(a*)", "Bash(:*)", "Read({a,{b,c}}/../x)", "Glob(../..)", "Bash(a\\*b\\\\*)", "Write(/)", "Read(**/**/a/**)",
	} {
		f.Add(seed, "git status", "a/b")
	}
	w := newWorkspace("/w", "", "/w", "/h", []string{"/x"}, true)
	f.Fuzz(func(t *testing.T, text, command, path string) {
		r, err := ParseRule(text)
		if err != nil {
			return
		}
		again, err := ParseRule(r.String())
		if err != nil || again.Tool() != r.Tool() || again.Specifier() != r.Specifier() {
			t.Fatalf("%q: again %+v, %v", text, again, err)
		}
		for _, s := range []*subject{
			newSubject("Bash", arguments("Bash", strings.ToValidUTF8(command, "")), w), newSubject("Read", arguments("Read", strings.ToValidUTF8(path, "")), w),
			newSubject("Glob", "{}", w), newSubject("mcp__a__b", "{}", w),
		} {
			r.narrows(s, Deny)
			r.narrows(s, Ask)
			r.allows(s)
			if s.class == shell {
				w.lookup().allowsScript(s.commands(), []*Rule{&r}, permits{})
			}
		}
	})
}

// Whatever a command line says, reading it ends. What is read without the parser
// is what the parser reads; a rule that is a whole line names that line; a line
// that reads only has no command that a deny rule for everything does not reach.
func FuzzParseScript(f *testing.F) {
	for _, seed := range []string{
		"git status", "a && b || c; d | e &", "FOO=1 a", "a $(b `c`)", "(a)", "{ a; }", "if a; then b; fi", "a <<EOF\n$(b)\nEOF", "a 'b c' \"d $e\" $'f' g\\ h", "x() { y; }",
		"[[ a ]]", "((a))", "for i in a b; do c; done", "case a in b) c;; esac", "a > b 2>&1 < c", "a {b,c} *.d [e] ~f", "bash -c 'a; b'", "eval \"$x\"", "a\\\nb", "${a:-$(b)}",
		"export A=b", "! a", "time a", "a=(b c); a[1]=d", "if", ")", "'", "a #b", "~/x y", "timeout 5 a", "ls a/b-c=d,e@f%g+h:i", "a\x01", "coproc a", "select a in b; do c; done",
	} {
		f.Add(seed)
	}
	w := newWorkspace("/w", "", "/w", "/h", nil, false)
	any, err := ParseRule("Bash(a* *)")
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, text string) {
		s := parseScript(text)
		if s.err != nil && len(s.commands) > 0 {
			t.Fatalf("%q cannot be read and has commands", text)
		}
		if words, ok := plainWords(s.text); ok {
			b := &builder{script: &script{text: s.text}}
			if err := b.read(s.text, 0, false); err != nil {
				t.Fatalf("plain words that the parser refuses: %q: %v", text, err)
			}
			parsed := b.script
			if parsed.opaque != "" || parsed.compound != "" || len(parsed.commands) != 1 || len(parsed.commands[0].words) != len(words) {
				t.Fatalf("plain words that the parser takes for %+v: %q", parsed, text)
			}
			for i, w := range parsed.commands[0].words {
				if w != words[i] {
					t.Fatalf("%q: word %d is %+v, of the parser %+v", text, i, words[i], w)
				}
			}
		}
		if s.text != "" && s.text == strings.TrimSpace(s.text) && !strings.ContainsAny(s.text, "\x00\x01\x02\x03") {
			r, err := ParseRule("Bash(" + exactSpecifier(s.text) + ")")
			if err != nil {
				t.Fatalf("no rule for %q: %v", text, err)
			}
			if !r.command.exact() || !r.command.covers(s.text) {
				t.Fatalf("the rule %q is not %q", r.String(), text)
			}
			if !w.lookup().allowsScript(s, []*Rule{&r}, permits{}) {
				t.Fatalf("the rule %q does not allow %q", r.String(), text)
			}
			sub := newSubject("Bash", "{}", w)
			sub.missing, sub.script = "", s
			if !r.narrows(sub, Deny) {
				t.Fatalf("the rule %q does not deny %q", r.String(), text)
			}
		}
		if w.lookup().readOnly(s) == "" {
			for i := range s.commands {
				if c := &s.commands[i]; len(c.words) == 0 || len(c.assigns)+len(c.redirs) > 0 {
					t.Fatalf("%q reads only, with %+v", text, c)
				}
			}
			// The parser agrees that there is nothing but simple commands.
			file, err := syntax.NewParser().Parse(strings.NewReader(s.text), "")
			if err != nil {
				t.Fatalf("%q reads only, and cannot be parsed: %v", text, err)
			}
			syntax.Walk(file, func(n syntax.Node) bool {
				switch n.(type) {
				case *syntax.CmdSubst, *syntax.ProcSubst, *syntax.ParamExp, *syntax.ArithmExp, *syntax.Redirect, *syntax.FuncDecl, *syntax.Assign:
					t.Fatalf("%q reads only, with a %T", text, n)
				}
				return true
			})
		}
		any.narrows(newSubject("Bash", arguments("Bash", strings.ToValidUTF8(text, "")), w), Deny)
	})
}

package shellcmd

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// ReadOnly reports whether the line surely runs nothing but programs that only
// read and print: simple commands of a known list, joined by pipes, && , || and
// ;, with literal arguments, without assignment, redirection, substitution or
// background.
func ReadOnly(line string) bool {
	calls, ok := simpleCalls(line)
	if !ok || len(calls) == 0 {
		return false
	}
	for _, c := range calls {
		allowed, known := readers[c.name]
		if !known || allowed != nil && !allowed(c.args) {
			return false
		}
	}
	return true
}

// Silent reports whether every command of the line is one that prints nothing
// when it succeeds, such as mkdir.
func Silent(line string) bool {
	f, err := parse(line)
	if err != nil {
		return false
	}
	any, silent := false, true
	syntax.Walk(f, func(n syntax.Node) bool {
		if c, ok := n.(*syntax.CallExpr); ok && len(c.Args) > 0 {
			any = true
			silent = silent && slices.Contains(silentPrograms, c.Args[0].Lit())
		}
		return true
	})
	return any && silent
}

var silentPrograms = []string{
	"cd", "chgrp", "chmod", "chown", "cp", "export", "ln", "mkdir", "mv", "rm", "rmdir", "touch", "unset", "wait",
}

func parse(line string) (*syntax.File, error) {
	return syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(line), "")
}

// call is a simple command of literal words.
type call struct {
	name string
	args []argument
}

// argument is a literal word.
type argument struct {
	text string
	// glob tells that the shell may replace it by names of files, which may
	// look like options.
	glob bool
}

// simpleCalls returns the commands of a line that consists of simple commands
// of literal words and nothing else.
func simpleCalls(line string) ([]call, bool) {
	f, err := parse(line)
	if err != nil {
		return nil, false
	}
	var calls []call
	for _, s := range f.Stmts {
		if !addCalls(&calls, s) {
			return nil, false
		}
	}
	return calls, true
}

func addCalls(calls *[]call, s *syntax.Stmt) bool {
	if s.Background || s.Coprocess || s.Disown || len(s.Redirs) > 0 {
		return false
	}
	switch c := s.Cmd.(type) {
	case *syntax.BinaryCmd:
		switch c.Op {
		case syntax.AndStmt, syntax.OrStmt, syntax.Pipe:
			return addCalls(calls, c.X) && addCalls(calls, c.Y)
		}
		return false
	case *syntax.CallExpr:
		if len(c.Assigns) > 0 || len(c.Args) == 0 {
			return false
		}
		var words []argument
		for _, w := range c.Args {
			a, ok := literal(w)
			if !ok {
				return false
			}
			words = append(words, a)
		}
		if words[0].glob {
			return false
		}
		*calls = append(*calls, call{name: words[0].text, args: words[1:]})
		return true
	}
	return false
}

// literal returns the text of a word without expansions, quotes taken off.
func literal(w *syntax.Word) (a argument, ok bool) {
	var b strings.Builder
	for _, part := range w.Parts {
		switch p := part.(type) {
		case *syntax.Lit:
			text, glob, ok := unquoted(p.Value)
			if !ok {
				return a, false
			}
			a.glob = a.glob || glob
			b.WriteString(text)
		case *syntax.SglQuoted:
			if p.Dollar {
				return a, false
			}
			b.WriteString(p.Value)
		case *syntax.DblQuoted:
			if p.Dollar {
				return a, false
			}
			for _, inner := range p.Parts {
				lit, ok := inner.(*syntax.Lit)
				if !ok || strings.ContainsAny(lit.Value, "\\!") {
					return a, false
				}
				b.WriteString(lit.Value)
			}
		default:
			return a, false
		}
	}
	a.text = b.String()
	return a, true
}

// unquoted takes the backslashes off a bare word. Braces may become several
// words, and are not literal.
func unquoted(s string) (text string, glob, ok bool) {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		switch c := s[i]; c {
		case '\\':
			if i++; i == len(s) {
				return "", false, false
			}
			if s[i] != '\n' { // a continued line
				b.WriteByte(s[i])
			}
		case '{', '}', '$', '`':
			return "", false, false
		case '*', '?', '[', '+', '@', '!':
			glob = glob || c != '+' && c != '@' && c != '!' || i+1 < len(s) && s[i+1] == '('
			b.WriteByte(c)
		default:
			b.WriteByte(c)
		}
	}
	return b.String(), glob, true
}

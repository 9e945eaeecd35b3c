package permission

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// word unquotes a word.
func (b *builder) word(w *syntax.Word) word {
	if w == nil {
		return word{}
	}
	out := word{raw: b.text(w.Pos(), w.End())}
	u := unquoter{builder: b, word: &out}
	for i, part := range w.Parts {
		u.part(part, i == 0)
	}
	out.text = u.text.String()
	out.brace = u.braces()
	if out.raw == "[" {
		out.glob = false // the command of that name
	}
	return out
}

// unquoter builds the text of one word.
type unquoter struct {
	builder *builder
	word    *word
	text    strings.Builder
	open    bool // an unquoted { was seen
	list    bool // and then a , or ..
}

// braces reports whether the word may be a brace expansion. An open brace with a
// comma or a range behind it is taken for one.
func (u *unquoter) braces() bool { return u.open && u.list }

func (u *unquoter) part(p syntax.WordPart, first bool) {
	switch p := p.(type) {
	case *syntax.Lit:
		u.literal(p.Value, first)
	case *syntax.SglQuoted:
		if p.Dollar && strings.Contains(p.Value, `\`) {
			u.text.WriteByte(wildWord) // escapes that differ from shell to shell
			return
		}
		u.quoted(p.Value)
	case *syntax.DblQuoted:
		for _, inner := range p.Parts {
			if lit, ok := inner.(*syntax.Lit); ok && !p.Dollar {
				u.quoted(unescapeQuoted(lit.Value))
			} else {
				u.text.WriteByte(wildWord)
			}
		}
	case *syntax.ParamExp:
		if u.builder.oneWord(p) {
			u.text.WriteByte(wildWord)
		} else {
			u.text.WriteByte(wildAny)
		}
	case *syntax.ArithmExp, *syntax.ProcSubst:
		u.text.WriteByte(wildWord)
	default:
		u.text.WriteByte(wildAny)
	}
}

// literal adds unquoted text.
func (u *unquoter) literal(s string, first bool) {
	if first && strings.HasPrefix(s, "~") {
		u.word.tilde = true
	}
	for i := 0; i < len(s); i++ {
		c := s[i]
		switch c {
		case '\\':
			if i++; i < len(s) {
				if s[i] != '\n' {
					u.quoted(s[i : i+1])
				}
				continue
			}
		case '*', '?', '[':
			u.word.glob = true
		case '{':
			u.open = true
		case ',':
			u.list = u.list || u.open
		case '.':
			u.list = u.list || u.open && strings.HasPrefix(s[i:], "..")
		}
		u.text.WriteByte(c)
	}
}

// quoted adds text that no expansion touches. A blank in it does not part words.
func (u *unquoter) quoted(s string) {
	if strings.ContainsAny(s, " \t\n") {
		s = blanks.Replace(s)
	}
	u.text.WriteString(s)
}

var blanks = strings.NewReplacer(" ", string(wildBlank), "\t", string(wildBlank), "\n", string(wildBlank))

// unescapeQuoted takes the backslashes out of text in double quotes.
func unescapeQuoted(s string) string {
	if !strings.Contains(s, `\`) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+1 < len(s) {
			switch s[i+1] {
			case '$', '`', '"', '\\':
				i++
			case '\n':
				i++
				continue
			}
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

// oneWord reports whether an unquoted expansion cannot part words: those of a few
// variables that hold one path or number, unless the command line itself may have
// set them.
func (b *builder) oneWord(p *syntax.ParamExp) bool {
	if !plainParameter(p) {
		return false
	}
	name := p.Param.Value
	switch name {
	case "#", "?", "$", "!":
		return true
	case "HOME", "PWD", "OLDPWD", "TMPDIR", "UID", "PPID":
		return p.Length || !namedElsewhere(b.script.text, name)
	}
	return p.Length
}

// namedElsewhere reports whether the text names a variable other than to expand
// it, and so may set it.
func namedElsewhere(text, name string) bool {
	for {
		i := strings.Index(text, name)
		if i < 0 {
			return false
		}
		if before := text[:i]; !strings.HasSuffix(before, "$") && !strings.HasSuffix(before, "${") && !strings.HasSuffix(before, "${#") {
			return true
		}
		text = text[i+len(name):]
	}
}

package permission

import "strings"

// plainWords reads a command line that is one simple command of plain words, as
// most are, without the parser. It agrees with the parser on what it accepts
// (FuzzPlainWords).
func plainWords(text string) (words []word, ok bool) {
	if len(text) > 1024 {
		return nil, false
	}
	n := 1
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9',
			c == '_', c == '-', c == '.', c == '/', c == ':', c == '@', c == '%', c == '+', c == ',':
		case c == '=':
		case c == ' ':
			n++
		default:
			return nil, false
		}
	}
	words = make([]word, 0, n)
	for text != "" {
		var w string
		w, text, _ = strings.Cut(text, " ")
		if w != "" {
			words = append(words, word{text: w, raw: w})
		}
	}
	if len(words) == 0 || reserved(words[0].text) || strings.Contains(words[0].text, "=") {
		return nil, false
	}
	return words, true
}

// reserved reports whether a first word is more to the shell than the name of a
// command, or hands text to a shell.
func reserved(name string) bool {
	switch name {
	case "if", "then", "else", "elif", "fi", "do", "done", "case", "esac", "while", "until", "for", "in", "select",
		"function", "time", "coproc", "let", "declare", "local", "export", "readonly", "typeset", "nameref",
		"eval", "trap", "alias", "source", ".", "command", "builtin":
		return true
	}
	return isShell(baseName(name))
}

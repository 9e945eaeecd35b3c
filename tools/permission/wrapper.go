package permission

import "strings"

// baseName is the last component of a command's name: /bin/rm is rm.
func baseName(name string) string {
	return name[strings.LastIndexByte(name, '/')+1:]
}

// isShell reports whether a program runs text that is an argument (-c) or its
// standard input.
func isShell(name string) bool {
	switch name {
	case "sh", "bash", "dash", "zsh", "ksh", "mksh", "ash", "fish", "su", "runuser", "script", "flock":
		return true
	}
	return false
}

// isWrapper reports whether a program runs the program that its arguments name.
func isWrapper(name string) bool {
	switch name {
	case "command", "builtin", "exec", "env", "sudo", "doas", "nohup", "nice", "ionice", "chrt", "taskset", "setsid",
		"time", "timeout", "stdbuf", "unbuffer", "xargs", "parallel", "watch", "strace", "ltrace", "busybox", "toybox",
		"find", "fd", "fdfind", "chroot", "unshare", "nsenter", "setarch", "caffeinate", "entr",
		"mapfile", "readarray", "hash", "enable", "source", ".": // which run it later, or otherwise
		return true
	}
	return isShell(name)
}

// shellTexts returns the words of the command that a shell reads as commands.
func (c *command) shellTexts() (out []word) {
	switch name := baseName(c.name()); {
	case name == "eval" || name == "watch":
		return []word{{text: joinWords(c.words[1:], wordWild), raw: c.source}}
	case name == "alias":
		for i := range c.words[1:] {
			w := &c.words[i+1]
			if _, text, ok := strings.Cut(wordWild(w), "="); ok {
				out = append(out, word{text: text, raw: w.raw})
			}
		}
		return out
	case name == "trap":
		for i := range c.words[1:] {
			if w := &c.words[i+1]; !strings.HasPrefix(w.text, "-") {
				return []word{{text: wordWild(w), raw: w.raw}}
			}
		}
		return nil
	case !isWrapper(name):
		return nil
	}
	shell := false // a shell's name was seen
	text := false  // and then -c
	operands := 1  // that may be the text
	for i := range c.words {
		w := &c.words[i]
		switch {
		case text && !strings.HasPrefix(w.text, "-"):
			out = append(out, word{text: wordWild(w), raw: w.raw})
			if operands--; operands == 0 {
				return out
			}
		case !text && isShell(baseName(w.text)):
			shell = true
		case !text && baseName(w.text) == "eval" && i > 0:
			return append(out, word{text: joinWords(c.words[i+1:], wordWild), raw: c.source})
		case shell && strings.HasPrefix(w.text, "-"):
			short := !strings.HasPrefix(w.text, "--")
			text = text || short && strings.Contains(w.text, "c") || w.text == "--command"
			if short && strings.Contains(w.text, "o") {
				operands++ // -o takes a name, which may come first
			}
		}
	}
	return out
}

// scriptSource says where the text comes from that a command runs as a shell.
type scriptSource int

const (
	scriptElsewhere scriptSource = iota // a file, an argument, or it runs none
	scriptInput                         // standard input
	scriptUnknown                       // the output of a command
)

// scriptFrom looks for a shell without -c and without the name of a file, and for
// source of what is no file.
func (c *command) scriptFrom() scriptSource {
	name := baseName(c.name())
	for i := range c.words {
		switch w := &c.words[i]; {
		case w.text == "source" || w.text == ".":
			if i+1 < len(c.words) && notAFile(&c.words[i+1]) {
				return scriptUnknown
			}
			return scriptElsewhere
		case w.text == "command" || w.text == "builtin":
			continue
		}
		break
	}
	at := 0
	for ; at < len(c.words) && !readsScript(baseName(c.words[at].text)); at++ {
		if !isWrapper(name) {
			return scriptElsewhere
		}
	}
	if at == len(c.words) {
		return scriptElsewhere
	}
	for i := range c.words[at+1:] {
		switch w := &c.words[at+1+i]; {
		case w.text == "--version" || w.text == "--help" || w.text == "--command":
			return scriptElsewhere
		case strings.HasPrefix(w.text, "--"):
		case strings.HasPrefix(w.text, "-") && w.text != "-":
			if strings.Contains(w.text, "c") {
				return scriptElsewhere
			}
			if strings.Contains(w.text, "s") {
				return scriptInput
			}
		case notAFile(w):
			return scriptUnknown
		default:
			return scriptElsewhere
		}
	}
	return scriptInput
}

// notAFile reports whether a word names what another command writes.
func notAFile(w *word) bool {
	switch w.text {
	case "-", "/dev/stdin", "/dev/fd/0", "/proc/self/fd/0":
		return true
	}
	return strings.HasPrefix(w.raw, "<(")
}

// readsScript reports whether a program runs its standard input as a shell.
func readsScript(name string) bool {
	switch name {
	case "sh", "bash", "dash", "zsh", "ksh", "mksh", "ash", "fish":
		return true
	}
	return false
}

// wildTexts adds every form of the command that a rule which narrows is tested on:
// as written, unquoted, by its base name, and what a wrapper would run. Any of them
// being named is enough to deny or to ask.
func (c *command) wildTexts(forms []string) []string {
	if len(c.words) == 0 {
		return forms
	}
	raw := joinWords(c.words, wordRaw)
	if forms = append(forms, raw); c.source != raw {
		forms = append(forms, c.source)
	}
	first := baseName(wordWild(&c.words[0]))
	wraps := isWrapper(first) || strings.ContainsAny(first, "\x02\x03")
	more := ""
	if first == "xargs" || first == "parallel" {
		more = " " + string(wildAny) // what they read
		if last := &c.words[len(c.words)-1]; isWrapper(baseName(last.text)) {
			forms = append(forms, string(wildAny))
		}
	}
	for i := range c.words {
		if i > 0 && (!wraps || strings.HasPrefix(c.words[i].text, "-")) {
			continue
		}
		text := joinWords(c.words[i:], wordWild) + more
		if text != raw {
			forms = append(forms, text)
		}
		name := wordWild(&c.words[i])
		if base := baseName(name); base != name {
			forms = append(forms, text[len(name)-len(base):])
		}
	}
	return forms
}

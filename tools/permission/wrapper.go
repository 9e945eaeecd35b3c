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
		"find", "fd", "fdfind", "chroot", "unshare", "nsenter", "setarch", "caffeinate", "entr", "coproc":
		return true
	}
	return isShell(name)
}

// shellTexts returns the words of the command that a shell reads as commands.
func (c *command) shellTexts() (out []word) {
	switch name := baseName(c.name()); {
	case name == "eval" || name == "watch":
		return []word{{text: joinWords(c.words[1:], wordText), raw: c.source}}
	case name == "trap":
		return c.words[1:min(2, len(c.words))]
	case !isWrapper(name):
		return nil
	}
	shell := false // a shell's name was seen
	text := false  // and then -c
	for i := range c.words {
		w := &c.words[i]
		switch {
		case isShell(baseName(w.text)):
			shell, text = true, false
		case baseName(w.text) == "eval" && i > 0:
			return append(out, word{text: joinWords(c.words[i+1:], wordText), raw: c.source})
		case !shell:
		case strings.HasPrefix(w.text, "-"):
			text = text || !strings.HasPrefix(w.text, "--") && strings.Contains(w.text, "c") || w.text == "--command"
		case text:
			out = append(out, *w)
		}
	}
	return out
}

// wildTexts calls yield with every form of the command that a rule which narrows
// is tested on, until it returns true: as written, unquoted, by its base name, and
// what a wrapper would run. Any of them being named is enough to deny or to ask.
func (c *command) wildTexts(yield func(text string) bool) bool {
	if len(c.words) == 0 {
		return false
	}
	raw := joinWords(c.words, wordRaw)
	if yield(raw) || c.source != raw && yield(c.source) {
		return true
	}
	first := wordWild(&c.words[0])
	for i := range c.words {
		if i > 0 {
			if !isWrapper(baseName(first)) && !strings.ContainsAny(baseName(first), "\x02\x03") {
				break
			}
			if strings.HasPrefix(c.words[i].text, "-") {
				continue
			}
		}
		text := joinWords(c.words[i:], wordWild)
		if (text != raw || i > 0) && yield(text) {
			return true
		}
		name := wordWild(&c.words[i])
		if base := baseName(name); base != name && yield(text[len(name)-len(base):]) {
			return true
		}
	}
	return false
}

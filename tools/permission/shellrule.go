package permission

import (
	"path/filepath"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// narrows reports whether a rule that denies or asks is about a command line, or
// could be: one of its simple commands is, or the line as it is written is, or it
// cannot be read.
func (p *commandPattern) narrows(s *script) bool {
	if s.err != nil || p.could(s.text) {
		return true
	}
	return slices.ContainsFunc(s.forms(), p.could)
}

// covered reports whether a rule that allows names the command, apart from its
// assignments and redirections. A program whose name is computed is named by none.
func (c *command) covered(p *commandPattern) bool {
	for words := c.words; len(words) > 0; words = unwrap(words) {
		if first := &words[0]; first.glob || first.brace || strings.ContainsAny(first.text, "\x02\x03") {
			return false
		}
		if p.covers(joinWords(words, wordRaw)) || p.covers(joinWords(words, wordSure)) {
			return true
		}
	}
	return false
}

// wordSure is the text of a word as a rule that allows must see it: what the shell
// may make of it is nothing that a rule names.
func wordSure(w *word) string {
	switch {
	case w.brace:
		return string(wildAny)
	case !w.tilde && strings.HasPrefix(w.text, "~"):
		return "./" + w.text // quoted: a name like any other
	}
	return w.text
}

// unwrap returns what timeout or nice runs, nil for anything else: they change how
// long and how fast a command runs, not what it does.
func unwrap(words []word) []word {
	values := "" // flags whose value is the next word
	switch words[0].text {
	case "timeout":
		values = "-k -s --kill-after --signal"
	case "nice":
		values = "-n --adjustment"
	default:
		return nil
	}
	i := 1
	for ; i < len(words) && strings.HasPrefix(words[i].text, "-"); i++ {
		for f := range strings.FieldsSeq(values) {
			if f == words[i].text {
				i++
				break
			}
		}
	}
	if words[0].text == "timeout" {
		i++ // how long
	}
	if i >= len(words) {
		return nil
	}
	for _, w := range words[1:i] {
		if !w.static() {
			return nil
		}
	}
	return words[i:]
}

// harmless reports whether setting the variable for a command leaves what the
// command is. A rule that allows git * must not allow PATH=. git: what tells a
// program where to find code, configuration, or other programs counts, by the
// names that are in use for it.
func harmless(a assignment) bool {
	if !a.plain {
		return false
	}
	name := strings.ToUpper(a.name)
	switch name {
	case "NODE_ENV", "GOOS", "GOARCH", "CGO_ENABLED", "RUST_BACKTRACE", "RUST_LOG", "PYTHONUNBUFFERED",
		"PYTHONDONTWRITEBYTECODE", "RAILS_ENV", "RACK_ENV", "DJANGO_SETTINGS_MODULE", "LC_ALL", "LC_CTYPE":
		return true
	case "CC", "CXX", "CPP", "LD", "AR", "AS", "NM", "IFS", "PS4", "LESS", "VISUAL", "BROWSER", "MAKE", "AWKPATH":
		return false
	}
	for _, prefix := range [...]string{
		"LD_", "DYLD_", "GIT_", "BASH", "ZSH", "PYTHON", "PERL", "RUBY", "NODE_", "NPM_", "YARN_", "PNPM_", "BUN_",
		"DENO_", "CARGO", "RUSTC", "RUSTUP", "GO", "JAVA_", "JDK_", "_JAVA", "MAVEN_", "GRADLE_", "DOTNET_", "COR_",
		"CORECLR_", "PHP", "LUA_", "DOCKER_", "KUBE", "AWS_", "XDG_", "CMAKE_", "MAKE", "PIP_", "UV_", "GCONV_", "OPENSSL_",
		"SSL_", "TERMINFO", "EMACS", "VIM",
	} {
		if strings.HasPrefix(name, prefix) {
			return false
		}
	}
	for _, part := range [...]string{
		"PATH", "HOME", "SHELL", "EDITOR", "PAGER", "COMMAND", "CMD", "PROXY", "SSH", "RSH", "ASKPASS", "HOOK", "INIT",
		"EXEC", "WRAPPER", "LAUNCHER", "PRELOAD", "PLUGIN", "CONFIG", "FLAGS", "OPTIONS", "OPTS", "PROMPT", "ENV", "LIB", "RC",
		"TOOL", "LESSOPEN", "LESSCLOSE",
	} {
		if strings.Contains(name, part) {
			return false
		}
	}
	return true
}

// permits is what rules that allow may count on besides themselves.
type permits struct {
	// edits reports whether a file may be written that the command line writes to. Nil
	// is never.
	edits func(t target) bool
	// readOnly says that commands which only read need no rule.
	readOnly bool
}

// permitsRedirections reports whether the command's redirections do no more than
// what is allowed anyway: to join streams, to drop output, to read in the
// workspace, to write where writing is allowed.
func (c *classifier) permitsRedirections(cmd *command, p permits) bool {
	for i := range cmd.redirs {
		r := &cmd.redirs[i]
		if strings.Trim(r.fd, "0123456789") != "" {
			return false
		}
		switch r.op {
		case syntax.Hdoc, syntax.DashHdoc, syntax.WordHdoc:
			continue
		}
		if !r.target.static() {
			return false
		}
		text := c.workspace.expand(&r.target)
		switch r.op {
		case syntax.DplIn, syntax.DplOut:
			if r.joins() {
				continue
			}
			if r.op == syntax.DplIn || !c.writable(text, p) { // >& file
				return false
			}
		case syntax.RdrIn:
			if c.lost || c.path(&r.target) != "" {
				return false
			}
		case syntax.RdrOut, syntax.AppOut, syntax.RdrClob, syntax.RdrAll, syntax.AppAll:
			if text != "/dev/null" && !c.writable(text, p) {
				return false
			}
		default:
			return false
		}
	}
	return true
}

func (c *classifier) writable(path string, p permits) bool {
	if c.lost || p.edits == nil {
		return false
	}
	for _, dir := range c.dirs {
		t, ok := c.workspace.target(path, dir)
		if !ok || !p.edits(t) {
			return false
		}
	}
	return true
}

// allowsScript reports whether rules that allow cover a command line. Every simple
// command must be named by a rule, or need none; what policy cannot see through
// is covered by a rule for the whole tool only, or by one that is the whole line
// word for word.
func (w *lookup) allowsScript(s *script, rules []*Rule, p permits) bool {
	for _, r := range rules {
		switch r.kind {
		case noSpecifier:
			return true
		case commandSpecifier:
			if r.command.exact() && r.command.covers(s.text) {
				return true
			}
		}
	}
	if s.err != nil || s.opaque != "" {
		return false
	}
	c := newClassifier(w)
	programs := 0
	for i := range s.commands {
		cmd := &s.commands[i]
		for _, a := range cmd.assigns {
			if !harmless(a) {
				return false
			}
		}
		if !c.permitsRedirections(cmd, p) {
			return false
		}
		if len(cmd.words) == 0 {
			continue
		}
		if programs++; !c.allows(cmd, rules, p) {
			return false
		}
	}
	return programs > 0
}

// allows reports whether a rule names the command, or it needs none.
func (c *classifier) allows(cmd *command, rules []*Rule, p permits) bool {
	plain := *cmd
	plain.redirs = nil // judged already
	if p.readOnly && len(cmd.assigns) == 0 && c.command(&plain) == "" {
		return true
	}
	for _, r := range rules {
		if r.kind == commandSpecifier && cmd.covered(&r.command) {
			switch cmd.name() {
			case "cd", "pushd", "popd", "export", "declare", "local", "typeset", "readonly", "source", ".", "alias", "set", "hash":
				c.lost = true // what follows may be somewhere else, or something else
			}
			return true
		}
	}
	return false
}

// narrowsFiles reports whether a path rule that denies or asks is about a file
// that a command line names.
func (r *Rule) narrowsFiles(s *subject, b Behavior) bool {
	reads := r.tool == "Read"
	writes := r.tool == "Edit" || r.tool == "Write" || reads && b == Deny
	if !reads && !writes {
		return false
	}
	for _, u := range s.fileUses() {
		if (reads && u.reads || writes && u.writes) && r.narrowsTarget(s.look.workspace, u.target) {
			return true
		}
	}
	return false
}

// fileUse is a file that a command line names, and what it may do to it.
type fileUse struct {
	target        target
	reads, writes bool
}

// fileUses returns the files that a command line names: as arguments of commands
// that are known to read or to write files, and as targets of redirections. This is
// best effort, for what is written there; a program may open any file.
func (s *subject) fileUses() []fileUse {
	if s.used {
		return s.uses
	}
	s.used = true
	sc, w := s.commands(), &s.look
	dirs := []string{w.dir}
	for i := range sc.commands {
		cmd := &sc.commands[i]
		for j := range cmd.redirs {
			if red := &cmd.redirs[j]; red.target.text != "" && !red.joins() {
				s.uses = w.use(s.uses, &red.target, dirs, !red.writes(), red.writes())
			}
		}
		if len(cmd.words) == 0 {
			continue
		}
		name, args := baseName(cmd.words[0].text), cmd.words[1:]
		if name == "cd" && len(args) == 1 && len(dirs) < maxDirs {
			dirs = w.changed(dirs, &args[0])
			continue
		}
		reads, writes := readsFiles(name), writesFiles(name)
		if !reads && !writes {
			continue
		}
		if isGrep(name) && !givesPattern(args) {
			args = dropPattern(args)
		}
		for j := range args {
			s.uses = w.use(s.uses, &args[j], dirs, reads, writes)
		}
	}
	return s.uses
}

// use adds what a word, or the value of a flag, names.
func (w *lookup) use(uses []fileUse, v *word, dirs []string, reads, writes bool) []fileUse {
	text := w.expand(v)
	if strings.HasPrefix(text, "-") || strings.HasPrefix(text, "of=") || strings.HasPrefix(text, "if=") {
		_, value, ok := strings.Cut(text, "=")
		if !ok {
			return uses
		}
		text = value
	}
	if text == "" || strings.ContainsAny(text, "\x02\x03") {
		return uses
	}
	for _, dir := range dirs {
		if v.glob {
			matches, _ := w.glob(text, dir)
			for _, m := range matches {
				uses = append(uses, fileUse{m.target, reads, writes})
			}
			continue
		}
		if t, ok := w.target(text, dir); ok {
			uses = append(uses, fileUse{t, reads, writes})
		}
	}
	return uses
}

func (r *redirection) writes() bool { return r.op != syntax.RdrIn }

// joins reports whether the redirection is to another stream, or closes one.
func (r *redirection) joins() bool {
	text := r.target.text
	return (r.op == syntax.DplIn || r.op == syntax.DplOut) &&
		(text == "-" || text != "" && strings.Trim(text, "0123456789") == "")
}

// dropPattern leaves the first operand out.
func dropPattern(args []word) []word {
	for i := range args {
		if !strings.HasPrefix(args[i].text, "-") {
			return append(append([]word{}, args[:i]...), args[i+1:]...)
		}
	}
	return args
}

func (r *Rule) narrowsTarget(w *workspace, t target) bool {
	for i := range r.paths {
		if r.paths[i].narrows(w, t) {
			return true
		}
	}
	return false
}

func isGrep(name string) bool {
	switch name {
	case "grep", "egrep", "fgrep", "zgrep", "rg", "ag", "ack":
		return true
	}
	return false
}

// readsFiles reports whether a program shows what is in the files that it is
// given.
func readsFiles(name string) bool {
	switch name {
	case "cat", "tac", "nl", "rev", "head", "tail", "less", "more", "most", "view", "bat", "sort", "uniq", "cut", "paste", "join",
		"comm", "fold", "fmt", "pr", "column", "expand", "unexpand", "wc", "diff", "cmp", "sdiff", "vimdiff", "od", "xxd", "hexdump",
		"hd", "strings", "base64", "base32", "awk", "gawk", "mawk", "sed", "jq", "yq", "xmllint", "source", ".", "cp", "mv", "ln", "scp",
		"rsync", "install", "dd", "tee", "tar", "zip", "gzip", "bzip2", "xz", "zstd", "zcat", "bzcat", "xzcat", "openssl", "file",
		"vi", "vim", "nvim", "nano", "emacs", "ed", "ex", "curl", "dos2unix", "iconv", "split", "csplit", "shred":
		return true
	}
	return isGrep(name)
}

// writesFiles reports whether a program changes, makes or removes the files that
// it is given, or can.
func writesFiles(name string) bool {
	switch name {
	case "tee", "cp", "mv", "rm", "rmdir", "unlink", "ln", "link", "install", "dd", "truncate", "touch", "mkdir", "shred", "sed",
		"perl", "awk", "gawk", "chmod", "chown", "chgrp", "chattr", "setfacl", "rsync", "scp", "patch", "ed", "ex", "vi", "vim", "nvim",
		"nano", "emacs", "sort", "split", "csplit", "tar", "unzip", "gzip", "gunzip", "bzip2", "xz", "zstd", "mkfifo", "mknod",
		"dos2unix", "sponge", "curl", "wget":
		return true
	}
	return false
}

// displayPath shows a path as a person would write it: below the current
// directory without it.
func (w *workspace) displayPath(path string) string {
	if w.dir == "" {
		return path
	}
	if below, ok := cutDir(path, w.dir); ok && below != "" {
		return filepath.ToSlash(below)
	}
	return path
}

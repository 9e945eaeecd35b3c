package permission

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/dsh-actor/dsh-actor/messages"
)

// maxSuggested bounds the rules of one suggestion: a command line that takes more
// is suggested as a whole.
const maxSuggested = 5

// suggest returns what "always" may add for a call, the narrowest first.
func (v view) suggest(s *subject, origin messages.AskOrigin) []Update {
	if s.missing != "" {
		return nil
	}
	switch origin {
	case messages.AskByMode:
	case messages.AskByRule:
		return addRules(s.exactRule()) // the rule asks about more than this call
	default:
		return nil // who asks does not look at rules
	}
	switch s.class {
	case shell:
		return v.suggestCommands(s)
	case reading, search, editing:
		return v.suggestFiles(s)
	}
	return addRules(s.tool)
}

// addRules is the update for rules, none if one of them cannot be written.
func addRules(rules ...string) []Update {
	for _, r := range rules {
		if parsed, err := ParseRule(r); err != nil || !parsed.anchored() {
			return nil
		}
	}
	return []Update{{Type: AddRules, Behavior: Allow, Rules: rules}}
}

// exactRule is the rule for this call and no other, as far as rules can tell calls
// apart.
func (s *subject) exactRule() string {
	switch s.class {
	case shell:
		return s.tool + "(" + exactSpecifier(s.commands().text) + ")"
	case reading, search, editing:
		if targets, ok := s.paths(); ok {
			return familyTool(s.class) + "(" + rootedPattern(targets[0].lexical) + ")"
		}
	}
	return s.tool
}

// familyTool is the tool that stands for a class in path rules.
func familyTool(c class) string {
	if c == editing {
		return "Edit"
	}
	return "Read"
}

// exactSpecifier writes a command so that a rule names it and nothing else.
func exactSpecifier(command string) string {
	return escapeParens.Replace(escapeStars.Replace(command))
}

var (
	escapeStars = strings.NewReplacer(`\`, `\\`, `*`, `\*`)
	escapeGlob  = strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`)
)

// rootedPattern writes an absolute path so that a path rule names it.
func rootedPattern(path string) string {
	volume := filepath.VolumeName(path)
	return "/" + escapeParens.Replace(escapeGlob.Replace(filepath.ToSlash(path[len(volume):])))
}

func (v view) suggestFiles(s *subject) []Update {
	targets, ok := s.paths()
	if !ok {
		return nil
	}
	t := targets[0]
	inside := s.look.inside(t)
	if s.class == editing && inside && !t.protected() {
		return slices.Concat(addRules(s.exactRule()), []Update{{Type: SetMode, Mode: ModeAcceptEdits}})
	}
	if inside {
		return addRules(s.exactRule())
	}
	dir := t.lexical
	if s.class != search {
		dir = filepath.Dir(dir)
	}
	below := familyTool(s.class) + "(" + strings.TrimSuffix(rootedPattern(dir), "/") + "/**)"
	updates := addRules(s.exactRule())
	if s.class == search {
		updates = nil // a search is of the whole directory
	}
	if dir != filepath.Dir(dir) { // never all of a file system
		updates = slices.Concat(updates, addRules(below))
		if s.class != editing { // which the workspace alone does not allow
			updates = append(updates, Update{Type: AddDirectories, Directories: []string{dir}})
		}
	}
	return updates
}

// suggestCommands suggests the rules that a command line lacks.
func (v view) suggestCommands(s *subject) []Update {
	sc := s.commands()
	whole := addRules(s.exactRule())
	if sc.err != nil || sc.opaque != "" {
		return whole
	}
	var narrow, wide []string
	c := newClassifier(&s.look)
	p := permits{edits: v.edits(s.look.workspace), readOnly: true}
	for i := range sc.commands {
		cmd := &sc.commands[i]
		for _, a := range cmd.assigns {
			if !harmless(a) {
				return whole
			}
		}
		if !c.permitsRedirections(cmd, p) {
			return whole
		}
		if len(cmd.words) == 0 {
			continue
		}
		if c.allows(cmd, slices.Concat(v.base.rules.allowShell, v.grants.rules.allowShell), p) {
			continue
		}
		exact, prefix := s.commandRules(cmd)
		if exact == "" {
			return whole
		}
		if !slices.Contains(narrow, exact) {
			narrow = append(narrow, exact)
		}
		if prefix == "" {
			prefix = exact
		}
		if !slices.Contains(wide, prefix) {
			wide = append(wide, prefix)
		}
	}
	if len(narrow) == 0 || len(narrow) > maxSuggested {
		return whole
	}
	updates := addRules(narrow...)
	if !slices.Equal(narrow, wide) {
		updates = slices.Concat(updates, addRules(wide...))
	}
	return updates
}

// commandRules writes the rules for one command: for exactly it, and for the
// commands that begin alike. Either may be missing.
func (s *subject) commandRules(cmd *command) (exact, prefix string) {
	for i := range cmd.words {
		if w := &cmd.words[i]; strings.ContainsAny(w.text, "\x02\x03") || w.brace || i == 0 && !w.static() {
			return "", ""
		}
	}
	exact = s.tool + "(" + exactSpecifier(joinWords(cmd.words, wordRaw)) + ")"
	n := prefixLength(texts(cmd.words))
	if n == 0 || n > len(cmd.words) {
		return exact, ""
	}
	return exact, s.tool + "(" + exactSpecifier(joinWords(cmd.words[:n], wordRaw)) + " *)"
}

func texts(words []word) []string {
	out := make([]string, len(words))
	for i := range words {
		out[i] = words[i].text
	}
	return out
}

// prefixLength is how many words of a command say what it does: git push, npm run
// test, make. It is 0 for programs that do whatever their arguments say.
func prefixLength(words []string) int {
	name := words[0]
	switch {
	case isWrapper(baseName(name)) || strings.Contains(name, "="):
		return 0
	case writesFiles(name) || isGrep(name):
		return 0
	}
	switch name {
	case "python", "python2", "python3", "node", "nodejs", "deno", "bun", "ruby", "perl", "php", "lua", "java", "osascript", "powershell",
		"pwsh", "ssh", "npx", "bunx", "pnpx", "uvx", "pipx", "eval", "source", ".", "kill", "pkill", "killall", "mkfs", "mount", "umount",
		"reboot", "shutdown", "crontab", "at", "nc", "ncat", "socat", "aws", "gcloud", "az", "psql", "mysql", "sqlite3", "awk", "make", "gdb":
		return 0
	case "git", "cargo", "go", "docker", "kubectl", "pip", "pip3", "poetry", "gh", "terraform", "systemctl", "brew", "apt", "apt-get",
		"dotnet", "mvn", "gradle", "helm", "rustup", "conda", "uv", "podman", "composer", "bundle", "mix", "swift", "flutter":
		return plainPrefix(words, 2)
	case "npm", "pnpm", "yarn":
		if len(words) > 1 && words[1] == "run" {
			return plainPrefix(words, 3)
		}
		return plainPrefix(words, 2)
	}
	return 1
}

// plainPrefix is n if the words up to there are names, and no flags or paths.
func plainPrefix(words []string, n int) int {
	if len(words) < n {
		return 0
	}
	for _, w := range words[:n] {
		if w == "" || strings.Trim(w, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789:_-") != "" || w[0] == '-' {
			return 0
		}
	}
	return n
}

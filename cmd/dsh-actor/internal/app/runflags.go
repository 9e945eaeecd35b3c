package app

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/dsh-actor/dsh-actor/tools/permission"
)

// Output and input formats.
const (
	formatText   = "text"
	formatJSON   = "json"
	formatStream = "stream-json"
)

// runFlags are the flags of run.
type runFlags struct {
	print        bool
	scenario     string
	model        string
	outputFormat string
	inputFormat  string
	verbose      bool
	partial      bool
	hookEvents   bool
	replay       bool
	trace        string
	cwd          string

	settings        string
	settingSources  string
	maxTurns        int
	permissionMode  string
	skipPermissions bool
	allowed         []string
	disallowed      []string
	addDirs         []string

	systemPrompt       string
	appendSystemPrompt string
	sessionID          string
	debugFile          string
}

// listFlags are those that take every word up to the next flag.
func listFlags() []string { return []string{"allowedTools", "disallowedTools", "add-dir"} }

// define declares the flags.
func (f *runFlags) define(c *cobra.Command) {
	fs := c.Flags()
	fs.SortFlags = false
	fs.BoolVarP(&f.print, "print", "p", false, "accepted for scripts that call claude: run always prints and exits")
	fs.StringVar(&f.scenario, "scenario", "", "answer from a scripted model, described in this `FILE` (YAML or JSON)")
	fs.StringVar(&f.model, "model", "", "model `NAME`: provider/name, a provider's own name, opus, sonnet or haiku;\ndefault: that of the first provider whose key is set")
	fs.StringVar(&f.outputFormat, "output-format", formatText, "`FORMAT` of the output: text, json (one object) or stream-json (one a line)")
	fs.StringVar(&f.inputFormat, "input-format", formatText, "`FORMAT` of standard input: text, or stream-json (several prompts, one a line)")
	fs.BoolVar(&f.verbose, "verbose", false, "show reasoning and tool output; with json: all lines as one array")
	fs.BoolVar(&f.partial, "include-partial-messages", false, "with stream-json: the model's stream as it comes")
	fs.BoolVar(&f.hookEvents, "include-hook-events", false, "accepted; hooks are not run by this version, so there are no such events")
	fs.BoolVar(&f.replay, "replay-user-messages", false, "with stream-json input: repeat each accepted prompt on the output")
	fs.StringVar(&f.cwd, "cwd", "", "work in this `DIR`; default: the current directory")

	fs.StringVar(&f.permissionMode, "permission-mode", "", "`MODE` for calls that no rule decides: default, acceptEdits, plan, dontAsk or\nbypassPermissions")
	fs.BoolVar(&f.skipPermissions, "dangerously-skip-permissions", false, "the same as --permission-mode bypassPermissions")
	fs.StringArrayVar(&f.allowed, "allowedTools", nil, "`RULES` of calls that need no question, such as \"Bash(git *) Edit\"")
	fs.StringArrayVar(&f.disallowed, "disallowedTools", nil, "`RULES` of calls that are denied")
	fs.StringArrayVar(&f.addDirs, "add-dir", nil, "more `DIR`s that belong to the workspace")
	fs.StringVar(&f.settings, "settings", "", "more settings: a `FILE`, or JSON text")
	fs.StringVar(&f.settingSources, "setting-sources", "", "`LIST` of settings files to read: user,project,local; default: all")

	fs.IntVar(&f.maxTurns, "max-turns", 0, "end a prompt after `N` model requests")
	fs.StringVar(&f.systemPrompt, "system-prompt", "", "`TEXT` in place of the system prompt")
	fs.StringVar(&f.appendSystemPrompt, "append-system-prompt", "", "`TEXT` after the system prompt")
	fs.StringVar(&f.sessionID, "session-id", "", "`UUID` of the session; default: a new one")
	fs.StringVar(&f.trace, "trace", "", "append the spans to this `FILE`, as OTLP JSON lines; OTEL_EXPORTER_OTLP_ENDPOINT\nsends them to a collector, too")
	fs.StringVar(&f.debugFile, "debug-file", "", "append everything that happens to this `FILE`")
	fs.SetNormalizeFunc(normalize)
	for name, values := range map[string][]string{
		"output-format":   {formatText, formatJSON, formatStream},
		"input-format":    {formatText, formatStream},
		"permission-mode": modeNames(),
		"setting-sources": {"user", "project", "local"},
		"model":           {"opus", "sonnet", "haiku"},
	} {
		_ = c.RegisterFlagCompletionFunc(name, cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp))
	}
}

// normalize knows the other spellings of the real program.
func normalize(_ *pflag.FlagSet, name string) pflag.NormalizedName {
	switch name {
	case "allowed-tools":
		name = "allowedTools"
	case "disallowed-tools":
		name = "disallowedTools"
	case "allow-dangerously-skip-permissions":
		name = "dangerously-skip-permissions"
	}
	return pflag.NormalizedName(name)
}

func modeNames() (names []string) {
	for _, m := range permission.Modes() {
		names = append(names, string(m))
	}
	return names
}

// check refuses what makes no sense, and says why.
func (f *runFlags) check(c *cobra.Command) error {
	changed := c.Flags().Changed
	for _, r := range []struct {
		flag, value string
		values      []string
	}{
		{"output-format", f.outputFormat, []string{formatText, formatJSON, formatStream}},
		{"input-format", f.inputFormat, []string{formatText, formatStream}},
		{"permission-mode", f.permissionMode, append(modeNames(), "")},
	} {
		if !slices.Contains(r.values, r.value) {
			return usagef("--%s: unknown value %q; it must be one of %s", r.flag, r.value, strings.Join(slices.DeleteFunc(r.values, empty), ", "))
		}
	}
	switch {
	case f.inputFormat == formatStream && f.outputFormat != formatStream:
		return usagef("--input-format stream-json needs --output-format stream-json")
	case f.partial && f.outputFormat != formatStream:
		return usagef("--include-partial-messages needs --output-format stream-json")
	case f.replay && f.inputFormat != formatStream:
		return usagef("--replay-user-messages needs --input-format stream-json")
	case changed("max-turns") && f.maxTurns < 1:
		return usagef("--max-turns: %d is not a positive number", f.maxTurns)
	case changed("session-id") && !isUUID(f.sessionID):
		return usagef("--session-id: %q is not a UUID", f.sessionID)
	case changed("model") && strings.TrimSpace(f.model) == "":
		return usagef("--model: the name is empty")
	case f.skipPermissions && f.permissionMode != "" && f.permissionMode != string(permission.ModeBypass):
		return usagef("--dangerously-skip-permissions and --permission-mode %s exclude each other", f.permissionMode)
	}
	for _, name := range []string{"scenario", "trace", "cwd", "settings", "debug-file"} {
		if changed(name) && c.Flags().Lookup(name).Value.String() == "" {
			return usagef("--%s: the value is empty", name)
		}
	}
	return nil
}

func empty(s string) bool { return s == "" }

// workDir is the absolute path of the session's working directory.
func (f *runFlags) workDir(processDir string) (string, error) {
	if f.cwd == "" {
		return processDir, nil
	}
	dir := f.cwd
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(processDir, dir)
	}
	if err := mustBeDir(dir); err != nil {
		return "", fmt.Errorf("--cwd: %w", err)
	}
	return filepath.Clean(dir), nil
}

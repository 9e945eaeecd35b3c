package app

import (
	"context"
	"fmt"
	"io"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/dsh-actor/dsh-actor/cmd/dsh-actor/internal/ask"
	"github.com/dsh-actor/dsh-actor/cmd/dsh-actor/internal/drive"
	"github.com/dsh-actor/dsh-actor/cmd/dsh-actor/internal/host"
	"github.com/dsh-actor/dsh-actor/cmd/dsh-actor/internal/printer"
	"github.com/dsh-actor/dsh-actor/cmd/dsh-actor/internal/streamjson"
	"github.com/dsh-actor/dsh-actor/cmd/dsh-actor/internal/view"
	"github.com/dsh-actor/dsh-actor/internal/settings"
	"github.com/dsh-actor/dsh-actor/messages"
)

func (a *app) runCommand() *cobra.Command {
	f := &runFlags{}
	c := &cobra.Command{
		Use:   "run [flags] [--] PROMPT",
		Short: "Run a prompt to its end: the model, its tools, and what you allow",
		Long: `run sends a prompt to a model and lets the model use tools on the files of the
working directory until it has an answer. It takes the flags of "claude -p", and
ends with its exit codes: 0 if the turn ended well, 1 if it failed or reached a
limit, 0 after SIGINT and 143 after SIGTERM.

The prompt is what is on the command line and on standard input, joined.

The model is the one of --scenario, or of --model, or the default of the first
provider whose key is set: ANTHROPIC_API_KEY, OPENAI_API_KEY, DEEPSEEK_API_KEY.
Without any of them a built-in script answers, offline.

A tool call is allowed, denied or asked about by the rules of .claude/settings.json
and of the flags, and by --permission-mode where no rule decides. On a terminal you
are asked; elsewhere a call that would have to be asked about is denied.`,
		Example: `  # offline: a scripted model, real files
  dsh-actor run --scenario examples/fix-the-bug.yaml --cwd "$(mktemp -d)" \
      --allowedTools "Write Edit Bash(sh total-demo/test.sh)"

  # let it edit, and run the tests without asking
  dsh-actor run --permission-mode acceptEdits --allowedTools "Bash(go test *)" -- "make the tests pass"

  # in a pipe
  git diff | dsh-actor run -p "review this" > review.txt

  # for a program: one JSON object a line
  dsh-actor run -p --output-format stream-json --verbose "hello" | jq -r 'select(.type=="result").result'

  # where did the time go?
  dsh-actor run --trace trace.jsonl "what changed last week?"`,
		RunE: func(c *cobra.Command, args []string) error {
			if err := f.check(c); err != nil {
				return err
			}
			return a.run(c.Context(), f, args)
		},
	}
	f.define(c)
	return c
}

// warn tells the user something that is no error, in one line. While a view is on
// the terminal, it finds the place for it.
func (a *app) warn(line string) {
	line = "dsh-actor: " + oneLine(line)
	if v := a.view.Load(); v != nil && a.sys.Err.Terminal() {
		_ = v.Line(line) // the view tells its error itself
		return
	}
	fmt.Fprintln(a.sys.Err, line)
}

// absolute is a file name of the command line as a path.
func (a *app) absolute(path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(a.sys.Dir, path)
}

// run is one session. Its error is of what went wrong before the session began;
// what goes wrong later is told by its printer, and by the exit code.
func (a *app) run(ctx context.Context, f *runFlags, args []string) error {
	dir, err := f.workDir(a.sys.Dir)
	if err != nil {
		return err
	}
	set, err := a.readSettings(f, dir)
	if err != nil {
		return err
	}
	log, err := a.openLog(f.debugFile)
	if err != nil {
		return err
	}
	defer log.Close()
	o, err := a.options(f, set, dir, log)
	if err != nil {
		return err
	}
	choice, err := host.Choose(o)
	if err != nil {
		return err
	}
	prompt := ""
	if f.inputFormat == formatText {
		if prompt, err = a.promptText(ctx, args, choice.Prompt); err != nil {
			choice.Close()
			return err
		}
	} else if len(args) > 0 {
		choice.Close()
		return usagef("a prompt on the command line does not go with --input-format stream-json")
	}
	// From here on a signal is a user's cancel.
	signals, stop := a.sys.Signals()
	defer stop()
	s := &session{app: a, flags: f, log: log, settings: set}
	if err := s.open(ctx, o, choice); err != nil {
		return err
	}
	a.code = s.drive(ctx, prompt, signals)
	return nil
}

// options translates flags and settings.
func (a *app) options(f *runFlags, set *settings.Snapshot, dir string, log *debugLog) (host.Options, error) {
	trusted := trustedEnv(set)
	getenv := (&System{Environ: append(a.sys.Environ[:len(a.sys.Environ):len(a.sys.Environ)], trusted...)}).Getenv
	rules, diagnostics, err := a.permissions(f, set, dir)
	if err != nil {
		return host.Options{}, err
	}
	for _, d := range append(set.Diagnostics, diagnostics...) {
		a.diagnose(log, d)
	}
	if notice := hooksNotice(set); notice != "" {
		a.warn(notice)
	}
	o := host.Options{
		Cwd: dir, Getenv: getenv, Environ: a.sys.Environ, Trusted: trusted, StateDir: a.stateDir(), Scenario: f.scenario, Model: f.model,
		SessionID: messages.SessionID(f.sessionID), MaxTurns: f.maxTurns,
		SystemPrompt: f.systemPrompt, AppendSystemPrompt: f.appendSystemPrompt,
		Permissions: rules, TraceFile: f.trace, Version: a.sys.Version, Logger: log.Logger,
	}
	if o.Model == "" {
		o.Model = set.Effective.Model.Text
	}
	if o.SessionID == "" {
		o.SessionID = messages.SessionID(a.sys.NewUUID())
	}
	if o.Scenario != "" {
		o.Scenario = a.absolute(o.Scenario)
	}
	return o, nil
}

// diagnose tells what is wrong in a settings file. What only might be better goes to
// the debug file.
func (a *app) diagnose(log *debugLog, d settings.Diagnostic) {
	if d.Severity == settings.Info {
		log.Debug("settings", "diagnostic", d.String())
		return
	}
	a.warn(d.String())
}

// session is one run after its options are known.
type session struct {
	app      *app
	flags    *runFlags
	log      *debugLog
	settings *settings.Snapshot

	host    *host.Host
	printer drive.Printer
	writer  *streamjson.Writer
	view    *view.View
	array   *printer.Array
}

// open puts the session and its printer together.
func (s *session) open(ctx context.Context, o host.Options, choice *host.Choice) error {
	sys := &s.app.sys
	interactive := s.flags.inputFormat == formatText && sys.In.Terminal() && sys.Err.Terminal()
	if s.flags.outputFormat == formatText && sys.Out.Terminal() {
		s.view = view.New(sys.Out, view.Config{
			Color: sys.Out.Colors(sys.Getenv), Animate: sys.Out.Escapes(sys.Getenv), Verbose: s.flags.verbose, Width: sys.Out.Width,
		})
		s.app.view.Store(s.view)
	}
	if interactive {
		var screen ask.Screen
		if s.view != nil {
			screen = s.view
		}
		o.Permissions.Asker = ask.New(sys.In, sys.Err, sys.Err.Colors(sys.Getenv), screen).Ask
	}
	h, err := host.Open(ctx, o, choice)
	if err != nil {
		if s.view != nil {
			_ = s.view.Close() // nothing was shown
			s.app.view.Store(nil)
		}
		return err
	}
	s.host = h
	for _, d := range h.Diagnostics {
		s.app.diagnose(s.log, d)
	}
	if choice.Notice != "" {
		s.app.warn(choice.Notice)
	}
	return s.openPrinter(o)
}

func (s *session) openPrinter(o host.Options) error {
	var out io.Writer = s.app.sys.Out
	lines := streamjson.Config{Session: o.SessionID, NewUUID: s.app.sys.NewUUID, Partial: s.flags.partial}
	switch {
	case s.flags.outputFormat == formatJSON && !s.flags.verbose:
		s.printer = printer.NewObject(streamjson.NewWriter(out, lines), s.host.Facts)
	case s.flags.outputFormat != formatText:
		if s.flags.outputFormat == formatJSON {
			s.array = &printer.Array{Out: out}
			out = s.array
		}
		s.writer = streamjson.NewWriter(out, lines)
		s.printer = printer.NewLines(s.writer, s.host.Choice.Model, s.host.Facts)
	case s.view != nil:
		s.printer = printer.NewTerminal(s.view, s.host.Facts)
	case s.flags.verbose:
		s.view = view.New(s.app.sys.Err, view.Config{Verbose: true})
		s.printer = printer.Both{printer.NewTerminal(s.view, s.host.Facts), &printer.Text{Out: out, Fail: s.fail}}
	default:
		s.printer = &printer.Text{Out: out, Fail: s.fail}
	}
	s.printer = s.log.printer(s.printer)
	if s.writer == nil {
		return nil
	}
	return s.writer.Init(streamjson.Init{
		Cwd: o.Cwd, Model: s.host.Choice.Model, Provider: s.host.Choice.Provider, Tools: s.host.Tools,
		PermissionMode: string(s.host.Mode), APIKeySource: s.host.Choice.KeySource, Version: o.Version,
	})
}

// fail is one line of standard error for a turn that failed.
func (s *session) fail(line string) { s.app.complain(nil, fmt.Errorf("%s", line)) }

package app

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"

	"github.com/spf13/cobra"

	"github.com/dsh-actor/dsh-actor/cmd/dsh-actor/internal/view"
)

// app is one run of the program.
type app struct {
	sys  System
	code int
	view atomic.Pointer[view.View] // while one is on the terminal
}

// Main runs the command line and returns the exit code.
func Main(ctx context.Context, sys System, args []string) int {
	a := &app{sys: sys}
	root := a.rootCommand()
	root.SetArgs(prepare(args))
	root.SetIn(sys.In.Reader(ctx))
	root.SetOut(sys.Out)
	root.SetErr(sys.Err)
	command, err := root.ExecuteContextC(ctx)
	if err != nil {
		a.complain(command, err)
		return 1
	}
	return a.code
}

// complain tells what is wrong, in one line.
func (a *app) complain(command *cobra.Command, err error) {
	name := "dsh-actor"
	if command != nil {
		name = command.CommandPath()
	}
	line := name + ": " + oneLine(err.Error())
	var usage *usageError
	if errors.As(err, &usage) {
		line += " (see " + name + " --help)"
	}
	fmt.Fprintln(a.sys.Err, line)
}

// oneLine joins the lines of a message.
func oneLine(s string) string {
	return strings.Join(strings.FieldsFunc(s, func(r rune) bool { return r == '\n' || r == '\r' }), "; ")
}

// usageError is a mistake in the command line.
type usageError struct{ text string }

func (e *usageError) Error() string { return e.text }

func usagef(format string, args ...any) error {
	return &usageError{fmt.Sprintf(format, args...)}
}

func (a *app) rootCommand() *cobra.Command {
	root := &cobra.Command{
		Use:   "dsh-actor",
		Short: "Run AI-agent sessions on real files, under policy, with a trace of every step",
		Long: `dsh-actor runs AI-agent sessions: a model, tools that work on real files, rules
about what may run, and a record of everything that happened.

  dsh-actor run "what does this project do?"

takes the place of "claude -p": the same flags, the same output formats, the same
exit codes. With no provider's key it answers from a script, offline.`,
		Example: `  # offline, with a scripted model: real files, real commands
  dsh-actor run --scenario examples/fix-the-bug.yaml --cwd "$(mktemp -d)" \
      --allowedTools "Write Edit Bash(sh total-demo/test.sh)"

  # with a provider's key in the environment
  dsh-actor run "fix the failing test" --permission-mode acceptEdits

  # what a program reads
  dsh-actor run -p "list the endpoints" --output-format json`,
		SilenceErrors: true,
		SilenceUsage:  true,
		Version:       a.sys.Version,

		SuggestionsMinimumDistance: 2,
		Args: func(c *cobra.Command, args []string) error {
			if len(args) == 0 {
				return nil
			}
			return unknownCommand(c, args[0])
		},
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	root.SetVersionTemplate("dsh-actor {{.Version}}\n")
	root.SetFlagErrorFunc(flagError)
	root.AddCommand(a.runCommand(), a.versionCommand())
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	return root
}

func unknownCommand(c *cobra.Command, name string) error {
	if near := c.SuggestionsFor(name); len(near) > 0 {
		return usagef("unknown command %q; did you mean %q?", name, near[0])
	}
	return usagef("unknown command %q; to run a prompt, write: dsh-actor run %q", name, name)
}

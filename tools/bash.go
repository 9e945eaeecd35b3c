package tools

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/dsh-actor/dsh-actor/internal/proc"
	"github.com/dsh-actor/dsh-actor/messages"
	"github.com/dsh-actor/dsh-actor/otel"
	"github.com/dsh-actor/dsh-actor/pipeline"
	"github.com/dsh-actor/dsh-actor/tools/internal/plain"
	"github.com/dsh-actor/dsh-actor/tools/shellcmd"
)

// BashInput is the arguments of Bash.
type BashInput struct {
	Command     string  `json:"command" description:"The command to run, in bash. It has no terminal and no input."`
	Timeout     float64 `json:"timeout,omitzero" description:"How long it may run, in milliseconds; 120000 by default, 600000 at most."`
	Description string  `json:"description,omitzero" description:"What the command does, in 5 to 10 words."`
}

// BashOutput is the canonical value of Bash (Z-44).
type BashOutput struct {
	Stdout           string `json:"stdout"`
	Stderr           string `json:"stderr"`
	Interrupted      bool   `json:"interrupted"`
	IsImage          bool   `json:"isImage"`
	NoOutputExpected bool   `json:"noOutputExpected"`
	// PersistedOutputPath is the file with the whole of a standard output that
	// was too long, and PersistedOutputSize its length in bytes.
	PersistedOutputPath string `json:"persistedOutputPath,omitzero"`
	PersistedOutputSize int64  `json:"persistedOutputSize,omitzero"`
}

func (k *Kit) bash() pipeline.Tool {
	return pipeline.MustDefine(pipeline.Definition[BashInput, BashOutput]{
		Name: "Bash",
		Description: "Runs a shell command and returns what it prints. " +
			"The directory that a command changes to is kept for the next one if it is in the workspace; variables are not. " +
			"Processes that are left in the background end with the session.",
		Run:             k.runBash,
		Render:          renderBash,
		Concurrent:      func(in BashInput) bool { return shellcmd.ReadOnly(in.Command) },
		FinalizeContent: plain.Failure,
	})
}

// bashScript runs the command, which is in its own argument so that it needs no
// quoting and keeps its line numbers, and leaves word of where it ended.
const bashScript = `trap 'pwd -P 2>/dev/null >|"$DSH_CWD_FILE"' EXIT; unset -v dsh_p dsh_c; dsh_p=$1; dsh_c=$2; set --; [ -z "$dsh_p" ] || eval "$dsh_p"; unset -v dsh_p; eval "$dsh_c"`

func (k *Kit) runBash(ctx context.Context, inv *pipeline.Invocation, in BashInput) (BashOutput, error) {
	call, agent := inv.Call(), inv.Agent()
	timeout, err := k.bashTimeout(in.Timeout)
	if err != nil {
		return BashOutput{}, err
	}
	s := k.sessions.get(sessionOf(agent))
	cwd := s.cwd(agent)
	cwdFile, err := tempName("dsh-cwd-*")
	if err != nil {
		return BashOutput{}, fmt.Errorf("run a command: %w", err)
	}
	defer os.Remove(cwdFile)

	out := s.processes(k.owner).Run(ctx, k.bashSpec(ctx, call, in.Command, cwd, cwdFile, timeout))
	k.trace(ctx, &out)
	switch {
	case out.LaunchErr != nil:
		var e *proc.LaunchError
		if errors.As(out.LaunchErr, &e) && e.Kind == proc.LaunchDir {
			s.moveTo("") // it is gone; the next command is where the session is
		}
		return BashOutput{}, out.LaunchErr
	case out.Cancelled:
		// The pipeline makes an abort of a success that comes too late (P-21).
		if ctx.Err() == nil {
			return BashOutput{}, fmt.Errorf("the command was ended: %w", out.Cause)
		}
		return BashOutput{Interrupted: true}, nil
	}
	value := bashOutput(in.Command, &out)
	if note := k.follow(call, s, cwd, cwdFile); note != "" {
		value.Stderr = join(value.Stderr, note)
	}
	if out.TimedOut {
		value.Stderr = join(fmt.Sprintf("Command timed out after %v", timeout), value.Stderr)
	}
	if code := exitCode(&out); code != 0 || out.TimedOut {
		return value, errors.New(join(fmt.Sprintf("Exit code %d", code), value.Stderr, value.text()))
	}
	return value, nil
}

// trace puts the process on the span of the body.
func (k *Kit) trace(ctx context.Context, out *proc.Outcome) {
	if k.cfg.Tracer == nil || !out.Started {
		return
	}
	shell := k.cfg.Shell[0]
	k.cfg.Tracer.AnnotateProcess(ctx, otel.Process{
		PID: out.PID, Executable: filepath.Base(shell), Path: shell,
		Exited: out.Exited, ExitCode: out.ExitCode, Signal: out.SignalName(),
	})
}

func (k *Kit) bashSpec(ctx context.Context, call *pipeline.Call, command, cwd, cwdFile string, timeout time.Duration) proc.Spec {
	var prelude string
	if k.cfg.Prelude != nil {
		prelude = k.cfg.Prelude(call)
	}
	env := []string{"NO_COLOR=1", "TERM=dumb", "PAGER=cat", "GIT_PAGER=cat"}
	env = append(env, otel.EnvCarrier(ctx)...)
	if k.cfg.Env != nil {
		env = append(env, k.cfg.Env(call)...)
	}
	keep := proc.Capture{Limit: k.cfg.OutputLimit, Keep: proc.KeepTail}
	stdout := keep
	if k.cfg.SpillDir != nil {
		stdout.Spill = proc.Spill{Dir: k.cfg.SpillDir(call), Prefix: "bash-"}
	}
	argv := append(append([]string{}, k.cfg.Shell...), bashScript, filepath.Base(k.cfg.Shell[0]), prelude, command)
	return proc.Spec{
		Argv: argv,
		Dir:  cwd,
		Env: proc.Env{
			Base: k.cfg.BaseEnv, Drop: append([]string{"DSH_*"}, k.cfg.Drop...),
			Set: append(env, "DSH_CWD_FILE="+cwdFile),
		},
		Stdout: stdout, Stderr: keep,
		Timeout: timeout, Grace: k.cfg.Grace, PipeWait: k.cfg.Grace,
	}
}

// bashTimeout is the time for a command that asks for ms milliseconds.
func (k *Kit) bashTimeout(ms float64) (time.Duration, error) {
	switch {
	case ms == 0:
		return min(k.cfg.DefaultTimeout, k.cfg.MaxTimeout), nil
	case ms < 0 || math.IsInf(ms, 0) || math.IsNaN(ms):
		return 0, errors.New("bash-local: request.timeoutMs must be a positive finite number")
	case ms >= float64(k.cfg.MaxTimeout.Milliseconds()):
		return k.cfg.MaxTimeout, nil
	}
	return time.Duration(ms * float64(time.Millisecond)), nil
}

// follow moves the session to the directory that its command ended in. A
// directory out of the workspace is not followed, which is said.
func (k *Kit) follow(call *pipeline.Call, s *session, old, file string) (note string) {
	data, err := os.ReadFile(file)
	if err != nil {
		return ""
	}
	dir := strings.TrimSuffix(string(data), "\n")
	if !filepath.IsAbs(dir) || sameDir(dir, old) {
		return ""
	}
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return ""
	}
	root := home(call.Agent())
	roots := []string{root}
	if k.cfg.Dirs != nil {
		roots = append(roots, k.cfg.Dirs(call)...)
	}
	for _, r := range roots {
		if within(dir, r) {
			s.moveTo(dir)
			if k.cfg.CwdChanged != nil {
				k.cfg.CwdChanged(call, old, dir)
			}
			return ""
		}
	}
	s.moveTo("")
	if k.cfg.CwdChanged != nil && !sameDir(old, root) {
		k.cfg.CwdChanged(call, old, root)
	}
	return "Shell cwd was reset to " + root
}

// within reports whether dir, which has no symbolic links, is root or below it.
func within(dir, root string) bool {
	if real, err := filepath.EvalSymlinks(root); err == nil {
		root = real
	}
	rel, err := filepath.Rel(root, dir)
	return err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator))
}

// sameDir reports whether dir, which has no symbolic links, is the directory.
func sameDir(dir, other string) bool {
	if real, err := filepath.EvalSymlinks(other); err == nil {
		other = real
	}
	return dir == filepath.Clean(other)
}

// exitCode is the code that a shell would report.
func exitCode(out *proc.Outcome) int {
	if out.Exited {
		return out.ExitCode
	}
	if out.Signal != 0 {
		return 128 + int(out.Signal)
	}
	return -1 // it is not known how it ended, or it could not be ended
}

func bashOutput(command string, out *proc.Outcome) BashOutput {
	return BashOutput{
		Stdout:              outputText(&out.Stdout),
		Stderr:              outputText(&out.Stderr),
		NoOutputExpected:    shellcmd.Silent(command),
		PersistedOutputPath: out.Stdout.SpillPath,
		PersistedOutputSize: spilled(&out.Stdout),
	}
}

func spilled(c *proc.Captured) int64 {
	if c.SpillPath == "" {
		return 0
	}
	return c.Total
}

// outputText decodes what a command printed, without the line ends at its end.
// What was lost is said at the place of the loss, and no code point is cut in
// two (Z-7).
func outputText(c *proc.Captured) string {
	data := c.Data
	if c.Truncated {
		for i := 0; i < utf8.UTFMax && len(data) > 0 && !utf8.RuneStart(data[0]); i++ {
			data = data[1:]
		}
	}
	text := messages.ValidUTF8(string(bytes.TrimRight(data, "\r\n")))
	if c.Truncated {
		lost := c.Total - int64(len(data))
		return fmt.Sprintf("... [%d bytes of output cut here] ...\n%s", lost, text)
	}
	return text
}

// text is the standard output as the model reads it.
func (o *BashOutput) text() string {
	if o.PersistedOutputPath == "" {
		return o.Stdout
	}
	return join(o.Stdout, fmt.Sprintf("[the whole output, %d bytes, is in %s]", o.PersistedOutputSize, o.PersistedOutputPath))
}

func renderBash(_ BashInput, o BashOutput) messages.Content {
	if text := join(o.text(), o.Stderr); text != "" {
		return messages.Text(text)
	}
	return messages.Text("(Bash completed with no output)")
}

// join joins the lines that are not empty.
func join(lines ...string) string {
	var b strings.Builder
	for _, l := range lines {
		if l == "" {
			continue
		}
		if b.Len() > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(l)
	}
	return b.String()
}

// tempName makes an empty private file and returns its path.
func tempName(pattern string) (string, error) {
	f, err := os.CreateTemp("", pattern)
	if err != nil {
		return "", err
	}
	return f.Name(), f.Close()
}

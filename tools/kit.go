package tools

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"time"

	"github.com/dsh-actor/dsh-actor/internal/proc"
	"github.com/dsh-actor/dsh-actor/messages"
	"github.com/dsh-actor/dsh-actor/otel"
	"github.com/dsh-actor/dsh-actor/pipeline"
)

// Config makes a [Kit]. The zero value is a good one.
type Config struct {
	// Shell runs commands; its last argument is followed by a script and the
	// script's arguments. Empty is bash, or /bin/sh where there is none.
	Shell []string
	// BaseEnv is the ambient environment of commands, from which names that look
	// like secrets are removed (Z-20), and those in Drop. Nil is os.Environ().
	BaseEnv []string
	Drop    []string
	// Env returns trusted entries for a call; they override everything.
	Env func(call *pipeline.Call) []string
	// Prelude returns shell text that is run before a command, such as the
	// exports that a hook has asked for.
	Prelude func(call *pipeline.Call) string

	// DefaultTimeout is the time that a command gets if it asks for none, and
	// MaxTimeout the most that it can ask for. Zero is 120 s and 600 s.
	DefaultTimeout, MaxTimeout time.Duration
	// Grace is the time between SIGTERM and SIGKILL for a command that is
	// ended, and for how long pipes are read that it left open.
	// Zero is 3 s.
	Grace time.Duration
	// OutputLimit is how many bytes of a command's standard output, and of its
	// standard error, are kept. Zero is 64,000.
	OutputLimit int
	// SpillDir returns the private directory for output that exceeds the limit;
	// "" or nil keeps none.
	SpillDir func(call *pipeline.Call) string

	// Dirs returns directories, besides the session's own, in which a command
	// may leave the session's commands to be.
	Dirs func(call *pipeline.Call) []string
	// CwdChanged is told that the commands of a session are in another
	// directory.
	CwdChanged func(call *pipeline.Call, old, new string)
	// Tracer puts the process of a command on the span of its body. Nil does not.
	Tracer *otel.Tracer
	// Unread lets Write and Edit change files that the session has not read.
	Unread bool
}

// Kit makes the built-in tools and owns what they start. It is safe for
// concurrent use.
type Kit struct {
	cfg      Config
	owner    *proc.Owner
	sessions sessions
}

// New returns a Kit. It must be drained.
func New(cfg Config) *Kit {
	if len(cfg.Shell) == 0 {
		cfg.Shell = []string{"/bin/sh", "-c"}
		if bash, err := exec.LookPath("bash"); err == nil {
			cfg.Shell = []string{bash, "-c"}
		}
	}
	if cfg.BaseEnv == nil {
		cfg.BaseEnv = os.Environ()
	}
	cfg.BaseEnv = otel.StripEnv(cfg.BaseEnv)
	setDefault(&cfg.DefaultTimeout, 120*time.Second)
	setDefault(&cfg.MaxTimeout, 600*time.Second)
	setDefault(&cfg.Grace, 3*time.Second)
	if cfg.OutputLimit <= 0 {
		cfg.OutputLimit = proc.DefaultLimit
	}
	return &Kit{cfg: cfg, owner: proc.New(proc.Config{})}
}

func setDefault(d *time.Duration, to time.Duration) {
	if *d <= 0 {
		*d = to
	}
}

// Tools returns the definitions, in the order of their names.
func (k *Kit) Tools() []pipeline.Tool {
	return []pipeline.Tool{k.bash(), k.edit(), k.glob(), k.grep(), k.read(), k.write()}
}

// Register adds the named tools, or all of them, to a scope and returns what
// removes them.
func (k *Kit) Register(scope *pipeline.Tools, names ...string) (remove func(), err error) {
	var undo []func()
	remove = func() {
		for _, f := range undo {
			f()
		}
	}
	tools := k.Tools()
	for _, name := range names {
		if !slices.ContainsFunc(tools, func(t pipeline.Tool) bool { return t.Name == name }) {
			return nil, fmt.Errorf("register built-in tools: there is no %q", name)
		}
	}
	for _, t := range tools {
		if len(names) > 0 && !slices.Contains(names, t.Name) {
			continue
		}
		f, err := scope.Register(t)
		if err != nil {
			remove()
			return nil, fmt.Errorf("register built-in tools: %w", err)
		}
		undo = append(undo, f)
	}
	return remove, nil
}

// Cwd is the directory that the commands of the session are in.
func (k *Kit) Cwd(agent pipeline.Agent) string {
	return k.sessions.get(sessionOf(agent)).cwd(agent)
}

// End ends the processes that a session's commands left running and forgets
// what the session's tools remember. It is called when the session has ended.
func (k *Kit) End(ctx context.Context, id messages.SessionID) messages.Report {
	s := k.sessions.take(id)
	if s == nil {
		return messages.Report{Owner: "commands of session " + string(id)}
	}
	return report("commands of session "+string(id), id, s.drain(ctx, k.cfg.Grace))
}

// Drain ends all commands and everything that commands left running. No command
// can be started afterwards.
func (k *Kit) Drain(ctx context.Context) messages.Report {
	r := report("commands", "", k.owner.Drain(ctx, k.cfg.Grace))
	k.sessions.clear()
	return r
}

func report(owner string, id messages.SessionID, r proc.Report) messages.Report {
	out := messages.Report{Owner: owner, TookMS: r.Took.Milliseconds()}
	out.Count("processes", r.Processes)
	for _, m := range r.Left {
		out.Leftovers = append(out.Leftovers, messages.Leftover{Kind: "process", Name: m.Name, Session: id, PID: m.PID})
	}
	return out
}

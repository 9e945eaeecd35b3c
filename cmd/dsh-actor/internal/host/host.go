package host

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	"github.com/dsh-actor/dsh-actor/actors"
	"github.com/dsh-actor/dsh-actor/messages"
	"github.com/dsh-actor/dsh-actor/model"
	"github.com/dsh-actor/dsh-actor/otel"
	"github.com/dsh-actor/dsh-actor/otel/export"
	"github.com/dsh-actor/dsh-actor/pipeline"
	"github.com/dsh-actor/dsh-actor/tools"
	"github.com/dsh-actor/dsh-actor/tools/permission"
)

// Options say what to put together.
type Options struct {
	// Cwd is the working directory, an absolute path.
	Cwd string
	// Environ is the process's environment, and Trusted what settings put over it.
	// Getenv reads both. Commands get all of Trusted, and of Environ what does not
	// look like a secret (Z-20).
	Environ, Trusted []string
	Getenv           func(string) string
	// StateDir is where the files of sessions are; "" keeps none.
	StateDir string
	// Scenario is a scenario file, Model a model name; both may be empty.
	Scenario, Model string
	// SessionID names the session.
	SessionID messages.SessionID
	// MaxTurns bounds the model requests of one prompt (Z-17); 0 is no bound.
	MaxTurns int
	// SystemPrompt replaces the default one, AppendSystemPrompt follows it.
	SystemPrompt, AppendSystemPrompt string
	// Permissions are the rules and the mode.
	Permissions permission.Config
	// TraceFile gets the spans as OTLP/JSON lines; "" is no file.
	TraceFile string
	// Version is that of the program.
	Version string
	// Logger gets warnings and, for --debug-file, everything else.
	Logger *slog.Logger
}

// Host is a runtime with one session and what belongs to it.
type Host struct {
	Runtime *actors.Runtime
	Session *actors.Session
	Choice  *Choice
	// Tools are the names of the tools that the model sees.
	Tools []string
	// Mode is the permission mode.
	Mode permission.Mode
	// Diagnostics say what is wrong with the permission rules.
	Diagnostics []permission.Diagnostic

	ledger *ledger
	kit    *tools.Kit
	traces *export.Provider
}

// Choose picks the model that the options ask for. The choice is given to [Open], or
// closed.
func Choose(o Options) (*Choice, error) {
	return choose(o.Scenario, o.Model, o.Getenv, providers())
}

// Open puts a host together, around the model that was chosen, which it then owns,
// also if it fails. Ctx bounds the opening only.
func Open(ctx context.Context, o Options, choice *Choice) (h *Host, err error) {
	h = &Host{ledger: newLedger(), Choice: choice}
	defer func() {
		if err != nil {
			_ = h.Close(ctx) // the first error is the one to tell
			h = nil
		}
	}()
	if err := h.openRuntime(ctx, o); err != nil {
		return h, err
	}
	if err := h.furnish(o); err != nil {
		return h, err
	}
	return h, h.openSession(ctx, o)
}

// furnish registers what works on every session.
func (h *Host) furnish(o Options) error {
	if err := h.installTools(o); err != nil {
		return err
	}
	// Commands remember where they are, and paths are relative to there.
	o.Permissions.Cwd = func(call *pipeline.Call) string { return h.kit.Cwd(call.Agent()) }
	policy, diagnostics, err := installPolicy(h.Runtime, o.Permissions)
	if err != nil {
		return err
	}
	h.Diagnostics = diagnostics
	h.Mode = policy.Mode(o.SessionID)
	if err := installRetry(h.Runtime, o.Getenv); err != nil {
		return err
	}
	h.Runtime.Seams().Result.Use(h.ledger.note, pipeline.Named("ledger"))
	return nil
}

func (h *Host) openRuntime(ctx context.Context, o Options) error {
	traces, err := openTraces(ctx, o.TraceFile, o.Version, func(err error) {
		o.Logger.Warn("spans were not written", "error", err)
	})
	if err != nil {
		return err
	}
	h.traces = traces
	h.Runtime, err = actors.New(actors.Config{
		Models: model.Map{h.Choice.Provider: h.Choice.adapter},
		Tracer: otel.New(otel.Config{TracerProvider: traces.TracerProvider(), Version: o.Version}),
		Logger: o.Logger,
	})
	if err != nil {
		return fmt.Errorf("start the runtime: %w", err)
	}
	return nil
}

func (h *Host) openSession(ctx context.Context, o Options) error {
	s, err := h.Runtime.Create(ctx, actors.SessionOptions{
		ID: o.SessionID, Cwd: o.Cwd,
		Agent: &actors.Agent{
			Name:              "dsh-actor",
			System:            systemPrompt(o),
			Request:           messages.RequestConfig{Provider: h.Choice.Provider, Model: h.Choice.Model},
			MaxStepsPerPrompt: o.MaxTurns,
		},
	})
	if err != nil {
		return fmt.Errorf("open session %s: %w", o.SessionID, err)
	}
	h.Session = s
	for spec := range h.Runtime.Tools().Specs().Values() {
		h.Tools = append(h.Tools, spec.Name)
	}
	return nil
}

// Facts returns what is known of the call that a result in the log belongs to, and
// forgets it.
func (h *Host) Facts(r messages.ToolResult) (CallFacts, bool) { return h.ledger.take(r) }

// Close ends the host: the runtime, what its commands left running, the model's
// connections, the traces. When ctx is done, what does not end is sealed, and
// processes are killed without grace. The error names what was left, and spans that
// were lost.
func (h *Host) Close(ctx context.Context) error {
	var errs []error
	if h.Runtime != nil {
		_, err := h.Runtime.Shutdown(ctx)
		errs = append(errs, err)
	}
	if h.kit != nil {
		r := h.kit.Drain(ctx)
		errs = append(errs, r.Err())
	}
	h.Choice.Close()
	if err := h.traces.Shutdown(ctx); err != nil {
		errs = append(errs, fmt.Errorf("traces: %w", err))
	}
	return errors.Join(errs...)
}

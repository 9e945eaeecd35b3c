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
)

// Options say what to put together.
type Options struct {
	// Cwd is the working directory, an absolute path.
	Cwd string
	// Getenv reads the environment: settings over the process's.
	Getenv func(string) string
	// Scenario is a scenario file, Model a model name; both may be empty.
	Scenario, Model string
	// SessionID names the session.
	SessionID messages.SessionID
	// MaxTurns bounds the model requests of one prompt (Z-17); 0 is no bound.
	MaxTurns int
	// SystemPrompt replaces the default one, AppendSystemPrompt follows it.
	SystemPrompt, AppendSystemPrompt string
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

	ledger *ledger
	traces *export.Provider
	ends   []end
}

// end ends one part of a host.
type end struct {
	what string
	fn   func(context.Context) error
}

// Open puts a host together. Ctx bounds the opening only.
func Open(ctx context.Context, o Options) (h *Host, err error) {
	h = &Host{ledger: newLedger()}
	defer func() {
		if err != nil {
			_ = h.Close(ctx) // the first error is the one to tell
			h = nil
		}
	}()
	if h.Choice, err = choose(o.Scenario, o.Model, o.Getenv, providers()); err != nil {
		return h, err
	}
	h.ends = append(h.ends, end{"model", func(context.Context) error { h.Choice.close(); return nil }})
	if err := h.openRuntime(ctx, o); err != nil {
		return h, err
	}
	h.Runtime.Seams().Result.Use(h.ledger.note, pipeline.Named("ledger"))
	return h, h.openSession(ctx, o)
}

func (h *Host) openRuntime(ctx context.Context, o Options) error {
	traces, err := openTraces(ctx, o.TraceFile, o.Version, func(err error) {
		o.Logger.Warn("spans were not written", "error", err)
	})
	if err != nil {
		return err
	}
	// The traces end last: they are told about the ends of everything else.
	h.ends = append([]end{{"traces", traces.Shutdown}}, h.ends...)
	h.traces = traces
	h.Runtime, err = actors.New(actors.Config{
		Models: model.Map{h.Choice.Provider: h.Choice.adapter},
		Tracer: otel.New(otel.Config{TracerProvider: traces.TracerProvider(), Version: o.Version}),
		Logger: o.Logger,
	})
	if err != nil {
		return fmt.Errorf("start the runtime: %w", err)
	}
	h.ends = append(h.ends, end{"runtime", func(ctx context.Context) error {
		_, err := h.Runtime.Shutdown(ctx)
		return err
	}})
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

// Close ends the host. When ctx is done it seals what does not end. The error names
// what was left, and spans that were lost.
func (h *Host) Close(ctx context.Context) error {
	var errs []error
	for i := len(h.ends) - 1; i >= 0; i-- {
		if err := h.ends[i].fn(ctx); err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", h.ends[i].what, err))
		}
	}
	h.ends = nil
	return errors.Join(errs...)
}

package app

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"strings"

	"github.com/dsh-actor/dsh-actor/cmd/dsh-actor/internal/drive"
	"github.com/dsh-actor/dsh-actor/cmd/dsh-actor/internal/outcome"
	"github.com/dsh-actor/dsh-actor/messages"
)

// debugLog is where the runtime's warnings go: standard error, and the debug file,
// which gets everything else, too.
type debugLog struct {
	*slog.Logger
	file *os.File // nil without --debug-file
}

func (a *app) openLog(path string) (*debugLog, error) {
	warnings := &warningHandler{warn: a.warn}
	if path == "" {
		return &debugLog{Logger: slog.New(warnings)}, nil
	}
	f, err := os.OpenFile(a.absolute(path), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, fmt.Errorf("--debug-file: %w", err)
	}
	text := slog.NewTextHandler(f, &slog.HandlerOptions{Level: slog.LevelDebug})
	return &debugLog{Logger: slog.New(bothHandlers{text, warnings}), file: f}, nil
}

// Close closes the file.
func (l *debugLog) Close() {
	if l.file != nil {
		_ = l.file.Close() // what was lost was lost before
	}
}

// printer returns p, with every event and ending written to the debug file first.
func (l *debugLog) printer(p drive.Printer) drive.Printer {
	if l.file == nil {
		return p
	}
	return &debugPrinter{p, l.Logger}
}

type debugPrinter struct {
	drive.Printer
	log *slog.Logger
}

// Event writes the event as it stands in the session's log.
func (p *debugPrinter) Event(e messages.Event) error {
	text, err := e.AppendJSON(nil)
	p.log.Debug("event", "event", string(text), "error", err)
	return p.Printer.Event(e)
}

// Turn writes the turn's result.
func (p *debugPrinter) Turn(t *outcome.Turn, r outcome.Result) error {
	p.log.Debug("turn", "turn", t.Number, "end", string(t.Reason.Kind), "subtype", r.Subtype, "exitCode", r.ExitCode,
		"errors", r.Errors, "ms", t.Millis())
	return p.Printer.Turn(t, r)
}

// warningHandler hands warnings to the user, each as one line.
type warningHandler struct {
	warn  func(string)
	attrs []slog.Attr
}

// Enabled implements slog.Handler.
func (h *warningHandler) Enabled(_ context.Context, level slog.Level) bool {
	return level >= slog.LevelWarn
}

// Handle implements slog.Handler. A stack trace is for the debug file, and how a step
// failed is what the turn's result says.
func (h *warningHandler) Handle(_ context.Context, r slog.Record) error {
	var b strings.Builder
	b.WriteString(r.Message)
	told := false
	add := func(attr slog.Attr) bool {
		switch {
		case attr.Key == "stack":
		case attr.Key == "step" && attr.Value.Kind() == slog.KindInt64 && attr.Value.Int64() > 0:
			told = true
		default:
			fmt.Fprintf(&b, " %s=%v", attr.Key, attr.Value)
		}
		return true
	}
	for _, attr := range h.attrs {
		add(attr)
	}
	r.Attrs(add)
	if !told {
		h.warn(b.String())
	}
	return nil
}

// WithAttrs implements slog.Handler.
func (h *warningHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	return &warningHandler{h.warn, append(h.attrs[:len(h.attrs):len(h.attrs)], attrs...)}
}

// WithGroup implements slog.Handler. One line has no room for groups.
func (h *warningHandler) WithGroup(string) slog.Handler { return h }

// bothHandlers hands every record to two handlers.
type bothHandlers [2]slog.Handler

// Enabled implements slog.Handler.
func (h bothHandlers) Enabled(ctx context.Context, level slog.Level) bool {
	return h[0].Enabled(ctx, level) || h[1].Enabled(ctx, level)
}

// Handle implements slog.Handler.
func (h bothHandlers) Handle(ctx context.Context, r slog.Record) error {
	for _, one := range h {
		if one.Enabled(ctx, r.Level) {
			_ = one.Handle(ctx, r.Clone()) // a full disk must not keep warnings from the user
		}
	}
	return nil
}

// WithAttrs implements slog.Handler.
func (h bothHandlers) WithAttrs(attrs []slog.Attr) slog.Handler {
	return bothHandlers{h[0].WithAttrs(attrs), h[1].WithAttrs(attrs)}
}

// WithGroup implements slog.Handler.
func (h bothHandlers) WithGroup(name string) slog.Handler {
	return bothHandlers{h[0].WithGroup(name), h[1].WithGroup(name)}
}

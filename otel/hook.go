package otel

import (
	"context"
	"strconv"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"
)

// HookStart describes one run of one hook process.
type HookStart struct {
	// Point is the hook point, such as PreToolUse; it is part of the span name.
	Point   string
	Dialect string
	// Event is the event's name on the wire, if it differs from the point.
	Event   string
	Matcher string
	// Source is the file that configured the hook.
	Source string
	// Handler is the handler id of this run (H-11, Z-41). It pairs the span with
	// the records in the session's log.
	Handler string
}

// HookSpan is the span of one hook run.
type HookSpan struct {
	Span
	point, dialect string
}

// StartHook starts "dsh.hook <point>", from the caller's side of the process.
func (t *Tracer) StartHook(ctx context.Context, in HookStart) (context.Context, HookSpan) {
	if t == nil {
		return ctx, HookSpan{}
	}
	return t.startHook(ctx, in)
}

func (t *Tracer) startHook(ctx context.Context, in HookStart) (context.Context, HookSpan) {
	hs := HookSpan{point: in.Point, dialect: in.Dialect}
	if !t.records(ctx) {
		hs.Span = t.silent(time.Time{})
		return ctx, hs
	}
	a := make(attrs, 0, 6)
	a.str(KeyHookPoint, in.Point)
	a.str(KeyHookDialect, in.Dialect)
	a.str(KeyHookEvent, in.Event)
	a.str(KeyHookMatcher, in.Matcher)
	a.str(KeyHookSource, in.Source)
	a.str(KeyHookHandler, in.Handler)
	ctx, hs.Span = t.begin(ctx, t.names.hook.name(in.Point), a, trace.WithSpanKind(trace.SpanKindClient))
	return ctx, hs
}

// Process is what is known about a child process after its end: facts that do
// not hide each other.
type Process struct {
	PID int
	// Executable is the program's base name, Path its file.
	Executable, Path string
	// Args are recorded only if the tracer was told to (Config.CaptureArgs).
	Args []string
	// Exited says that ExitCode is one; a process that was killed has none.
	Exited   bool
	ExitCode int
	// Signal is the name of the signal that ended it, such as SIGKILL.
	Signal string
}

func (a *attrs) process(p Process, args bool) {
	a.count(KeyProcessPID, p.PID)
	a.str(KeyProcessExecutable, p.Executable)
	a.str(KeyProcessPath, p.Path)
	if p.Exited {
		a.num(KeyProcessExitCode, p.ExitCode)
	}
	a.str(KeySignal, p.Signal)
	if args && len(p.Args) > 0 {
		cleaned := make([]string, len(p.Args))
		for i, arg := range p.Args {
			cleaned[i] = clean(arg)
		}
		*a = append(*a, attribute.StringSlice(KeyProcessArgs, cleaned))
	}
}

// HookEnd says how a hook run ended: decision and outcome are two facts (SPEC
// table V).
type HookEnd struct {
	Process  Process
	Decision Decision
	Outcome  Outcome
	// Reason explains the outcome where that is needed, such as exit_1 or
	// untrusted.
	Reason string
	// QueueWait is how long the run waited to be admitted (Z-42).
	QueueWait time.Duration
	// BytesIn was written to the process, BytesOut read from it and kept.
	BytesIn, BytesOut int
	// OriginalBytes is how much it wrote, if not all was kept.
	Truncated     bool
	OriginalBytes int
}

// End ends the hook run. The outcome decides whether it is an error, never the
// exit code: a hook that blocks with exit code 2 did its job.
func (s HookSpan) End(in HookEnd) {
	if s.t == nil {
		return
	}
	s.end(in)
}

func (s HookSpan) end(in HookEnd) {
	if in.Outcome == "" {
		in.Outcome = OutcomeOK
	}
	if in.Decision == "" {
		in.Decision = DecisionNone
	}
	var a attrs
	if s.span != nil {
		a = make(attrs, 0, 16)
		a.process(in.Process, s.t.args)
		a.word(KeyHookDecision, string(in.Decision))
		a.word(KeyHookOutcome, string(in.Outcome))
		a.str(KeyHookReason, in.Reason)
		a.millis(KeyHookQueue, in.QueueWait)
		a.count(KeyHookBytesIn, in.BytesIn)
		a.count(KeyHookBytesOut, in.BytesOut)
		a.flag(KeyHookTruncated, in.Truncated)
		a.count(KeyHookOriginalBytes, in.OriginalBytes)
		a.str(KeyErrorType, hookErrorType(in))
	}
	took := s.finish(in.Outcome.Failed(), a)
	if m := s.t.meters; m != nil {
		m.hook(s, in, took)
	}
}

func hookErrorType(in HookEnd) string {
	switch in.Outcome {
	case OutcomeFailed:
		if in.Process.Exited {
			return "exit_" + strconv.Itoa(in.Process.ExitCode)
		}
	case OutcomeSignaled:
		if in.Process.Signal != "" {
			return "signal_" + in.Process.Signal
		}
	}
	return outcomeType(in.Outcome)
}

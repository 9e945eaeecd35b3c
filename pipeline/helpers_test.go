package pipeline_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/dsh-actor/dsh-actor/messages"
	"github.com/dsh-actor/dsh-actor/pipeline"
)

// Short names of the listener types.
type (
	nextPre    = pipeline.Next[messages.PreToolDecision]
	nextExec   = pipeline.Next[*messages.Result]
	nextPost   = pipeline.Next[messages.PostToolDecision]
	nextAnswer = pipeline.Next[messages.ApprovalAnswer]
)

// journal records what happened, in order, from any goroutine.
type journal struct {
	mu    sync.Mutex
	lines []string
}

func (j *journal) add(line string) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.lines = append(j.lines, line)
}

func (j *journal) take() []string {
	j.mu.Lock()
	defer j.mu.Unlock()
	lines := j.lines
	j.lines = nil
	return lines
}

func (j *journal) count(line string) (n int) {
	j.mu.Lock()
	defer j.mu.Unlock()
	for _, l := range j.lines {
		if l == line {
			n++
		}
	}
	return n
}

func (j *journal) expect(t testing.TB, want ...string) {
	t.Helper()
	if diff := cmp.Diff(want, j.take()); diff != "" {
		t.Errorf("journal (-want +got):\n%s", diff)
	}
}

// observe makes the pipeline record which phases a call passes.
func (j *journal) observe(p *pipeline.Pipeline) {
	s := p.Seams()
	s.PreExecute.Use(func(ctx context.Context, _ *pipeline.Call, next nextPre) (messages.PreToolDecision, error) {
		j.add("pre")
		return next(ctx)
	}, pipeline.Prepend())
	p.Guard(func(*pipeline.Call) (string, bool) { j.add("guard"); return "", false })
	s.Execute.Use(func(ctx context.Context, _ *pipeline.Call, next nextExec) (*messages.Result, error) {
		j.add("execute")
		return next(ctx)
	}, pipeline.Prepend())
	s.PostExecute.Use(func(ctx context.Context, _ pipeline.Outcome, next nextPost) (messages.PostToolDecision, error) {
		j.add("post")
		return next(ctx)
	}, pipeline.Prepend())
	s.Result.Use(func(context.Context, pipeline.Outcome) { j.add("result") })
}

// fakeAgent is a session for tests.
type fakeAgent struct {
	policy    string
	recordErr error
	mu        sync.Mutex
	recorded  []messages.EventData
}

func (a *fakeAgent) ID() messages.SessionID { return "s-1" }
func (a *fakeAgent) Epoch() messages.Epoch  { return 1 }
func (a *fakeAgent) Cwd() string            { return "" }
func (a *fakeAgent) ApprovalPolicy() string { return a.policy }

func (a *fakeAgent) Inject(context.Context, messages.Context) (messages.Accepted, error) {
	return messages.Accepted{}, nil
}

func (a *fakeAgent) Record(_ context.Context, events ...messages.EventData) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.recordErr != nil {
		return a.recordErr
	}
	a.recorded = append(a.recorded, events...)
	return nil
}

func (a *fakeAgent) Checkpoint(context.Context) error { return nil }

func (a *fakeAgent) events() []messages.EventData {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.Clone(a.recorded)
}

// body is a raw tool's.
type body = func(ctx context.Context, inv *pipeline.Invocation) (messages.JSON, error)

// rawTool is a tool without schemas, whose content is its value's text.
func rawTool(name string, run body) pipeline.Tool {
	return pipeline.Tool{
		Name: name,
		Output: &pipeline.Output{Render: func(_, value messages.JSON) (messages.Content, error) {
			return messages.Text(string(value)), nil
		}},
		Run: run,
	}
}

// constant is a body that returns a value.
func constant(value messages.JSON) body {
	return func(context.Context, *pipeline.Invocation) (messages.JSON, error) { return value, nil }
}

// newPipeline makes a runtime's pipeline with tools.
func newPipeline(t testing.TB, tools ...pipeline.Tool) *pipeline.Pipeline {
	t.Helper()
	p := pipeline.New(pipeline.Config{Warn: func(err error) { t.Errorf("unexpected warning: %v", err) }})
	register(t, p, tools...)
	return p
}

func register(t testing.TB, p *pipeline.Pipeline, tools ...pipeline.Tool) {
	t.Helper()
	for _, tool := range tools {
		if _, err := p.Tools().Register(tool); err != nil {
			t.Fatal(err)
		}
	}
}

// cancelled is a context that is done already.
func cancelled(t testing.TB) context.Context {
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(messages.CancelUser)
	return ctx
}

// pre, execute and post make a listener of an answer that does not call next.
func pre(d messages.PreToolDecision, err error) func(context.Context, *pipeline.Call, nextPre) (messages.PreToolDecision, error) {
	return func(context.Context, *pipeline.Call, nextPre) (messages.PreToolDecision, error) { return d, err }
}

func execute(r *messages.Result, err error) func(context.Context, *pipeline.Call, nextExec) (*messages.Result, error) {
	return func(context.Context, *pipeline.Call, nextExec) (*messages.Result, error) { return r, err }
}

func post(d messages.PostToolDecision, err error) func(context.Context, pipeline.Outcome, nextPost) (messages.PostToolDecision, error) {
	return func(context.Context, pipeline.Outcome, nextPost) (messages.PostToolDecision, error) { return d, err }
}

// outcome is what a test compares of a result.
type outcome struct {
	Error    bool
	Text     string
	Message  string
	Code     messages.Code
	Name     string
	Value    messages.JSON
	Meta     messages.JSON
	Contexts []string
}

func outcomeOf(r *messages.Result) outcome {
	o := outcome{
		Error: r.IsError(), Text: contentText(r.Content()), Message: r.Message(),
		Code: r.Info().Code, Name: r.Info().Name, Value: r.Value(), Meta: r.Meta(),
	}
	for c := range r.Contexts().Values() {
		o.Contexts = append(o.Contexts, contentText(c.Content))
	}
	return o
}

// contentText shows all blocks, other than text by their type.
func contentText(c messages.Content) string {
	var parts []string
	for b := range c.Blocks() {
		if text, ok := b.(messages.TextBlock); ok {
			parts = append(parts, text.Text)
		} else {
			parts = append(parts, "<"+b.BlockType()+">")
		}
	}
	return strings.Join(parts, "|")
}

func (o outcome) expect(t testing.TB, want outcome) {
	t.Helper()
	if diff := cmp.Diff(want, o); diff != "" {
		t.Errorf("result (-want +got):\n%s", diff)
	}
}

// failure is the outcome of a failure with the default content.
func failure(message string, contexts ...string) outcome {
	return outcome{Error: true, Text: "Error: " + message, Message: message, Contexts: contexts}
}

// coded is a failure with an identity.
func (o outcome) coded(name string, code messages.Code) outcome {
	o.Name, o.Code = name, code
	return o
}

func abortedBefore(contexts ...string) outcome {
	return failure("tool call aborted before dispatch", contexts...).coded("AbortError", messages.CodeAbortedBeforeDispatch)
}

func abortedAfter(contexts ...string) outcome {
	return failure("tool call aborted", contexts...).coded("AbortError", messages.CodeAborted)
}

func note(text string) messages.Context { return messages.NewContext("test", text) }

func notes(texts ...string) messages.List[messages.Context] {
	var out []messages.Context
	for _, text := range texts {
		out = append(out, note(text))
	}
	return messages.FrozenList(out)
}

var errBoom = errors.New("boom")

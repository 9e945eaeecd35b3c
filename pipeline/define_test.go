package pipeline_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/dsh-actor/dsh-actor/messages"
	"github.com/dsh-actor/dsh-actor/pipeline"
)

func noBody[In any](context.Context, *pipeline.Invocation, In) (string, error) { return "", nil }

type nothing struct{}

// run calls a typed tool without arguments that returns what fn does.
func run[Out any](t *testing.T, fn func() (Out, error), change ...func(*pipeline.Definition[nothing, Out])) *messages.Result {
	t.Helper()
	d := pipeline.Definition[nothing, Out]{
		Name: "T",
		Run:  func(context.Context, *pipeline.Invocation, nothing) (Out, error) { return fn() },
	}
	for _, c := range change {
		c(&d)
	}
	tool, err := pipeline.Define(d)
	if err != nil {
		t.Fatal(err)
	}
	return newPipeline(t, tool).Execute(t.Context(), pipeline.Input{Name: "T"})
}

func invalid(what string) outcome {
	return failure(`tool "T" returned invalid output: `+what).coded("ToolOutputError", messages.CodeInvalidToolOutput)
}

// weird encodes itself, or fails to.
type weird struct{ how string }

func (weird) JSONSchema() messages.JSON { return `{"type":"string"}` }

func (w weird) MarshalJSON() ([]byte, error) {
	switch w.how {
	case "panics":
		panic("cannot")
	case "fails":
		return nil, errors.New("will not")
	case "lies":
		return []byte("1"), nil
	case "babbles":
		return []byte("{"), nil
	}
	return []byte(`"fine"`), nil
}

func (w *weird) UnmarshalJSON([]byte) error { panic("cannot read") }

// P-18, J-2: what a typed body may return, and what the model reads of it.
func TestTypedValues(t *testing.T) {
	type point struct {
		X int     `json:"x"`
		Y float64 `json:"y"`
		S string  `json:"s,omitzero"`
		B *bool   `json:"b,omitzero"`
	}
	value := func(v messages.JSON) outcome { return outcome{Text: string(v), Value: v} }
	var nilPoint *point
	var nilSlice []string
	cycle := map[string]any{}
	cycle["self"] = cycle
	var deep any
	for range messages.MaxJSONDepth + 1 {
		deep = []any{deep}
	}
	tests := []struct {
		name string
		got  func() *messages.Result
		want outcome
	}{
		{"struct", func() *messages.Result { return run(t, func() (point, error) { return point{X: 1, Y: 0.5}, nil }) }, value(`{"x":1,"y":0.5}`)},
		{"string", func() *messages.Result { return run(t, func() (string, error) { return "a<b>\"\xff", nil }) }, value(`"a<b>\"` + "\ufffd" + `"`)},
		{"zero int", func() *messages.Result { return run(t, func() (int, error) { return 0, nil }) }, value(`0`)},
		{"nil pointer", func() *messages.Result { return run(t, func() (*point, error) { return nilPoint, nil }) }, value(`null`)},
		{"nil slice", func() *messages.Result { return run(t, func() ([]string, error) { return nilSlice, nil }) }, value(`[]`)},
		{"nil any", func() *messages.Result { return run(t, func() (any, error) { return nil, nil }) }, value(`null`)},
		{"any", func() *messages.Result {
			return run(t, func() (any, error) { return map[string]int{"b": 1, "a": 2}, nil })
		}, value(`{"a":2,"b":1}`)},
		{"JSON text", func() *messages.Result { return run(t, func() (messages.JSON, error) { return `{"n": 1.0}`, nil }) }, value(`{"n": 1.0}`)},
		{"JSON text, absent", func() *messages.Result { return run(t, func() (messages.JSON, error) { return "", nil }) }, invalid("value is not lossless JSON")},
		{"JSON text, not lossless", func() *messages.Result { return run(t, func() (messages.JSON, error) { return `{"a":1,"a":2}`, nil }) }, invalid("value is not lossless JSON")},
		{"NaN", func() *messages.Result { return run(t, func() (point, error) { return point{Y: math.NaN()}, nil }) }, invalid("value is not lossless JSON")},
		{"infinity", func() *messages.Result { return run(t, func() (float64, error) { return math.Inf(1), nil }) }, invalid("value is not lossless JSON")},
		{"function", func() *messages.Result { return run(t, func() (any, error) { return func() {}, nil }) }, invalid("value is not lossless JSON")},
		{"cycle", func() *messages.Result { return run(t, func() (any, error) { return cycle, nil }) }, invalid("value is not lossless JSON")},
		{"too deep", func() *messages.Result { return run(t, func() (any, error) { return deep, nil }) }, invalid("value is not lossless JSON")},
		{"a value beside an error", func() *messages.Result { return run(t, func() (int, error) { return 7, errBoom }) }, failure("boom")},
		{"encodes itself", func() *messages.Result { return run(t, func() (weird, error) { return weird{}, nil }) }, value(`"fine"`)},
		{"encoding panics", func() *messages.Result { return run(t, func() (weird, error) { return weird{"panics"}, nil }) }, invalid("value snapshot failed: cannot")},
		{"encoding fails", func() *messages.Result { return run(t, func() (weird, error) { return weird{"fails"}, nil }) }, invalid("value snapshot failed: will not")},
		{"encoding breaks its own schema", func() *messages.Result { return run(t, func() (weird, error) { return weird{"lies"}, nil }) }, invalid(`"value" must be a string`)},
		{"a schema by hand that the value breaks", func() *messages.Result {
			return run(t, func() (int, error) { return 11, nil }, func(d *pipeline.Definition[nothing, int]) { d.OutputSchema = `{"type":"integer","enum":[1,2]}` })
		}, invalid(`"value" must be one of [1,2]`)},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) { outcomeOf(tt.got()).expect(t, tt.want) })
	}
	if r := run(t, func() (weird, error) { return weird{"babbles"}, nil }); !strings.HasPrefix(r.Message(), `tool "T" returned invalid output: value snapshot failed: `) {
		t.Error(r.Message())
	}
}

// P-18: projectors, and their failures.
func TestProjectors(t *testing.T) {
	type definition = pipeline.Definition[nothing, int]
	tests := []struct {
		name   string
		change func(*definition)
		want   outcome
	}{
		{"render", func(d *definition) {
			d.Render = func(_ nothing, n int) messages.Content { return messages.Textf("n=%d", n) }
		}, outcome{Text: "n=7", Value: "7"}},
		{"render nothing", func(d *definition) {
			d.Render = func(nothing, int) messages.Content { return messages.Content{} }
		}, outcome{Value: "7"}},
		{"render panics", func(d *definition) {
			d.Render = func(nothing, int) messages.Content { panic("ouch") }
		}, invalid("output.render failed: ouch")},
		{"render what no log can hold", func(d *definition) {
			d.Render = func(nothing, int) messages.Content { return messages.NewContent(nil) }
		}, invalid("output.render returned non-lossless JSON")},
		{"meta", func(d *definition) {
			d.Meta = func(nothing, int) messages.JSON { return `{"m":1}` }
		}, outcome{Text: "7", Value: "7", Meta: `{"m":1}`}},
		{"no meta", func(d *definition) {
			d.Meta = func(nothing, int) messages.JSON { return "" }
		}, outcome{Text: "7", Value: "7"}},
		{"meta panics", func(d *definition) {
			d.Meta = func(nothing, int) messages.JSON { panic("ouch") }
		}, invalid("output.presentationMeta failed: ouch")},
		{"meta is not JSON", func(d *definition) {
			d.Meta = func(nothing, int) messages.JSON { return "{" }
		}, invalid("output.presentationMeta returned non-lossless JSON")},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			outcomeOf(run(t, func() (int, error) { return 7, nil }, tt.change)).expect(t, tt.want)
			// The same projectors serve a value that did not come from the body (P-19).
			d := definition{Name: "T", Run: func(context.Context, *pipeline.Invocation, nothing) (int, error) { return 1, nil }}
			tt.change(&d)
			p := newPipeline(t, pipeline.MustDefine(d))
			p.Seams().Execute.Use(execute(messages.NewSuccess(messages.ResultFields{Value: "7"}), nil))
			outcomeOf(p.Execute(t.Context(), pipeline.Input{Name: "T"})).expect(t, tt.want)
		})
	}
}

// P-18: projectors of raw tools return errors too.
func TestRawProjectors(t *testing.T) {
	tests := []struct {
		name   string
		change func(*pipeline.Output)
		want   outcome
	}{
		{"render fails", func(o *pipeline.Output) {
			o.Render = func(_, _ messages.JSON) (messages.Content, error) { return messages.Content{}, errBoom }
		}, invalid("output.render failed: boom")},
		{"render panics", func(o *pipeline.Output) {
			o.Render = func(_, _ messages.JSON) (messages.Content, error) { panic("ouch") }
		}, invalid("output.render failed: ouch")},
		{"meta fails", func(o *pipeline.Output) {
			o.Meta = func(_, _ messages.JSON) (messages.JSON, error) { return "", errBoom }
		}, invalid("output.presentationMeta failed: boom")},
		{"meta panics", func(o *pipeline.Output) {
			o.Meta = func(_, _ messages.JSON) (messages.JSON, error) { panic("ouch") }
		}, invalid("output.presentationMeta failed: ouch")},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tool := rawTool("T", constant("1"))
			tt.change(tool.Output)
			outcomeOf(newPipeline(t, tool).Execute(t.Context(), pipeline.Input{Name: "T"})).expect(t, tt.want)
		})
	}
}

// badError is an error whose text cannot be had.
type badError struct{ *int }

func (e badError) Error() string { return fmt.Sprint(*e.int) }

// hidden wraps an error and claims to be it only after panicking.
type hidden struct{}

func (hidden) Error() string  { return "hidden" }
func (hidden) As(any) bool    { panic("no") }
func (hidden) String() string { return "not this" }

type stringer struct{}

func (stringer) String() string { return "as a string" }

// P-17, P-14, V-12: the text and identity of what a body throws or returns.
func TestThrownValues(t *testing.T) {
	tests := []struct {
		name  string
		value any // returned if it is an error, and thrown
		want  outcome
	}{
		{"error", errBoom, failure("boom")},
		{"error with a code", messages.Errorf("CUSTOM", "no %d", 1), failure("no 1").coded("HarnessError", "CUSTOM")},
		{"wrapped error with a code", fmt.Errorf("while: %w", &messages.Error{Name: "E", Code: "CUSTOM", Message: "no"}), failure("while: no").coded("E", "CUSTOM")},
		{"error with a code and no name", &messages.Error{Code: "CUSTOM", Message: "no"}, failure("no").coded("HarnessError", "CUSTOM")},
		{"error with a name and no code", &messages.Error{Name: "E", Message: "no"}, failure("no")},
		{"model failure is no identity", messages.Failure{Message: "no", Code: "CUSTOM"}, failure("no")},
		{"nil pointer of an error type", (*messages.Error)(nil), failure("<unprintable thrown value>")},
		{"error whose text panics", badError{}, failure("<unprintable thrown value>")},
		{"error whose As panics", hidden{}, failure("hidden")},
		{"error of invalid UTF-8", errString("a\xffb"), failure("a\ufffdb")},
		{"string", "ouch", failure("ouch")},
		{"number", 7, failure("7")},
		{"stringer", stringer{}, failure("as a string")},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := newPipeline(t,
				rawTool("Throws", func(context.Context, *pipeline.Invocation) (messages.JSON, error) { panic(tt.value) }),
				rawTool("Returns", func(context.Context, *pipeline.Invocation) (messages.JSON, error) {
					err, _ := tt.value.(error)
					return "1", err
				}))
			outcomeOf(p.Execute(t.Context(), pipeline.Input{Name: "Throws"})).expect(t, tt.want)
			if _, ok := tt.value.(error); ok {
				outcomeOf(p.Execute(t.Context(), pipeline.Input{Name: "Returns"})).expect(t, tt.want)
			}
		})
	}
}

// A panic is kept with its place and stack for whoever looks at the error.
func TestPanicError(t *testing.T) {
	p := pipeline.New(pipeline.Config{})
	p.Seams().PostStep.Use(func(context.Context, *pipeline.Step) error { panic(errBoom) }, pipeline.Named("L"))
	err := p.Seams().PostStep.Run(t.Context(), nil)
	var panicked *pipeline.PanicError
	if !errors.As(err, &panicked) || panicked.Where != "L" || !errors.Is(err, errBoom) || !strings.Contains(string(panicked.Stack), "TestPanicError") {
		t.Errorf("error %#v", err)
	}
	if err := (&pipeline.PanicError{Value: "x"}); errors.Unwrap(err) != nil || err.ErrorType() != "panic" {
		t.Error("a panic that is no error has a cause")
	}
}

// P-1, P-36: what Define refuses.
func TestDefineRefuses(t *testing.T) {
	run := func(context.Context, *pipeline.Invocation, nothing) (int, error) { return 0, nil }
	tests := []struct {
		name string
		d    pipeline.Definition[nothing, int]
		want string
	}{
		{"no name", pipeline.Definition[nothing, int]{Run: run}, "tool without a name"},
		{"no body", pipeline.Definition[nothing, int]{Name: "T"}, `tool "T" has no body`},
		{"timeout", pipeline.Definition[nothing, int]{Name: "T", Run: run, Timeout: -1}, "timeoutMs must be a positive finite number"},
		{"parameters", pipeline.Definition[nothing, int]{Name: "T", Run: run, Parameters: `{"pattern":"x"}`}, `tool "T" parameters: unsupported JSON schema: `},
		{"output schema", pipeline.Definition[nothing, int]{Name: "T", Run: run, OutputSchema: `{"pattern":"x"}`}, `tool "T" output: unsupported JSON schema: `},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if _, err := pipeline.Define(tt.d); !errorIs(err, tt.want) {
				t.Errorf("error %v", err)
			}
		})
	}
	if _, err := pipeline.Define(pipeline.Definition[nothing, func()]{Name: "T"}); messages.CodeOf(err) != messages.CodeUnsupportedSchema {
		t.Errorf("error %v", err)
	}
	defer func() {
		if recover() == nil {
			t.Error("MustDefine did not panic")
		}
	}()
	pipeline.MustDefine(pipeline.Definition[nothing, int]{})
}

// A defined tool can be adapted before it is registered: its body replaced, its
// output schema made stricter.
func TestAdaptDefinedTool(t *testing.T) {
	tool := pipeline.MustDefine(pipeline.Definition[bashIn, string]{Name: "T", Run: noBody[bashIn]})
	tool.Run = constant(`"replaced"`)
	p := newPipeline(t, tool)
	outcomeOf(p.Execute(t.Context(), pipeline.Input{Name: "T"})).expect(t, outcome{Text: `"replaced"`, Value: `"replaced"`})
	tool.Name, tool.Output.Schema = "U", `{"type":"string","enum":["x"]}`
	register(t, p, tool)
	if r := p.Execute(t.Context(), pipeline.Input{Name: "U"}); !strings.HasSuffix(r.Message(), `"value" must be one of ["x"]`) {
		t.Error(r.Message())
	}
}

// P-16: a type of In that fails to decode itself is an error of the call.
func TestArgumentTypeThatPanics(t *testing.T) {
	type in struct {
		W weird `json:"w"`
	}
	p := newPipeline(t, pipeline.MustDefine(pipeline.Definition[in, string]{
		Name: "T", Run: noBody[in], Concurrent: func(in) bool { return true },
	}))
	outcomeOf(p.Execute(t.Context(), pipeline.Input{Name: "T", Arguments: `{"w":"x"}`})).expect(t, failure("cannot read"))
	if p.Concurrent("T", `{"w":"x"}`) {
		t.Error("concurrent")
	}
}

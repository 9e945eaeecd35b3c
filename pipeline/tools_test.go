package pipeline_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/dsh-actor/dsh-actor/messages"
	"github.com/dsh-actor/dsh-actor/pipeline"
)

// P-1: what a registration needs.
func TestRegistration(t *testing.T) {
	with := func(change func(*pipeline.Tool)) pipeline.Tool {
		tool := rawTool("T", constant("1"))
		change(&tool)
		return tool
	}
	tests := []struct {
		name string
		tool pipeline.Tool
		want string
	}{
		{"good", rawTool("T", constant("1")), ""},
		{"no name", rawTool("", constant("1")), "tool without a name"},
		{"no output", with(func(t *pipeline.Tool) { t.Output = nil }), `tool "T" must declare output { schema, render, presentationMeta? }`},
		{"no render", with(func(t *pipeline.Tool) { t.Output = &pipeline.Output{} }), `tool "T" must declare output { schema, render, presentationMeta? }`},
		{"negative timeout", with(func(t *pipeline.Tool) { t.Timeout = -time.Second }), `tool "T" timeoutMs must be a positive finite number`},
		{"no body", with(func(t *pipeline.Tool) { t.Run = nil }), `tool "T" has no body`},
		{"parameters not JSON", with(func(t *pipeline.Tool) { t.Parameters = "{" }), `tool "T" parameters: `},
		{"output schema outside the subset", with(func(t *pipeline.Tool) { t.Output.Schema = `{"type":"object","anyOf":[]}` }), `tool "T" output: unsupported JSON schema: `},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := pipeline.New(pipeline.Config{}).Tools().Register(tt.tool)
			if !errorIs(err, tt.want) {
				t.Errorf("error %v", err)
			}
		})
	}
}

// P-1: a name is taken once per layer; a session's tool shadows the runtime's.
func TestDuplicates(t *testing.T) {
	p := newPipeline(t, rawTool("T", constant("1")))
	s := p.Scope()
	register(t, s, rawTool("T", constant("2")))
	_, err := p.Tools().Register(rawTool("T", constant("3")))
	if want := "tool \"T\" is already registered (for a per-agent variant, register through that agent's `agent.ctx` instead)"; err == nil || err.Error() != want {
		t.Errorf("error %v", err)
	}
	_, err = s.Tools().Register(rawTool("T", constant("3")))
	if want := `tool "T" is already registered in this scope`; err == nil || err.Error() != want {
		t.Errorf("error %v", err)
	}
	in := pipeline.Input{Name: "T"}
	if a, b, c := p.Execute(t.Context(), in), s.Execute(t.Context(), in), p.Scope().Execute(t.Context(), in); a.Value() != "1" || b.Value() != "2" || c.Value() != "1" {
		t.Errorf("values %s %s %s", a.Value(), b.Value(), c.Value())
	}
}

// A removal removes that registration only, whatever came after it.
func TestRemoveTool(t *testing.T) {
	p := pipeline.New(pipeline.Config{})
	remove, err := p.Tools().Register(rawTool("T", constant("1")))
	if err != nil {
		t.Fatal(err)
	}
	remove()
	if _, ok := p.Tools().Lookup("T"); ok {
		t.Error("still there")
	}
	register(t, p, rawTool("T", constant("2")))
	remove()
	if _, ok := p.Tools().Lookup("T"); !ok {
		t.Error("a second removal took another registration")
	}
}

func names(p *pipeline.Pipeline) string {
	var out []string
	for spec := range p.Tools().Specs().Values() {
		out = append(out, spec.Name)
	}
	return strings.Join(out, " ")
}

// P-2: visible are the runtime's tools minus restrictions, then the session's own.
func TestRestrictions(t *testing.T) {
	p := newPipeline(t, rawTool("C", constant("1")), rawTool("A", constant("1")), rawTool("B", constant("1")), rawTool("a", constant("1")))
	s := p.Scope()
	register(t, s, rawTool("Own", constant("1")))
	for _, tt := range []struct {
		r    pipeline.Restriction
		on   *pipeline.Pipeline
		want string
	}{
		{pipeline.Restriction{Deny: []string{"A"}}, p, "only a session's scope"},
		{pipeline.Restriction{}, s, "neither allow nor deny"},
		{pipeline.Restriction{Allow: []string{"A", "X"}}, s, `"X" is not a tool of the runtime`},
		{pipeline.Restriction{Deny: []string{"Own"}}, s, `"Own" is not a tool of the runtime`},
	} {
		if _, err := tt.on.Tools().Restrict(tt.r); !errorIs(err, tt.want) {
			t.Errorf("%+v: %v", tt.r, err)
		}
	}
	restrict := func(r pipeline.Restriction) func() {
		lift, err := s.Tools().Restrict(r)
		if err != nil {
			t.Fatal(err)
		}
		return lift
	}
	expect := func(want string) {
		t.Helper()
		if got := names(s); got != want {
			t.Errorf("visible %q, want %q", got, want)
		}
	}
	expect("A B C Own a") // T-6: code-unit order
	allowed := []string{"A", "B"}
	liftAllow := restrict(pipeline.Restriction{Allow: allowed})
	allowed[1] = "C" // the registry has its own copy
	expect("A B Own")
	liftDeny := restrict(pipeline.Restriction{Deny: []string{"B"}})
	expect("A Own") // they intersect
	if r := s.Execute(t.Context(), pipeline.Input{Name: "B"}); r.Info().Code != messages.CodeUnknownTool {
		t.Errorf("a restricted tool: %s", r.Message())
	}
	liftAllow()
	liftAllow()
	expect("A C Own a")
	liftDeny()
	expect("A B C Own a")
	none := restrict(pipeline.Restriction{Allow: []string{}})
	expect("Own")
	none()
	restrict(pipeline.Restriction{Deny: []string{"A"}})
	register(t, s, rawTool("A", constant("2"))) // a session's own tool is never hidden
	expect("A B C Own a")
	if names(p) != "A B C a" {
		t.Errorf("the runtime sees %q", names(p))
	}
	register(t, p, rawTool("D", constant("1")))
	expect("A B C D Own a") // live
}

// P-2: the model sees name, description and parameters.
func TestSpecs(t *testing.T) {
	tool := rawTool("T", constant("1"))
	tool.Description, tool.Parameters = "does", `{"type":"object","properties":{"x":{}}}`
	p := newPipeline(t, tool, rawTool("U", constant("1")))
	want := []messages.ToolSpec{
		{Name: "T", Description: "does", Parameters: tool.Parameters},
		{Name: "U", Parameters: `{"type":"object"}`},
	}
	if diff := cmp.Diff(want, p.Tools().Specs().Slice()); diff != "" {
		t.Error(diff)
	}
}

// The registry keeps what it was given: changing the definition afterwards has no
// effect.
func TestRegistryCopies(t *testing.T) {
	tool := contractTool("T", constant("1"))
	p := newPipeline(t, tool)
	tool.Output.Render = nil
	tool.Output.Schema = `{"type":"string"}`
	outcomeOf(p.Execute(t.Context(), pipeline.Input{Name: "T"})).expect(t, outcome{Text: "n=1", Value: "1", Meta: `{"of":{}}`})
}

// P-3: parallel is what says exactly yes for arguments that parse.
func TestConcurrent(t *testing.T) {
	raw := func(name string, fn func(messages.JSON) bool) pipeline.Tool {
		tool := rawTool(name, constant("1"))
		tool.Concurrent = fn
		return tool
	}
	typed := pipeline.MustDefine(pipeline.Definition[bashIn, string]{
		Name: "Typed", Run: noBody[bashIn],
		Concurrent: func(in bashIn) bool { return in.Command == "ls" },
	})
	p := newPipeline(t,
		raw("Yes", func(messages.JSON) bool { return true }),
		raw("No", func(messages.JSON) bool { return false }),
		raw("Panics", func(messages.JSON) bool { panic("ouch") }),
		raw("ByArguments", func(a messages.JSON) bool { return a == "{}" || a == `"text"` }),
		rawTool("Unclassified", constant("1")), typed,
	)
	for _, tt := range []struct {
		name, arguments string
		want            bool
	}{
		{"Yes", "{}", true},
		{"Yes", `{"a":1,"a":2}`, false}, // P-6
		{"No", "{}", false},
		{"Panics", "{}", false},
		{"Unclassified", "{}", false},
		{"Unknown", "{}", false},
		{"ByArguments", "", true},
		{"ByArguments", "text", true},
		{"ByArguments", "other", false},
		{"Typed", `{"command":"ls"}`, true},
		{"Typed", `{"command":"rm"}`, false},
		{"Typed", `{"command":1}`, false},
		{"Typed", `ls`, false},
	} {
		if got := p.Concurrent(tt.name, tt.arguments); got != tt.want {
			t.Errorf("%s(%s) is concurrent: %v", tt.name, tt.arguments, got)
		}
	}
	s := p.Scope()
	register(t, s, raw("Yes", nil))
	if s.Concurrent("Yes", "{}") {
		t.Error("not the visible definition was asked")
	}
}

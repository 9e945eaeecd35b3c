package pipeline

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/dsh-actor/dsh-actor/messages"
	"github.com/dsh-actor/dsh-actor/pipeline/schema"
)

// Tool is a tool definition. Most are made with [Define]; a raw one, such as a
// tool of an MCP server, fills the fields itself and validates its own
// arguments (P-16, Z-28).
type Tool struct {
	// Name is what the model calls.
	Name string
	// Description tells the model what the tool does.
	Description string
	// Parameters is the JSON Schema of the arguments, as the model sees it.
	Parameters messages.JSON
	// Output is the tool's output contract; it is required (P-1).
	Output *Output
	// Timeout bounds one run of the body; 0 is no bound. A body that outlives it
	// is cancelled and waited for, and its result is TOOL_TIMEOUT (P-31).
	Timeout time.Duration
	// Concurrent reports whether a call with these arguments may overlap with
	// others (P-3). Nil is never. It must be fast and without side effects.
	Concurrent func(arguments messages.JSON) bool
	// FinalizeContent has the last word on what the model reads (P-24). It returns
	// the content and true to replace it. It runs exactly once per call, on every
	// path, and must be fast, total and without side effects.
	FinalizeContent func(call *Call, result *messages.Result) (messages.Content, bool)
	// Run is the body. It must return when ctx is done. The value is the canonical
	// JSON value of a success; an error is the failure.
	Run func(ctx context.Context, inv *Invocation) (messages.JSON, error)

	// run is the body of a tool made with Define, unless Run replaces it: it returns
	// value, content and meta at once, so that typed values are not decoded again to
	// be rendered.
	run func(ctx context.Context, inv *Invocation) (projected, error)
}

// Output says what a tool returns and how it reads.
type Output struct {
	// Schema is the JSON Schema of the canonical value, in the enforced subset
	// (P-36). Absent means any JSON.
	Schema messages.JSON
	// Render makes what the model reads of a value.
	Render func(arguments, value messages.JSON) (messages.Content, error)
	// Meta makes presentation metadata; nil makes none. It is not called for
	// nested calls (P-18).
	Meta func(arguments, value messages.JSON) (messages.JSON, error)

	schema *schema.Schema
}

// compile checks the definition and prepares its output contract (P-1). The
// result shares nothing with t that its owner could change.
func (t Tool) compile() (*Tool, error) {
	switch {
	case t.Name == "":
		return nil, errors.New("tool without a name")
	case t.Output == nil || t.Output.Render == nil:
		return nil, fmt.Errorf("tool %q must declare output { schema, render, presentationMeta? }", t.Name)
	case t.Timeout < 0:
		return nil, fmt.Errorf("tool %q timeoutMs must be a positive finite number", t.Name)
	case t.Run == nil && t.run == nil:
		return nil, fmt.Errorf("tool %q has no body", t.Name)
	}
	if t.Parameters == "" {
		t.Parameters = `{"type":"object"}`
	}
	if err := messages.CheckJSON(t.Parameters); err != nil {
		return nil, fmt.Errorf("tool %q parameters: %w", t.Name, err)
	}
	out, err := t.Output.compile()
	if err != nil {
		return nil, fmt.Errorf("tool %q output: %w", t.Name, err)
	}
	t.Output = out
	return &t, nil
}

// compile returns a copy with the schema that the text says.
func (o Output) compile() (*Output, error) {
	switch {
	case o.Schema == "":
		o.schema = nil
	case o.schema == nil || o.schema.JSON() != o.Schema:
		s, err := schema.Parse(o.Schema)
		if err != nil {
			return nil, err
		}
		o.schema = s
	}
	return &o, nil
}

// spec is the tool as the model sees it (P-2).
func (t *Tool) spec() messages.ToolSpec {
	return messages.ToolSpec{Name: t.Name, Description: t.Description, Parameters: t.Parameters}
}

// concurrent classifies a call (P-3): anything but a plain true is exclusive.
func (t *Tool) concurrent(arguments messages.JSON) (ok bool) {
	if t.Concurrent == nil || arguments == "" {
		return false
	}
	defer func() {
		if recover() != nil {
			ok = false
		}
	}()
	return t.Concurrent(arguments)
}

// sortSpecs orders tools by name, in code-unit order (T-6).
func sortSpecs(specs []messages.ToolSpec) {
	slices.SortFunc(specs, func(a, b messages.ToolSpec) int { return strings.Compare(a.Name, b.Name) })
}

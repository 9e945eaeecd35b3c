package pipeline

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
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

	// run is the body of a tool made with Define: it returns value, content and
	// meta at once, so that typed values are not decoded again to be rendered.
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

// projected is a success of a typed body.
type projected struct {
	value   messages.JSON
	content messages.Content
	meta    messages.JSON
}

// Invocation is what a running body may do besides returning.
type Invocation struct {
	exec     *Execution
	mu       sync.Mutex
	over     bool
	deferred []messages.Context
	nested   int
}

// Call returns the identity of the call.
func (i *Invocation) Call() *Call { return &i.exec.call }

// Agent returns the session that the call works for, or nil.
func (i *Invocation) Agent() Agent { return i.exec.call.agent }

// DeferContext hands a context to the batch: the model reads it after all
// results of the batch (T-21). Contexts survive a failure of the body (P-20).
// After the body returned it has no effect (P-33).
func (i *Invocation) DeferContext(contexts ...messages.Context) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if !i.over {
		i.deferred = append(i.deferred, contexts...)
	}
}

// ConcludeTurn asks that no further step follows this batch by default: the
// default of agent/turn-continuation becomes stop, which listeners and pending
// steering can still override.
func (i *Invocation) ConcludeTurn() { i.exec.conclude.Store(true) }

// Execute runs another tool through the whole pipeline as a nested call of this
// one (P-32): it carries this call's token as its parent, writes no tool/call
// and tool/result, rides on this call's slot, and its contexts are deferred to
// this call. After the body returned it answers ABORTED_BEFORE_DISPATCH.
func (i *Invocation) Execute(ctx context.Context, name string, arguments messages.JSON) *messages.Result {
	i.mu.Lock()
	i.nested++
	n, over := i.nested, i.over
	i.mu.Unlock()
	if over {
		return abortedBeforeDispatch(messages.List[messages.Context]{})
	}
	outer := &i.exec.call
	r := i.exec.pipeline.Execute(ctx, Input{
		ID:   messages.CallID(fmt.Sprintf("%s:%d", outer.id, n)),
		Name: name, Arguments: string(arguments),
		Agent: outer.agent, Turn: outer.turn, Step: outer.step,
		parent: outer.token, parentID: outer.id,
	})
	i.DeferContext(r.Contexts().Slice()...)
	return r
}

// close ends the invocation and returns what was deferred.
func (i *Invocation) close() []messages.Context {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.over = true
	return i.deferred
}

// compile checks the definition and prepares its output contract (P-1).
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
	if t.Output.schema == nil && t.Output.Schema != "" {
		s, err := schema.Parse(t.Output.Schema)
		if err != nil {
			return nil, fmt.Errorf("tool %q output: %w", t.Name, err)
		}
		out := *t.Output
		out.schema = s
		t.Output = &out
	}
	return &t, nil
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
	slices.SortFunc(specs, func(a, b messages.ToolSpec) int {
		switch {
		case a.Name < b.Name:
			return -1
		case a.Name > b.Name:
			return 1
		}
		return 0
	})
}

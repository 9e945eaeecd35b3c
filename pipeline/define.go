package pipeline

import (
	"context"
	"fmt"
	"time"

	"github.com/dsh-actor/dsh-actor/messages"
	"github.com/dsh-actor/dsh-actor/pipeline/schema"
)

// Definition describes a typed tool. In is a struct whose fields are the
// arguments; Out is any type that encodes as JSON. Both schemas are derived from
// the Go types (P-36) unless given by hand.
type Definition[In, Out any] struct {
	Name        string
	Description string
	// Run is the body. It is entered with decoded, validated arguments only (P-16).
	// It must return when ctx is done, and be safe to run again for a wrapper that
	// retries (Z-12).
	Run func(ctx context.Context, inv *Invocation, in In) (Out, error)
	// Render makes what the model reads. Nil renders the value's JSON text.
	Render func(in In, out Out) messages.Content
	// Meta makes presentation metadata; nil makes none. It is not called for nested
	// calls (P-18).
	Meta func(in In, out Out) messages.JSON
	// Concurrent reports whether a call may overlap with others; nil is never
	// (P-3). It must be fast and without side effects.
	Concurrent func(in In) bool
	// Timeout and FinalizeContent are as in [Tool].
	Timeout         time.Duration
	FinalizeContent func(call *Call, result *messages.Result) (messages.Content, bool)
	// Parameters and OutputSchema replace the derived schemas. They must be in the
	// enforced subset.
	Parameters   messages.JSON
	OutputSchema messages.JSON
}

// Define makes a typed tool. It fails for types and schemas outside the enforced
// subset (P-36) and for definitions that P-1 refuses.
func Define[In, Out any](d Definition[In, Out]) (Tool, error) {
	in, err := schemaOf[In](d.Parameters)
	if err != nil {
		return Tool{}, fmt.Errorf("tool %q parameters: %w", d.Name, err)
	}
	out, err := schemaOf[Out](d.OutputSchema)
	if err != nil {
		return Tool{}, fmt.Errorf("tool %q output: %w", d.Name, err)
	}
	if d.Run == nil {
		return Tool{}, fmt.Errorf("tool %q has no body", d.Name)
	}
	t := newTyped(d, in, out)
	tool := Tool{
		Name: d.Name, Description: d.Description, Parameters: in.JSON(),
		Timeout: d.Timeout, FinalizeContent: d.FinalizeContent,
		Output: &Output{Schema: out.JSON(), Render: t.render, schema: out},
		run:    t.run,
	}
	if d.Meta != nil {
		tool.Output.Meta = t.meta
	}
	if d.Concurrent != nil {
		tool.Concurrent = t.concurrent
	}
	if _, err := tool.compile(); err != nil {
		return Tool{}, err
	}
	return tool, nil
}

// MustDefine is [Define] for definitions that are known to be good. It panics
// otherwise.
func MustDefine[In, Out any](d Definition[In, Out]) Tool {
	t, err := Define(d)
	if err != nil {
		panic(err)
	}
	return t
}

func schemaOf[T any](given messages.JSON) (*schema.Schema, error) {
	if given != "" {
		return schema.Parse(given)
	}
	return schema.For[T]()
}

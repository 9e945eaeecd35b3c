package pipeline

import (
	"context"
	"fmt"
	"strings"
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
	// Run is the body. It is entered with decoded, validated arguments only. It
	// must return when ctx is done.
	Run func(ctx context.Context, inv *Invocation, in In) (Out, error)
	// Render makes what the model reads. Nil renders the value's JSON text.
	Render func(in In, out Out) messages.Content
	// Meta makes presentation metadata; nil makes none.
	Meta func(in In, out Out) messages.JSON
	// Concurrent reports whether a call may overlap with others; nil is never.
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
	t := &typed[In, Out]{d, in, out}
	tool := Tool{
		Name: d.Name, Description: d.Description, Parameters: in.JSON(),
		Timeout: d.Timeout, FinalizeContent: d.FinalizeContent,
		Output: &Output{Schema: out.JSON(), Render: t.render, Meta: t.meta, schema: out},
		run:    t.run,
	}
	if d.Meta == nil {
		tool.Output.Meta = nil
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

type typed[In, Out any] struct {
	Definition[In, Out]
	in, out *schema.Schema
}

// run validates and decodes the arguments, enters the body and projects its
// value (P-16, P-18).
func (t *typed[In, Out]) run(ctx context.Context, inv *Invocation) (projected, error) {
	in, err := t.decode(inv.exec.call.arguments)
	if err != nil {
		return projected{}, err
	}
	out, err := runBody(ctx, inv, t.Name, func(ctx context.Context) (Out, error) { return t.Run(ctx, inv, in) })
	if err != nil {
		return projected{}, err
	}
	value, err := messages.MarshalJSON(out)
	if err != nil {
		return projected{}, invalidOutput("tool %q returned invalid output: value is not lossless JSON", t.Name)
	}
	if !t.out.ByConstruction() {
		if err := checkOutput(t.Name, t.out, value); err != nil {
			return projected{}, err
		}
	}
	p := projected{value: value}
	if p.content, err = t.project(in, out, value); err != nil {
		return projected{}, err
	}
	if t.Definition.Meta != nil && inv.exec.call.parent == 0 {
		p.meta, err = projectMeta(t.Name, func() (messages.JSON, error) { return t.Definition.Meta(in, out), nil })
	}
	return p, err
}

func (t *typed[In, Out]) decode(arguments messages.JSON) (in In, err error) {
	if violations := t.in.Validate("", arguments); len(violations) > 0 {
		return in, invalidArgs(strings.Join(violations, "; "))
	}
	if err := arguments.Unmarshal(&in); err != nil {
		return in, invalidArgs(err.Error())
	}
	return in, nil
}

func (t *typed[In, Out]) project(in In, out Out, value messages.JSON) (messages.Content, error) {
	return projectContent(t.Name, func() (messages.Content, error) {
		if t.Definition.Render == nil {
			return messages.Text(string(value)), nil
		}
		return t.Definition.Render(in, out), nil
	})
}

// render serves results that did not come from the body (P-19, P-22).
func (t *typed[In, Out]) render(arguments, value messages.JSON) (messages.Content, error) {
	in, out, err := t.both(arguments, value)
	if err != nil {
		return messages.Content{}, err
	}
	if t.Definition.Render == nil {
		return messages.Text(string(value)), nil
	}
	return t.Definition.Render(in, out), nil
}

func (t *typed[In, Out]) meta(arguments, value messages.JSON) (messages.JSON, error) {
	in, out, err := t.both(arguments, value)
	if err != nil {
		return "", err
	}
	return t.Definition.Meta(in, out), nil
}

func (t *typed[In, Out]) both(arguments, value messages.JSON) (in In, out Out, err error) {
	if in, err = t.decode(arguments); err == nil {
		err = value.Unmarshal(&out)
	}
	return in, out, err
}

func (t *typed[In, Out]) concurrent(arguments messages.JSON) bool {
	in, err := t.decode(arguments)
	return err == nil && t.Definition.Concurrent(in)
}

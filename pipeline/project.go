package pipeline

import (
	"context"

	"github.com/dsh-actor/dsh-actor/messages"
)

// projected is a success of a body: its value and how it reads.
type projected struct {
	value   messages.JSON
	content messages.Content
	meta    messages.JSON
}

// invoke enters the body and projects its value (P-18).
func (t *Tool) invoke(ctx context.Context, inv *Invocation) (projected, error) {
	if t.Run == nil {
		return t.run(ctx, inv)
	}
	value, err := t.callBody(ctx, inv)
	if err != nil {
		return projected{}, err
	}
	return t.project(inv.Call(), value)
}

func (t *Tool) callBody(ctx context.Context, inv *Invocation) (value messages.JSON, err error) {
	ctx = inv.enter(ctx)
	err = errGoexit // stands if the body ends the goroutine
	defer inv.leave(t.Name, &err)
	return t.Run(ctx, inv)
}

// project validates a value against the tool's output contract and renders it
// (P-18).
func (t *Tool) project(call *Call, value messages.JSON) (p projected, err error) {
	if messages.CheckJSON(value) != nil {
		return p, invalidOutput(t.Name, "value is not lossless JSON")
	}
	if err := checkOutput(t.Name, t.Output.schema, value); err != nil {
		return p, err
	}
	p.value = value
	if p.content, err = t.renderContent(call, value); err != nil {
		return p, err
	}
	if t.Output.Meta != nil && call.parent == 0 {
		p.meta, err = t.renderMeta(call, value)
	}
	return p, err
}

func (t *Tool) renderContent(call *Call, value messages.JSON) (c messages.Content, err error) {
	defer containProjector(t.Name, "render", &err)
	c, err = t.Output.Render(call.arguments, value)
	return checkContent(t.Name, c, err)
}

func (t *Tool) renderMeta(call *Call, value messages.JSON) (meta messages.JSON, err error) {
	defer containProjector(t.Name, "presentationMeta", &err)
	meta, err = t.Output.Meta(call.arguments, value)
	return checkMeta(t.Name, meta, err)
}

// reproject renders a value that did not come from the body through the output
// contract of the tool that is visible now (P-19, P-22).
func (x *Execution) reproject(value messages.JSON, contexts messages.List[messages.Context]) *messages.Result {
	tool, ok := x.pipeline.tools.Lookup(x.call.name)
	if !ok {
		return unknownTool(x.call.name, contexts)
	}
	p, err := tool.project(&x.call, value)
	if err != nil {
		return failed(err, contexts)
	}
	return messages.NewSuccess(messages.ResultFields{
		Value: p.value, Content: p.content, Meta: p.meta, Contexts: contexts,
	})
}

// checkContent judges what a render projector returned.
func checkContent(tool string, c messages.Content, err error) (messages.Content, error) {
	switch {
	case err != nil:
		return c, invalidOutput(tool, "output.render failed: "+safeText(err))
	case c.IsZero():
		return messages.EmptyContent(), nil
	case !losslessContent(c):
		return c, invalidOutput(tool, "output.render returned non-lossless JSON")
	}
	return c, nil
}

// checkMeta judges what a presentationMeta projector returned; nothing is no meta.
func checkMeta(tool string, meta messages.JSON, err error) (messages.JSON, error) {
	switch {
	case err != nil:
		return "", invalidOutput(tool, "output.presentationMeta failed: "+safeText(err))
	case meta != "" && messages.CheckJSON(meta) != nil:
		return "", invalidOutput(tool, "output.presentationMeta returned non-lossless JSON")
	}
	return meta, nil
}

// containProjector turns a panic of a projector into its failure. It is deferred
// directly.
func containProjector(tool, which string, err *error) {
	if v := recover(); v != nil {
		*err = invalidOutput(tool, "output."+which+" failed: "+messages.PanicText(v))
	}
}

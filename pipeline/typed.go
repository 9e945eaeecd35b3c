package pipeline

import (
	"context"
	"encoding"
	"errors"
	"reflect"
	"strings"

	"github.com/go-json-experiment/json"

	"github.com/dsh-actor/dsh-actor/messages"
	"github.com/dsh-actor/dsh-actor/pipeline/internal/flat"
	"github.com/dsh-actor/dsh-actor/pipeline/schema"
)

// typed is a tool made with [Define].
type typed[In, Out any] struct {
	def Definition[In, Out]
	in  *schema.Schema
	out *schema.Schema
	dec *flat.Decoder[In]  // nil unless In is flat and in was derived from it
	enc *flat.Encoder[Out] // nil unless Out is flat and out was derived from it
}

func newTyped[In, Out any](d Definition[In, Out], in, out *schema.Schema) *typed[In, Out] {
	t := &typed[In, Out]{def: d, in: in, out: out}
	if d.Parameters == "" {
		t.dec = flat.NewDecoder[In]()
	}
	if d.OutputSchema == "" && out.ByConstruction() {
		t.enc = flat.NewEncoder[Out]()
	}
	return t
}

// run validates and decodes the arguments, enters the body and projects its
// value (P-16, P-18). The value is not decoded again to be rendered.
func (t *typed[In, Out]) run(ctx context.Context, inv *Invocation) (p projected, err error) {
	call := inv.Call()
	in, err := t.decode(call.arguments)
	if err != nil {
		return p, err
	}
	out, err := t.callBody(ctx, inv, in)
	if err != nil {
		return p, err
	}
	if p.value, err = t.snapshot(&out); err != nil {
		return p, err
	}
	if p.content, err = t.content(in, out, p.value); err != nil {
		return p, err
	}
	if t.def.Meta != nil && call.parent == 0 {
		p.meta, err = t.metaOf(in, out)
	}
	return p, err
}

// decode makes the body's input of arguments that are lossless JSON.
func (t *typed[In, Out]) decode(arguments messages.JSON) (in In, err error) {
	if t.dec != nil && t.dec.Decode(string(arguments), &in) {
		return in, nil
	}
	return t.decodeSlow(arguments)
}

func (t *typed[In, Out]) decodeSlow(arguments messages.JSON) (in In, err error) {
	defer contain(t.def.Name, &err) // a type of In may decode itself
	if violations := t.in.Validate(schema.Arguments, arguments); len(violations) > 0 {
		return in, InvalidArguments(strings.Join(violations, "; "))
	}
	if err := arguments.Unmarshal(&in); err != nil {
		return in, InvalidArguments(misfit(err))
	}
	return in, nil
}

// misfit says what a Go type refuses of arguments that conform to the schema, such
// as a number that is too large, in the words of P-36.
func misfit(err error) string {
	var se *json.SemanticError
	if !errors.As(err, &se) || se.Err == nil {
		return safeText(err)
	}
	path := strings.ReplaceAll(strings.TrimPrefix(string(se.JSONPointer), "/"), "/", ".")
	return `"` + orDefault(path, "arguments") + `": ` + safeText(se.Err)
}

func (t *typed[In, Out]) callBody(ctx context.Context, inv *Invocation, in In) (out Out, err error) {
	ctx = inv.enter(ctx)
	err = errGoexit // stands if the body ends the goroutine
	defer inv.leave(t.def.Name, &err)
	return t.def.Run(ctx, inv, in)
}

// snapshot makes the canonical value of what the body returned.
func (t *typed[In, Out]) snapshot(out *Out) (value messages.JSON, err error) {
	if t.enc != nil {
		if text, ok := t.enc.Encode(out); ok {
			return messages.JSON(text), nil
		}
	}
	return t.snapshotSlow(*out)
}

func (t *typed[In, Out]) snapshotSlow(out Out) (value messages.JSON, err error) {
	defer func() {
		if v := recover(); v != nil {
			err = invalidOutput(t.def.Name, "value snapshot failed: "+messages.PanicText(v))
		}
	}()
	if value, err = messages.MarshalJSON(out); err != nil {
		return "", invalidOutput(t.def.Name, snapshotFailure(err))
	}
	if t.out.ByConstruction() {
		return value, nil
	}
	return value, checkOutput(t.def.Name, t.out, value)
}

// snapshotFailure tells a value that JSON cannot hold (J-2) from a type whose own
// encoding failed (J-3).
func snapshotFailure(err error) string {
	var se *json.SemanticError
	if errors.As(err, &se) && se.Err != nil && se.GoType != nil && encodesItself(se.GoType) {
		return "value snapshot failed: " + safeText(se.Err)
	}
	return "value is not lossless JSON"
}

// encodesItself reports whether package json leaves the encoding of t to t.
func encodesItself(t reflect.Type) bool {
	return implements[json.MarshalerTo](t) || implements[json.Marshaler](t) ||
		implements[encoding.TextAppender](t) || implements[encoding.TextMarshaler](t)
}

func implements[I any](t reflect.Type) bool {
	i := reflect.TypeFor[I]()
	return t.Implements(i) || reflect.PointerTo(t).Implements(i)
}

func (t *typed[In, Out]) content(in In, out Out, value messages.JSON) (c messages.Content, err error) {
	if t.def.Render == nil {
		return messages.Text(string(value)), nil
	}
	defer containProjector(t.def.Name, "render", &err)
	return checkContent(t.def.Name, t.def.Render(in, out), nil)
}

func (t *typed[In, Out]) metaOf(in In, out Out) (meta messages.JSON, err error) {
	defer containProjector(t.def.Name, "presentationMeta", &err)
	return checkMeta(t.def.Name, t.def.Meta(in, out), nil)
}

// render serves results that did not come from the body (P-19, P-22).
func (t *typed[In, Out]) render(arguments, value messages.JSON) (messages.Content, error) {
	if t.def.Render == nil {
		return messages.Text(string(value)), nil
	}
	in, out, err := t.both(arguments, value)
	if err != nil {
		return messages.Content{}, err
	}
	return t.def.Render(in, out), nil
}

// meta serves results that did not come from the body.
func (t *typed[In, Out]) meta(arguments, value messages.JSON) (messages.JSON, error) {
	in, out, err := t.both(arguments, value)
	if err != nil {
		return "", err
	}
	return t.def.Meta(in, out), nil
}

func (t *typed[In, Out]) both(arguments, value messages.JSON) (in In, out Out, err error) {
	if in, err = t.decode(arguments); err == nil {
		err = value.Unmarshal(&out)
	}
	return in, out, err
}

func (t *typed[In, Out]) concurrent(arguments messages.JSON) bool {
	in, err := t.decode(arguments)
	return err == nil && t.def.Concurrent(in)
}

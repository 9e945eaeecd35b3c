package settings

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/dsh-actor/dsh-actor/messages"
)

// parse makes the tree of a settings file's text. A syntax error is a
// diagnostic of severity error, and no root. Blank text is an empty object.
func parse(file string, layer Layer, data []byte) (root *Value, diags []Diagnostic) {
	t := &text{file: file, layer: layer, data: string(bytes.TrimPrefix(data, []byte("\ufeff")))}
	whole := Origin{File: file, Layer: layer}
	if !utf8.ValidString(t.data) {
		// The real program decodes before it parses, so that this is no error there.
		t.data = messages.ValidUTF8(t.data)
		diags = append(diags, whole.Diagnose(Warning, "invalid UTF-8 was replaced by U+FFFD"))
	}
	if strings.Trim(t.data, " \t\r\n") == "" {
		t.data = "{}"
	}
	t.index()
	p := parser{text: t, dec: jsontext.NewDecoder(strings.NewReader(t.data), lenient)}
	root, err := p.value(nil)
	if err == nil {
		err = p.end()
	}
	if err != nil {
		return nil, append(diags, p.explain(err))
	}
	return root, append(diags, p.diags...)
}

// lenient accepts what JSON.parse accepts.
var lenient = json.JoinOptions(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))

type parser struct {
	text  *text
	dec   *jsontext.Decoder
	depth int
	diags []Diagnostic
}

var errTooDeep = fmt.Errorf("nested deeper than %d", messages.MaxJSONDepth)

// value reads the next value. Its place among its siblings is the caller's.
func (p *parser) value(parent *Value) (*Value, error) {
	v := &Value{text: p.text, parent: parent, kind: p.dec.PeekKind()}
	if v.kind != '{' && v.kind != '[' {
		raw, err := p.dec.ReadValue()
		v.end = int(p.dec.InputOffset())
		v.start = v.end - len(raw)
		return v, err
	}
	if p.depth++; p.depth > messages.MaxJSONDepth {
		return nil, errTooDeep
	}
	defer func() { p.depth-- }()
	if _, err := p.dec.ReadToken(); err != nil {
		return nil, err
	}
	v.start = int(p.dec.InputOffset()) - 1
	fill := p.elements
	if v.kind == '{' {
		fill = p.members
	}
	if err := fill(v); err != nil {
		return nil, err
	}
	if _, err := p.dec.ReadToken(); err != nil {
		return nil, err
	}
	v.end = int(p.dec.InputOffset())
	return v, nil
}

func (p *parser) elements(v *Value) error {
	for k := p.dec.PeekKind(); k != ']'; k = p.dec.PeekKind() {
		c, err := p.value(v)
		if err != nil {
			return err
		}
		c.index = len(v.children)
		v.children = append(v.children, c)
	}
	return nil
}

func (p *parser) members(v *Value) error {
	v.members = map[string]int{}
	for k := p.dec.PeekKind(); k != '}'; k = p.dec.PeekKind() {
		quoted, err := p.dec.ReadValue()
		if err != nil {
			return err
		}
		name := unquote(string(quoted))
		c, err := p.value(v)
		if err != nil {
			return err
		}
		c.name = name
		i, again := v.members[name]
		if !again {
			v.members[name] = len(v.children)
			v.children = append(v.children, c)
			continue
		}
		v.children[i] = c
		p.diags = append(p.diags, c.Origin().Diagnose(Warning, "%q is given twice; the last one counts", name))
	}
	return nil
}

// end reports what follows the root value.
func (p *parser) end() error {
	offset := p.dec.InputOffset()
	if _, err := p.dec.ReadToken(); errors.Is(err, io.EOF) {
		return nil
	}
	return &jsontext.SyntacticError{ByteOffset: offset, Err: errTrailing}
}

var errTrailing = errors.New("text after the JSON value")

// explain makes the diagnostic of a syntax error.
func (p *parser) explain(err error) Diagnostic {
	offset, pointer, cause := int(p.dec.InputOffset()), string(p.dec.StackPointer()), err
	var syntax *jsontext.SyntacticError
	if errors.As(err, &syntax) {
		offset, pointer, cause = int(syntax.ByteOffset), string(syntax.JSONPointer), syntax.Err
	}
	data := p.text.data
	offset = min(offset, len(data))
	skip := " \t\r\n"
	if errors.Is(err, errTooDeep) {
		skip += ":," // the decoder is behind the token before the value
	}
	at := len(data) - len(strings.TrimLeft(data[offset:], skip))
	rest := data[at:]
	message := ""
	switch {
	case errors.Is(err, errTooDeep):
		message = cause.Error()
	case strings.HasPrefix(rest, "//"), strings.HasPrefix(rest, "/*"):
		message = "comments are not allowed in JSON"
	case strings.HasPrefix(rest, ",") && closes(rest[1:]):
		message = "trailing comma before " + strings.TrimLeft(rest[1:], " \t\r\n")[:1]
	case at == len(data):
		message = "the text ends too early"
	default:
		message = cause.Error()
	}
	line, column := p.text.position(at)
	return Diagnostic{
		File: p.text.file, Pointer: pointer, Line: line, Column: column, Severity: Error,
		Message: "malformed JSON: " + message + "; the whole file is ignored",
	}
}

// closes reports whether the text goes on with the end of a container.
func closes(rest string) bool {
	rest = strings.TrimLeft(rest, " \t\r\n")
	return strings.HasPrefix(rest, "}") || strings.HasPrefix(rest, "]")
}

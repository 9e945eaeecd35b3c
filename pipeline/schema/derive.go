package schema

import (
	"bytes"
	"encoding"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/dsh-actor/dsh-actor/messages"
)

// Describer is implemented by types that encode themselves and know their
// schema. JSONSchema is called on the zero value, may not depend on it, and
// returns a schema of the subset.
type Describer interface {
	JSONSchema() messages.JSON
}

// For derives the schema of T. See [Of].
func For[T any]() (*Schema, error) { return Of(reflect.TypeFor[T]()) }

// Of derives the schema of a Go type as package json encodes and decodes it.
//
//   - Struct fields are the properties, by their json names and in encoding
//     order, embedded structs flattened. A field is required unless it has the
//     option omitzero or omitempty or is a pointer. Objects stay open: extra
//     keys of arguments are allowed (P-36).
//   - The tag description:"…" annotates a field. The tag enum:"a,b" limits a
//     string field to those values.
//   - Pointers may also be null, unless the field would then be omitted.
//   - Slices and arrays are arrays; []byte and [N]byte are strings (base64).
//     Maps are open objects. Integers, floats, bools and strings are what they
//     are; a number with the option string is a string.
//   - [time.Time] and types that encode themselves as text are strings;
//     [messages.JSON], [jsontext.Value] and any are any JSON value;
//     [messages.Content] is an array. Other types that encode themselves must be
//     a [Describer].
//
// Recursive types, functions, channels, complex numbers, interfaces with
// methods and [time.Duration] (which has no default JSON form) are refused with
// a [messages.Error] of code [messages.CodeUnsupportedSchema] that names the
// field.
func Of(t reflect.Type) (*Schema, error) {
	if t == nil {
		return nil, refuse("no Go type")
	}
	d := deriver{exact: true}
	sp, err := d.spec(t)
	if err != nil {
		return nil, refuse(fmt.Sprintf("Go type %s: %v", t, err))
	}
	var buf bytes.Buffer
	enc := jsontext.NewEncoder(&buf)
	if err := sp.write(enc); err != nil {
		return nil, refuse(fmt.Sprintf("Go type %s: %v", t, err))
	}
	s, err := Parse(messages.JSON(buf.String()))
	if err != nil {
		return nil, fmt.Errorf("derive from Go type %s: %w", t, err)
	}
	s.byConstruction = d.exact
	return s, nil
}

// spec is a schema being derived. The zero value accepts anything.
type spec struct {
	typ         string
	description string
	enum        []string
	items       *spec
	props       []specProperty
	required    []string
	nullable    bool
	raw         messages.JSON // a Describer's own schema
	rawNull     bool          // raw accepts null
}

type specProperty struct {
	name string
	spec *spec
}

type deriver struct {
	stack []reflect.Type // named types being derived, to find recursion
	exact bool
}

var (
	timeType     = reflect.TypeFor[time.Time]()
	durationType = reflect.TypeFor[time.Duration]()
	jsonType     = reflect.TypeFor[messages.JSON]()
	contentType  = reflect.TypeFor[messages.Content]()
)

// spec derives the schema of t.
func (d *deriver) spec(t reflect.Type) (*spec, error) {
	switch t {
	case timeType:
		return &spec{typ: "string"}, nil
	case jsonType, rawValueType:
		return &spec{}, nil
	case contentType:
		return &spec{typ: "array"}, nil
	case durationType:
		return nil, errors.New("time.Duration has no default JSON form; use a number or a string")
	}
	if t.Name() != "" {
		if slices.Contains(d.stack, t) {
			return nil, fmt.Errorf("%s is recursive; a schema of the subset cannot refer to itself", t)
		}
		d.stack = append(d.stack, t)
		defer func() { d.stack = d.stack[:len(d.stack)-1] }()
	}
	if t.Kind() != reflect.Pointer && t.Kind() != reflect.Interface {
		if described, ok := describe(t); ok {
			s, err := Parse(described)
			if err != nil {
				return nil, fmt.Errorf("JSONSchema of %s: %w", t, err)
			}
			d.exact = false // the type's word is not checked against its encoding
			return &spec{raw: s.JSON(), rawNull: s.Conforms("null")}, nil
		}
		switch {
		case encodesJSON(t):
			return nil, fmt.Errorf("%s encodes itself; give it the method JSONSchema() messages.JSON", t)
		case implements[encoding.TextMarshaler](t) || implements[encoding.TextAppender](t):
			return &spec{typ: "string"}, nil
		case implements[encoding.TextUnmarshaler](t):
			return nil, fmt.Errorf("%s decodes itself but does not encode itself", t)
		}
	}
	switch t.Kind() {
	case reflect.Bool:
		return &spec{typ: "boolean"}, nil
	case reflect.String:
		return &spec{typ: "string"}, nil
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64,
		reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr:
		return &spec{typ: "integer"}, nil
	case reflect.Float32, reflect.Float64:
		return &spec{typ: "number"}, nil
	case reflect.Interface:
		if t.NumMethod() > 0 {
			return nil, fmt.Errorf("%s is an interface with methods", t)
		}
		return &spec{}, nil
	case reflect.Pointer:
		sp, err := d.spec(t.Elem())
		if err == nil {
			sp.nullable = true
		}
		return sp, err
	case reflect.Slice, reflect.Array:
		if e := t.Elem(); e.Kind() == reflect.Uint8 && e.PkgPath() == "" {
			return &spec{typ: "string"}, nil
		}
		item, err := d.spec(t.Elem())
		if err != nil {
			return nil, fmt.Errorf("item: %w", err)
		}
		return &spec{typ: "array", items: item}, nil
	case reflect.Map:
		if !isName(t.Key()) {
			return nil, fmt.Errorf("map key of type %s", t.Key())
		}
		// The subset cannot say what values a map has, but they must be encodable.
		if _, err := d.spec(t.Elem()); err != nil {
			return nil, fmt.Errorf("map value: %w", err)
		}
		return &spec{typ: "object"}, nil
	case reflect.Struct:
		return d.structSpec(t)
	default:
		return nil, fmt.Errorf("%s has no JSON form", t)
	}
}

func (d *deriver) structSpec(t reflect.Type) (*spec, error) {
	fields, open, err := structFields(t)
	if err != nil {
		return nil, err
	}
	if open {
		d.exact = false // a member of the map may have the name of an absent field
	}
	sp := &spec{typ: "object"}
	for _, f := range fields {
		p, err := d.fieldSpec(f)
		if err != nil {
			return nil, fmt.Errorf("field %s: %w", f.goName, err)
		}
		sp.props = append(sp.props, specProperty{f.name, p})
		if !f.optional {
			sp.required = append(sp.required, f.name)
		}
	}
	return sp, nil
}

func (d *deriver) fieldSpec(f field) (*spec, error) {
	sp, err := d.spec(f.typ)
	if err != nil {
		return nil, err
	}
	if f.quoted {
		if sp.typ != "integer" && sp.typ != "number" {
			return nil, errors.New("the json option string is for numbers only")
		}
		sp.typ = "string"
	}
	if f.enum != "" {
		base := f.typ
		for base.Kind() == reflect.Pointer {
			base = base.Elem()
		}
		if base.Kind() != reflect.String || sp.typ != "string" {
			return nil, errors.New("an enum tag is for strings only")
		}
		sp.enum = strings.Split(f.enum, ",")
		sorted := slices.Sorted(slices.Values(sp.enum))
		if sorted[0] == "" || len(slices.Compact(sorted)) < len(sp.enum) {
			return nil, fmt.Errorf("enum %q has an empty or a repeated value", f.enum)
		}
		d.exact = false
	}
	// A nil pointer is omitted, never encoded as null, if the field says so. With
	// omitzero that holds for the outer pointer only.
	if sp.nullable && (f.omitEmpty || f.omitZero && f.typ.Elem().Kind() != reflect.Pointer) {
		sp.nullable = false
	}
	sp.description = f.description
	return sp, nil
}

// write encodes the schema, keywords in the order in which a reader looks for
// them.
func (sp *spec) write(enc *jsontext.Encoder) error {
	w := writer{enc: enc}
	w.token(jsontext.BeginObject)
	switch {
	case sp.nullable && sp.distinctFromNull():
		if sp.description != "" {
			w.member("description", sp.description)
		}
		inner := *sp
		inner.nullable, inner.description = false, ""
		w.name("oneOf")
		w.token(jsontext.BeginArray)
		w.spec(&inner)
		w.spec(&spec{typ: "null"})
		w.token(jsontext.EndArray)
	case sp.raw != "":
		if sp.description != "" {
			w.member("description", sp.description)
		}
		for _, m := range membersOf(string(sp.raw)) {
			if m.name == "description" && sp.description != "" {
				continue // the field's own words are the closer ones
			}
			w.name(m.name)
			w.value(jsontext.Value(m.value))
		}
	default:
		sp.writeKeywords(&w)
	}
	w.token(jsontext.EndObject)
	return w.err
}

// distinctFromNull reports whether the schema does not accept null by itself,
// so that a oneOf with null has exactly one match.
func (sp *spec) distinctFromNull() bool { return sp.typ != "" || sp.raw != "" && !sp.rawNull }

func (sp *spec) writeKeywords(w *writer) {
	if sp.typ != "" {
		w.member("type", sp.typ)
	}
	if sp.description != "" {
		w.member("description", sp.description)
	}
	if sp.enum != nil {
		w.member("enum", sp.enum)
	}
	if sp.items != nil {
		w.name("items")
		w.spec(sp.items)
	}
	if sp.props != nil {
		w.name("properties")
		w.token(jsontext.BeginObject)
		for _, p := range sp.props {
			w.name(p.name)
			w.spec(p.spec)
		}
		w.token(jsontext.EndObject)
	}
	if sp.required != nil {
		w.member("required", sp.required)
	}
}

// writer keeps the first error of a sequence of writes.
type writer struct {
	enc *jsontext.Encoder
	err error
}

func (w *writer) token(t jsontext.Token) {
	if w.err == nil {
		w.err = w.enc.WriteToken(t)
	}
}

func (w *writer) name(s string) { w.token(jsontext.String(s)) }

func (w *writer) value(v jsontext.Value) {
	if w.err == nil {
		w.err = w.enc.WriteValue(v)
	}
}

func (w *writer) member(name string, v any) {
	w.name(name)
	if w.err == nil {
		w.err = json.MarshalEncode(w.enc, v)
	}
}

func (w *writer) spec(sp *spec) {
	if w.err == nil {
		w.err = sp.write(w.enc)
	}
}

// describe returns the schema that the zero value of t declares for itself.
func describe(t reflect.Type) (messages.JSON, bool) {
	d, ok := reflect.New(t).Interface().(Describer) // also finds value methods
	if !ok {
		return "", false
	}
	return d.JSONSchema(), true
}

// implements reports whether t or *t has the methods of I: package json calls
// either.
func implements[I any](t reflect.Type) bool {
	i := reflect.TypeFor[I]()
	return t.Implements(i) || reflect.PointerTo(t).Implements(i)
}

// encodesJSON reports whether package json leaves the encoding or decoding of t
// to t.
func encodesJSON(t reflect.Type) bool {
	return implements[json.MarshalerTo](t) || implements[json.Marshaler](t) ||
		implements[json.UnmarshalerFrom](t) || implements[json.Unmarshaler](t)
}

// hasMethods reports whether t has any method that package json would call.
func hasMethods(t reflect.Type) bool {
	return encodesJSON(t) || implements[encoding.TextMarshaler](t) ||
		implements[encoding.TextAppender](t) || implements[encoding.TextUnmarshaler](t)
}

// isName reports whether values of t can be the names of a JSON object.
func isName(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.String, reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64,
		reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr,
		reflect.Float32, reflect.Float64:
		return !encodesJSON(t)
	}
	return implements[encoding.TextMarshaler](t) || implements[encoding.TextAppender](t)
}

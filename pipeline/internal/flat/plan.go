package flat

import (
	"encoding"
	"reflect"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
)

// field is one member of a flat struct.
type field struct {
	name     string // of the member
	index    int    // of the struct's field
	kind     reflect.Kind
	bits     int  // of a number
	omitZero bool // a zero value is left out; the member is optional
	enum     []string
}

// maxFields bounds the members of a flat struct.
const maxFields = 32

// fieldsOf returns the members of t, if t is flat: a struct of exported fields that
// are strings, booleans and numbers, without methods that package json would call
// and without tags that need more than a name, omitzero and an enum.
func fieldsOf(t reflect.Type) ([]field, bool) {
	if t.Kind() != reflect.Struct || t.NumField() > maxFields || hasMethods(t) {
		return nil, false
	}
	var out []field
	for i := range t.NumField() {
		sf := t.Field(i)
		tag, tagged := sf.Tag.Lookup("json")
		if sf.Anonymous || !sf.IsExported() || tag == "-" || hasMethods(sf.Type) {
			return nil, false
		}
		f := field{name: sf.Name, index: i, kind: sf.Type.Kind()}
		switch f.kind {
		case reflect.String, reflect.Bool:
		case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64,
			reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64,
			reflect.Float32, reflect.Float64:
			f.bits = sf.Type.Bits()
		default:
			return nil, false
		}
		if tagged {
			name, options, _ := strings.Cut(tag, ",")
			if name != "" {
				f.name = name
			}
			if options != "" && options != "omitzero" {
				return nil, false
			}
			f.omitZero = options == "omitzero"
		}
		if !plainName(f.name) || slices.ContainsFunc(out, func(o field) bool { return o.name == f.name }) {
			return nil, false
		}
		if enum, ok := sf.Tag.Lookup("enum"); ok {
			if f.kind != reflect.String {
				return nil, false
			}
			f.enum = strings.Split(enum, ",")
		}
		out = append(out, f)
	}
	return out, true
}

// plainName reports whether a name stands for itself in JSON and in a tag.
func plainName(name string) bool {
	for i := range len(name) {
		if c := name[i]; c < 0x20 || c >= 0x7f || strings.IndexByte("\"\\'`", c) >= 0 {
			return false
		}
	}
	return name != ""
}

// hasMethods reports whether package json leaves the form of t to t.
func hasMethods(t reflect.Type) bool {
	return implements[json.MarshalerTo](t) || implements[json.Marshaler](t) ||
		implements[json.UnmarshalerFrom](t) || implements[json.Unmarshaler](t) ||
		implements[encoding.TextMarshaler](t) || implements[encoding.TextAppender](t) ||
		implements[encoding.TextUnmarshaler](t)
}

func implements[I any](t reflect.Type) bool {
	i := reflect.TypeFor[I]()
	return t.Implements(i) || reflect.PointerTo(t).Implements(i)
}

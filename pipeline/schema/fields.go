package schema

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// field is one JSON member of a Go struct, after embedded structs were
// flattened.
type field struct {
	goName string // for errors
	name   string
	typ    reflect.Type
	index  []int // as reflect.Type.FieldByIndex
	tagged bool  // the name comes from the tag

	omitZero, omitEmpty bool
	quoted              bool // the "string" option: a number inside a string
	optional            bool // may be absent from what is encoded or accepted
	description, enum   string
}

// structFields returns the members of t as package json names, selects and
// orders them: embedded structs are flattened breadth first, the shallowest
// field of a name wins, then the only tagged one, and otherwise none. Open
// reports an embedded map or raw value, which may hold members of any name.
func structFields(t reflect.Type) (fields []field, open bool, err error) {
	type level struct {
		typ      reflect.Type
		index    []int
		optional bool // reached through a pointer that may be nil
		visit    bool // false for a struct type that was embedded before
	}
	seen := map[reflect.Type]bool{t: true}
	queue := []level{{typ: t, visit: true}}
	for len(queue) > 0 {
		l := queue[0]
		queue = queue[1:]
		names := map[string]string{} // in this struct
		hasTag, hasMember := false, false
		for i := range l.typ.NumField() {
			sf := l.typ.Field(i)
			_, tag := sf.Tag.Lookup("json")
			hasTag = hasTag || tag
			f, embed, ignored, err := parseField(sf)
			if err != nil {
				return nil, false, err
			}
			if ignored {
				continue
			}
			hasMember = true
			f.index = append(slices.Clone(l.index), i)
			f.optional = f.omitZero || f.omitEmpty || sf.Type.Kind() == reflect.Pointer || l.optional
			if !embed {
				if other, taken := names[f.name]; taken {
					return nil, false, fmt.Errorf("fields %s and %s have the same JSON name %q", other, sf.Name, f.name)
				}
				names[f.name] = sf.Name
				fields = append(fields, f)
				continue
			}
			elem := sf.Type
			pointer := elem.Kind() == reflect.Pointer && elem.Name() == ""
			if pointer {
				elem = elem.Elem()
			}
			switch {
			case elem.Kind() != reflect.Struct && sf.Anonymous:
				return nil, false, fmt.Errorf("embedded field %s of type %s needs a JSON name", sf.Name, elem)
			case elem == rawValueType || elem.Kind() == reflect.Map && elem.Key().Kind() == reflect.String && !hasMethods(elem.Key()):
				open = true
			case elem.Kind() != reflect.Struct || hasMethods(elem):
				return nil, false, fmt.Errorf("field %s of type %s cannot be embedded", sf.Name, elem)
			default:
				if l.visit {
					queue = append(queue, level{elem, f.index, l.optional || pointer, !seen[elem]})
				}
				seen[elem] = true
			}
		}
		if l.typ.NumField() > 0 && !hasTag && !hasMember {
			return nil, false, fmt.Errorf("type %s has no exported fields", l.typ)
		}
	}
	return dominant(fields), open, nil
}

// dominant drops the fields that another one of the same name hides, and
// orders the rest as they are encoded.
func dominant(fields []field) []field {
	slices.SortStableFunc(fields, func(a, b field) int {
		return cmp.Or(
			strings.Compare(a.name, b.name),
			cmp.Compare(len(a.index), len(b.index)),
			compareBool(!a.tagged, !b.tagged),
		)
	})
	var out []field
	for len(fields) > 0 {
		n := 1
		for n < len(fields) && fields[n].name == fields[0].name {
			n++
		}
		if n == 1 || len(fields[0].index) != len(fields[1].index) || fields[0].tagged != fields[1].tagged {
			out = append(out, fields[0])
		}
		fields = fields[n:]
	}
	slices.SortFunc(out, func(a, b field) int { return slices.Compare(a.index, b.index) })
	return out
}

func compareBool(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	}
	return 1
}

// parseField reads the tags of a struct field. It is stricter than package
// json: what that package would report when the type is first encoded, and
// options that a schema cannot express, are errors here.
func parseField(sf reflect.StructField) (f field, embed, ignored bool, err error) {
	tag, hasTag := sf.Tag.Lookup("json")
	if tag == "-" {
		return f, false, true, nil
	}
	if !sf.IsExported() && !sf.Anonymous {
		if hasTag {
			err = fmt.Errorf("unexported field %s has a json tag", sf.Name)
		}
		return f, false, true, err
	}
	f = field{
		goName: sf.Name, name: sf.Name, typ: sf.Type,
		description: sf.Tag.Get("description"), enum: sf.Tag.Get("enum"),
	}
	if _, ok := sf.Tag.Lookup("enum"); ok && f.enum == "" {
		return f, false, false, fmt.Errorf("field %s has an empty enum", sf.Name)
	}
	name, options, _ := strings.Cut(tag, ",")
	if strings.ContainsAny(name, "'\"`\\") || strings.HasSuffix(tag, ",") {
		return f, false, false, fmt.Errorf("field %s has a malformed json tag %q", sf.Name, tag)
	}
	if name != "" {
		f.name, f.tagged = name, true
	}
	for option := range strings.SplitSeq(options, ",") {
		switch option {
		case "":
		case "omitzero":
			f.omitZero = true
		case "omitempty":
			f.omitEmpty = true
		case "string":
			f.quoted = true
		case "embed":
			embed = true
		case "case:ignore", "case:strict":
			// Only decoding is affected, and only for names that the schema would
			// have called missing or undeclared.
		default:
			return f, false, false, fmt.Errorf("field %s has the json option %q, which a schema cannot express", sf.Name, option)
		}
	}
	embed = embed || sf.Anonymous && !f.tagged
	switch {
	case embed && (tag != "" && tag != ",embed" || f.enum != "" || f.description != ""):
		err = fmt.Errorf("embedded field %s cannot have other options", sf.Name)
	case !embed && !sf.IsExported():
		err = fmt.Errorf("unexported field %s has a JSON name", sf.Name)
	}
	return f, embed, false, err
}

var rawValueType = reflect.TypeFor[jsontext.Value]()

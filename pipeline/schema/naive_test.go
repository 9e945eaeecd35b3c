package schema

import (
	"bytes"
	"fmt"
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/dsh-actor/dsh-actor/messages"
)

// This file is a second, deliberately plain reading of P-36 that the real one
// is compared with: it builds whole trees, uses big.Rat for numbers, and shares
// no code with the package.

// tree is a JSON value.
type tree struct {
	kind  byte // n b s # a o
	truth bool
	str   string // the string, or the number's text
	items []tree // array items, or object values
	names []string
}

func parseTree(t testing.TB, text messages.JSON) tree {
	t.Helper()
	dec := jsontext.NewDecoder(bytes.NewBufferString(string(text)))
	v, err := readTree(dec)
	if err != nil {
		t.Fatalf("parse %q: %v", text, err)
	}
	return v
}

func readTree(dec *jsontext.Decoder) (tree, error) {
	tok, err := dec.ReadToken()
	if err != nil {
		return tree{}, err
	}
	switch tok.Kind() {
	case 'n':
		return tree{kind: 'n'}, nil
	case 't', 'f':
		return tree{kind: 'b', truth: tok.Bool()}, nil
	case '"':
		return tree{kind: 's', str: tok.String()}, nil
	case '0':
		return tree{kind: '#', str: tok.String()}, nil
	case '[':
		v := tree{kind: 'a'}
		for dec.PeekKind() != ']' {
			item, err := readTree(dec)
			if err != nil {
				return v, err
			}
			v.items = append(v.items, item)
		}
		_, err := dec.ReadToken()
		return v, err
	default:
		v := tree{kind: 'o'}
		for dec.PeekKind() != '}' {
			name, err := dec.ReadToken()
			if err != nil {
				return v, err
			}
			v.names = append(v.names, name.String())
			item, err := readTree(dec)
			if err != nil {
				return v, err
			}
			v.items = append(v.items, item)
		}
		_, err := dec.ReadToken()
		return v, err
	}
}

func (v tree) get(name string) (tree, bool) {
	if i := slices.Index(v.names, name); i >= 0 {
		return v.items[i], true
	}
	return tree{}, false
}

// rat returns the exact number. Exponents that would need gigabytes are the
// caller's to avoid (see hugeExponent).
func (v tree) rat() *big.Rat {
	r, ok := new(big.Rat).SetString(v.str)
	if !ok {
		panic("not a number: " + v.str)
	}
	return r
}

func (v tree) finite() bool {
	f, _ := strconv.ParseFloat(v.str, 64)
	return !math.IsInf(f, 0)
}

// hugeExponent reports whether the text has a number that big.Rat cannot take
// in reasonable time.
func hugeExponent(v tree) bool {
	if v.kind == '#' {
		i := strings.IndexAny(v.str, "eE")
		if i < 0 {
			return false
		}
		n, err := strconv.Atoi(v.str[i+1:])
		return err != nil || n > 2000 || n < -2000
	}
	return slices.ContainsFunc(v.items, hugeExponent)
}

func sameScalar(a, b tree) bool {
	if a.kind != b.kind {
		return false
	}
	switch a.kind {
	case '#':
		return a.rat().Cmp(b.rat()) == 0
	case 's':
		return a.str == b.str
	case 'b':
		return a.truth == b.truth
	}
	return true
}

func naiveType(word string, v tree) string {
	switch word {
	case "string":
		if v.kind != 's' {
			return "a string"
		}
	case "number":
		if v.kind != '#' {
			return "a number"
		}
		if !v.finite() {
			return "a finite JSON number"
		}
	case "integer":
		if v.kind != '#' || !v.finite() || !v.rat().IsInt() {
			return "an integer"
		}
	case "boolean":
		if v.kind != 'b' {
			return "a boolean"
		}
	case "null":
		if v.kind != 'n' {
			return "null"
		}
	case "object":
		if v.kind != 'o' {
			return "an object"
		}
	case "array":
		if v.kind != 'a' {
			return "an array"
		}
	}
	return ""
}

// naiveValidate is P-36 as one would explain it to a person.
func naiveValidate(schema, v tree, path string) []string {
	shown, prefix := path, path+"."
	if path == "" {
		shown, prefix = "arguments", ""
	}
	if branches, ok := schema.get("oneOf"); ok {
		n := 0
		for _, b := range branches.items {
			if len(naiveValidate(b, v, path)) == 0 {
				n++
			}
		}
		if n != 1 {
			return []string{fmt.Sprintf("%q must match exactly one oneOf branch (matched %d)", raw(shown), n)}
		}
		return nil
	}
	word, ok := schema.get("type")
	if !ok {
		return nil
	}
	if want := naiveType(word.str, v); want != "" {
		return []string{fmt.Sprintf("%q must be %s", raw(shown), want)}
	}
	var out []string
	switch word.str {
	case "object":
		props, _ := schema.get("properties")
		required, _ := schema.get("required")
		told := map[string]bool{}
		for _, name := range required.items {
			if _, ok := v.get(name.str); !ok && !told[name.str] {
				out = append(out, fmt.Sprintf("missing required property %q", raw(prefix+name.str)))
			}
			told[name.str] = true
		}
		for i, name := range props.names {
			if member, ok := v.get(name); ok {
				out = append(out, naiveValidate(props.items[i], member, prefix+name)...)
			}
		}
		if open, ok := schema.get("additionalProperties"); ok && !open.truth {
			for _, name := range v.names {
				if _, ok := props.get(name); !ok {
					out = append(out, fmt.Sprintf("%q is not a declared property (additionalProperties: false)", raw(prefix+name)))
				}
			}
		}
	case "array":
		if items, ok := schema.get("items"); ok {
			for i, item := range v.items {
				out = append(out, naiveValidate(items, item, fmt.Sprintf("%s[%d]", path, i))...)
			}
		}
	default:
		if enum, ok := schema.get("enum"); ok {
			if !slices.ContainsFunc(enum.items, func(e tree) bool { return sameScalar(e, v) }) {
				return []string{fmt.Sprintf("%q must be one of %s", raw(shown), enum.text())}
			}
		}
		if c, ok := schema.get("const"); ok && !sameScalar(c, v) {
			return []string{fmt.Sprintf("%q must be %s", raw(shown), c.text())}
		}
	}
	return out
}

// raw makes %q print a path between quotes as it is.
type raw string

func (r raw) Format(s fmt.State, _ rune) { fmt.Fprintf(s, `"%s"`, string(r)) }

// text is the compact JSON of a scalar or a list of scalars.
func (v tree) text() string {
	switch v.kind {
	case 'n':
		return "null"
	case 'b':
		return strconv.FormatBool(v.truth)
	case '#':
		return v.str
	case 's':
		return string(messages.QuoteJSON(v.str))
	}
	var parts []string
	for _, item := range v.items {
		parts = append(parts, item.text())
	}
	return "[" + strings.Join(parts, ",") + "]"
}

// naiveSupported reports whether a schema lies in the subset.
func naiveSupported(s tree) bool {
	if s.kind != 'o' {
		return false
	}
	may := map[string]string{ // keyword → types that may have it
		"properties": "object", "required": "object", "additionalProperties": "object",
		"items": "array", "enum": "string number integer boolean null", "const": "string number integer boolean null",
	}
	word, hasType := s.get("type")
	_, hasOneOf := s.get("oneOf")
	if hasType && hasOneOf {
		return false
	}
	if hasType && (word.kind != 's' || !slices.Contains(strings.Fields("object array string number integer boolean null"), word.str)) {
		return false
	}
	for i, name := range s.names {
		v := s.items[i]
		switch name {
		case "type", "default", "examples":
		case "description", "title":
			if v.kind != 's' {
				return false
			}
		case "oneOf":
			if v.kind != 'a' || len(v.items) < 2 || slices.ContainsFunc(v.items, func(b tree) bool { return !naiveSupported(b) }) {
				return false
			}
		default:
			types, known := may[name]
			if !known || !hasType || !slices.Contains(strings.Fields(types), word.str) {
				return false
			}
		}
	}
	typed := func(v tree) bool { return naiveType(word.str, v) == "" }
	props, ok := s.get("properties")
	if ok && (props.kind != 'o' || slices.ContainsFunc(props.items, func(p tree) bool { return !naiveSupported(p) })) {
		return false
	}
	if req, ok := s.get("required"); ok {
		if req.kind != 'a' {
			return false
		}
		for _, name := range req.items {
			if _, declared := props.get(name.str); name.kind != 's' || !declared {
				return false
			}
		}
	}
	if open, ok := s.get("additionalProperties"); ok && open.kind != 'b' {
		return false
	}
	if items, ok := s.get("items"); ok && !naiveSupported(items) {
		return false
	}
	enum, hasEnum := s.get("enum")
	if hasEnum && (enum.kind != 'a' || len(enum.items) == 0 || slices.ContainsFunc(enum.items, func(e tree) bool { return !typed(e) })) {
		return false
	}
	if c, ok := s.get("const"); ok {
		if !typed(c) {
			return false
		}
		if hasEnum && !slices.ContainsFunc(enum.items, func(e tree) bool { return sameScalar(e, c) }) {
			return false
		}
	}
	return true
}

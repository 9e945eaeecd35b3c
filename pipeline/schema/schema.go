package schema

import (
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/dsh-actor/dsh-actor/messages"
)

// Roots for [Schema.Validate].
const (
	// Arguments is the root of tool arguments: their paths have no prefix, and
	// the root itself prints as "arguments" (P-36).
	Arguments = ""
	// Value is the root of a tool's canonical value (P-18).
	Value = "value"
)

// Schema is a schema of the enforced subset. It is immutable and safe for
// concurrent use. Make one with [Parse], [For] or [Of].
type Schema struct {
	root           *node
	text           messages.JSON
	byConstruction bool
}

// JSON returns the schema's text as the model gets it: compact, with keywords
// and properties in the order in which they were declared and every digit of
// every number. Parsing it gives an equal schema.
func (s *Schema) JSON() messages.JSON { return s.text }

// ByConstruction reports that every value which package json encodes from the
// Go type that the schema was derived from conforms to it, so that validating
// such a value is wasted. It is false for parsed schemas, and for derived ones
// that say more than the Go type does (an enum, or the word of a [Describer]).
func (s *Schema) ByConstruction() bool { return s.byConstruction }

// kind is what a node accepts.
type kind uint8

const (
	kindAny kind = iota
	kindObject
	kindArray
	kindString
	kindNumber
	kindInteger
	kindBoolean
	kindNull
	kindOneOf
)

// typeKind returns the kind of a "type" word.
func typeKind(word string) (kind, bool) {
	switch word {
	case "object":
		return kindObject, true
	case "array":
		return kindArray, true
	case "string":
		return kindString, true
	case "number":
		return kindNumber, true
	case "integer":
		return kindInteger, true
	case "boolean":
		return kindBoolean, true
	case "null":
		return kindNull, true
	}
	return kindAny, false
}

// scalar reports whether enum and const may stand beside the kind.
func (k kind) scalar() bool { return k >= kindString && k <= kindNull }

// noun completes `"«p»" must be …` for a value of another type.
func (k kind) noun() string {
	switch k {
	case kindObject:
		return "an object"
	case kindArray:
		return "an array"
	case kindString:
		return "a string"
	case kindNumber:
		return "a number"
	case kindInteger:
		return "an integer"
	case kindBoolean:
		return "a boolean"
	default:
		return "null"
	}
}

// node is one schema object.
type node struct {
	kind kind

	props    []property // kindObject, in declared order
	index    map[string]int
	required []int // indexes into props, in the order of "required"
	closed   bool  // additionalProperties: false

	items *node // kindArray; nil accepts any item

	enum     []literal // kind.scalar(); nil is no enum
	enumText string
	constant *literal

	branches []*node // kindOneOf
}

type property struct {
	name     string
	node     *node
	required bool
}

// literal is one value of enum or const.
type literal struct {
	text string // compact JSON
	str  string // the string, if it is one
	num  decimal
	kind jsontext.Kind
}

// is reports whether raw, one JSON value, denotes the literal.
func (l *literal) is(raw string) bool {
	if raw == l.text {
		return true
	}
	switch l.kind {
	case '0':
		return kindOf(raw) == '0' && l.num.equal(parseDecimal(raw))
	case '"':
		if strings.IndexByte(raw, '\\') < 0 {
			return false // l.text escapes only what must be: equal strings have equal texts
		}
		s, err := jsontext.AppendUnquote(nil, raw)
		return err == nil && string(s) == l.str
	}
	return false
}

package scripted

import (
	"fmt"
	"slices"
	"strings"

	"github.com/dsh-actor/dsh-actor/messages"
)

// node is one value of a scenario file, of either syntax, and where it is.
type node struct {
	kind kind
	at   position
	// text is the value of a string, and the JSON text of a number or boolean.
	text    string
	items   []*node  // of a list
	members []member // of an object, in order
}

type member struct {
	key   string
	at    position
	value *node
}

// position counts from 1, columns in characters.
type position struct{ line, column int }

type kind int

const (
	nullKind kind = iota
	boolKind
	numberKind
	stringKind
	listKind
	objectKind
)

// String names the kind for a person.
func (k kind) String() string {
	return [...]string{"nothing", "true or false", "a number", "a string", "a list", "an object"}[k]
}

// describe says what the node is, for a message about a wrong type.
func (n *node) describe() string {
	switch n.kind {
	case boolKind, numberKind:
		return fmt.Sprintf("%s (%.40s)", map[kind]string{boolKind: "a boolean", numberKind: "a number"}[n.kind], n.text)
	case stringKind:
		return fmt.Sprintf("a string (%.40q)", n.text)
	default:
		return n.kind.String()
	}
}

// json returns the node as JSON text, objects in the order of the file.
func (n *node) json() messages.JSON {
	var b strings.Builder
	n.writeJSON(&b)
	return messages.JSON(b.String())
}

func (n *node) writeJSON(b *strings.Builder) {
	switch n.kind {
	case nullKind:
		b.WriteString("null")
	case boolKind, numberKind:
		b.WriteString(n.text)
	case stringKind:
		b.WriteString(string(messages.QuoteJSON(n.text)))
	case listKind:
		b.WriteByte('[')
		for i, item := range n.items {
			if i > 0 {
				b.WriteByte(',')
			}
			item.writeJSON(b)
		}
		b.WriteByte(']')
	case objectKind:
		b.WriteByte('{')
		for i, m := range n.members {
			if i > 0 {
				b.WriteByte(',')
			}
			b.WriteString(string(messages.QuoteJSON(m.key)))
			b.WriteByte(':')
			m.value.writeJSON(b)
		}
		b.WriteByte('}')
	}
}

// member returns the value of a key, or nil.
func (n *node) member(key string) *node {
	i := slices.IndexFunc(n.members, func(m member) bool { return m.key == key })
	if i < 0 {
		return nil
	}
	return n.members[i].value
}

// ParseError says what is wrong with a scenario file, and where.
type ParseError struct {
	File    string
	Line    int // from 1
	Column  int // from 1, in characters
	Message string
}

// Error returns "file:line:column: message".
func (e *ParseError) Error() string {
	return fmt.Sprintf("%s:%d:%d: %s", e.File, e.Line, e.Column, e.Message)
}

func errorAt(at position, format string, args ...any) *ParseError {
	return &ParseError{Line: at.line, Column: at.column, Message: fmt.Sprintf(format, args...)}
}

// Limits of a file. They are far above what a script needs, and keep aliases
// and nesting from growing without bound.
const (
	maxFile  = 16 << 20
	maxNodes = 1 << 18
	maxDepth = messages.MaxJSONDepth
)

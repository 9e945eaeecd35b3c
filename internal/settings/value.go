package settings

import (
	"iter"
	"sort"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/dsh-actor/dsh-actor/messages"
)

// Value is one JSON value of a document, with its place. It does not change. A
// nil Value is one that is absent; its methods may be called.
type Value struct {
	text     *text
	parent   *Value
	name     string // of a member
	index    int    // of an element
	kind     jsontext.Kind
	start    int
	end      int
	children []*Value
	members  map[string]int // of an object: where in children
}

// text is the text of a document.
type text struct {
	file  string
	layer Layer
	data  string
	lines []int // offsets of the line starts
}

// Kind returns 'n', 't', 'f', '"', '0', '{' or '[', or 0 for an absent value.
func (v *Value) Kind() jsontext.Kind {
	if v == nil {
		return 0
	}
	return v.kind
}

// Raw returns the exact text of the value, "" for an absent one. It may name a
// member twice and may hold escapes of lone surrogates.
func (v *Value) Raw() messages.JSON {
	if v == nil {
		return ""
	}
	return messages.JSON(v.text.data[v.start:v.end])
}

// Text returns the string that the value is, and whether it is one. Lone
// surrogates are replaced by U+FFFD (Z-7).
func (v *Value) Text() (s string, ok bool) {
	if v.Kind() != '"' {
		return "", false
	}
	return unquote(v.text.data[v.start:v.end]), true
}

// Bool returns the boolean that the value is, and whether it is one.
func (v *Value) Bool() (b, ok bool) {
	return v.Kind() == 't', v.Kind() == 't' || v.Kind() == 'f'
}

// Get returns the member of an object, nil if there is none.
func (v *Value) Get(name string) *Value {
	if v == nil {
		return nil
	}
	if i, ok := v.members[name]; ok {
		return v.children[i]
	}
	return nil
}

// Members iterates over the members of an object in the order in which they
// are named first. A name that is given twice has its last value, as in
// JavaScript. For any other value there are none.
func (v *Value) Members() iter.Seq2[string, *Value] {
	return func(yield func(string, *Value) bool) {
		if v.Kind() != '{' {
			return
		}
		for _, c := range v.children {
			if !yield(c.name, c) {
				return
			}
		}
	}
}

// Elements iterates over the elements of an array. For any other value there
// are none.
func (v *Value) Elements() iter.Seq2[int, *Value] {
	return func(yield func(int, *Value) bool) {
		if v.Kind() != '[' {
			return
		}
		for i, c := range v.children {
			if !yield(i, c) {
				return
			}
		}
	}
}

// Pointer returns the JSON pointer of the value (RFC 6901), "" for the root.
func (v *Value) Pointer() string {
	if v == nil || v.parent == nil {
		return ""
	}
	step := strconv.Itoa(v.index)
	if v.parent.kind == '{' {
		step = escapePointer.Replace(v.name)
	}
	return v.parent.Pointer() + "/" + step
}

var escapePointer = strings.NewReplacer("~", "~0", "/", "~1")

// Origin returns the place of the value.
func (v *Value) Origin() Origin {
	if v == nil {
		return Origin{}
	}
	line, column := v.text.position(v.start)
	return Origin{File: v.text.file, Layer: v.text.layer, Pointer: v.Pointer(), Line: line, Column: column}
}

// position returns line and column of a byte offset, both from 1; the column
// counts code points.
func (t *text) position(offset int) (line, column int) {
	line = sort.SearchInts(t.lines, offset+1)
	return line, 1 + utf8.RuneCountInString(t.data[t.lines[line-1]:offset])
}

func (t *text) index() {
	t.lines = []int{0}
	for i := 0; i < len(t.data); i++ {
		if t.data[i] == '\n' {
			t.lines = append(t.lines, i+1)
		}
	}
}

// kindName is how a message calls the type of a value.
func (v *Value) kindName() string {
	switch v.Kind() {
	case 'n':
		return "null"
	case 't', 'f':
		return "a boolean"
	case '"':
		return "a string"
	case '0':
		return "a number"
	case '{':
		return "an object"
	case '[':
		return "an array"
	}
	return "absent"
}

// unquote returns the string that a valid JSON string denotes.
func unquote(quoted string) string {
	if strings.IndexByte(quoted, '\\') < 0 {
		return quoted[1 : len(quoted)-1]
	}
	b, _ := jsontext.AppendUnquote(nil, quoted) // an error tells of lone surrogates only
	return string(b)
}

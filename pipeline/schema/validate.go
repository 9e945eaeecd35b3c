package schema

import (
	"fmt"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/dsh-actor/dsh-actor/messages"
)

// Validate returns what is wrong with v, in the words of P-36, or nil if v
// conforms. Root names the value: [Arguments] or [Value].
//
// The order is fixed: depth first, and for each object the missing properties
// in the order of "required", then the declared ones in the order of
// "properties", then the undeclared ones in the order of v. Defaults are not
// applied.
//
// V must have passed [messages.CheckJSON]. Broken text is safe to pass, and is
// one violation if it is found out, but whether it is found out is not
// promised.
func (s *Schema) Validate(root string, v messages.JSON) []string {
	if s.Conforms(v) {
		return nil
	}
	if !jsontext.Value(v.Bytes()).IsValid() {
		return []string{`"` + rootName(root) + `" must be a lossless JSON value`}
	}
	var e explainer
	e.explain(s.root, root, wholeValue(v))
	return e.found
}

// Conforms reports whether v has no violations.
func (s *Schema) Conforms(v messages.JSON) bool { return accepts(s.root, string(v)) }

// wholeValue is the text of a valid value without white space around it.
func wholeValue(v messages.JSON) string {
	c := v.Scan()
	return string(c.Value())
}

// accepts reports whether text is one JSON value that conforms to n.
func accepts(n *node, text string) bool {
	c := messages.JSON(text).Scan()
	return match(&c, n) && c.End()
}

// match steps over the next value and reports whether it conforms. After false
// the scanner is somewhere inside the value.
func match(c *messages.Scanner, n *node) bool {
	switch n.kind {
	case kindAny:
		return c.Value() != ""
	case kindObject:
		return matchObject(c, n)
	case kindArray:
		return matchArray(c, n)
	case kindOneOf:
		raw := string(c.Value())
		return raw != "" && matches(n, raw) == 1
	default:
		return matchScalar(n, string(c.Value())) == fits
	}
}

// matches returns how many branches of a oneOf accept raw.
func matches(n *node, raw string) int {
	count := 0
	for _, b := range n.branches {
		if accepts(b, raw) {
			count++
		}
	}
	return count
}

func matchObject(c *messages.Scanner, n *node) bool {
	if !c.Take('{') {
		return false
	}
	expect := 0 // models mostly give properties in declared order
	found := 0  // required properties; names are unique, CheckJSON saw to it
	more, closed := c.Next('}', true)
	for ; more; more, closed = c.Next('}', false) {
		name, ok := c.Name()
		if !ok {
			return false
		}
		i := expect
		if i >= len(n.props) || n.props[i].name != name {
			if i, ok = n.index[name]; !ok {
				if n.closed || c.Value() == "" {
					return false
				}
				continue
			}
		}
		expect = i + 1
		p := &n.props[i]
		if !match(c, p.node) {
			return false
		}
		if p.required {
			found++
		}
	}
	return closed && found == len(n.required)
}

func matchArray(c *messages.Scanner, n *node) bool {
	if n.items == nil {
		return c.Kind() == '[' && c.Value() != ""
	}
	if !c.Take('[') {
		return false
	}
	more, closed := c.Next(']', true)
	for ; more; more, closed = c.Next(']', false) {
		if !match(c, n.items) {
			return false
		}
	}
	return closed
}

// verdict is what is wrong with a scalar.
type verdict uint8

const (
	fits verdict = iota
	wrongType
	notFinite
	notInEnum
	notConst
)

// matchScalar judges raw, one JSON value, by a node of a scalar kind.
func matchScalar(n *node, raw string) verdict {
	switch v := matchType(n.kind, raw); {
	case v != fits:
		return v
	case n.enum != nil && !inEnum(n.enum, raw):
		return notInEnum
	case n.constant != nil && !n.constant.is(raw):
		return notConst
	}
	return fits
}

func matchType(want kind, raw string) verdict {
	ok := false
	switch k := kindOf(raw); want {
	case kindString:
		ok = k == '"'
	case kindNumber:
		if ok = k == '0'; ok && !finiteNumber(raw) {
			return notFinite
		}
	case kindInteger:
		ok = k == '0' && integerNumber(raw)
	case kindBoolean:
		ok = k == 't' || k == 'f'
	case kindNull:
		ok = k == 'n'
	}
	if !ok {
		return wrongType
	}
	return fits
}

func inEnum(enum []literal, raw string) bool {
	for i := range enum {
		if enum[i].is(raw) {
			return true
		}
	}
	return false
}

// explainer collects the violations of a value that does not conform. It may
// allocate: it runs for broken calls only.
type explainer struct{ found []string }

func (e *explainer) add(format string, args ...any) {
	e.found = append(e.found, fmt.Sprintf(format, args...))
}

// explain adds the violations of raw, one valid JSON value.
func (e *explainer) explain(n *node, path, raw string) {
	switch n.kind {
	case kindAny:
	case kindOneOf:
		if count := matches(n, raw); count != 1 {
			e.add(`"%s" must match exactly one oneOf branch (matched %d)`, rootName(path), count)
		}
	case kindObject:
		if kindOf(raw) != '{' {
			e.add(`"%s" must be %s`, rootName(path), n.kind.noun())
			return
		}
		e.explainObject(n, path, raw)
	case kindArray:
		if kindOf(raw) != '[' {
			e.add(`"%s" must be %s`, rootName(path), n.kind.noun())
			return
		}
		if n.items == nil {
			return
		}
		for i, item := range items(raw) {
			e.explain(n.items, path+"["+strconv.Itoa(i)+"]", item)
		}
	default:
		switch matchScalar(n, raw) {
		case wrongType:
			e.add(`"%s" must be %s`, rootName(path), n.kind.noun())
		case notFinite:
			e.add(`"%s" must be a finite JSON number`, rootName(path))
		case notInEnum:
			e.add(`"%s" must be one of %s`, rootName(path), n.enumText)
		case notConst:
			e.add(`"%s" must be %s`, rootName(path), n.constant.text)
		}
	}
}

func (e *explainer) explainObject(n *node, path, raw string) {
	members := membersOf(raw)
	byName := make(map[string]string, len(members))
	for _, m := range members {
		byName[m.name] = m.value
	}
	for _, i := range n.required {
		if _, ok := byName[n.props[i].name]; !ok {
			e.add(`missing required property "%s"`, join(path, n.props[i].name))
		}
	}
	for _, p := range n.props {
		if v, ok := byName[p.name]; ok {
			e.explain(p.node, join(path, p.name), v)
		}
	}
	if !n.closed {
		return
	}
	for _, m := range members {
		if _, ok := n.index[m.name]; !ok {
			e.add(`"%s" is not a declared property (additionalProperties: false)`, join(path, m.name))
		}
	}
}

// rootName is the path as it prints: the root of arguments has a name.
func rootName(path string) string {
	if path == Arguments {
		return "arguments"
	}
	return path
}

func join(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}

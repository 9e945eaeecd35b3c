package schema

import (
	"fmt"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/dsh-actor/dsh-actor/messages"
)

// errorName is the class that a log shows for a refused schema.
const errorName = "JsonSchemaError"

// Parse reads a schema of the subset that the package comment describes. Any
// other text is refused with a [messages.Error] of code
// [messages.CodeUnsupportedSchema] whose message lists every offending place as
// a JSON pointer with the reason (P-36).
func Parse(text messages.JSON) (*Schema, error) {
	if err := messages.CheckJSON(text); err != nil {
		return nil, refuse(err.Error())
	}
	compact, err := jsontext.AppendFormat(nil, text.Bytes())
	if err != nil { // CheckJSON accepted it: only out of memory could fail here
		return nil, refuse(err.Error())
	}
	p := parser{}
	root := p.node("", string(compact))
	if len(p.refusals) > 0 {
		return nil, refuse(strings.Join(p.refusals, "; "))
	}
	return &Schema{root: root, text: messages.JSON(compact)}, nil
}

func refuse(why string) error {
	return &messages.Error{
		Name: errorName, Code: messages.CodeUnsupportedSchema,
		Message: "unsupported JSON schema: " + why,
	}
}

// parser collects what is wrong with a schema, so that its author sees all of
// it at once.
type parser struct{ refusals []string }

func (p *parser) refuse(at jsontext.Pointer, format string, args ...any) {
	where := "the root"
	if at != "" {
		where = string(at)
	}
	p.refusals = append(p.refusals, "at "+where+": "+fmt.Sprintf(format, args...))
}

// allowed reports whether a keyword is a constraint, and if so whether a node of
// the kind may carry it.
func allowed(keyword string, k kind) (constraint, ok bool) {
	switch keyword {
	case "type", "oneOf":
		return true, true
	case "properties", "required", "additionalProperties":
		return true, k == kindObject
	case "items":
		return true, k == kindArray
	case "enum", "const":
		return true, k.scalar()
	}
	return false, false
}

// node reads one schema object. Its result is meaningless if something was
// refused.
func (p *parser) node(at jsontext.Pointer, raw string) *node {
	n := new(node)
	if kindOf(raw) != '{' {
		p.refuse(at, "a schema must be an object")
		return n
	}
	members := membersOf(raw)
	if !p.kind(at, members, n) {
		return n
	}
	for _, m := range members {
		constraint, ok := allowed(m.name, n.kind)
		switch {
		case ok:
		case !constraint:
			p.annotation(at, m)
		case n.kind == kindAny:
			p.refuse(at.AppendToken(m.name), "needs a type beside it")
		case n.kind == kindOneOf:
			p.refuse(at.AppendToken(m.name), "only annotations may stand beside oneOf")
		default:
			p.refuse(at.AppendToken(m.name), "does not apply to this type")
		}
	}
	switch {
	case n.kind == kindObject:
		p.object(at, members, n)
	case n.kind == kindArray:
		if v, ok := find(members, "items"); ok {
			n.items = p.node(at.AppendToken("items"), v)
		}
	case n.kind == kindOneOf:
		p.oneOf(at.AppendToken("oneOf"), members, n)
	case n.kind.scalar():
		p.literals(at, members, n)
	}
	return n
}

// kind sets n.kind and reports whether the rest of the node can be judged.
func (p *parser) kind(at jsontext.Pointer, members []member, n *node) bool {
	word, hasType := find(members, "type")
	_, hasOneOf := find(members, "oneOf")
	switch {
	case hasType && hasOneOf:
		p.refuse(at, "type and oneOf exclude each other")
		return false
	case hasOneOf:
		n.kind = kindOneOf
		return true
	case !hasType:
		n.kind = kindAny
		return true
	}
	at = at.AppendToken("type")
	if kindOf(word) != '"' {
		p.refuse(at, "must be one type, as a string")
		return false
	}
	var ok bool
	if n.kind, ok = typeKind(unquote(word)); !ok {
		p.refuse(at, "unknown type %s", word)
	}
	return ok
}

func (p *parser) annotation(at jsontext.Pointer, m member) {
	at = at.AppendToken(m.name)
	switch m.name {
	case "description", "title":
		if kindOf(m.value) != '"' {
			p.refuse(at, "must be a string")
		}
	case "default", "examples":
	default:
		p.refuse(at, "unknown keyword")
	}
}

func (p *parser) object(at jsontext.Pointer, members []member, n *node) {
	if v, ok := find(members, "properties"); ok {
		p.properties(at.AppendToken("properties"), v, n)
	}
	if v, ok := find(members, "required"); ok {
		p.required(at.AppendToken("required"), v, n)
	}
	if v, ok := find(members, "additionalProperties"); ok {
		switch kindOf(v) {
		case 't':
		case 'f':
			n.closed = true
		default:
			p.refuse(at.AppendToken("additionalProperties"), "must be a boolean")
		}
	}
}

func (p *parser) properties(at jsontext.Pointer, v string, n *node) {
	if kindOf(v) != '{' {
		p.refuse(at, "must be an object of schemas")
		return
	}
	members := membersOf(v)
	n.props = make([]property, len(members))
	n.index = make(map[string]int, len(members))
	for i, m := range members {
		n.props[i] = property{name: m.name, node: p.node(at.AppendToken(m.name), m.value)}
		n.index[m.name] = i
	}
}

func (p *parser) required(at jsontext.Pointer, v string, n *node) {
	if kindOf(v) != '[' {
		p.refuse(at, "must be an array of property names")
		return
	}
	for i, item := range items(v) {
		at := at.AppendToken(fmt.Sprint(i))
		if kindOf(item) != '"' {
			p.refuse(at, "must be a property name")
			continue
		}
		j, declared := n.index[unquote(item)]
		switch {
		case !declared:
			p.refuse(at, "%s is not in properties", item)
		case !n.props[j].required: // a repeated name asks for nothing more
			n.props[j].required = true
			n.required = append(n.required, j)
		}
	}
}

func (p *parser) oneOf(at jsontext.Pointer, members []member, n *node) {
	v, _ := find(members, "oneOf")
	if kindOf(v) != '[' {
		p.refuse(at, "must be an array of schemas")
		return
	}
	branches := items(v)
	if len(branches) < 2 {
		p.refuse(at, "must have at least two branches")
	}
	for i, b := range branches {
		n.branches = append(n.branches, p.node(at.AppendToken(fmt.Sprint(i)), b))
	}
}

// literals reads enum and const of a scalar.
func (p *parser) literals(at jsontext.Pointer, members []member, n *node) {
	if v, ok := find(members, "enum"); ok {
		at := at.AppendToken("enum")
		if kindOf(v) != '[' {
			p.refuse(at, "must be an array of values")
			return
		}
		values := items(v)
		if len(values) == 0 {
			p.refuse(at, "must not be empty")
		}
		n.enumText = v
		for i, raw := range values {
			if l, ok := p.literal(at.AppendToken(fmt.Sprint(i)), n.kind, raw); ok {
				n.enum = append(n.enum, l)
			}
		}
	}
	if raw, ok := find(members, "const"); ok {
		at := at.AppendToken("const")
		l, ok := p.literal(at, n.kind, raw)
		if ok && n.enum != nil && !inEnum(n.enum, raw) {
			p.refuse(at, "is not in enum")
		}
		n.constant = &l
	}
}

// literal reads one value of an enum or const, which must be of the type k.
func (p *parser) literal(at jsontext.Pointer, k kind, raw string) (literal, bool) {
	l := literal{text: raw, kind: kindOf(raw)}
	if matchType(k, raw) != fits {
		p.refuse(at, "is not %s", k.noun())
		return l, false
	}
	switch l.kind {
	case '"':
		l.str = unquote(raw)
	case '0':
		if l.num = parseDecimal(raw); l.num.extreme() {
			p.refuse(at, "is too small to be compared")
			return l, false
		}
	}
	return l, true
}

func find(members []member, name string) (string, bool) {
	i := slices.IndexFunc(members, func(m member) bool { return m.name == name })
	if i < 0 {
		return "", false
	}
	return members[i].value, true
}

package scripted

import (
	"bytes"
	"errors"
	"io"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	"go.yaml.in/yaml/v4"

	"github.com/dsh-actor/dsh-actor/messages"
)

// parseYAML reads one YAML document. What YAML can say and JSON cannot is
// refused rather than guessed at: tags, merge keys, keys that are not scalars,
// and spellings of numbers that JSON does not have.
func parseYAML(data []byte) (*node, *ParseError) {
	if bad := checkCharacters(data); bad != nil {
		return nil, bad
	}
	loader, err := yaml.NewLoader(bytes.NewReader(data))
	if err != nil {
		return nil, errorAt(position{1, 1}, "%v", err)
	}
	var doc, second yaml.Node
	switch err := loader.Load(&doc); {
	case errors.Is(err, io.EOF):
		return nil, errorAt(position{1, 1}, "the file is empty")
	case err != nil:
		return nil, yamlError(err)
	}
	switch err := loader.Load(&second); {
	case errors.Is(err, io.EOF):
	case err != nil:
		return nil, yamlError(err)
	default:
		return nil, errorAt(position{second.Line, second.Column}, "a second document begins here: one file is one script")
	}
	root := &doc
	if root.Kind == yaml.DocumentNode && len(root.Content) == 1 {
		root = root.Content[0]
	}
	w := yamlWalk{}
	return w.node(root, 0)
}

// checkCharacters finds what YAML forbids everywhere, as its reader does not
// say where it is.
func checkCharacters(data []byte) *ParseError {
	at := position{1, 0}
	for i, r := range string(data) {
		at.column++
		switch {
		case r == '\n':
			at = position{at.line + 1, 0}
		case r == '\uFFFD' && !bytes.HasPrefix(data[i:], []byte("\uFFFD")):
			return errorAt(at, "the file is not valid UTF-8")
		case r < ' ' && r != '\t' && r != '\r', r == '\x7f', r >= '\x80' && r < '\u00a0' && r != '\u0085', r == '\uFFFE', r == '\uFFFF':
			return errorAt(at, "the control character %U must be written as an escape", r)
		}
	}
	return nil
}

func yamlError(err error) *ParseError {
	var load *yaml.LoadError
	if !errors.As(err, &load) {
		return errorAt(position{1, 1}, "%v", err)
	}
	text := load.Message
	if load.ContextMsg != "" {
		text = load.ContextMsg + ": " + text
	}
	at := position{max(load.Mark.Line, 1), max(load.Mark.Column, 1)}
	return errorAt(at, "not valid YAML: %s", strings.TrimPrefix(text, "yaml: "))
}

// yamlWalk turns YAML nodes into ours. Aliases are followed, so it counts what
// it visits.
type yamlWalk struct{ visited int }

func (w *yamlWalk) node(n *yaml.Node, depth int) (*node, *ParseError) {
	out := &node{at: position{n.Line, n.Column}}
	if w.visited++; w.visited > maxNodes {
		return nil, errorAt(out.at, "the file has more than %d values, aliases included", maxNodes)
	}
	if depth > maxDepth {
		return nil, errorAt(out.at, "nested deeper than %d", maxDepth)
	}
	if n.Style&yaml.TaggedStyle != 0 && n.ShortTag() != "!!str" {
		return nil, errorAt(out.at, "the tag %s is not supported", n.ShortTag())
	}
	switch n.Kind {
	case yaml.AliasNode:
		target, bad := w.node(n.Alias, depth+1)
		if bad != nil {
			return nil, bad
		}
		target.at = out.at
		return target, nil
	case yaml.SequenceNode:
		out.kind = listKind
		for _, c := range n.Content {
			item, bad := w.node(c, depth+1)
			if bad != nil {
				return nil, bad
			}
			out.items = append(out.items, item)
		}
		return out, nil
	case yaml.MappingNode:
		out.kind = objectKind
		return out, w.members(n, out, depth)
	case yaml.ScalarNode:
		return out, scalar(n, out)
	default:
		return nil, errorAt(out.at, "unexpected YAML node")
	}
}

func (w *yamlWalk) members(n *yaml.Node, out *node, depth int) *ParseError {
	seen := map[string]bool{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		k := n.Content[i]
		at := position{k.Line, k.Column}
		if k.Kind == yaml.AliasNode {
			k = k.Alias
		}
		switch {
		case k.Kind != yaml.ScalarNode:
			return errorAt(at, "a key must be a string")
		case k.ShortTag() == "!!merge":
			return errorAt(at, "merge keys (<<) are not supported")
		case seen[k.Value]:
			return errorAt(at, "the key %q is there twice", k.Value)
		}
		seen[k.Value] = true
		value, bad := w.node(n.Content[i+1], depth+1)
		if bad != nil {
			return bad
		}
		out.members = append(out.members, member{messages.ValidUTF8(k.Value), at, value})
	}
	return nil
}

// scalar sets the value of a scalar. A plain scalar that reads as a JSON number
// is that number with all its digits.
func scalar(n *yaml.Node, out *node) *ParseError {
	out.text = messages.ValidUTF8(n.Value)
	plain := n.Style&(yaml.TaggedStyle|yaml.SingleQuotedStyle|yaml.DoubleQuotedStyle|yaml.LiteralStyle|yaml.FoldedStyle) == 0
	switch tag := n.ShortTag(); {
	case !plain:
		out.kind = stringKind
	case tag == "!!null":
		out.kind, out.text = nullKind, ""
	case tag == "!!bool":
		out.kind, out.text = boolKind, strings.ToLower(n.Value)
	case isJSONNumber(n.Value):
		out.kind = numberKind
	case tag == "!!int" || tag == "!!float":
		return errorAt(out.at, "the number %s is not spelled as in JSON: write it in decimal, or quote it to make it a string", n.Value)
	default: // also dates, which JSON has no type for
		out.kind = stringKind
	}
	return nil
}

func isJSONNumber(s string) bool {
	v := jsontext.Value(s)
	return v.Kind() == '0' && v.IsValid() && strings.TrimSpace(s) == s
}

package scripted

import (
	"bytes"
	"errors"
	"io"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// parseJSON reads one JSON value.
func parseJSON(data []byte) (*node, *ParseError) {
	w := jsonWalk{data: data, dec: jsontext.NewDecoder(bytes.NewBuffer(data)), at: position{1, 1}}
	if w.dec.PeekKind() == 0 && len(bytes.TrimSpace(data)) == 0 {
		return nil, errorAt(position{1, 1}, "the file is empty")
	}
	root, bad := w.node(0)
	if bad != nil {
		return nil, bad
	}
	if _, err := w.dec.ReadToken(); !errors.Is(err, io.EOF) {
		if err != nil {
			return nil, w.error(err)
		}
		return nil, errorAt(w.tokenStart(), "text after the script: one file is one script")
	}
	return root, nil
}

// jsonWalk reads tokens. It keeps the position of the byte that it has counted
// up to, so that a file is counted once.
type jsonWalk struct {
	data   []byte
	dec    *jsontext.Decoder
	offset int
	at     position
	nodes  int
}

func (w *jsonWalk) node(depth int) (*node, *ParseError) {
	tok, err := w.dec.ReadToken()
	if err != nil {
		return nil, w.error(err)
	}
	out := &node{at: w.tokenStart()}
	if w.nodes++; w.nodes > maxNodes {
		return nil, errorAt(out.at, "the file has more than %d values", maxNodes)
	}
	if depth > maxDepth {
		return nil, errorAt(out.at, "nested deeper than %d", maxDepth)
	}
	switch tok.Kind() {
	case 'n':
		out.kind = nullKind
	case 't', 'f':
		out.kind, out.text = boolKind, tok.String()
	case '0':
		out.kind, out.text = numberKind, tok.String()
	case '"':
		out.kind, out.text = stringKind, tok.String()
	case '[':
		out.kind = listKind
		for w.dec.PeekKind() != ']' {
			item, bad := w.node(depth + 1)
			if bad != nil {
				return nil, bad
			}
			out.items = append(out.items, item)
		}
		return out, w.skip()
	case '{':
		out.kind = objectKind
		for w.dec.PeekKind() != '}' {
			name, err := w.dec.ReadToken()
			if err != nil {
				return nil, w.error(err)
			}
			key, at := name.String(), w.tokenStart()
			value, bad := w.node(depth + 1)
			if bad != nil {
				return nil, bad
			}
			out.members = append(out.members, member{key, at, value})
		}
		return out, w.skip()
	}
	return out, nil
}

// skip reads the end of a list or an object.
func (w *jsonWalk) skip() *ParseError {
	if _, err := w.dec.ReadToken(); err != nil {
		return w.error(err)
	}
	w.count(int(w.dec.InputOffset()))
	return nil
}

// tokenStart returns where the token that was read last begins.
func (w *jsonWalk) tokenStart() position {
	end := int(w.dec.InputOffset())
	start := end
	// The decoder tells the end. What stands between the tokens is known, so
	// the start is the first byte after what was counted that is not of it.
	for i := w.offset; i < end; i++ {
		if !bytes.ContainsRune([]byte(" \t\r\n,:"), rune(w.data[i])) {
			start = i
			break
		}
	}
	at := w.count(start)
	w.count(end)
	return at
}

// count returns the position of the byte at offset, which is not before the one
// of the last call.
func (w *jsonWalk) count(offset int) position {
	for w.offset < min(offset, len(w.data)) {
		r, n := utf8.DecodeRune(w.data[w.offset:])
		w.offset += n
		if w.at.column++; r == '\n' {
			w.at = position{w.at.line + 1, 1}
		}
	}
	return w.at
}

func (w *jsonWalk) error(err error) *ParseError {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return errorAt(w.count(len(w.data)), "not valid JSON: the text ends too early")
	}
	var syntax *jsontext.SyntacticError
	if errors.As(err, &syntax) {
		at := w.count(int(syntax.ByteOffset))
		if errors.Is(err, jsontext.ErrDuplicateName) {
			return errorAt(at, "the key %q is there twice", syntax.JSONPointer.LastToken())
		}
		return errorAt(at, "not valid JSON: %v", syntax.Err)
	}
	return errorAt(w.count(int(w.dec.InputOffset())), "not valid JSON: %v", err)
}

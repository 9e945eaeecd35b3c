package pipeline

import (
	"bytes"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/dsh-actor/dsh-actor/messages"
)

// withOriginal returns meta with the member "original" set to content (Z-25).
// The other members keep their text and order. Meta that is not an object moves
// to a member "meta" of one.
func withOriginal(meta messages.JSON, content messages.Content) (messages.JSON, error) {
	original, err := messages.MarshalJSON(content)
	if err != nil {
		return "", err
	}
	var buf bytes.Buffer
	enc := jsontext.NewEncoder(&buf, jsontext.Multiline(false))
	w := objectWriter{enc: enc}
	w.token(jsontext.BeginObject)
	switch {
	case meta == "":
	case meta.Value().Kind() == '{':
		w.copyMembers(meta, "original")
	default:
		w.member("meta", meta.Value())
	}
	w.member("original", original.Value())
	w.token(jsontext.EndObject)
	if w.err != nil {
		return "", w.err
	}
	return messages.JSON(bytes.TrimRight(buf.Bytes(), "\n")), nil
}

// objectWriter writes the members of an object and keeps the first error.
type objectWriter struct {
	enc *jsontext.Encoder
	err error
}

func (w *objectWriter) token(t jsontext.Token) {
	if w.err == nil {
		w.err = w.enc.WriteToken(t)
	}
}

func (w *objectWriter) member(name string, value jsontext.Value) {
	w.token(jsontext.String(name))
	if w.err == nil {
		w.err = w.enc.WriteValue(value)
	}
}

// copyMembers writes the members of an object but the one of the given name.
func (w *objectWriter) copyMembers(object messages.JSON, except string) {
	dec := jsontext.NewDecoder(bytes.NewBuffer(object.Value()))
	_, w.err = dec.ReadToken()
	for w.err == nil && dec.PeekKind() == '"' {
		var name jsontext.Token
		var value jsontext.Value
		if name, w.err = dec.ReadToken(); w.err != nil {
			return
		}
		key := name.String()
		if value, w.err = dec.ReadValue(); w.err == nil && key != except {
			w.member(key, value)
		}
	}
}

package wire

import (
	"fmt"
	"strconv"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/dsh-actor/dsh-actor/messages"
)

// Body builds a JSON text. Histories are long and encoded for every request, so
// it is written by hand, once, into one slice. Commas are its business: a value
// in an array is announced by [Body.Item], a member by [Body.Key].
type Body struct {
	b     []byte
	comma bool // the next item or member follows another one
}

// NewBody returns a Body with room for size bytes.
func NewBody(size int) *Body { return &Body{b: make([]byte, 0, size)} }

// Bytes returns the text.
func (w *Body) Bytes() []byte { return w.b }

// Open begins an object or array.
func (w *Body) Open(delimiter byte) {
	w.b = append(w.b, delimiter)
	w.comma = false
}

// Close ends an object or array.
func (w *Body) Close(delimiter byte) {
	w.b = append(w.b, delimiter)
	w.comma = true
}

// Item announces a value in an array.
func (w *Body) Item() {
	if w.comma {
		w.b = append(w.b, ',')
	}
	w.comma = true
}

// Key announces a member. The name needs no escapes.
func (w *Body) Key(name string) {
	w.Item()
	w.b = append(w.b, '"')
	w.b = append(w.b, name...)
	w.b = append(w.b, '"', ':')
}

// String writes a string value.
func (w *Body) String(s string) {
	w.b, _ = jsontext.AppendQuote(w.b, messages.ValidUTF8(s)) // fails for invalid UTF-8 only
}

// Raw writes JSON text, which the caller has checked.
func (w *Body) Raw(s string) { w.b = append(w.b, s...) }

// Text writes a member with a string value.
func (w *Body) Text(name, value string) {
	w.Key(name)
	w.String(value)
}

// Int writes a member with an integer value.
func (w *Body) Int(name string, value int64) {
	w.Key(name)
	w.b = strconv.AppendInt(w.b, value, 10)
}

// Bool writes a member with a boolean value.
func (w *Body) Bool(name string, value bool) {
	w.Key(name)
	w.b = strconv.AppendBool(w.b, value)
}

// IsObject reports whether text is one JSON object that can be put into a body
// as it is. One with duplicate names cannot: a strict server would refuse the
// whole request for it, again and again.
func IsObject(text string) bool {
	v := jsontext.Value(text)
	return v.Kind() == '{' && v.IsValid()
}

// IsNumber reports whether text is a JSON number.
func IsNumber(text string) bool {
	v := jsontext.Value(text)
	return v.Kind() == '0' && v.IsValid()
}

// Extra are members that a host adds to every request body.
type Extra struct {
	members string
	names   map[string]bool
}

// Has reports whether the host gives the member.
func (e Extra) Has(name string) bool { return e.names[name] }

// ParseExtra checks the host's members: object must be a JSON object without the
// members that the adapter writes itself.
func ParseExtra(object messages.JSON, reserved ...string) (Extra, error) {
	if object == "" {
		return Extra{}, nil
	}
	if err := messages.CheckJSON(object); err != nil {
		return Extra{}, err
	}
	var members map[string]jsontext.Value
	if err := json.Unmarshal([]byte(object), &members); err != nil || members == nil {
		return Extra{}, fmt.Errorf("must be an object, not %s", Snippet([]byte(object)))
	}
	for _, name := range reserved {
		if _, ok := members[name]; ok {
			return Extra{}, fmt.Errorf("the member %q is the adapter's own", name)
		}
	}
	if len(members) == 0 {
		return Extra{}, nil
	}
	text, err := jsontext.AppendFormat(nil, []byte(object), jsontext.Multiline(false))
	if err != nil {
		return Extra{}, err
	}
	e := Extra{string(text[1 : len(text)-1]), map[string]bool{}}
	for name := range members {
		e.names[name] = true
	}
	return e, nil
}

// Extra writes the host's members.
func (w *Body) Extra(e Extra) {
	if e.members != "" {
		w.Item()
		w.Raw(e.members)
	}
}

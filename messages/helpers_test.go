package messages

import (
	"bytes"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"
)

type reflectType = reflect.Type

// reversed returns the text with the members of every object in reverse order,
// and with white space.
func reversed(t testing.TB, text JSON) JSON {
	t.Helper()
	dec := jsontext.NewDecoder(bytes.NewBufferString(string(text)))
	out, err := rebuild(dec, slices.Reverse, " :\t", " ,\n")
	if err != nil {
		t.Fatal(err)
	}
	return JSON(out)
}

// sameJSON compares JSON text without regard to the order of members and to
// white space.
var sameJSON = cmp.Comparer(func(a, b JSON) bool {
	sorted := func(j JSON) string {
		dec := jsontext.NewDecoder(bytes.NewBufferString(string(j)))
		s, err := rebuild(dec, slices.Sort, ":", ",")
		if err != nil {
			return string(j)
		}
		return s
	}
	return sorted(a) == sorted(b)
})

// rebuild writes the next value anew with the members of objects in the order
// that arrange gives them.
func rebuild(dec *jsontext.Decoder, arrange func([]string), colon, comma string) (string, error) {
	switch dec.PeekKind() {
	case '{', '[':
		open, err := dec.ReadToken()
		if err != nil {
			return "", err
		}
		object := open.Kind() == '{'
		var parts []string
		for k := dec.PeekKind(); k != '}' && k != ']'; k = dec.PeekKind() {
			part := ""
			if object {
				name, err := dec.ReadValue()
				if err != nil {
					return "", err
				}
				part = string(name) + colon
			}
			v, err := rebuild(dec, arrange, colon, comma)
			if err != nil {
				return "", err
			}
			parts = append(parts, part+v)
		}
		if _, err := dec.ReadToken(); err != nil {
			return "", err
		}
		if object {
			arrange(parts)
			return "{" + strings.Join(parts, comma) + "}", nil
		}
		return "[" + strings.Join(parts, comma) + "]", nil
	}
	v, err := dec.ReadValue()
	return string(v), err
}

func newDecoder(j JSON) *jsontext.Decoder {
	return jsontext.NewDecoder(bytes.NewBufferString(string(j)))
}

// requoteNames writes compact JSON with the names of members in their shortest
// form and everything else as it is.
func requoteNames(t testing.TB, text string) string {
	t.Helper()
	dec := newDecoder(JSON(text))
	out, err := requote(dec)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func requote(dec *jsontext.Decoder) (string, error) {
	k := dec.PeekKind()
	if k != '{' && k != '[' {
		v, err := dec.ReadValue()
		return string(v), err
	}
	if _, err := dec.ReadToken(); err != nil {
		return "", err
	}
	var parts []string
	for end := dec.PeekKind(); end != '}' && end != ']'; end = dec.PeekKind() {
		part := ""
		if k == '{' {
			name, err := dec.ReadToken()
			if err != nil {
				return "", err
			}
			part = string(QuoteJSON(name.String())) + ":"
		}
		v, err := requote(dec)
		if err != nil {
			return "", err
		}
		parts = append(parts, part+v)
	}
	_, err := dec.ReadToken()
	if k == '{' {
		return "{" + strings.Join(parts, ",") + "}", err
	}
	return "[" + strings.Join(parts, ",") + "]", err
}

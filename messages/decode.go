package messages

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unsafe"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Payloads of the core events and all unions are decoded by hand, for the
// reason of encode.go, and because package json takes a missing member and a
// null for a zero: that would turn a damaged log into a valid one with other
// facts in it (E-14). The text is checked once and then scanned in place.

// viewDecoder is implemented by the pointers to types that decode themselves
// from text that was checked. The text is a view: what is kept of it must be
// copied.
type viewDecoder interface {
	decodeView(raw JSON) error
}

// unmarshalView decodes the next value of dec into v.
func unmarshalView(dec *jsontext.Decoder, v viewDecoder) error {
	value, err := dec.ReadValue()
	if err != nil {
		return err
	}
	return v.decodeView(JSON(unsafe.String(unsafe.SliceData(value), len(value))))
}

// unmarshalStrict decodes text by reflection. Members that the Go type does not
// declare are an error.
func unmarshalStrict(raw JSON, v any) error {
	return raw.Unmarshal(v, json.RejectUnknownMembers(true))
}

// field is one member that a type takes from an object.
type field struct {
	name string
	// into is a *string, *int, *int64, *bool, *rawView or viewDecoder.
	into     any
	optional bool
	seen     bool
}

// rawView is a member's text, to be decoded later and not to be kept.
type rawView JSON

// decodeFields takes the members of raw into fields; a member called tag, the
// discriminator of a union, was read before. A member that is missing, repeated
// or of another type is an error, and so is one that is not among the fields:
// dropping it would lose what a newer version wrote.
func decodeFields(raw JSON, tag string, fields []field) error {
	if raw.Kind() != '{' {
		return errors.New("must be an object")
	}
	next := 0 // members mostly come in the order of the fields
	for name, value := range raw.Members() {
		if name == tag && tag != "" {
			continue
		}
		i := next
		if i >= len(fields) || fields[i].name != name {
			for i = 0; i < len(fields) && fields[i].name != name; {
				i++
			}
		}
		if i == len(fields) {
			return fmt.Errorf("unknown member %q", name)
		}
		next = i + 1
		f := &fields[i]
		if f.seen {
			return fmt.Errorf("duplicate member %q", name)
		}
		f.seen = true
		if err := f.decode(value); err != nil {
			return fmt.Errorf("member %q: %w", name, err)
		}
	}
	for i := range fields {
		if f := &fields[i]; !f.seen && !f.optional {
			return fmt.Errorf("missing member %q", f.name)
		}
	}
	return nil
}

func (f *field) decode(value JSON) error {
	switch p := f.into.(type) {
	case *string:
		if value.Kind() != '"' {
			return errors.New("must be a string")
		}
		*p = value.text()
	case *int:
		n, err := decodeInt(value, strconv.IntSize)
		*p = int(n)
		return err
	case *int64:
		n, err := decodeInt(value, 64)
		*p = n
		return err
	case *bool:
		if value != "true" && value != "false" {
			return errors.New("must be a boolean")
		}
		*p = value == "true"
	case *rawView:
		*p = rawView(value)
	case viewDecoder:
		return p.decodeView(value)
	default:
		panic(fmt.Sprintf("messages: cannot decode into %T", f.into))
	}
	return nil
}

// decodeInt reads an integer that is written as one: not 1.0, not 1e3.
func decodeInt(value JSON, bits int) (int64, error) {
	n, err := strconv.ParseInt(string(value), 10, bits)
	if err != nil || value.Kind() != '0' {
		return 0, errors.New("must be an integer")
	}
	return n, nil
}

// text returns a copy of the string that j, a valid JSON string, denotes.
func (j JSON) text() string {
	if strings.IndexByte(string(j), '\\') < 0 {
		return ValidUTF8(strings.Clone(string(j[1 : len(j)-1])))
	}
	return ValidUTF8(j.unquote())
}

// listView decodes an array into a list.
type listView[T any, P interface {
	*T
	viewDecoder
}] struct{ list *List[T] }

func (v listView[T, P]) decodeView(raw JSON) error {
	if raw.Kind() != '[' {
		return errors.New("must be an array")
	}
	var items []T // never into the list's own: other lists share them
	for value := range raw.Elements() {
		var item T
		if err := P(&item).decodeView(value); err != nil {
			return fmt.Errorf("item %d: %w", len(items), err)
		}
		items = append(items, item)
	}
	*v.list = List[T]{slices.Clip(items)}
	return nil
}

// intoList is a field's target for a list.
func intoList[T any, P interface {
	*T
	viewDecoder
}](list *List[T]) viewDecoder {
	return listView[T, P]{list}
}

// stringView decodes one string of a list.
type stringView string

func (s *stringView) decodeView(raw JSON) error {
	f := field{into: (*string)(s)}
	return f.decode(raw)
}

// discriminator returns a copy of the string member key of raw.
func discriminator(raw JSON, key string) (string, error) {
	if raw.Kind() != '{' {
		return "", errors.New("must be an object")
	}
	for name, value := range raw.Members() {
		if name != key {
			continue
		}
		if value.Kind() != '"' {
			return "", fmt.Errorf("member %q must be a string", key)
		}
		return value.text(), nil
	}
	return "", fmt.Errorf("missing member %q", key)
}

// rest returns a copy of the object raw of a case that this build does not
// know, or "" if the object has no other member than the discriminator tag.
func rest(raw JSON, tag string) JSON {
	if decodeFields(raw, tag, nil) == nil {
		return ""
	}
	return raw.keep()
}

// keep returns a copy of a view.
func (j JSON) keep() JSON { return JSON(strings.Clone(string(j))) }

package flat

import (
	"reflect"
	"strconv"
	"unsafe"

	"github.com/go-json-experiment/json/jsontext"
)

// Encoder encodes values of the type T. It is immutable.
type Encoder[T any] struct {
	fields []member
}

// member is a field with its name as it is written.
type member struct {
	field
	quoted string // `"name":`
}

// NewEncoder returns an encoder for T, or nil if T is not flat or has fields whose
// text is not simple, which floats are.
func NewEncoder[T any]() *Encoder[T] {
	fields, ok := fieldsOf(reflect.TypeFor[T]())
	if !ok {
		return nil
	}
	e := &Encoder[T]{}
	for _, f := range fields {
		if f.kind == reflect.Float32 || f.kind == reflect.Float64 {
			return nil
		}
		e.fields = append(e.fields, member{f, strconv.Quote(f.name) + ":"})
	}
	return e
}

// Encode returns the text that messages.MarshalJSON makes of in, and whether it
// did.
func (e *Encoder[T]) Encode(in *T) (string, bool) {
	v := reflect.ValueOf(in).Elem()
	var space [256]byte // most values fit
	b := append(space[:0], '{')
	for i := range e.fields {
		f := &e.fields[i]
		fv := v.Field(f.index)
		if f.omitZero && fv.IsZero() {
			continue
		}
		if len(b) > 1 {
			b = append(b, ',')
		}
		b = append(b, f.quoted...)
		switch {
		case f.kind == reflect.String:
			var ok bool
			if b, ok = appendString(b, fv.String()); !ok {
				return "", false
			}
		case f.kind == reflect.Bool:
			b = strconv.AppendBool(b, fv.Bool())
		case fv.CanInt():
			b = strconv.AppendInt(b, fv.Int(), 10)
		default:
			b = strconv.AppendUint(b, fv.Uint(), 10)
		}
	}
	return string(append(b, '}')), true
}

// appendString quotes s; it declines invalid UTF-8.
func appendString(b []byte, s string) ([]byte, bool) {
	raw := unsafe.Slice(unsafe.StringData(s), len(s)) // read only
	if plain(raw, 0) >= len(raw)&^7 && plainTail(raw) {
		b = append(b, '"')
		b = append(b, s...)
		return append(b, '"'), true
	}
	b, err := jsontext.AppendQuote(b, raw)
	return b, err == nil
}

// plainTail reports whether the last bytes, fewer than eight, are ASCII that means
// itself in a string.
func plainTail(b []byte) bool {
	for _, c := range b[len(b)&^7:] {
		if c < 0x20 || c >= 0x80 || c == '"' || c == '\\' {
			return false
		}
	}
	return true
}

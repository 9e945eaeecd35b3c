package flat

import (
	"reflect"
	"slices"
	"strconv"
	"unsafe"

	"github.com/go-json-experiment/json/jsontext"
)

// Decoder decodes arguments of the type T. It is immutable.
type Decoder[T any] struct {
	fields   []field
	required uint64 // a bit for each field that must be there
}

// NewDecoder returns a decoder for T, or nil if T is not flat.
func NewDecoder[T any]() *Decoder[T] {
	fields, ok := fieldsOf(reflect.TypeFor[T]())
	if !ok {
		return nil
	}
	d := &Decoder[T]{fields: fields}
	for i := range fields {
		if !fields[i].omitZero {
			d.required |= 1 << i
		}
	}
	return d
}

// Decode decodes text, which must be lossless JSON, into out, which must be zero,
// and reports whether it did: then text conforms to the schema that is derived from
// T, and out is what package json makes of it. Strings share the text's memory, so
// that text must not change. Otherwise out may be filled in part.
func (d *Decoder[T]) Decode(text string, out *T) bool {
	b := unsafe.Slice(unsafe.StringData(text), len(text)) // read only
	i := space(b, 0)
	if i >= len(b) || b[i] != '{' {
		return false
	}
	v := reflect.ValueOf(out).Elem()
	seen, next := uint64(0), 0 // models mostly give members in declared order
	i = space(b, i+1)
	for i < len(b) && b[i] == '"' {
		end, escaped := str(b, i)
		if end < 0 || escaped {
			return false
		}
		n := d.find(b[i+1:end-1], next)
		if n < 0 || seen&(1<<n) != 0 {
			return false
		}
		seen, next = seen|1<<n, n+1
		if i = space(b, end); i >= len(b) || b[i] != ':' {
			return false
		}
		f := &d.fields[n]
		if i = f.decode(text, b, space(b, i+1), v.Field(f.index)); i < 0 {
			return false
		}
		if i = space(b, i); i < len(b) && b[i] == ',' {
			if i = space(b, i+1); i >= len(b) || b[i] != '"' {
				return false
			}
			continue
		}
		break
	}
	return i < len(b) && b[i] == '}' && space(b, i+1) == len(b) && seen&d.required == d.required
}

// find returns the index of the field of that name, or -1.
func (d *Decoder[T]) find(name []byte, next int) int {
	if next < len(d.fields) && d.fields[next].name == string(name) {
		return next
	}
	for i := range d.fields {
		if d.fields[i].name == string(name) {
			return i
		}
	}
	return -1
}

// decode sets v from the value at b[i] and returns the index behind it, or -1.
func (f *field) decode(text string, b []byte, i int, v reflect.Value) int {
	if i >= len(b) {
		return -1
	}
	switch f.kind {
	case reflect.String:
		return f.decodeString(text, b, i, v)
	case reflect.Bool:
		end := word(b, i, "true")
		if end < 0 {
			return word(b, i, "false")
		}
		v.SetBool(true)
		return end
	case reflect.Float32, reflect.Float64:
		end, _ := number(b, i)
		if end < 0 {
			return -1
		}
		n, err := strconv.ParseFloat(text[i:end], f.bits)
		if err != nil {
			return -1
		}
		v.SetFloat(n)
		return end
	default:
		return f.decodeInteger(b, i, v)
	}
}

func (f *field) decodeString(text string, b []byte, i int, v reflect.Value) int {
	if b[i] != '"' {
		return -1
	}
	end, escaped := str(b, i)
	if end < 0 {
		return -1
	}
	s := text[i+1 : end-1]
	if escaped {
		unquoted, err := jsontext.AppendUnquote(nil, b[i:end])
		if err != nil {
			return -1
		}
		s = string(unquoted)
	}
	if f.enum != nil && !slices.Contains(f.enum, s) {
		return -1
	}
	v.SetString(s)
	return end
}

// maxDigits is how many decimal digits always fit into 63 bits.
const maxDigits = 18

func (f *field) decodeInteger(b []byte, i int, v reflect.Value) int {
	end, integer := number(b, i)
	negative := b[i] == '-'
	if negative {
		i++
	}
	if end < 0 || !integer || end-i > maxDigits {
		return -1
	}
	n := int64(0)
	for _, c := range b[i:end] {
		n = n*10 + int64(c-'0')
	}
	if v.CanInt() {
		if negative {
			n = -n
		}
		if v.OverflowInt(n) {
			return -1
		}
		v.SetInt(n)
		return end
	}
	if negative || v.OverflowUint(uint64(n)) {
		return -1
	}
	v.SetUint(uint64(n))
	return end
}

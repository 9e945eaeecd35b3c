package messages

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
	"unsafe"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// MaxJSONDepth is the deepest nesting that [CheckJSON] accepts (Z-11).
const MaxJSONDepth = 512

// JSON is one JSON value kept as text. It is a string so that it cannot change
// after it was logged: a listener, a hook, the log and a tool body read the
// same bytes. The zero value means "absent" and is omitted from wire forms
// that declare the field optional.
type JSON string

// IsZero reports whether the value is absent.
func (j JSON) IsZero() bool { return j == "" }

// Value returns a copy of the text that the caller may change.
func (j JSON) Value() jsontext.Value { return jsontext.Value(string(j)) }

// Unmarshal decodes the value into out, with the options of package json.
func (j JSON) Unmarshal(out any, opts ...json.Options) error {
	return json.Unmarshal(j.Bytes(), out, opts...)
}

// Bytes returns the text without copying it. The result is shared with j and
// must not be written to.
func (j JSON) Bytes() []byte {
	if j == "" {
		return nil
	}
	return unsafe.Slice(unsafe.StringData(string(j)), len(j))
}

// MarshalJSONTo writes the text as it is, without white space between tokens; an
// absent value is written as null. Text that is not lossless JSON is an error.
func (j JSON) MarshalJSONTo(enc *jsontext.Encoder) error {
	if j == "" {
		return enc.WriteToken(jsontext.Null)
	}
	return writeRaw(enc, j.Bytes())
}

// UnmarshalJSONFrom keeps the next value of the input as text. It refuses what
// nests deeper than [MaxJSONDepth].
func (j *JSON) UnmarshalJSONFrom(dec *jsontext.Decoder) error { return unmarshalView(dec, j) }

func (j *JSON) decodeView(raw JSON) error {
	if tooDeep(raw) {
		return errTooDeep
	}
	*j = raw.keep()
	return nil
}

// MarshalJSON encodes v as JSON text: no HTML escaping, maps in the order of
// their keys, invalid UTF-8 in strings replaced by U+FFFD (Z-7). It fails for Go
// values that JSON cannot hold (J-2): NaN, infinities, channels, functions,
// cycles, and what nests deeper than [MaxJSONDepth].
func MarshalJSON(v any) (JSON, error) {
	switch v := v.(type) {
	case JSON:
		if err := CheckJSON(v); err != nil {
			return "", err
		}
		return v, nil
	case Event:
		return v.marshal()
	}
	b, err := json.Marshal(v, marshalOptions)
	if err != nil {
		return "", err
	}
	j := bytesAsJSON(b)
	if tooDeep(j) {
		return "", errTooDeep
	}
	return j, nil
}

// QuoteJSON returns s as a JSON string, with invalid UTF-8 replaced (Z-7).
func QuoteJSON(s string) JSON {
	return bytesAsJSON(appendString(make([]byte, 0, len(s)+len(`""`)), s))
}

// bytesAsJSON takes ownership of b.
func bytesAsJSON(b []byte) JSON { return JSON(unsafe.String(unsafe.SliceData(b), len(b))) }

var marshalOptions = json.JoinOptions(jsontext.AllowInvalidUTF8(true), json.Deterministic(true))

// ErrNotLossless is wrapped by the errors of [CheckJSON] for text that is JSON
// but cannot be kept without loss: duplicate keys, invalid UTF-8, nesting
// deeper than [MaxJSONDepth], more than one value (Z-11).
var ErrNotLossless = errors.New("not losslessly representable JSON")

var errTooDeep = fmt.Errorf("%w: nested deeper than %d", ErrNotLossless, MaxJSONDepth)

// CheckJSON reports whether j is exactly one JSON value that survives a round
// trip (Z-11). The error wraps [ErrNotLossless] when the text is JSON that
// breaks one of those limits, and is a plain syntax error otherwise.
func CheckJSON(j JSON) error {
	v := jsontext.Value(j.Bytes())
	if v.IsValid() {
		if tooDeep(j) {
			return errTooDeep
		}
		return nil
	}
	return explainJSON(v)
}

// jsontextMaxDepth is where package jsontext stops reading.
const jsontextMaxDepth = 10_000

// explainJSON says why v is not acceptable. It is off the hot path.
func explainJSON(v jsontext.Value) error {
	lenient := json.JoinOptions(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	dec := jsontext.NewDecoder(bytes.NewBuffer(v), lenient)
	err := dec.SkipValue()
	switch {
	case errors.Is(err, io.EOF):
		return errors.New("empty JSON text")
	case dec.StackDepth() >= jsontextMaxDepth: // it gave up there
		return errTooDeep
	case err != nil:
		return err
	}
	end := dec.InputOffset()
	rest := bytes.TrimLeft(v[end:], " \t\r\n")
	glued := len(rest) == len(v[end:]) && JSON(rest).Kind() == '0' && JSON(v[end-1:end]).Kind() == '0' // 01
	switch {
	case len(rest) > 0 && !glued && jsontext.Value(rest).IsValid(lenient):
		return fmt.Errorf("%w: more than one value", ErrNotLossless)
	case len(rest) > 0:
		return fmt.Errorf("text after the JSON value at byte %d", end)
	case !utf8.Valid(v):
		return fmt.Errorf("%w: invalid UTF-8", ErrNotLossless)
	}
	if _, err := jsontext.AppendFormat(nil, v, jsontext.AllowInvalidUTF8(true)); err != nil {
		return fmt.Errorf("%w: %w", ErrNotLossless, err)
	}
	return fmt.Errorf("%w: invalid UTF-16 escape", ErrNotLossless)
}

// tooDeep reports whether valid JSON text nests deeper than [MaxJSONDepth].
func tooDeep(j JSON) bool {
	if len(j) <= 2*MaxJSONDepth { // too short to open and close that many
		return false
	}
	depth := 0
	for s := j.Scan(); s.pos < len(j); {
		switch j[s.pos] {
		case '"':
			s.skipString()
			continue
		case '{', '[':
			if depth++; depth > MaxJSONDepth {
				return true
			}
		case '}', ']':
			depth--
		}
		s.pos++
	}
	return false
}

// ValidUTF8 returns s with every byte that is not part of valid UTF-8 replaced
// by U+FFFD (Z-7). Valid input is returned as it is, without allocation.
func ValidUTF8(s string) string {
	if utf8.ValidString(s) {
		return s
	}
	var b strings.Builder
	b.Grow(len(s) + 8)
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		b.WriteRune(r)
		i += n
	}
	return b.String()
}

package messages

import (
	"errors"
	"math"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"
)

func nested(depth int) JSON {
	return JSON(strings.Repeat("[", depth) + strings.Repeat("]", depth))
}

func nestedObjects(depth int) JSON {
	return JSON(strings.Repeat(`{"a":`, depth) + "1" + strings.Repeat("}", depth))
}

// Z-11: numbers keep every digit; duplicate keys, invalid UTF-8, nesting deeper
// than 512 and a second value are refused.
func TestCheckJSON(t *testing.T) {
	for _, text := range []JSON{
		`null`, `true`, `"x"`, `0`, `-0`, `-0.0`, `1e400`, `-1e-400`, `123456789012345678901234567890`, `0.1000000000000000055511151231257827`,
		`{}`, `[]`, ` { "a" : [ 1 , 2 ] } ` + "\r\n\t", `{"__proto__":1,"0":2}`, `"\ud83d\ude00"`, `"\u0000"`, `{"a":{"x":1},"b":{"x":1}}`,
		`{"a":1,"A":2}`, nested(512), nestedObjects(512), JSON(`"` + strings.Repeat("[", 600) + `"`),
		JSON(`["` + strings.Repeat(`\"{`, 600) + `"]`),
	} {
		if err := CheckJSON(text); err != nil {
			t.Errorf("CheckJSON(%.80s): %v", text, err)
		}
	}
	for _, c := range []struct {
		text    JSON
		json    bool // it is JSON, but not lossless
		message string
	}{
		{`{"a":1,"a":2}`, true, "duplicate"},
		{`{"a":1,"\u0061":2}`, true, "duplicate"},
		{`[{"b":{"a":1,"a":1}}]`, true, "duplicate"},
		{"\"\xff\"", true, "UTF-8"},
		{"{\"\xff\":1}", true, "UTF-8"},
		{"\"\xed\xa0\x80\"", true, "UTF-8"}, // a surrogate as if it were a character
		{`"\ud83d"`, true, "UTF-16"},
		{`"\ude00\ud83d"`, true, "UTF-16"},
		{`{"\ud800":1}`, true, "UTF-16"},
		{nested(513), true, "nested deeper than 512"},
		{nestedObjects(513), true, "nested deeper than 512"},
		{JSON(`{"a":` + string(nested(512)) + `}`), true, "nested deeper than 512"},
		{nested(10_000), true, "nested deeper than 512"},
		{nested(10_001), true, "nested deeper than 512"},
		{nestedObjects(30_000), true, "nested deeper than 512"},
		{JSON(strings.Repeat("[", 600)), false, "EOF"},
		{`1 2`, true, "more than one value"},
		{`{}{}`, true, "more than one value"},
		{`{} null`, true, "more than one value"},
		{``, false, "empty"},
		{" \n", false, "empty"},
		{`{`, false, "EOF"},
		{`[1,]`, false, ""},
		{`{"a":1,}`, false, ""},
		{`{'a':1}`, false, ""},
		{`nul`, false, ""},
		{`NaN`, false, ""},
		{`01`, false, "after the JSON value"},
		{`+1`, false, ""},
		{`1.`, false, ""},
		{`"` + "\n" + `"`, false, ""},
		{`"\x"`, false, ""},
		{`{} x`, false, "after the JSON value at byte 2"},
		{"\ufeff{}", false, ""},
	} {
		err := CheckJSON(c.text)
		if err == nil {
			t.Errorf("CheckJSON(%.80q) accepted it", c.text)
			continue
		}
		if errors.Is(err, ErrNotLossless) != c.json {
			t.Errorf("CheckJSON(%.80q): %v; lossy JSON: want %v", c.text, err, c.json)
		}
		if !strings.Contains(err.Error(), c.message) {
			t.Errorf("CheckJSON(%.80q): %v does not say %q", c.text, err, c.message)
		}
	}
}

// J-2: what JSON cannot hold is an error, not a guess.
func TestMarshalJSON(t *testing.T) {
	type cycle struct{ Next *cycle }
	loop := &cycle{}
	loop.Next = loop
	for _, v := range []any{
		math.NaN(), math.Inf(1), math.Inf(-1), make(chan int), func() {}, complex(1, 1), loop,
		map[string]any{"a": math.NaN()}, []any{func() {}}, JSON(""), JSON("{"), JSON(`{"a":1,"a":2}`), JSON("1 2"),
		struct{ J JSON }{`{"a":1,"a":2}`}, struct{ J JSON }{"\"\xff\""}, struct{ J JSON }{`"\ud83d"`},
		deep(600), struct{ J JSON }{nested(512)},
	} {
		if text, err := MarshalJSON(v); err == nil {
			t.Errorf("%T encodes as %.80s", v, text)
		} else if text != "" {
			t.Errorf("%T: text beside the error: %.80s", v, text)
		}
	}
	for _, c := range []struct {
		value any
		want  JSON
	}{
		{nil, `null`},
		{"<&>\u2028\u2029", "\"<&>\u2028\u2029\""},
		{"a\xffb\xed\xa0\x80", `"a` + "\ufffd" + `b` + "\ufffd\ufffd\ufffd" + `"`}, // Z-7
		{map[string]int{"b": 1, "a": 2, "c": 3}, `{"a":2,"b":1,"c":3}`},
		{[]string(nil), `[]`},
		{JSON(` {"a" : 1} `), ` {"a" : 1} `}, // as it is
		{struct{ J JSON }{` {"a" : "\u0061\/", "n":-0} `}, `{"J":{"a":"\u0061\/","n":-0}}`},
		{struct{ J JSON }{}, `{"J":null}`},
		{struct {
			J JSON `json:"j,omitzero"`
		}{}, `{}`},
		{[]any{int64(math.MaxInt64), uint64(math.MaxUint64), 0.1}, `[9223372036854775807,18446744073709551615,0.1]`},
		{deep(512), nestedObjectsOf(512)},
	} {
		got, err := MarshalJSON(c.value)
		if err != nil || got != c.want {
			t.Errorf("MarshalJSON(%#v) = %.200s, %v; want %.200s", c.value, got, err, c.want)
		}
	}
}

// deep returns maps that nest depth times.
func deep(depth int) any {
	v := any(map[string]any{})
	for range depth - 1 {
		v = map[string]any{"a": v}
	}
	return v
}

func nestedObjectsOf(depth int) JSON {
	return JSON(strings.Repeat(`{"a":`, depth-1) + "{}" + strings.Repeat("}", depth-1))
}

func TestJSONValue(t *testing.T) {
	j := JSON(`{"a":[1,-0,12345678901234567890]}`)
	v := j.Value()
	v[2] = 'b'
	if j != `{"a":[1,-0,12345678901234567890]}` {
		t.Error("writing to Value() changed the text")
	}
	if JSON("").Bytes() != nil || !JSON("").IsZero() || JSON("0").IsZero() {
		t.Error("the zero value is not absent")
	}
	var out struct {
		A []jsontext.Value `json:"a"`
	}
	if err := j.Unmarshal(&out); err != nil || string(out.A[2]) != "12345678901234567890" {
		t.Errorf("Unmarshal: %+v, %v", out, err)
	}
	out.A[0][0] = '9' // what was decoded is not the text
	if j[6] != '1' {
		t.Error("writing to a decoded value changed the text")
	}
	var kept struct{ J JSON }
	text := []byte(`{"J": {"a":1} }`)
	if err := JSON(text).Unmarshal(&kept); err != nil || kept.J != `{"a":1}` {
		t.Errorf("Unmarshal of a JSON member: %q, %v", kept.J, err)
	}
}

func TestQuoteJSON(t *testing.T) {
	for in, want := range map[string]JSON{
		"":          `""`,
		"a\"\\\n/<": `"a\"\\\n/<"`,
		"\x00\x7f":  `"\u0000` + "\x7f" + `"`,
		"\xff":      `"` + "\ufffd" + `"`,
		"é\u2028":   `"é` + "\u2028" + `"`,
	} {
		if got := QuoteJSON(in); got != want {
			t.Errorf("QuoteJSON(%q) = %s, want %s", in, got, want)
		}
		if err := CheckJSON(QuoteJSON(in)); err != nil {
			t.Errorf("QuoteJSON(%q): %v", in, err)
		}
	}
}

// Z-7.
func TestValidUTF8(t *testing.T) {
	for in, want := range map[string]string{
		"":                         "",
		"plain é \U0001F600":       "plain é \U0001F600",
		"a\xffb":                   "a\ufffdb",
		"\xe2\x82":                 "\ufffd\ufffd", // a cut euro sign
		"\xed\xa0\xbd\xed\xb8\x80": strings.Repeat("\ufffd", 6),
		"\xc0\xaf":                 "\ufffd\ufffd",
		"\ufffd\xf8":               "\ufffd\ufffd",
	} {
		got := ValidUTF8(in)
		if got != want || !utf8.ValidString(got) {
			t.Errorf("ValidUTF8(%q) = %q, want %q", in, got, want)
		}
	}
	s := strings.Repeat("valid ", 100)
	if n := testing.AllocsPerRun(100, func() { ValidUTF8(s) }); n != 0 {
		t.Errorf("valid text costs %v allocations", n)
	}
}

func TestScanner(t *testing.T) {
	j := JSON(" {\"a\" : [1, \"]\\\"}\", {\"x\":null}] ,\n\"b\\u0063\":-1.5e3 , \"d\" :true}\t")
	var got []string
	for name, value := range j.Members() {
		got = append(got, name+"="+string(value))
		if value.Kind() == '[' {
			for item := range value.Elements() {
				got = append(got, "  "+string(item))
			}
		}
	}
	want := []string{`a=[1, "]\"}", {"x":null}]`, `  1`, `  "]\"}"`, `  {"x":null}`, `bc=-1.5e3`, `d=true`}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("members (-want +got):\n%s", diff)
	}
	for range j.Members() { // may be left early
		break
	}
	for range JSON(`[1,2]`).Elements() {
		break
	}
	for _, other := range []JSON{``, `1`, `[1]`, `"{"`} {
		for name := range other.Members() {
			t.Errorf("%s has member %q", other, name)
		}
	}
	for _, other := range []JSON{``, `1`, `{"a":1}`} {
		for item := range other.Elements() {
			t.Errorf("%s has element %s", other, item)
		}
	}
	for text, want := range map[JSON]jsontext.Kind{
		``: 0, ` `: 0, `null`: 'n', ` true`: 't', "\tfalse": 'f', `"a"`: '"', `-1`: '0', `7`: '0', `{`: '{', `[`: '[', `,`: ',',
	} {
		if got := text.Kind(); got != want {
			t.Errorf("Kind(%q) = %v, want %v", text, got, want)
		}
	}
	s := JSON(`[1] `).Scan()
	if s.End() || !s.Take('[') || s.Take('[') || s.Value() != "1" || s.End() || s.Value() != "" || !s.Take(']') || !s.End() || s.Kind() != 0 {
		t.Error("the scanner does not walk [1]")
	}
}

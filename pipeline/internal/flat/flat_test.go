package flat

import (
	"math"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/dsh-actor/dsh-actor/messages"
	"github.com/dsh-actor/dsh-actor/pipeline/schema"
)

type (
	small struct {
		Text  string `json:"text"`
		Times int    `json:"times,omitzero"`
	}
	every struct {
		S    string
		B    bool    `json:"b"`
		I    int     `json:"i,omitzero"`
		I8   int8    `json:"i8,omitzero"`
		I16  int16   `json:"i16,omitzero"`
		I32  int32   `json:"i32,omitzero"`
		I64  int64   `json:"i64,omitzero"`
		U    uint    `json:"u,omitzero"`
		U8   uint8   `json:"u8,omitzero"`
		U64  uint64  `json:"u64,omitzero"`
		F    float64 `json:"f,omitzero"`
		F32  float32 `json:"f32,omitzero"`
		Mode mode    `json:"mode,omitzero" enum:"fast,slow"`
	}
	mode   string
	simple struct {
		S  string `json:"s"`
		T  mode   `json:"t,omitzero"`
		B  bool   `json:"b"`
		C  bool   `json:"c,omitzero"`
		I  int64  `json:"i"`
		I8 int8   `json:"i8,omitzero"`
		U  uint64 `json:"u"`
	}
	empty struct{}
)

// checkDecode compares a decoder's yes with the long way, and returns whether it
// said yes.
func checkDecode[T any](t testing.TB, text string) bool {
	t.Helper()
	d := NewDecoder[T]()
	s, err := schema.For[T]()
	if d == nil || err != nil {
		t.Fatalf("%T: no decoder, or %v", *new(T), err)
	}
	var short, long T
	if !d.Decode(text, &short) {
		return false
	}
	if found := s.Validate(schema.Arguments, messages.JSON(text)); len(found) > 0 {
		t.Fatalf("%T decodes %q, which violates the schema: %q", short, text, found)
	}
	if err := messages.JSON(text).Unmarshal(&long); err != nil {
		t.Fatalf("%T decodes %q, the long way fails: %v", short, text, err)
	}
	if !reflect.DeepEqual(short, long) {
		t.Fatalf("%q decodes to %+v, the long way to %+v", text, short, long)
	}
	return true
}

func checkAll(t testing.TB, text string) {
	lossless := messages.CheckJSON(messages.JSON(text)) == nil
	if Lossless([]byte(text)) && !lossless {
		t.Fatalf("%q is not lossless: %v", text, messages.CheckJSON(messages.JSON(text)))
	}
	if lossless {
		checkDecode[small](t, text)
		checkDecode[every](t, text)
		checkDecode[simple](t, text)
		checkDecode[empty](t, text)
	}
}

// What the short way is for goes the short way.
func TestAccepted(t *testing.T) {
	for _, text := range []string{
		`{}`, `[]`, `null`, `true`, `false`, `0`, `-0`, `-1.5e+10`, `""`, ` {"a" : [ 1 , {"b":null} ] } `,
		`{"text":"hello, world"}`, `"a long text with ümläuts and \n escapes \\ \" \/ of every kind"`, `"\u0041\uD7FF\ue000\uFFFF"`,
		`"` + strings.Repeat("0123456789", 100) + `"`,
	} {
		if !Lossless([]byte(text)) {
			t.Errorf("%q is declined", text)
		}
		checkAll(t, text)
	}
	for _, text := range []string{
		`{"text":"hello, world"}`, ` { "times" : 3 , "text" : "a\nb\u00fc" } `, `{"text":"x","times":-7}`, `{"text":""}`,
	} {
		if !checkDecode[small](t, text) {
			t.Errorf("%q is declined", text)
		}
	}
	if !checkDecode[every](t, `{"S":"x","b":true,"i":-9007199254740993,"i8":-128,"i16":32767,"i32":5,"i64":-5,"u":1,"u8":255,"u64":18,"f":-1.5e3,"f32":0.1,"mode":"slow"}`) {
		t.Error("every kind of field is declined")
	}
	if !checkDecode[empty](t, `{}`) {
		t.Error("an empty struct is declined")
	}
}

// What has a long way of its own is declined, not decided.
func TestDeclined(t *testing.T) {
	deep := strings.Repeat("[", maxDepth+1) + strings.Repeat("]", maxDepth+1)
	var wide strings.Builder
	for i := range maxMembers + 1 {
		wide.WriteString(`,"` + string(rune('a'+i)) + `":1`)
	}
	for _, text := range []string{
		``, ` `, `{`, `{"a"`, `{"a":`, `{"a":1`, `{"a":1,`, `{"a":1,}`, `{,}`, `[`, `[1`, `[1,`, `[1,]`, `[,]`, `{"a":1 "b":2}`, `[1 2]`, `{1:2}`,
		`"`, `"a`, `"\`, `"\x"`, `"\u"`, `"\u004`, `"\u004g"`, `"\ud83d\ude00"`, `"\ud83d"`, `"\uDFFF"`, `"` + "\x1f" + `"`, `"` + "\xff" + `"`, `"12345678` + "\xff" + `"`, "\"\xed\xa0\x80\"",
		`{"a":1,"a":2}`, `{"\u0061":1,"a":2}`, `{"a\n":1}`, `1 2`, `{} {}`, `01`, `-`, `1.`, `.5`, `1e`, `1e+`, `+1`, `NaN`, `tru`, `nul`, `falsy`,
		deep, "{" + wide.String()[1:] + "}",
	} {
		if Lossless([]byte(text)) {
			t.Errorf("%q is accepted", text)
		}
		checkAll(t, text)
	}
	for _, text := range []string{
		`null`, `[]`, `"text"`, `{}`, `{"times":1}`, `{"text":null}`, `{"text":1}`, `{"text":"x","times":"1"}`, `{"text":"x","times":1.0}`,
		`{"text":"x","times":1e2}`, `{"text":"x","other":1}`, `{"text":"x","times":9223372036854775808}`, `{"te\u0078t":"x"}`,
		`{"text":"x"`, `{"text":"x",`, `{"text":"x",}`, `{"text":"x"}}`, `{"text"}`, `{"text":`, `{"text":"x","text":"y"}`, `{"text":"x" "times":1}`,
	} {
		if checkDecode[small](t, text) {
			t.Errorf("%q is accepted", text)
		}
	}
	for _, text := range []string{
		`{"S":"x","b":"true"}`, `{"S":"x","b":nul}`, `{"S":"x","b":false,"i8":128}`, `{"S":"x","b":false,"u8":256}`, `{"S":"x","b":false,"u":-1}`,
		`{"S":"x","b":false,"u":-0}`, `{"S":"x","b":false,"f":1e999}`, `{"S":"x","b":false,"f":"1"}`, `{"S":"x","b":false,"f32":1e39}`, `{"S":"x","b":false,"mode":"other"}`, `{"S":"x","b":`,
	} {
		if checkDecode[every](t, text) {
			t.Errorf("%q is accepted", text)
		}
	}
}

// Types that need more than the short way have none.
func TestTypesDeclined(t *testing.T) {
	type (
		withPointer  struct{ P *int }
		withSlice    struct{ S []string }
		withNested   struct{ N small }
		withEmbedded struct{ small }
		withHidden   struct{ hidden int }
		withIgnored  struct {
			I int `json:"-"`
		}
		withOption struct {
			I int `json:",string"`
		}
		withOddName struct {
			I int `json:"'a b'"`
		}
		withTwins struct {
			A int `json:"B"`
			B int
		}
		withEnum struct {
			I int `enum:"1,2"`
		}
		withText struct{ T textual }
		withRaw  struct{ R messages.JSON }
	)
	_ = withHidden{}.hidden
	decoders := map[string]bool{
		"pointer": NewDecoder[withPointer]() != nil, "slice": NewDecoder[withSlice]() != nil, "nested": NewDecoder[withNested]() != nil,
		"embedded": NewDecoder[withEmbedded]() != nil, "hidden": NewDecoder[withHidden]() != nil, "ignored": NewDecoder[withIgnored]() != nil,
		"option": NewDecoder[withOption]() != nil, "odd name": NewDecoder[withOddName]() != nil, "twins": NewDecoder[withTwins]() != nil,
		"enum of numbers": NewDecoder[withEnum]() != nil, "text": NewDecoder[withText]() != nil, "raw": NewDecoder[withRaw]() != nil,
		"no struct": NewDecoder[string]() != nil, "any": NewDecoder[any]() != nil, "methods": NewDecoder[selfmade]() != nil,
		"encoder of floats": NewEncoder[every]() != nil, "encoder of a slice": NewEncoder[withSlice]() != nil,
	}
	for name, made := range decoders {
		if made {
			t.Errorf("%s: not declined", name)
		}
	}
}

type textual string

func (t textual) MarshalText() ([]byte, error) { return []byte(t), nil }

type selfmade struct{ S string }

func (selfmade) MarshalJSON() ([]byte, error) { return []byte("1"), nil }

func checkEncode[T any](t interface{ Fatalf(string, ...any) }, v T) bool {
	got, ok := NewEncoder[T]().Encode(&v)
	want, err := messages.MarshalJSON(v)
	if ok && (err != nil || got != string(want)) {
		t.Fatalf("%+v encodes to %s, the long way to %s, %v", v, got, want, err)
	}
	return ok
}

func TestEncode(t *testing.T) {
	for _, v := range []simple{
		{}, {S: "hello, world", T: "x", B: true, C: true, I: -1, I8: -128, U: 1},
		{S: "quote \" slash \\ / line \n tab \t nul \x00 del \x7f", I: math.MinInt64, U: math.MaxUint64},
		{S: "ümläut 😀 \u2028\u2029 <&>"}, {S: strings.Repeat("0123456", 200)},
	} {
		if !checkEncode(t, v) {
			t.Errorf("%+v is declined", v)
		}
	}
	checkEncode(t, empty{})
	if checkEncode(t, simple{S: "\xff"}) || checkEncode(t, simple{S: "12345678\xff"}) {
		t.Error("invalid UTF-8 is not declined")
	}
}

func TestPropertyEncode(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		checkEncode(t, simple{
			S: rapid.String().Draw(t, "s"), T: mode(rapid.StringN(0, 20, -1).Draw(t, "t")),
			B: rapid.Bool().Draw(t, "b"), C: rapid.Bool().Draw(t, "c"),
			I: rapid.Int64().Draw(t, "i"), I8: rapid.Int8().Draw(t, "i8"), U: rapid.Uint64().Draw(t, "u"),
		})
	})
}

// texts that are nearly what the decoders take.
func nearly() *rapid.Generator[string] {
	space := rapid.SampledFrom([]string{"", "", "", " ", "\n\t"})
	name := rapid.SampledFrom([]string{"text", "times", "S", "b", "i", "i8", "i16", "u", "u8", "u64", "f", "f32", "mode", "s", "t", "c", "x", `\u0062`})
	value := rapid.OneOf(
		rapid.SampledFrom([]string{
			`"x"`, `""`, `"fast"`, `"a\nb"`, `"\u00fc"`, `"\ud83d\ude00"`, `true`, `false`, `null`, `0`, `-0`, `1`, `-1`, `127`, `128`, `255`, `256`, `1.0`, `1e2`, `1.5`,
			`1e400`, `3.4e38`, `3.5e38`, `1e-400`, `999999999999999999`, `9223372036854775807`, `18446744073709551615`, `{}`, `[1]`, `{"a":1}`,
		}),
		rapid.Map(rapid.Int64(), func(n int64) string { j, _ := messages.MarshalJSON(n); return string(j) }),
		rapid.Map(rapid.Float64(), func(n float64) string { j, _ := messages.MarshalJSON(n); return string(j) }),
		rapid.Map(rapid.String(), func(s string) string { return string(messages.QuoteJSON(s)) }),
	)
	return rapid.Custom(func(t *rapid.T) string {
		var b strings.Builder
		b.WriteString(space.Draw(t, "before") + "{")
		n := rapid.IntRange(0, 6).Draw(t, "members")
		for i := range n {
			if i > 0 {
				b.WriteString(",")
			}
			b.WriteString(space.Draw(t, "") + `"` + name.Draw(t, "name") + `"` + space.Draw(t, "") + ":" + space.Draw(t, "") + value.Draw(t, "value") + space.Draw(t, ""))
		}
		b.WriteString("}" + space.Draw(t, "after"))
		return b.String()
	})
}

func TestPropertyDecode(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) { checkAll(t, nearly().Draw(rt, "text")) })
}

func FuzzLongWayAgrees(f *testing.F) {
	for _, text := range []string{
		`{"text":"hello, world","times":3}`, `{"S":"x","b":true,"i":-1,"f":1.5e3,"mode":"fast"}`, `[1,{"a":[]},"\n\u0041"]`, `{"a":1,"a":2}`, "\"12345678\xff\"",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		checkAll(t, text)
		checkEncode(t, simple{S: text, T: mode(text)})
	})
}

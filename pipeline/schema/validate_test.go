package schema

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/dsh-actor/dsh-actor/messages"
)

func mustParse(t testing.TB, text messages.JSON) *Schema {
	t.Helper()
	s, err := Parse(text)
	if err != nil {
		t.Fatalf("Parse(%s): %v", text, err)
	}
	return s
}

// P-36: every sentence about values, as schema, value, violations. The root of
// arguments has no name.
func TestValidate(t *testing.T) {
	const (
		object = `{"type":"object","properties":{"text":{"type":"string"},"n":{"type":"integer"}},"required":["text"]}`
		closed = `{"type":"object","properties":{"a":{}},"additionalProperties":false}`
		nested = `{"type":"object","properties":{"a":{"type":"object","properties":{"b":{"type":"array","items":{"type":"object","properties":{"c":{"type":"string"}},"required":["c"],"additionalProperties":false}}},"required":["b"]}},"required":["a"]}`
	)
	for _, c := range []struct {
		rule, schema, value string
		want                []string
	}{
		{"no type: any JSON", `{}`, `null`, nil},
		{"no type: any JSON", `{}`, `{"a":[1e400,-0,"x"]}`, nil},
		{"no type: any JSON", `{"description":"d","default":1}`, `"x"`, nil},

		{"object", `{"type":"object"}`, `{"x":1}`, nil},
		{"object", `{"type":"object"}`, `[]`, []string{`"arguments" must be an object`}},
		{"object", `{"type":"object"}`, `null`, []string{`"arguments" must be an object`}},
		{"P-16: text that was not JSON arrives as a string", object, `"{\"text\":"`, []string{`"arguments" must be an object`}},
		{"P-16: missing required", object, `{}`, []string{`missing required property "text"`}},
		{"required and present", object, `{"text":""}`, nil},
		{"required is about the key, not the value", `{"type":"object","properties":{"a":{}},"required":["a"]}`, `{"a":null}`, nil},
		{"defaults are never applied", `{"type":"object","properties":{"a":{"type":"string","default":"x"}},"required":["a"]}`, `{}`, []string{`missing required property "a"`}},
		{"a repeated required is told once", `{"type":"object","properties":{"a":{}},"required":["a","a"]}`, `{}`, []string{`missing required property "a"`}},
		{"extra keys are allowed", object, `{"text":"t","extra":{"deep":[1]},"n":1}`, nil},
		{"an optional property may be absent, not wrong", object, `{"text":"t","n":null}`, []string{`"n" must be an integer`}},
		{"additionalProperties true", `{"type":"object","additionalProperties":true}`, `{"x":1}`, nil},
		{"additionalProperties false", closed, `{"a":1}`, nil},
		{"additionalProperties false", closed, `{"b":1,"a":2,"c":3}`, []string{
			`"b" is not a declared property (additionalProperties: false)`,
			`"c" is not a declared property (additionalProperties: false)`,
		}},
		{"additionalProperties false without properties", `{"type":"object","additionalProperties":false}`, `{"b":1}`, []string{`"b" is not a declared property (additionalProperties: false)`}},
		{"escaped names are the same names", closed, `{"\u0061":1}`, nil},
		{"escaped names are the same names", `{"type":"object","properties":{"\"\n":{"type":"null"}},"required":["\"\n"],"additionalProperties":false}`, `{"\u0022\u000a":null}`, nil},
		{"a key of every object in JavaScript is an ordinary one", `{"type":"object","properties":{"__proto__":{"type":"string"}},"required":["__proto__"]}`, `{}`, []string{`missing required property "__proto__"`}},

		{"array", `{"type":"array"}`, `[1,"a",{}]`, nil},
		{"array", `{"type":"array"}`, `{}`, []string{`"arguments" must be an array`}},
		{"array items", `{"type":"array","items":{"type":"string"}}`, `[]`, nil},
		{"array items", `{"type":"array","items":{"type":"string"}}`, `["a",1,"b",null]`, []string{`"[1]" must be a string`, `"[3]" must be a string`}},

		{"paths", nested, `{"a":{"b":[{"c":"x"}]}}`, nil},
		{"paths", nested, `{"a":{"b":[{"c":"x"},{"c":1},{},{"c":"y","d":1}]}}`, []string{
			`"a.b[1].c" must be a string`,
			`missing required property "a.b[2].c"`,
			`"a.b[3].d" is not a declared property (additionalProperties: false)`,
		}},
		{"paths", nested, `{"a":{"b":{}}}`, []string{`"a.b" must be an array`}},
		{"paths", nested, `{"a":{}}`, []string{`missing required property "a.b"`}},

		{"string", `{"type":"string"}`, `""`, nil},
		{"string", `{"type":"string"}`, `1`, []string{`"arguments" must be a string`}},
		{"boolean", `{"type":"boolean"}`, `true`, nil},
		{"boolean", `{"type":"boolean"}`, `false`, nil},
		{"boolean", `{"type":"boolean"}`, `"true"`, []string{`"arguments" must be a boolean`}},
		{"null", `{"type":"null"}`, `null`, nil},
		{"null", `{"type":"null"}`, `false`, []string{`"arguments" must be null`}},

		{"number", `{"type":"number"}`, `1.5e300`, nil},
		{"number", `{"type":"number"}`, `"1"`, []string{`"arguments" must be a number`}},
		{"number: Z-11 keeps -0", `{"type":"number"}`, `-0`, nil},
		{"number beyond float64", `{"type":"number"}`, `1e400`, []string{`"arguments" must be a finite JSON number`}},
		{"number beyond float64", `{"type":"number"}`, `-1e400`, []string{`"arguments" must be a finite JSON number`}},
		{"number at the edge", `{"type":"number"}`, `1.7976931348623157e308`, nil},
		{"number at the edge", `{"type":"number"}`, `1.7976931348623159e308`, []string{`"arguments" must be a finite JSON number`}},
		{"number below the smallest", `{"type":"number"}`, `1e-400`, nil},
		{"number with an absurd exponent", `{"type":"number"}`, `1e999999999999999999999`, []string{`"arguments" must be a finite JSON number`}},
		{"zero with an absurd exponent", `{"type":"number"}`, `0e999999999999999999999`, nil},

		{"integer", `{"type":"integer"}`, `12`, nil},
		{"integer", `{"type":"integer"}`, `-9007199254740993`, nil},
		{"integer of 40 digits", `{"type":"integer"}`, `1234567890123456789012345678901234567890`, nil},
		{"integer: 1.0 is one", `{"type":"integer"}`, `1.0`, nil},
		{"integer: 1.50e2 is one", `{"type":"integer"}`, `1.50e2`, nil},
		{"integer: 100e-2 is one", `{"type":"integer"}`, `100e-2`, nil},
		{"integer: -0.0 is one", `{"type":"integer"}`, `-0.0`, nil},
		{"integer: 1.5 is not", `{"type":"integer"}`, `1.5`, []string{`"arguments" must be an integer`}},
		{"integer: a fraction that float64 loses", `{"type":"integer"}`, `9007199254740993.5`, []string{`"arguments" must be an integer`}},
		{"integer: 1e-400 does not underflow to 0", `{"type":"integer"}`, `1e-400`, []string{`"arguments" must be an integer`}},
		{"integer beyond float64", `{"type":"integer"}`, `1e400`, []string{`"arguments" must be an integer`}},
		{"integer beyond float64, spelled out", `{"type":"integer"}`, "1" + strings.Repeat("0", 400), []string{`"arguments" must be an integer`}},
		{"integer", `{"type":"integer"}`, `"1"`, []string{`"arguments" must be an integer`}},

		{"enum", `{"type":"string","enum":["a","b c"]}`, `"b c"`, nil},
		{"enum", `{"type":"string","enum":["a","b c"]}`, `"c"`, []string{`"arguments" must be one of ["a","b c"]`}},
		{"enum prints compact", `{"type":"string","enum":[ "a", "\u0062" ]}`, `"c"`, []string{`"arguments" must be one of ["a","b"]`}},
		{"enum: escapes do not matter", `{"type":"string","enum":["é\n"]}`, `"\u00e9\u000A"`, nil},
		{"enum: escapes do not matter", `{"type":"string","enum":["a/b"]}`, `"a\/b"`, nil},
		{"enum is after the type", `{"type":"string","enum":["1"]}`, `1`, []string{`"arguments" must be a string`}},
		{"enum of numbers: 1 is 1.0", `{"type":"number","enum":[0,1]}`, `1.0`, nil},
		{"enum of numbers: 1 is 10e-1", `{"type":"integer","enum":[0,1]}`, `10e-1`, nil},
		{"enum of numbers: -0 is 0", `{"type":"number","enum":[0]}`, `-0`, nil},
		{"enum of numbers: -1 is not 1", `{"type":"number","enum":[1]}`, `-1`, []string{`"arguments" must be one of [1]`}},
		{"enum of numbers is exact", `{"type":"integer","enum":[9007199254740992]}`, `9007199254740993`, []string{`"arguments" must be one of [9007199254740992]`}},
		{"enum of numbers is exact", `{"type":"number","enum":[0.1]}`, `0.1000000000000000055511151231257827`, []string{`"arguments" must be one of [0.1]`}},
		{"enum of numbers keeps its digits", `{"type":"number","enum":[1.0,2E1]}`, `3`, []string{`"arguments" must be one of [1.0,2E1]`}},
		{"enum of booleans", `{"type":"boolean","enum":[true]}`, `false`, []string{`"arguments" must be one of [true]`}},
		{"enum of null", `{"type":"null","enum":[null]}`, `null`, nil},

		{"const", `{"type":"string","const":"a\"b"}`, `"a\"b"`, nil},
		{"const", `{"type":"string","const":"a\"b"}`, `"x"`, []string{`"arguments" must be "a\"b"`}},
		{"const", `{"type":"integer","const":7}`, `7.0`, nil},
		{"const", `{"type":"boolean","const":false}`, `true`, []string{`"arguments" must be false`}},
		{"const beside enum: the enum is told", `{"type":"string","enum":["a","b"],"const":"a"}`, `"c"`, []string{`"arguments" must be one of ["a","b"]`}},
		{"const beside enum", `{"type":"string","enum":["a","b"],"const":"a"}`, `"b"`, []string{`"arguments" must be "a"`}},

		{"oneOf", `{"oneOf":[{"type":"string"},{"type":"null"}]}`, `null`, nil},
		{"oneOf none", `{"oneOf":[{"type":"string"},{"type":"null"}]}`, `1`, []string{`"arguments" must match exactly one oneOf branch (matched 0)`}},
		{"oneOf two", `{"oneOf":[{"type":"integer"},{"type":"number"},{"type":"null"}]}`, `1`, []string{`"arguments" must match exactly one oneOf branch (matched 2)`}},
		{"oneOf one of overlapping", `{"oneOf":[{"type":"integer"},{"type":"number"}]}`, `1.5`, nil},
		{"oneOf of objects", `{"oneOf":[{"type":"object","properties":{"a":{}},"required":["a"]},{"type":"object","properties":{"b":{}},"required":["b"]}]}`, `{"b":1}`, nil},
		{"oneOf nested", `{"type":"array","items":{"oneOf":[{"oneOf":[{"type":"string"},{"type":"null"}]},{"type":"boolean"}]}}`, `["a",null,true,1]`, []string{`"[3]" must match exactly one oneOf branch (matched 0)`}},

		{"order: required, then properties, then undeclared",
			`{"type":"object","properties":{"a":{"type":"string"},"b":{"type":"string"},"c":{},"d":{}},"required":["d","c"],"additionalProperties":false}`,
			`{"z":0,"b":1,"y":0,"a":2}`, []string{
				`missing required property "d"`, `missing required property "c"`,
				`"a" must be a string`, `"b" must be a string`,
				`"z" is not a declared property (additionalProperties: false)`,
				`"y" is not a declared property (additionalProperties: false)`,
			}},

		// Broken text is not promised to be found out; where it is, it reads so.
		{"not JSON", `{"type":"object"}`, ``, []string{`"arguments" must be a lossless JSON value`}},
		{"not JSON", `{"type":"object"}`, `{`, []string{`"arguments" must be a lossless JSON value`}},
		{"not JSON", `{"type":"array","items":{"type":"null"}}`, `[null`, []string{`"arguments" must be a lossless JSON value`}},
		{"not JSON", `{"type":"object","properties":{"a":{"type":"object"}}}`, `{"a":{}`, []string{`"arguments" must be a lossless JSON value`}},
		{"not JSON without loss", object, `{"text":1,"text":2}`, []string{`"arguments" must be a lossless JSON value`}},
		{"not JSON", `{"type":"object"}`, `{} x`, []string{`"arguments" must be a lossless JSON value`}},
		{"white space around", `{"type":"array","items":{"type":"integer"}}`, " [ 1 , 2 ] \n", nil},
	} {
		s := mustParse(t, messages.JSON(c.schema))
		got := s.Validate(Arguments, messages.JSON(c.value))
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s: %s validates %s (-want +got):\n%s", c.rule, c.schema, c.value, diff)
		}
		if s.Conforms(messages.JSON(c.value)) != (len(c.want) == 0) {
			t.Errorf("%s: %s: Conforms(%s) disagrees with Validate", c.rule, c.schema, c.value)
		}
	}
}

// P-18: values are rooted at "value".
func TestValidateValueRoot(t *testing.T) {
	for _, c := range []struct{ schema, value, want string }{
		{`{"type":"string"}`, `1`, `"value" must be a string`},
		{`{"type":"object","properties":{"a":{"type":"array","items":{"type":"null"}}}}`, `{"a":[null,1]}`, `"value.a[1]" must be null`},
		{`{"type":"object","properties":{"a":{}},"required":["a"]}`, `{}`, `missing required property "value.a"`},
		{`{"type":"object","additionalProperties":false}`, `{"a":1}`, `"value.a" is not a declared property (additionalProperties: false)`},
		{`{"type":"array","items":{"oneOf":[{},{}]}}`, `[1]`, `"value[0]" must match exactly one oneOf branch (matched 2)`},
	} {
		got := mustParse(t, messages.JSON(c.schema)).Validate(Value, messages.JSON(c.value))
		if diff := cmp.Diff([]string{c.want}, got); diff != "" {
			t.Errorf("%s validates %s (-want +got):\n%s", c.schema, c.value, diff)
		}
	}
}

// P-16: the texts join into one message.
func TestValidateJoins(t *testing.T) {
	s := mustParse(t, `{"type":"object","properties":{"a":{"type":"string"},"b":{"type":"boolean"}},"required":["a","b"]}`)
	got := "invalid arguments: " + strings.Join(s.Validate(Arguments, `{"b":1}`), "; ")
	if want := `invalid arguments: missing required property "a"; "b" must be a boolean`; got != want {
		t.Fatalf("got %s, want %s", got, want)
	}
}

// More than 64 required properties, given in reverse.
func TestValidateWideObject(t *testing.T) {
	var props, names, members []string
	for i := range 200 {
		props = append(props, fmt.Sprintf(`"p%d":{"type":"integer"}`, i))
		names = append(names, fmt.Sprintf(`"p%d"`, i))
		members = append([]string{fmt.Sprintf(`"p%d":%d`, i, i)}, members...)
	}
	s := mustParse(t, messages.JSON(`{"type":"object","properties":{`+strings.Join(props, ",")+`},"required":[`+strings.Join(names, ",")+`]}`))
	if got := s.Validate(Arguments, messages.JSON(`{`+strings.Join(members, ",")+`}`)); got != nil {
		t.Errorf("complete object: %v", got)
	}
	got := s.Validate(Arguments, messages.JSON(`{`+strings.Join(append(members[:7:7], members[8:]...), ",")+`}`))
	if diff := cmp.Diff([]string{`missing required property "p192"`}, got); diff != "" {
		t.Errorf("one missing (-want +got):\n%s", diff)
	}
}

// A schema is used by all sessions at once.
func TestValidateConcurrently(t *testing.T) {
	s := mustParse(t, `{"type":"object","properties":{"a":{"oneOf":[{"type":"string"},{"type":"array","items":{"type":"integer"}}]}},"required":["a"]}`)
	var wg sync.WaitGroup
	for g := range 8 {
		wg.Go(func() {
			for i := range 200 {
				good := messages.JSON(fmt.Sprintf(`{"a":[%d,%d]}`, g, i))
				bad := messages.JSON(fmt.Sprintf(`{"a":[%d.5]}`, i))
				if v := s.Validate(Arguments, good); v != nil {
					t.Errorf("%s: %v", good, v)
				}
				if v := s.Validate(Arguments, bad); len(v) != 1 {
					t.Errorf("%s: %v", bad, v)
				}
			}
		})
	}
	wg.Wait()
}

// A value that conforms costs no allocation (P-36 on the hot path).
func TestValidateAllocations(t *testing.T) {
	s := mustParse(t, benchSchema)
	if n := testing.AllocsPerRun(200, func() {
		if s.Validate(Arguments, benchValue) != nil {
			t.Error("the value does not conform")
		}
	}); n >= 1 && !raceEnabled {
		t.Errorf("%v allocations, want none", n)
	}
}

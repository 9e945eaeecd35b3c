package schema

import (
	"errors"
	"strings"
	"testing"

	"github.com/dsh-actor/dsh-actor/messages"
)

// P-36: what the subset has.
func TestParseAccepts(t *testing.T) {
	for _, text := range []messages.JSON{
		`{}`,
		`{"description":"anything"}`,
		`{"title":"t","description":"d","default":{"a":[1]},"examples":[1,"two"]}`,
		`{"type":"object"}`,
		`{"type":"object","properties":{}}`,
		`{"type":"object","properties":{"a":{"type":"string"},"b":{}},"required":["a"]}`,
		`{"type":"object","properties":{"a":{}},"required":[],"additionalProperties":false}`,
		`{"type":"object","properties":{"a":{}},"required":["a","a"],"additionalProperties":true}`,
		`{"type":"object","properties":{"__proto__":{"type":"null"}},"required":["__proto__"]}`,
		`{"type":"array"}`,
		`{"type":"array","items":{"type":"array","items":{"type":"integer"}}}`,
		`{"type":"string","enum":["a"],"const":"a"}`,
		`{"type":"string","enum":["a","a"]}`,
		`{"type":"number","enum":[1,2.50,-0,9007199254740993]}`,
		`{"type":"integer","enum":[1.0,2e3],"const":1}`,
		`{"type":"boolean","const":false}`,
		`{"type":"null","enum":[null],"const":null}`,
		`{"oneOf":[{"type":"string"},{"type":"null"}],"description":"d","title":"t","default":null,"examples":[]}`,
		`{"oneOf":[{},{"oneOf":[{},{}]},{"type":"null"}]}`,
	} {
		s, err := Parse(text)
		if err != nil {
			t.Errorf("Parse(%s): %v", text, err)
			continue
		}
		if s.JSON() != text {
			t.Errorf("Parse(%s).JSON() = %s", text, s.JSON())
		}
		if s.ByConstruction() {
			t.Errorf("Parse(%s).ByConstruction() = true; no Go type stands behind it", text)
		}
	}
}

// The text for the model is compact, keeps order and digits, and parses to
// itself.
func TestParseCanonicalText(t *testing.T) {
	s, err := Parse(" {\n\t\"type\" : \"object\", \"properties\": { \"z\": {\"type\":\"integer\", \"enum\":[1.50e1, 10000000000000000000001]},\r\n \"a\\u0062\": {} } } ")
	if err != nil {
		t.Fatal(err)
	}
	want := messages.JSON(`{"type":"object","properties":{"z":{"type":"integer","enum":[1.50e1,10000000000000000000001]},"ab":{}}}`)
	if s.JSON() != want {
		t.Fatalf("JSON() = %s, want %s", s.JSON(), want)
	}
	again, err := Parse(s.JSON())
	if err != nil || again.JSON() != want {
		t.Fatalf("parsing the text again gives %v, %v", again, err)
	}
}

// P-36: anything else is refused, with the place and the reason.
func TestParseRefuses(t *testing.T) {
	for _, c := range []struct{ text, why string }{
		{`true`, `at the root: a schema must be an object`},
		{`[]`, `at the root: a schema must be an object`},
		{`{"type":["string","null"]}`, `at /type: must be one type, as a string`},
		{`{"type":null}`, `at /type: must be one type, as a string`},
		{`{"type":"text"}`, `at /type: unknown type "text"`},
		{`{"type":"string","oneOf":[{},{}]}`, `at the root: type and oneOf exclude each other`},
		// keywords outside the subset
		{`{"$schema":"https://json-schema.org/draft/2020-12/schema"}`, `at /$schema: unknown keyword`},
		{`{"type":"string","pattern":"^a"}`, `at /pattern: unknown keyword`},
		{`{"type":"string","minLength":1,"format":"date"}`, `at /minLength: unknown keyword; at /format: unknown keyword`},
		{`{"anyOf":[{},{}]}`, `at /anyOf: unknown keyword`},
		{`{"$ref":"#"}`, `at /$ref: unknown keyword`},
		{`{"type":"string","nullable":true}`, `at /nullable: unknown keyword`},
		// keywords of the subset in the wrong place
		{`{"enum":["a"]}`, `at /enum: needs a type beside it`},
		{`{"properties":{}}`, `at /properties: needs a type beside it`},
		{`{"type":"string","properties":{}}`, `at /properties: does not apply to this type`},
		{`{"type":"object","items":{}}`, `at /items: does not apply to this type`},
		{`{"type":"object","enum":[{}]}`, `at /enum: does not apply to this type`},
		{`{"type":"array","const":[]}`, `at /const: does not apply to this type`},
		{`{"oneOf":[{},{}],"enum":[1]}`, `at /enum: only annotations may stand beside oneOf`},
		{`{"oneOf":[{},{}],"properties":{}}`, `at /properties: only annotations may stand beside oneOf`},
		// object
		{`{"type":"object","properties":[]}`, `at /properties: must be an object of schemas`},
		{`{"type":"object","properties":{"a":true}}`, `at /properties/a: a schema must be an object`},
		{`{"type":"object","required":"a"}`, `at /required: must be an array of property names`},
		{`{"type":"object","required":["a"]}`, `at /required/0: "a" is not in properties`},
		{`{"type":"object","properties":{"a":{}},"required":["a",1]}`, `at /required/1: must be a property name`},
		{`{"type":"object","additionalProperties":{}}`, `at /additionalProperties: must be a boolean`},
		{`{"type":"object","properties":{"a/b~":{"type":"x"}}}`, `at /properties/a~1b~0/type: unknown type "x"`},
		// array
		{`{"type":"array","items":[{}]}`, `at /items: a schema must be an object`},
		{`{"type":"array","items":false}`, `at /items: a schema must be an object`},
		// enum and const
		{`{"type":"string","enum":[]}`, `at /enum: must not be empty`},
		{`{"type":"string","enum":"a"}`, `at /enum: must be an array of values`},
		{`{"type":"string","enum":["a",1]}`, `at /enum/1: is not a string`},
		{`{"type":"integer","enum":[1,1.5]}`, `at /enum/1: is not an integer`},
		{`{"type":"number","enum":[1e400]}`, `at /enum/0: is not a number`},
		{`{"type":"number","const":1e-9999999999999999999}`, `at /const: is too small to be compared`},
		{`{"type":"boolean","const":"true"}`, `at /const: is not a boolean`},
		{`{"type":"null","const":0}`, `at /const: is not null`},
		{`{"type":"string","enum":["a"],"const":"b"}`, `at /const: is not in enum`},
		// oneOf
		{`{"oneOf":{}}`, `at /oneOf: must be an array of schemas`},
		{`{"oneOf":[]}`, `at /oneOf: must have at least two branches`},
		{`{"oneOf":[{}]}`, `at /oneOf: must have at least two branches`},
		{`{"oneOf":[{},{"type":"integer","minimum":1}]}`, `at /oneOf/1/minimum: unknown keyword`},
		// annotations
		{`{"description":1}`, `at /description: must be a string`},
		{`{"title":null}`, `at /title: must be a string`},
		// several at once, in order
		{
			`{"type":"object","properties":{"a":{"type":"x"},"b":{"type":"array","items":{"not":{}}}},"required":["c"]}`,
			`at /properties/a/type: unknown type "x"; at /properties/b/items/not: unknown keyword; at /required/0: "c" is not in properties`,
		},
		// not JSON, or not without loss (Z-11)
		{``, `empty JSON text`},
		{`{"type":"string","type":"string"}`, `not losslessly representable JSON: `},
		{`{} {}`, `not losslessly representable JSON: more than one value`},
		{strings.Repeat(`{"type":"array","items":`, 600) + `{}` + strings.Repeat(`}`, 600), `not losslessly representable JSON: nested deeper than 512`},
	} {
		s, err := Parse(messages.JSON(c.text))
		if err == nil {
			t.Errorf("Parse(%s) accepted it as %s", c.text, s.JSON())
			continue
		}
		want := "unsupported JSON schema: " + c.why
		if strings.HasSuffix(c.why, ": ") { // the decoder's own words follow
			if !strings.HasPrefix(err.Error(), want) {
				t.Errorf("Parse(%s)\n got %v\nwant prefix %s", c.text, err, want)
			}
		} else if err.Error() != want {
			t.Errorf("Parse(%.200s)\n got %v\nwant %s", c.text, err, want)
		}
		var coded *messages.Error
		if !errors.As(err, &coded) || coded.Code != messages.CodeUnsupportedSchema || coded.Name != "JsonSchemaError" {
			t.Errorf("Parse(%s): error %#v has not the code UNSUPPORTED_SCHEMA", c.text, err)
		}
	}
}

package schema

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/dsh-actor/dsh-actor/messages"
)

var fuzzSchemas = []string{
	`{}`, `true`, `{"type":"object"}`, string(benchSchema),
	`{"type":"object","properties":{"a":{"type":"array","items":{"type":"integer"}},"b":{"oneOf":[{"type":"null"},{"type":"number","enum":[1,2.5e3]}]}},"required":["b","a"],"additionalProperties":false}`,
	`{"type":"string","enum":["a","\u00e9\n"],"const":"a"}`,
	`{"oneOf":[{"type":"object","properties":{"k":{"type":"string","const":"x"}},"required":["k"]},{"type":"object"}],"title":"t"}`,
	`{"type":"array","items":{"type":"array","items":{"type":"boolean","const":true}}}`,
	`{"type":"number","default":[1e999],"examples":{}}`,
	`{"type":"integer","enum":[]}`, `{"pattern":"x"}`, `{"type":"object","required":["a"]}`,
	`{"type":"number","const":1E-99999999999}`,
}

// FuzzParse: never panics, refuses exactly what lies outside P-36, and what it
// accepts has a text that parses to itself.
func FuzzParse(f *testing.F) {
	for _, s := range fuzzSchemas {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		s, err := Parse(messages.JSON(text))
		if err != nil {
			if !strings.HasPrefix(err.Error(), "unsupported JSON schema: ") || messages.CodeOf(err) != messages.CodeUnsupportedSchema {
				t.Fatalf("error %q of code %q", err, messages.CodeOf(err))
			}
		} else if again, err := Parse(s.JSON()); err != nil || again.JSON() != s.JSON() {
			t.Fatalf("the text of the schema is not stable: %s, %v", s.JSON(), err)
		}
		if messages.CheckJSON(messages.JSON(text)) != nil {
			if err == nil {
				t.Fatal("accepted a text that is not lossless JSON")
			}
			return
		}
		tree := parseTree(t, messages.JSON(text))
		if hugeExponent(tree) {
			return // out of the oracle's reach
		}
		if want := naiveSupported(tree); (err == nil) != want {
			t.Fatalf("%s: Parse says %v, the naive reading says supported=%v", text, err, want)
		}
	})
}

// FuzzValidate: never panics, also for text that is not JSON, and gives the
// same texts as the naive validator.
func FuzzValidate(f *testing.F) {
	values := []string{
		`null`, `{}`, `[]`, `"a"`, `"\u00e9\u000a"`, `1`, `-0`, `2500.0`, `1e400`, `9007199254740993`, string(benchValue),
		`{"a":[1,2.0,3.5],"b":1.0,"c":0}`, `{"b":null,"a":[]}`, `{"k":"x"}`, `{"\u006b":"x"}`, `[[true,false],[],1]`,
		`{"a":`, `[1 2]`, `{"a" 1}`, `"\"`, `{"a":1,"a":2}`, "\"\xff\"", `tru`, `{"b":1}}`, ` {"b" : 1 } `,
	}
	for _, s := range fuzzSchemas {
		for _, v := range values {
			f.Add(s, v)
		}
	}
	f.Fuzz(func(t *testing.T, schema, value string) {
		s, err := Parse(messages.JSON(schema))
		if err != nil {
			return
		}
		got := s.Validate(Arguments, messages.JSON(value))
		if messages.CheckJSON(messages.JSON(value)) != nil {
			return // safe to pass; that is all that is promised
		}
		st, vt := parseTree(t, s.JSON()), parseTree(t, messages.JSON(value))
		if hugeExponent(st) || hugeExponent(vt) {
			return
		}
		if diff := cmp.Diff(naiveValidate(st, vt, Arguments), got); diff != "" {
			t.Fatalf("%s validates %s (-naive +got):\n%s", s.JSON(), value, diff)
		}
		if diff := cmp.Diff(naiveValidate(st, vt, Value), s.Validate(Value, messages.JSON(value))); diff != "" {
			t.Fatalf("%s validates %s at value (-naive +got):\n%s", s.JSON(), value, diff)
		}
	})
}

package mcp

import (
	"strings"
	"testing"

	"github.com/dsh-actor/dsh-actor/messages"
)

func TestConfigIsChecked(t *testing.T) {
	for _, tc := range []struct {
		servers []Server
		want    string
	}{
		{[]Server{{Command: "x"}}, "without a name"},
		{[]Server{{Name: "a"}}, "neither"},
		{[]Server{{Name: "a", Command: "x", URL: "http://x"}}, "both"},
		{[]Server{{Name: "a", URL: "ftp://x"}}, "no http address"},
		{[]Server{{Name: "a", URL: "localhost:80"}}, "no http address"},
		{[]Server{{Name: "a.b", Command: "x"}, {Name: "a b", Command: "y"}}, "the same name"},
	} {
		if _, err := New(Config{Servers: tc.servers}); err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%+v: %v", tc.servers, err)
		}
	}
}

func TestNames(t *testing.T) {
	for _, tc := range []struct{ server, tool, want string }{
		{"srv", "echo", "mcp__srv__echo"},
		{"my-srv", "do-thing", "mcp__my-srv__do-thing"},
		{"my srv", "a.b/c", "mcp__my_srv__a_b_c"},
		{"日本", "x", "mcp____" + "__x"},
	} {
		if got := ToolName(tc.server, tc.tool); got != tc.want {
			t.Errorf("%q, %q: %q", tc.server, tc.tool, got)
		}
	}
	for name, want := range map[string][2]string{
		"mcp__srv__echo": {"srv", "echo"}, "mcp__s__a__b": {"s", "a__b"}, "mcp__srv": {}, "Bash": {}, "mcp____x": {}, "mcp__s__": {},
	} {
		server, tool, ok := SplitName(name)
		if ok != (want[0] != "") || ok && (server != want[0] || tool != want[1]) {
			t.Errorf("%q: %q, %q, %v", name, server, tool, ok)
		}
	}
}

// No schema makes us read anything.
func TestSchemaReadsNothing(t *testing.T) {
	for _, ref := range []string{"file:///etc/passwd", "http://127.0.0.1:1/schema.json", "other.json"} {
		if _, err := compileSchema(messages.JSON(`{"$ref":"` + ref + `"}`)); err == nil || !strings.Contains(err.Error(), "not read") {
			t.Errorf("%s: %v", ref, err)
		}
	}
	v, err := compileSchema(`{"$defs":{"n":{"type":"integer","multipleOf":0.1}},"properties":{"a":{"$ref":"#/$defs/n"}}}`)
	if err != nil {
		t.Fatal(err)
	}
	for args, ok := range map[messages.JSON]bool{`{"a":9007199254740993}`: true, `{"a":1.5}`: false, `{}`: true, `{"a":"1"}`: false} {
		if err := v.check(args); (err == nil) != ok {
			t.Errorf("%s: %v", args, err)
		}
	}
	var none *validator
	if err := none.check(`7`); err != nil {
		t.Errorf("without a schema: %v", err)
	}
}

func TestCut(t *testing.T) {
	long := strings.Repeat("ü", maxText+5)
	if got := cut(long); !strings.HasSuffix(got, "ü\n[5 more characters were cut]") {
		t.Errorf("...%q", got[len(got)-40:])
	}
	if got := cut(long[:2*maxText]); got != long[:2*maxText] {
		t.Error("a text of just the length was cut")
	}
}

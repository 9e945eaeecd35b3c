package wire

import (
	"fmt"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"pgregory.net/rapid"

	"github.com/dsh-actor/dsh-actor/messages"
)

func TestBody(t *testing.T) {
	extra, err := ParseExtra(`{"x": [1, 2], "y": {"z": "é"}}`)
	if err != nil {
		t.Fatal(err)
	}
	w := NewBody(0)
	w.Open('{')
	w.Text("a", "q\"\n\u2028\xff")
	w.Int("n", -3)
	w.Bool("b", true)
	w.Key("l")
	w.Open('[')
	w.Item()
	w.String("one")
	w.Item()
	w.Open('{')
	w.Close('}')
	w.Item()
	w.Raw("1.50")
	w.Close(']')
	w.Extra(extra)
	w.Extra(Extra{})
	w.Strings("none", messages.List[string]{})
	w.Strings("s", messages.ListOf("a", "b"))
	w.Close('}')
	const want = "{\"a\":\"q\\\"\\n\u2028\ufffd\",\"n\":-3,\"b\":true,\"l\":[\"one\",{},1.50],\"x\":[1,2],\"y\":{\"z\":\"é\"},\"s\":[\"a\",\"b\"]}"
	if got := string(w.Bytes()); got != want || !jsontext.Value(got).IsValid() {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if !extra.Has("x") || extra.Has("z") || (Extra{}).Has("x") {
		t.Error("Has")
	}
}

func TestParseExtra(t *testing.T) {
	for _, c := range []struct {
		object messages.JSON
		want   string // of the error
	}{
		{"", ""},
		{"{}", ""},
		{`{"b":1}`, ""},
		{`{"a":1}`, `"a" is the adapter's own`},
		{`[]`, "must be an object"},
		{`null`, "must be an object"},
		{`{"b":1,"b":2}`, "duplicate"},
		{`{`, "EOF"},
	} {
		_, err := ParseExtra(c.object, "a")
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", c.object, err)
		}
	}
}

func TestRaw(t *testing.T) {
	for text, want := range map[string][2]bool{
		`{}`: {true, false}, ` {"a":1} `: {true, false}, `{"a":1,"a":2}`: {}, `{"a":}`: {}, `[]`: {}, ``: {}, `{} {}`: {},
		`1`: {false, true}, `-0.5e3`: {false, true}, `1 1`: {}, `01`: {}, `"1"`: {}, `NaN`: {},
	} {
		if got := [2]bool{IsObject(text), IsNumber(text)}; got != want {
			t.Errorf("%q: %v, want %v", text, got, want)
		}
	}
}

func TestCallIDs(t *testing.T) {
	ids := NewCallIDs(8)
	for _, c := range []struct {
		result bool
		id     messages.CallID
		want   string
	}{
		{false, "a", "a"},
		{true, "a", "a"},
		{false, "a", "a_2"}, // models repeat ids
		{true, "a", "a_2"},
		{false, "a", "a_3"},
		{false, "a_2", "a_2_2"},
		{false, "f.B:0", "f_B_0"},
		{false, "f_B_0", "f_B_0_2"},
		{true, "f.B:0", "f_B_0"},
		{true, "f_B_0", "f_B_0_2"},
		{false, "", "call"},
		{false, "", "call_2"},
		{true, "", "call_2"},
		{false, "0123456789", "01234567"},
		{false, "0123456789x", "012345_2"},
		{false, "é", "_"},
		{true, "unknown!", "unknown_"},
	} {
		got := ""
		if c.result {
			got = ids.Result(c.id)
		} else {
			got = ids.Call(c.id)
		}
		if got != c.want {
			t.Errorf("%+v: %q", c, got)
		}
	}
}

// No two calls have one id, ids are what providers accept, and one that is fine
// and new is kept.
func TestCallIDsProperty(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		calls := rapid.SliceOf(rapid.StringMatching(`[ab_.2é]{0,9}`)).Draw(t, "ids")
		ids, seen := NewCallIDs(6), map[string]bool{}
		for _, id := range calls {
			got := ids.Call(messages.CallID(id))
			if seen[got] || got == "" || len(got) > 6 || strings.Trim(got, "abcl_0123456789") != "" {
				t.Fatalf("%q became %q, seen %v", id, got, seen)
			}
			if plain := strings.Trim(id, "ab_2") == "" && id != "" && len(id) <= 6; plain && !seen[id] && got != id {
				t.Fatalf("%q became %q", id, got)
			}
			if ids.Result(messages.CallID(id)) != got {
				t.Fatalf("the result of %q has another id", id)
			}
			seen[got] = true
		}
	})
}

// Ids that are always the same cost the same.
func BenchmarkCallIDs(b *testing.B) {
	for _, n := range []int{100, 10_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			for b.Loop() {
				ids := NewCallIDs(64)
				for range n {
					ids.Call("functions.Bash:0")
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*n), "ns/call")
		})
	}
}

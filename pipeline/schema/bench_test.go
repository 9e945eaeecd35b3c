package schema

import (
	"testing"

	"github.com/dsh-actor/dsh-actor/messages"
)

const (
	benchSchema = messages.JSON(`{"type":"object","properties":{"path":{"type":"string","description":"where"},"mode":{"type":"string","enum":["read","write"]},"limit":{"type":"integer"},"all":{"type":"boolean"}},"required":["path","mode"]}`)
	// 100 bytes.
	benchValue = messages.JSON(`{"path":"/home/me/project/internal/server/handler_test.go","mode":"write","limit":2000,"all":false} `)
)

func BenchmarkValidate(b *testing.B) {
	if len(benchValue) != 100 {
		b.Fatalf("the value has %d bytes", len(benchValue))
	}
	const nested = messages.JSON(`{"type":"object","properties":{"edits":{"type":"array","items":{"type":"object","properties":{"old":{"type":"string"},"new":{"type":"string"}},"required":["old","new"]}},"path":{"oneOf":[{"type":"string"},{"type":"null"}]}},"required":["edits"]}`)
	for _, c := range []struct {
		name          string
		schema, value messages.JSON
	}{
		{"flat100", benchSchema, benchValue},
		{"reversed", benchSchema, `{"all":false,"limit":2000,"mode":"write","path":"/home/me/project/internal/server/handler_test.go"}`},
		{"violation", benchSchema, `{"path":"/home/me/project","mode":"append","limit":2000,"all":false}`},
		{"nested", nested, `{"edits":[{"old":"a","new":"b"},{"old":"c","new":"d"}],"path":null}`},
		{"any", `{}`, benchValue},
	} {
		b.Run(c.name, func(b *testing.B) {
			s := mustParse(b, c.schema)
			b.ReportAllocs()
			b.SetBytes(int64(len(c.value)))
			for b.Loop() {
				s.Validate(Arguments, c.value)
			}
		})
	}
}

func BenchmarkParse(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Parse(benchSchema); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkFor(b *testing.B) {
	type args struct {
		Path  string   `json:"path" description:"where"`
		Mode  string   `json:"mode" enum:"read,write"`
		Limit int      `json:"limit,omitzero"`
		Tags  []string `json:"tags,omitempty"`
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := For[args](); err != nil {
			b.Fatal(err)
		}
	}
}

package scripted

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/dsh-actor/dsh-actor/messages"
	"github.com/dsh-actor/dsh-actor/model"
	"github.com/dsh-actor/dsh-actor/model/modeltest"
)

// A file is either a script whose every answer is a well-formed stream, or one
// error with a position.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		everything, everythingJSON, sections, "", "{", "turns: [{text: a}]", "turns: &t [*t]",
		"turns:\n- error: {message: a, times: 1}\n  text: '{{prompt}} {{lastToolResult}}'\n  chunks: 3\n",
		"a: &a [x]\nb: &b [*a, *a]\nturns: [{tools: [{name: A, input: {x: *b}}]}]", "--- !x\n? |\n  a\n: - b\n...",
		`{"turns":[{"tools":[{"name":"A","arguments":"{{prompt}}"}],"finish":"max-tokens","text":"\u0000"}]}`,
	} {
		f.Add("a.yaml", []byte(seed))
		f.Add("a.json", []byte(seed))
	}
	files, err := filepath.Glob("../../examples/*.yaml")
	if err != nil {
		f.Fatal(err)
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(file, data)
	}
	ctx := context.Background()
	history := messages.ListOf(
		messages.Message{Role: messages.RoleUser, Content: messages.Text(`a "prompt" {{prompt}}`)},
		messages.Message{Role: messages.RoleUser, Content: messages.NewContent(messages.ToolResultBlock{Content: messages.Text("r\x00")})},
	)
	f.Fuzz(func(t *testing.T, name string, data []byte) {
		s, err := Parse(name, data)
		if err != nil {
			var at *ParseError
			if !errors.As(err, &at) || at.File != name || at.Line < 1 || at.Column < 1 || at.Message == "" {
				t.Fatalf("no position in %#v", err)
			}
			if s != nil {
				t.Fatal("a script and an error")
			}
			return
		}
		if s.Info().Model == "" || s.Info().Provider == "" || s.Len() == 0 {
			t.Fatalf("incomplete: %+v", s.Info())
		}
		for i, a := range append(s.answers, s.ended, s.unmatched) {
			for run := range min(a.repeat, 3) {
				req := model.Request{History: history, Turn: 1, Step: 1, Attempt: a.faultTimes}
				played := *a
				played.delay, played.pace, played.hang = 0, 0, false
				var got []messages.Chunk
				played.play(ctx, a.stream(req, run+1), req.Attempt, func(c messages.Chunk, err error) bool {
					if err != nil {
						if messages.CodeOf(err) == "" {
							t.Fatalf("answer %d: %#v is not a failure", i, err)
						}
						return false
					}
					got = append(got, c)
					return true
				})
				if err := modeltest.CheckChunks(got); err != nil {
					t.Fatalf("answer %d: %v", i, err)
				}
			}
		}
		k := newTalk(t, s)
		k.history = history
		s.pick(k.history)
	})
}

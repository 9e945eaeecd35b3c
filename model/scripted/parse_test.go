package scripted

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/dsh-actor/dsh-actor/messages"
)

const everything = `
# A comment.
name: all
description: Every key there is.
prompt: Go!
provider: p
model: m
then: repeat-last
turns:
  - reasoning: Let me see.
    text: |
      Two
      lines
    tools:
      - name: Bash
        id: call-x
        input: {command: "ls -l", timeout: 5000, n: 9007199254740993, f: -0, e: 1e400, b: True, z: null, at: 2026-01-01, "yes": no, list: [1, {a: "\u00e9\U0001F600"}]}
      - name: Read
        arguments: '{"file_path": '
      - name: Glob
    finish: stop
    usage: {inputTokens: 1, outputTokens: 2, cacheReadTokens: 3, cacheWriteTokens: 4, reasoningTokens: 5}
    chunks: 3
    delay: 200ms
    pace: 1.5s
    repeat: 2
  - match: (?i)help
    error: {message: no, code: OVERLOADED, status: 529, retryAfter: 2s, times: 3, after: 1}
    text: yes
  - match: stop
    error: short
  - match: hang
    hang: true
`

const everythingJSON = `{
	"name": "all", "description": "Every key there is.", "prompt": "Go!", "provider": "p", "model": "m", "then": "repeat-last",
	"turns": [
		{
			"reasoning": "Let me see.", "text": "Two\nlines\n",
			"tools": [
				{"name": "Bash", "id": "call-x", "input": {"command": "ls -l", "timeout": 5000, "n": 9007199254740993, "f": -0, "e": 1e400,
					"b": true, "z": null, "at": "2026-01-01", "yes": "no", "list": [1, {"a": "\u00e9\ud83d\ude00"}]}},
				{"name": "Read", "arguments": "{\"file_path\": "},
				{"name": "Glob"}
			],
			"finish": "stop",
			"usage": {"inputTokens": 1, "outputTokens": 2, "cacheReadTokens": 3, "cacheWriteTokens": 4, "reasoningTokens": 5},
			"chunks": 3, "delay": "200ms", "pace": "1.5s", "repeat": 2
		},
		{"match": "(?i)help", "error": {"message": "no", "code": "OVERLOADED", "status": 529, "retryAfter": "2s", "times": 3, "after": 1}, "text": "yes"},
		{"match": "stop", "error": "short"},
		{"match": "hang", "hang": true}
	]
}
`

func TestDecodeEverything(t *testing.T) {
	want := []Answer{
		{
			Reasoning: "Let me see.", Text: "Two\nlines\n",
			Tools: []Tool{
				{Name: "Bash", ID: "call-x", Input: messages.JSON(
					`{"command":"ls -l","timeout":5000,"n":9007199254740993,"f":-0,"e":1e400,"b":true,"z":null,"at":"2026-01-01","yes":"no","list":[1,{"a":"é😀"}]}`)},
				{Name: "Read", Input: Raw(`{"file_path": `)},
				{Name: "Glob"},
			},
			Finish: "stop", Chunks: 3, Delay: 200 * time.Millisecond, Pace: 1500 * time.Millisecond, Repeat: 2,
			Usage: messages.Usage{InputTokens: 1, OutputTokens: 2, CacheReadTokens: 3, CacheWriteTokens: 4, ReasoningTokens: 5},
		},
		{
			Match: "(?i)help", Text: "yes",
			Error: Fault{Times: 3, After: 1, Failure: messages.Failure{Message: "no", Code: "OVERLOADED", Status: 529, ProviderRetryAfterMS: 2000}},
		},
		{Match: "stop", Error: Fault{Failure: messages.Failure{Message: "short"}}},
		{Match: "hang", Hang: true},
	}
	for name, text := range map[string]string{"x.yaml": everything, "x.json": everythingJSON, "stdin": everythingJSON} {
		t.Run(name, func(t *testing.T) {
			read := parseYAML
			if isJSON(name, []byte(text)) {
				read = parseJSON
			}
			root, bad := read([]byte(text))
			if bad != nil {
				t.Fatal(bad)
			}
			f, bad := decodeFile(root)
			if bad != nil {
				t.Fatal(bad)
			}
			if diff := cmp.Diff(want, f.answers); diff != "" {
				t.Errorf("answers (-want +got):\n%s", diff)
			}
			s := mustParse(t, name, text)
			if want := (Info{"all", "Every key there is.", "Go!", "p", "m"}); s.Info() != want || s.then != ThenRepeatLast {
				t.Errorf("got %+v and then %q", s.Info(), s.then)
			}
		})
	}
}

func TestDefaults(t *testing.T) {
	s := mustParse(t, filepath.Join("some", "dir", "greet.yaml"), "turns: [{text: Hi}]")
	if want := (Info{Name: "greet", Provider: "scripted", Model: "greet"}); s.Info() != want || s.then != ThenStop {
		t.Errorf("got %+v and then %q", s.Info(), s.then)
	}
	if got := mustParse(t, "-", "\ufeffturns: [{text: Hi}]").Info().Name; got != "-" {
		t.Errorf("name %q", got)
	}
}

// Anchors and aliases are plain YAML.
func TestAliases(t *testing.T) {
	s := mustParse(t, "x.yaml", "turns:\n  - tools: [&ls {name: Bash, input: {command: ls}}]\n  - tools: [*ls, *ls]\n")
	k := newTalk(t, s)
	k.prompt("go").answer()
	if got := k.answer().Content.ToolCalls(); len(got) != 2 || got[1].Arguments != `{"command":"ls"}` {
		t.Errorf("got %+v", got)
	}
}

// Every error says file, line and column, what is wrong and, for a key, what
// was probably meant.
func TestParseErrors(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		// The text as such.
		{"a.yaml", "", "a.yaml:1:1: the file is empty"},
		{"a.yaml", "# only a comment\n", "a.yaml:1:1: the file is empty"},
		{"a.json", " \n", "a.json:1:1: the file is empty"},
		{"a.yaml", "turns: [{text: a}\nname: b", "a.yaml:2:1: not valid YAML: while parsing a flow sequence: did not find expected ',' or ']'"},
		{"a.yaml", "turns:\n\t- text: a", "a.yaml:2:1: not valid YAML: while scanning for the next token: found character that cannot start any token"},
		{"a.yaml", "turns: *x", "a.yaml:1:8: not valid YAML: unknown anchor 'x' referenced"},
		{"a.yaml", "turns: [{text: a}]\n---\nturns: []", "a.yaml:2:1: a second document begins here: one file is one script"},
		{"a.yaml", "name: é\xff", "a.yaml:1:8: the file is not valid UTF-8"},
		{"a.yaml", "name: a\n  \x00", "a.yaml:2:3: the control character U+0000 must be written as an escape"},
		{"a.yaml", "name: a\nname: b", `a.yaml:2:1: the key "name" is there twice`},
		{"a.yaml", "? [a]\n: b", "a.yaml:1:3: a key must be a string"},
		{"a.yaml", "x: &x {a: b}\nturns: [{<<: *x}]", "a.yaml:2:10: merge keys (<<) are not supported"},
		{"a.yaml", "name: !!binary aGk=", "a.yaml:1:7: the tag !!binary is not supported"},
		{"a.yaml", "name: !env HOME", "a.yaml:1:7: the tag !env is not supported"},
		{"a.yaml", "turns: &t [*t]", "a.yaml:1:8: nested deeper than 512"},
		{"a.yaml", "turns: " + strings.Repeat("[", 600) + strings.Repeat("]", 600), "a.yaml:1:520: nested deeper than 512"},
		{"a.json", strings.Repeat("[", 600), "a.json:1:514: nested deeper than 512"},
		{"a.json", `{"turns": [`, "a.json:1:12: not valid JSON: the text ends too early"},
		{"a.json", "{\n \"é\": tru }", "a.json:2:10: not valid JSON: invalid character ' ' in literal true (expecting 'e')"},
		{"a.json", `{"name": "a", "name": "b"}`, `a.json:1:15: the key "name" is there twice`},
		{"a.json", "{} x", "a.json:1:4: not valid JSON: invalid character 'x' at start of value"},
		{"a.json", `{} {}`, "a.json:1:4: text after the script: one file is one script"},
		{"a.json", "{\"name\": \"\xff\"}", "a.json:1:11: not valid JSON: invalid UTF-8"},

		{"a.json", "{\"turns\": [{\"text\": \"é\", \"usage\": {\"inputTokens\": 1}},\n  {\"tools\": [{\"name\": \"A\"}] , \"txt\": 1}]}", `a.json:2:31: unknown key "txt" in an answer; did you mean "text"?`},
		{"a.json", `{"turns": [{"text": "a", "delay":5}]}`, "a.json:1:34: delay must be a duration such as 200ms or 1.5s, not a number (5)"},

		// The script.
		{"a.yaml", "- text: a", "a.yaml:1:1: a script must be an object, not a list"},
		{"a.json", `"text"`, `a.json:1:1: a script must be an object, not a string ("text")`},
		{"a.yaml", "name: a", "a.yaml:1:1: a script needs turns: the list of its answers"},
		{"a.yaml", "name: a\nturns: []", "a.yaml:2:8: a script needs at least one answer"},
		{"a.yaml", "turns:\n", "a.yaml:1:7: turns must be a list of answers, not nothing"},
		{"a.yaml", "turns: {text: a}", "a.yaml:1:8: turns must be a list of answers, not an object"},
		{"a.yaml", "trns: [{text: a}]", `a.yaml:1:1: unknown key "trns" in a script; did you mean "turns"?`},
		{"a.yaml", "Name: x", `a.yaml:1:1: unknown key "Name" in a script; did you mean "name"?`},
		{"a.yaml", "answers: []", `a.yaml:1:1: unknown key "answers" in a script; known keys are description, model, name, prompt, provider, then, turns`},
		{"a.yaml", "turns: [{text: a}]\nthen: never", `a.yaml:2:7: unknown then "never": want stop, repeat-last or loop`},
		{"a.yaml", "then: loop\nturns: [{text: a, match: b}]", "a.yaml:1:7: then loop needs a first answer without match"},
		{"a.yaml", "name: 5\nturns: [{text: a}]", "a.yaml:1:7: name must be a string, not a number (5): put it in quotes"},
		{"a.yaml", "prompt: ''\nturns: [{text: a}]", "a.yaml:1:9: prompt must not be empty: leave it out instead"},

		// An answer.
		{"a.yaml", "turns: [a]", `a.yaml:1:9: an answer must be an object, not a string ("a")`},
		{"a.yaml", "turns: [{}]", "a.yaml:1:9: an answer needs at least one of text, reasoning, tools, error and hang"},
		{"a.yaml", "turns:\n  - text: a\n  - hang: false", "a.yaml:3:5: an answer needs at least one of text, reasoning, tools, error and hang"},
		{"a.yaml", "turns: [{txt: a}]", `a.yaml:1:10: unknown key "txt" in an answer; did you mean "text"?`},
		{"a.yaml", "turns: [{tool: []}]", `a.yaml:1:10: unknown key "tool" in an answer; did you mean "tools"?`},
		{"a.yaml", "turns: [{retun: a}]", `a.yaml:1:10: unknown key "retun" in an answer; known keys are chunks, delay, error, finish, hang, match, pace, reasoning, repeat, text, tools, usage`},
		{"a.yaml", "turns: [{text: ''}]", "a.yaml:1:16: text must not be empty: leave it out instead"},
		{"a.yaml", "turns: [{text: true}]", "a.yaml:1:16: text must be a string, not a boolean (true): put it in quotes"},
		{"a.yaml", "turns: [{text: ~}]", "a.yaml:1:16: text must be a string, not nothing"},
		{"a.yaml", "turns: [{text: [a]}]", "a.yaml:1:16: text must be a string, not a list"},
		{"a.yaml", "turns: [{hang: yes}]", `a.yaml:1:16: hang must be true or false, not a string ("yes")`},
		{"a.yaml", "turns: [{text: a, chunks: 0}]", "a.yaml:1:27: chunks must be a whole number from 1 to 1048576, not 0"},
		{"a.yaml", "turns: [{text: a, chunks: 1.5}]", "a.yaml:1:27: chunks must be a whole number from 1 to 1048576, not 1.5"},
		{"a.yaml", "turns: [{text: a, repeat: '2'}]", `a.yaml:1:27: repeat must be a number, not a string ("2")`},
		{"a.yaml", "turns: [{text: a, delay: 5}]", "a.yaml:1:26: delay must be a duration such as 200ms or 1.5s, not a number (5)"},
		{"a.yaml", "turns: [{text: a, delay: soon}]", `a.yaml:1:26: delay must be a duration such as 200ms or 1.5s, not a string ("soon")`},
		{"a.yaml", "turns: [{text: a, pace: -1s}]", "a.yaml:1:25: pace must not be negative"},
		{"a.yaml", "turns: [{text: a, match: '('}]", "a.yaml:1:26: match: error parsing regexp: missing closing ): `(`"},
		{"a.yaml", "turns: [{text: a, finish: max_tokens}]", `a.yaml:1:27: unknown finish "max_tokens": want stop, tool-calls or max-tokens`},
		{"a.yaml", "turns: [{text: a, finish: error}]", `a.yaml:1:27: finish cannot be "error": give the answer an error`},
		{"a.yaml", "turns: [{tools: [{name: A}], finish: max-tokens}]", "a.yaml:1:38: finish max-tokens needs text or reasoning: tool calls of a cut answer are dropped"},
		{"a.yaml", "turns: [{hang: true, finish: stop}]", "a.yaml:1:30: an answer that hangs has no finish"},
		{"a.yaml", "turns: [{hang: true, usage: {inputTokens: 1}}]", "a.yaml:1:29: an answer that hangs has no usage"},
		{"a.yaml", "turns: [{text: a, usage: 5}]", "a.yaml:1:26: usage must be an object, not a number (5)"},
		{"a.yaml", "turns: [{text: a, usage: {input: 5}}]", `a.yaml:1:27: unknown key "input" in usage; did you mean "inputTokens"?`},
		{"a.yaml", "turns: [{text: a, usage: {inputTokens: -5}}]", "a.yaml:1:40: inputTokens must be a whole number from 0 to 9007199254740992, not -5"},

		// Tools.
		{"a.yaml", "turns: [{tools: Bash}]", `a.yaml:1:17: tools must be a list of tool calls, not a string ("Bash")`},
		{"a.yaml", "turns: [{tools: []}]", "a.yaml:1:9: an answer needs at least one of text, reasoning, tools, error and hang"},
		{"a.yaml", "turns: [{tools: [Bash]}]", `a.yaml:1:18: a tool call must be an object, not a string ("Bash")`},
		{"a.yaml", "turns: [{tools: [{input: {}}]}]", "a.yaml:1:18: a tool call needs a name"},
		{"a.yaml", "turns: [{tools: [{name: A, args: {}}]}]", `a.yaml:1:28: unknown key "args" in a tool call; known keys are arguments, id, input, name`},
		{"a.yaml", "turns: [{tools: [{name: A, input: ls}]}]", `a.yaml:1:35: input must be an object, not a string ("ls")`},
		{"a.yaml", "turns: [{tools: [{name: A, arguments: {}}]}]", "a.yaml:1:39: arguments must be a string, not an object"},
		{"a.yaml", "turns: [{tools: [{name: A, input: {}, arguments: ''}]}]", "a.yaml:1:50: a tool call has input or arguments, not both"},
		{"a.yaml", "turns: [{tools: [{name: A, id: x}, {name: B, id: x}]}]", `a.yaml:1:50: two calls of one answer have the id "x"`},
		{"a.yaml", "turns: [{tools: [{name: A, input: {n: 0x10}}]}]", "a.yaml:1:39: the number 0x10 is not spelled as in JSON: write it in decimal, or quote it to make it a string"},
		{"a.yaml", "turns: [{tools: [{name: A, input: {n: .nan}}]}]", "a.yaml:1:39: the number .nan is not spelled as in JSON: write it in decimal, or quote it to make it a string"},
		{"a.yaml", "turns: [{tools: [{name: A, input: {a: 1, a: 2}}]}]", `a.yaml:1:42: the key "a" is there twice`},

		// Errors.
		{"a.yaml", "turns: [{error: 5}]", "a.yaml:1:17: an error must be an object, not a number (5)"},
		{"a.yaml", "turns: [{error: ''}]", "a.yaml:1:17: error must not be empty: leave it out instead"},
		{"a.yaml", "turns: [{error: {code: A}}]", "a.yaml:1:17: an error needs a message"},
		{"a.yaml", "turns: [{error: {message: a, retry_after: 1s}}]", `a.yaml:1:30: unknown key "retry_after" in an error; did you mean "retryAfter"?`},
		{"a.yaml", "turns: [{error: {message: a, status: 5}}]", "a.yaml:1:38: status must be a whole number from 100 to 599, not 5"},
		{"a.yaml", "turns: [{error: a, text: b}]", "a.yaml:1:17: every attempt fails, so nothing else of the answer can come: give the error times or after"},
		{"a.yaml", "turns: [{error: {message: a, times: 2}}]", "a.yaml:1:37: with times the answer needs text, reasoning, tools or hang to go on with"},
		{"a.yaml", "turns: [{error: {message: a, after: 2}}]", "a.yaml:1:37: after needs text, reasoning or tools to take chunks from"},
		{"a.yaml", "turns: [{error: {message: a, after: 2}, text: b, hang: true}]", "a.yaml:1:56: every attempt fails, so the answer cannot hang: give the error times"},
	} {
		s, err := Parse(c.name, []byte(c.text))
		if err == nil {
			t.Errorf("%.60q was accepted: %+v", c.text, s.Info())
			continue
		}
		if err.Error() != c.want {
			t.Errorf("%.60q:\n got %s\nwant %s", c.text, err, c.want)
		}
		var at *ParseError
		if !errors.As(err, &at) || at.File != c.name || at.Line < 1 || at.Column < 1 {
			t.Errorf("%.60q: no position in %#v", c.text, err)
		}
	}
}

// Aliases of aliases do not make a small file large.
func TestAliasBomb(t *testing.T) {
	var b strings.Builder
	b.WriteString("a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n")
	for i := 1; i < 20; i++ {
		b.WriteString(strings.NewReplacer("N", string(rune('a'+i)), "P", string(rune('a'+i-1))).Replace("N: &N [*P, *P, *P, *P, *P, *P, *P, *P, *P, *P]\n"))
		if i == 1 {
			s := strings.ReplaceAll(b.String(), "*a,", "*a0,")
			b.Reset()
			b.WriteString(strings.ReplaceAll(s, "*a]", "*a0]"))
		}
	}
	_, err := Parse("bomb.yaml", []byte(b.String()))
	if err == nil || !strings.Contains(err.Error(), "more than 262144 values, aliases included") {
		t.Errorf("got %v", err)
	}
}

func TestLoad(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "greet.yaml")
	if err := os.WriteFile(path, []byte("turns: [{text: Hi}]"), 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := Load(path)
	if err != nil || s.Info().Name != "greet" {
		t.Errorf("got %v and %v", s, err)
	}
	_, err = Load(filepath.Join(dir, "missing.yaml"))
	if !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), "missing.yaml") {
		t.Errorf("missing file: %v", err)
	}
	if _, err = Load(dir); err == nil || !strings.Contains(err.Error(), filepath.Base(dir)) {
		t.Errorf("directory: %v", err)
	}
	if err := os.WriteFile(path, []byte("turns: [{txt: Hi}]"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err = Load(path); err == nil || !strings.HasPrefix(err.Error(), path+":1:10: ") {
		t.Errorf("bad file: %v", err)
	}
	if err := os.WriteFile(path, make([]byte, maxFile+1), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err = Load(path); err == nil || !strings.HasSuffix(err.Error(), "the file is larger than 16 MiB") {
		t.Errorf("large file: %v", err)
	}
}

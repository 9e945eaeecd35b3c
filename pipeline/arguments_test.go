package pipeline_test

import (
	"context"
	"strings"
	"testing"

	"github.com/dsh-actor/dsh-actor/messages"
	"github.com/dsh-actor/dsh-actor/pipeline"
)

// Z-11, P-6, T-20: what becomes of the model's text. Everybody reads the same.
func TestArguments(t *testing.T) {
	deep := func(n int) string { return strings.Repeat("[", n) + strings.Repeat("]", n) }
	const refused = "refused"
	tests := []struct {
		name, text, want string
	}{
		{"nothing", "", "{}"},
		{"an object", `{"a":1}`, `{"a":1}`},
		{"every digit", `{"n":9007199254740993,"z":-0,"x":1e400,"y":-1e-400,"t":1.50}`, `{"n":9007199254740993,"z":-0,"x":1e400,"y":-1e-400,"t":1.50}`},
		{"white space", " {\"a\" :\t1}\n", " {\"a\" :\t1}\n"},
		{"any value", `null`, `null`},
		{"not JSON", `ls -l`, `"ls -l"`},
		{"cut off", `{"a":`, `"{\"a\":"`},
		{"white space only", "  ", `"  "`},
		{"not JSON and not UTF-8", "ls \xff", `"ls ` + "\ufffd" + `"`},
		{"text behind the value", `{"a":1} and more`, `"{\"a\":1} and more"`},
		{"duplicate keys", `{"a":1,"a":2}`, refused},
		{"duplicate keys within", `[{"a":{"b":1,"\u0062":2}}]`, refused},
		{"invalid UTF-8", "{\"a\":\"\xff\"}", refused},
		{"a lone surrogate", `{"a":"\ud83d"}`, refused},
		{"two values", `{} {}`, refused},
		{"nested as deep as can be", deep(512), deep(512)},
		{"nested too deep", deep(513), refused},
		{"nested absurdly deep", deep(20000), refused},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			want := messages.JSON(tt.want)
			if tt.want == refused {
				want = ""
			}
			body := 0
			p := newPipeline(t, rawTool("T", func(_ context.Context, inv *pipeline.Invocation) (messages.JSON, error) {
				body++
				if got := inv.Call().Arguments(); got != want {
					t.Errorf("the body reads %.100s", got)
				}
				return "1", nil
			}))
			p.Seams().PreExecute.Use(func(ctx context.Context, c *pipeline.Call, next nextPre) (messages.PreToolDecision, error) {
				if c.Arguments() != want {
					t.Errorf("a listener reads %.100s", c.Arguments())
				}
				return next(ctx)
			})
			observed := 0
			p.Seams().Result.Use(func(_ context.Context, o pipeline.Outcome) {
				observed++
				if o.Call.Arguments() != want {
					t.Errorf("an observer reads %.100s", o.Call.Arguments())
				}
			})
			r := p.Execute(t.Context(), pipeline.Input{Name: "T", Arguments: tt.text})
			if tt.want == refused {
				outcomeOf(r).expect(t, failure("tool execution arguments must be losslessly JSON-serializable"))
			} else if r.IsError() {
				t.Error(r.Message())
			}
			if observed != 1 || (body == 0) != (tt.want == refused) {
				t.Errorf("observed %d times, body ran %d times", observed, body)
			}
		})
	}
}

type bashIn struct {
	Command string   `json:"command" description:"what to run"`
	Times   int8     `json:"times,omitzero"`
	Tags    []string `json:"tags,omitzero"`
}

// P-16: a typed tool's body is entered for valid arguments only; what is wrong is
// said in the words of P-36.
func TestInvalidArguments(t *testing.T) {
	tests := []struct {
		text, want string
	}{
		{`{"command":"ls"}`, ""},
		{`{"command":"ls","extra":{"any":1}}`, ""}, // extra keys are allowed
		{`{"command":"ls","times":3,"tags":["a","b"]}`, ""},
		{`{}`, `invalid arguments: missing required property "command"`},
		{``, `invalid arguments: missing required property "command"`},
		{`not json`, `invalid arguments: "arguments" must be an object`},
		{`null`, `invalid arguments: "arguments" must be an object`},
		{`[]`, `invalid arguments: "arguments" must be an object`},
		{`{"command":null}`, `invalid arguments: "command" must be a string`},
		{`{"times":"x","tags":["a",1]}`, `invalid arguments: missing required property "command"; "times" must be an integer; "tags[1]" must be a string`},
		{`{"command":"ls","times":1.5}`, `invalid arguments: "times" must be an integer`},
		{`{"command":"ls","times":300}`, `invalid arguments: "times": value out of range`}, // conforms, does not fit
	}
	for _, tt := range tests {
		t.Run(tt.text, func(t *testing.T) {
			entered := false
			p := newPipeline(t, pipeline.MustDefine(pipeline.Definition[bashIn, string]{
				Name: "Bash",
				Run: func(_ context.Context, _ *pipeline.Invocation, in bashIn) (string, error) {
					entered = true
					return in.Command, nil
				},
			}))
			p.Seams().Result.Use(func(_ context.Context, o pipeline.Outcome) {
				if c := o.Call; c.BodyInvoked() != (tt.want == "") || c.BodyFailed() { // Z-4: a body that did not run did not fail
					t.Errorf("invoked: %v, failed: %v", c.BodyInvoked(), c.BodyFailed())
				}
			})
			r := p.Execute(t.Context(), pipeline.Input{Name: "Bash", Arguments: tt.text})
			if tt.want == "" {
				outcomeOf(r).expect(t, outcome{Text: `"ls"`, Value: `"ls"`})
			} else {
				outcomeOf(r).expect(t, failure(tt.want).coded("ToolArgsError", messages.CodeInvalidArgs))
			}
			if entered != (tt.want == "") {
				t.Errorf("entered: %v", entered)
			}
		})
	}
}

// Z-28: a raw tool refuses arguments in the same words.
func TestRawToolRefusesArguments(t *testing.T) {
	p := newPipeline(t, rawTool("T", func(context.Context, *pipeline.Invocation) (messages.JSON, error) {
		return "", pipeline.InvalidArguments("at '/a': got null, want string")
	}))
	outcomeOf(p.Execute(t.Context(), pipeline.Input{Name: "T"})).expect(t,
		failure("invalid arguments: at '/a': got null, want string").coded("ToolArgsError", messages.CodeInvalidArgs))
}

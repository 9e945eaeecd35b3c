package scripted

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/dsh-actor/dsh-actor/messages"
	"github.com/dsh-actor/dsh-actor/model"
)

// turns asks once a turn and returns the texts.
func turns(k *talk, n int) []string {
	k.t.Helper()
	var out []string
	for range n {
		out = append(out, k.prompt("go on").text())
	}
	return out
}

func TestThen(t *testing.T) {
	b := Text("b")
	b.Repeat = 2
	for _, c := range []struct {
		then Then
		want string
	}{
		{ThenStop, "a b b c «The script has ended.» «The script has ended.»"},
		{ThenRepeatLast, "a b b c c c"},
		{ThenLoop, "a b b c a b b c a b"},
	} {
		want := strings.Fields(strings.ReplaceAll(c.want, "The script has ended.", "ended"))
		got := turns(newTalk(t, New(Text("a"), b, Text("c")).Then(c.then)), len(want))
		for i := range got {
			if got[i] == "The script has ended." {
				got[i] = "«ended»"
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("then %s (-want +got):\n%s", c.then, diff)
		}
	}
}

// The place is in the history alone: a fork goes on where its parent stood, and
// the parent is not moved by it.
func TestForkAndResume(t *testing.T) {
	s := New(Text("a"), Text("b"), Text("c"), Text("d"))
	parent := newTalk(t, s)
	turns(parent, 2)
	child := parent.fork()
	if diff := cmp.Diff([]string{"c", "d"}, turns(child, 2)); diff != "" {
		t.Errorf("the child (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"c", "d"}, turns(parent, 2)); diff != "" {
		t.Errorf("the parent (-want +got):\n%s", diff)
	}
	early := newTalk(t, New(Text("a"), Text("b"), Text("c")))
	early.history = messages.ListOf(parent.history.Slice()[:4]...)
	if got := early.prompt("resume").text(); got != "c" {
		t.Errorf("after a resume with another Script value: %q", got)
	}
}

// Contexts, injections and tool results are no answers.
func TestOnlyAnswersCount(t *testing.T) {
	k := newTalk(t, New(Calls(Call("A", nil)), Text("b"), Text("c")))
	k.user("injected at the start").prompt("go")
	call := k.answer().Content.ToolCalls()[0]
	k.result(call.ID, "result").user("context of a hook", "another")
	if got := k.text(); got != "b" {
		t.Errorf("second step: %q", got)
	}
	if got := k.user("injected").prompt("go").text(); got != "c" {
		t.Errorf("second turn: %q", got)
	}
}

// A failed request leaves nothing, so the same answer comes again; only the
// attempt number of a retry gets past it.
func TestFailureKeepsThePlace(t *testing.T) {
	k := newTalk(t, New(Text("a"), FailTimes(1, rateLimited, Text("b")), Text("c")))
	turns(k, 1)
	for range 2 {
		if _, err := k.prompt("go").ask(); err == nil {
			t.Error("the first attempt of a turn did not fail")
		}
	}
	k.attempt = 1
	if got := k.text(); got != "b" {
		t.Errorf("retry: %q", got)
	}
	if got := turns(k, 1)[0]; got != "c" {
		t.Errorf("next turn: %q", got)
	}
}

// Messages without a mark count as one answer each.
func TestUnmarkedHistory(t *testing.T) {
	s := New(Text("a"), Text("b"), Text("c"), Text("d"), Text("e"))
	k := newTalk(t, s)
	turns(k, 1)
	k.rewrite = true
	turns(k, 2)
	k.rewrite = false
	if got := turns(k, 1)[0]; got != "d" {
		t.Errorf("after two rewritten answers: %q, want d", got)
	}
	for _, state := range []messages.JSON{``, `null`, `{"scripted":0}`, `{"scripted":-3}`, `{"scripted":x}`, `{"scripted":2`, `{"other":2}`, `{"scripted":2,"run":0}`, `{"scripted":2,"run":}`, `{"scripted":2,"run":1,"run":2}`, `{"scripted":99999999999999999999}`} {
		foreign := newTalk(t, s)
		foreign.history = foreign.history.Append(messages.Message{
			Role: messages.RoleAssistant, Content: messages.Text("x"), Provenance: &messages.Provenance{ReplayState: state},
		})
		if got := turns(foreign, 1)[0]; got != "b" {
			t.Errorf("after one answer with replay state %q: %q, want b", state, got)
		}
	}
	far := newTalk(t, s)
	far.history = far.history.Append(messages.Message{
		Role: messages.RoleAssistant, Content: messages.Text("x"), Provenance: &messages.Provenance{ReplayState: markOf(1000, 1)},
	})
	if got := turns(far, 1)[0]; got != "The script has ended." {
		t.Errorf("after the mark of a longer script: %q", got)
	}
}

// The message prefix is not history: examples in it do not move the place.
func TestPrefixDoesNotCount(t *testing.T) {
	req := model.Request{Header: messages.RequestHeader{MessagePrefix: messages.ListOf(
		messages.Message{Role: messages.RoleAssistant, Content: messages.Text("example")},
	)}}
	got, err := collect(t.Context(), New(Text("a"), Text("b")), req)
	if err != nil || assemble(t, got).Content.Text() != "a" {
		t.Errorf("got %v and %v", got, err)
	}
}

const sections = `
name: desk
turns:
  - match: (?i)\bhello\b
    text: Hi.
  - text: What can I do?
  - match: ^fix
    tools: [{name: Read}]
  - text: Fixed.
  - match: boom
    error: {message: overloaded, code: OVERLOADED, status: 529}
`

func TestMatch(t *testing.T) {
	s := mustParse(t, "desk.yaml", sections)
	const none = `The script "desk" has no answer to this prompt.`
	k := newTalk(t, s)
	step := func(want string, prompt ...string) {
		t.Helper()
		if got := k.prompt(prompt...).text(); got != want {
			t.Errorf("prompt %q: got %q, want %q", prompt, got, want)
		}
	}
	step(none, "what")
	step("Hi.", "well, Hello there")
	step("What can I do?", "nothing")  // the section goes on
	step(none, "nothing")              // and ends before the next match
	step(none, "please fix")           // anchored
	step("Hi.", "a context", "hello!") // any message of the prompt
	step("Hi.", "hello again")         // any number of times

	// Between tool calls nothing is matched, whatever hooks add.
	call := k.prompt("fix it").answer().Content.ToolCalls()[0]
	k.result(call.ID, "hello").user("hello, says a hook")
	if got := k.text(); got != "Fixed." {
		t.Errorf("after the tool result: %q", got)
	}

	// A failure can be passed by another prompt.
	if _, err := k.prompt("boom").ask(); messages.CodeOf(err) != "OVERLOADED" {
		t.Errorf("got %v", err)
	}
	step("Hi.", "hello")
}

// A section that ends while the model still owes an answer.
func TestSectionEnds(t *testing.T) {
	for then, want := range map[string]string{"stop": `The script "x" has ended.`, "repeat-last": "b"} {
		k := newTalk(t, mustParse(t, "x.yaml", fmt.Sprintf("then: %s\nturns: [{match: a, text: b, tools: [{name: A}]}, {match: c, text: d}]", then)))
		call := k.prompt("a").answer().Content.ToolCalls()[0]
		if got := k.result(call.ID, "r").text(); got != want {
			t.Errorf("then %s: got %q, want %q", then, got, want)
		}
	}
}

// The rules again, as simply as they can be said: without matches the n-th
// answer of a session is the n-th of the script written out, whatever else is in
// the history and whichever marks were lost.
func TestPlaceProperty(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var answers []Answer
		var written []string
		for i := range rapid.IntRange(1, 4).Draw(t, "answers") {
			a := Text(fmt.Sprint("answer ", i))
			a.Repeat = rapid.IntRange(0, 3).Draw(t, "repeat")
			if rapid.Bool().Draw(t, "calls") {
				a.Tools = []Tool{Call("A", nil)}
			}
			answers = append(answers, a)
			written = append(written, slices.Repeat([]string{a.Text}, max(a.Repeat, 1))...)
		}
		then := rapid.SampledFrom([]Then{ThenStop, ThenRepeatLast, ThenLoop}).Draw(t, "then")
		script := New(answers...).Then(then)
		nth := func(n int) string {
			switch {
			case n < len(written):
				return written[n]
			case then == ThenLoop:
				return written[n%len(written)]
			case then == ThenRepeatLast:
				return written[len(written)-1]
			}
			return "The script has ended."
		}
		k := newTalk(panics{}, script)
		for n := range rapid.IntRange(1, 16).Draw(t, "requests") {
			k.user(slices.Repeat([]string{"text"}, rapid.IntRange(0, 2).Draw(t, "contexts"))...)
			if rapid.Bool().Draw(t, "fork") {
				k = k.fork()
			}
			k.rewrite = rapid.Bool().Draw(t, "rewrite")
			k.step++
			got := k.answer().Content
			if got.Text() != nth(n) {
				t.Fatalf("answer %d is %q, want %q", n, got.Text(), nth(n))
			}
			for _, call := range got.ToolCalls() {
				k.result(call.ID, "result")
			}
		}
	})
}

// panics is a testing.TB for helpers under rapid, which reports panics.
type panics struct{ testing.TB }

func (panics) Helper()                           {}
func (panics) Fatalf(format string, args ...any) { panic(fmt.Sprintf(format, args...)) }

package scripted

import (
	"strings"
	"testing"

	"github.com/dsh-actor/dsh-actor/messages"
)

func TestTemplates(t *testing.T) {
	s := New(
		Answer{
			Text: "{{prompt}}? {{ prompt }} {{other}} {{", Reasoning: "They say {{prompt}}.",
			Tools: []Tool{Call("A", map[string]any{"{{prompt}}": "{{prompt}}", "n": 1}), Call("A", Raw(`{"x": "{{prompt}}`))},
		},
		Text("First: {{lastToolResult}}; they said {{prompt}}"),
		Text("{{prompt}}/{{lastToolResult}}"),
	)
	k := newTalk(t, s).prompt("say \"hi\"\n{{lastToolResult}}", "a context")
	got := k.answer().Content
	const said = "say \"hi\"\n{{lastToolResult}}\na context" // not scanned again
	if want := said + "? {{ prompt }} {{other}} {{"; got.Text() != want {
		t.Errorf("text %q, want %q", got.Text(), want)
	}
	if want := (messages.ReasoningBlock{Text: "They say " + said + "."}); got.At(0) != want {
		t.Errorf("reasoning %q", got.At(0))
	}
	calls := got.ToolCalls()
	const quoted = `say \"hi\"\n{{lastToolResult}}\na context`
	if want := `{"n":1,"` + quoted + `":"` + quoted + `"}`; calls[0].Arguments != want {
		t.Errorf("arguments %s, want %s", calls[0].Arguments, want)
	}
	if want := `{"x": "{{prompt}}`; calls[1].Arguments != want {
		t.Errorf("raw arguments %s, want %s", calls[1].Arguments, want)
	}
	if calls[0].ID != "call-1-1-1" {
		t.Errorf("id %q", calls[0].ID)
	}
	k.result(calls[0].ID, "one").result(calls[1].ID, "two\r\n\n").user("from a hook")
	if got, want := k.text(), "First: two; they said "+said+"\nfrom a hook"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got, want := k.prompt("next").text(), "next/two"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestTemplatesOfNothing(t *testing.T) {
	k := newTalk(t, New(Text("[{{prompt}}{{lastToolResult}}]")))
	if got := k.text(); got != "[]" {
		t.Errorf("got %q", got)
	}
	// An answer that comes to nothing still has its blocks, and its place.
	k = newTalk(t, New(Answer{Reasoning: "{{prompt}}", Text: "{{prompt}}"}, Text("b")))
	if got := k.answer().Content; got.Len() != 2 || got.Text() != "" {
		t.Errorf("got %v", got)
	}
	if got := k.text(); got != "b" {
		t.Errorf("then %q", got)
	}
}

func TestTemplateValuesAreCut(t *testing.T) {
	k := newTalk(t, New(Text("{{prompt}}")).Then(ThenLoop))
	for _, long := range []string{strings.Repeat("x", maxValue+1), strings.Repeat("é", maxValue), "x" + strings.Repeat("😀", maxValue)} {
		got := k.prompt(long).text()
		if len(got) > maxValue || len(got) < maxValue-3 || !strings.HasPrefix(long, got) {
			t.Errorf("%.10q… of %d bytes became %d bytes", long, len(long), len(got))
		}
	}
}

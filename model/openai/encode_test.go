package openai

import (
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/dsh-actor/dsh-actor/messages"
	"github.com/dsh-actor/dsh-actor/model"
	"github.com/dsh-actor/dsh-actor/model/internal/wiretest"
)

func TestRequests(t *testing.T) {
	full := ask(user(text("hello")))
	full.Header.System = "You are a test."
	full.Header.Tools = tools
	full.Header.Config.MaxTokens = 1000
	full.Header.Config.Temperature = "0.5"
	full.Header.MessagePrefix = messages.ListOf(
		messages.Message{Role: messages.RoleSystem, Content: messages.Text("More rules.")}, user(text("Look at this first.")),
	)
	stops := full
	stops.Header.Config.Stop = messages.ListOf("STOP", "\n\n")
	conversation := ask(
		user(text("fix the bug")), user(text("context of a hook")),
		assistant("", text("Let me look."), call("call_1", `{"command":"ls"}`), call("call_2", `{"half":`)),
		result("call_1", "a.go"),
		user(messages.ToolResultBlock{ToolCallID: "call_2", IsError: true, Content: messages.NewContent(
			text("see "), image, text("there"), messages.OtherBlock{Type: "audio", Raw: `{"type":"audio"}`})}),
		user(text("context of a result")), user(text("steering")),
		assistant("", text("Done.")), user(text("thanks"), image, messages.OtherBlock{Type: "audio", Raw: `{"type":"audio"}`}),
		assistant("", call("f.B:0", ""), call("", "{}")), result("f.B:0", ""), result("", "x"),
		assistant("", call("f.B:0", "{}")), user(messages.ToolResultBlock{ToolCallID: "f.B:0", Content: messages.NewContent(image)}),
		assistant("", text(" \n")), user(text("")), user(text("a"), text(" "), text("b"), thought("not mine"), call("x", "{}")),
	)
	const encrypted = `{"openai":1,"api":"responses","reasoning":[{"id":"rs_1","encrypted_content":"gAAA","summary":[{"type":"summary_text","text":"sum"}]},{"id":"rs_2","encrypted_content":"gBBB"}]}`
	foreign := assistant(encrypted, thought("theirs"), thought(""), text("answer"))
	foreign.Provenance.Provider = "other"
	reasoned := ask(
		user(text("think")),
		assistant(encrypted, thought("sum"), text("So."), thought(""), call("a", "{}")), result("a", "ok"),
		assistant(`{"openai":1,"api":"responses","reasoning":[{"id":"rs_3","encrypted_content":"gCCC"}]}`, text("x"), thought("the API refuses this at the end")),
		user(text("1")), assistant(`{"openai":1,"api":"responses","reasoning":[{"id":"rs_4"}]}`, thought("only an id"), text("y")),
		user(text("2")), assistant(`{"openai":1,"api":"responses","reasoning":[{"content":[{"type":"reasoning_text","text":"open"}]}]}`, thought("open"), text("z")),
		user(text("3")), assistant(`{"openai":1,"api":"responses","phases":["commentary","final_answer"]}`, text("p"), text("q")),
		user(text("4")), foreign,
		user(text("5")), assistant(`{"openai":1,"api":"responses","reasoning":[{"id":"rs_1"}]}`, thought("a"), thought("does not fit"), text("b")),
		user(text("6")), assistant(`{"openai":1,"api":"chat","field":"reasoning_content"}`, thought("of the other API"), text("c")),
		user(text("7")), assistant(`{"openai":1,"api":"responses"}`, messages.OtherBlock{Type: "web_search_call", Raw: `{"type":"web_search_call","id":"ws"}`}, text("d")),
		user(text("8")), assistant("", messages.OtherBlock{Type: "web_search_call", Raw: `{"type":"not ours"}`}, text("e")),
	)
	const field = `{"openai":1,"api":"chat","field":"reasoning_content"}`
	deepseek := ask(
		user(text("think")),
		assistant(field, thought("first "), thought("this"), text("So."), call("a", "{}")), result("a", "ok"),
		assistant(field, thought("only thinking")),
		assistant(`{"openai":1,"api":"chat","field":"reasoning"}`, thought("another member"), text("x")),
		user(text("1")), assistant("", thought("no state"), text("y")), user(text("2")), foreign,
	)
	for _, c := range []struct {
		name string
		cfg  Config
		req  model.Request
	}{
		{"responses minimal", Config{}, ask(user(text("hello")))},
		{"responses full", Config{Extra: `{"reasoning": {"effort": "high"}, "include": [], "prompt_cache_key": "mine"}`}, full},
		{"responses stored", Config{Store: true, MaxTokens: 7}, reasoned},
		{"responses without reasoning", Config{NoReasoning: true}, ask(user(text("hello")))},
		{"responses conversation", Config{}, conversation},
		{"responses reasoning", Config{}, reasoned},
		{"chat minimal", Config{API: Chat}, ask(user(text("hello")))},
		{"chat full", Config{API: Chat, MaxTokensName: "max_completion_tokens", NoUsage: true, Extra: `{"reasoning_effort": "low"}`}, stops},
		{"chat conversation", Config{API: Chat}, conversation},
		{"chat reasoning", Config{API: Chat, Extra: `{"stream_options": {"include_usage": false}}`}, deepseek},
	} {
		t.Run(c.name, func(t *testing.T) {
			body, err := newAdapter(t, c.cfg).encode(&c.req)
			if err != nil {
				t.Fatal(err)
			}
			wiretest.Golden(t, "requests/"+strings.ReplaceAll(c.name, " ", "-")+".json", body)
		})
	}
}

func TestRequestsThatCannotBe(t *testing.T) {
	bad, schema, stop := ask(user(text("x"))), ask(user(text("x"))), ask(user(text("x")))
	bad.Header.Config.Temperature = `1 1`
	schema.Header.Tools = messages.ListOf(messages.ToolSpec{Name: "T", Parameters: `[]`})
	stop.Header.Config.Stop = messages.ListOf("x")
	for _, c := range []struct {
		api  API
		req  model.Request
		want string
	}{
		{Responses, bad, "temperature"}, {Responses, schema, `tool "T"`}, {Responses, stop, "no stop sequences"},
		{Chat, bad, "temperature"}, {Chat, schema, `tool "T"`},
	} {
		_, err := wiretest.Collect(t.Context(), newAdapter(t, Config{API: c.api}), c.req)
		f, ok := err.(messages.Failure)
		if !ok || f.Code != messages.CodeInvalidRequest || !strings.Contains(f.Message, c.want) {
			t.Errorf("%s: %v", c.want, err)
		}
	}
}

// What a request says is a prefix of what the next one says, whatever the history
// is, calls have unique ids, and every result follows its call.
func TestRequestsGrow(t *testing.T) {
	for _, api := range []API{Responses, Chat} {
		t.Run(string(api), func(t *testing.T) {
			m := newAdapter(t, Config{API: api})
			rapid.Check(t, func(t *rapid.T) {
				history, cuts := wiretest.History(t, func(c messages.Content) messages.JSON {
					r := replay{Field: "reasoning_content"}
					for b := range c.Blocks() {
						if _, ok := b.(messages.ReasoningBlock); ok {
							r.Reasoning = append(r.Reasoning, rapid.SampledFrom([]reasoning{{ID: "r", Encrypted: "e"}, {}}).Draw(t, "reasoning"))
						}
					}
					return r.encode(api)
				})
				var before []string
				for _, cut := range cuts {
					req := ask(history[:cut]...)
					req.Header.Config.Provider = "p"
					text, err := m.encode(&req)
					if err != nil {
						t.Fatal(err)
					}
					now := items(t, text)
					checkForm(t, now)
					if len(now) < len(before) || !slices.Equal(now[:len(before)], before) {
						t.Fatalf("not a prefix:\n%s", cmp.Diff(before, now))
					}
					before = now
				}
			})
		})
	}
}

// items returns the input items or messages of a request.
func items(t *rapid.T, text []byte) (out []string) {
	var b struct {
		Input    []jsontext.Value `json:"input"`
		Messages []jsontext.Value `json:"messages"`
	}
	if err := json.Unmarshal(text, &b); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	for _, v := range append(b.Input, b.Messages...) {
		out = append(out, string(v))
	}
	return out
}

// checkForm checks what the APIs would refuse.
func checkForm(t *rapid.T, items []string) {
	seen, open := map[string]bool{}, map[string]bool{}
	begin := func(id string) {
		if seen[id] || id == "" {
			t.Fatalf("a second call %q", id)
		}
		seen[id], open[id] = true, true
	}
	finish := func(id string) {
		if !open[id] {
			t.Fatalf("a result of %q, which is not open", id)
		}
		delete(open, id)
	}
	for i, text := range items {
		var it struct {
			Type       string `json:"type"`
			Role       string `json:"role"`
			CallID     string `json:"call_id"`
			ToolCallID string `json:"tool_call_id"`
			ToolCalls  []struct {
				ID string `json:"id"`
			} `json:"tool_calls"`
		}
		if err := json.Unmarshal([]byte(text), &it); err != nil {
			t.Fatal(err)
		}
		switch {
		case it.Type == "function_call":
			begin(it.CallID)
			continue
		case it.Type == "function_call_output":
			finish(it.CallID)
			continue
		case it.Role == "tool":
			finish(it.ToolCallID)
			continue
		case it.Type == "reasoning":
			if i+1 == len(items) || !strings.Contains(items[i+1], `"assistant"`) && !strings.Contains(items[i+1], `"function_call"`) && !strings.Contains(items[i+1], `"reasoning"`) {
				t.Fatal("reasoning that nothing follows")
			}
			continue
		case it.Role != "assistant" && len(open) > 0:
			t.Fatalf("a %s message before the results of %v", it.Role, open)
		}
		for _, c := range it.ToolCalls {
			begin(c.ID)
		}
	}
	if len(open) > 0 {
		t.Fatalf("no results of %v", open)
	}
}

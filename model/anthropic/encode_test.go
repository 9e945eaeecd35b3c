package anthropic

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

// Messages, as the session derives them (E-6).

func user(blocks ...messages.Block) messages.Message {
	return messages.Message{Role: messages.RoleUser, Content: messages.NewContent(blocks...)}
}

func result(id messages.CallID, text string, isError bool) messages.Message {
	return user(messages.ToolResultBlock{ToolCallID: id, Content: messages.Text(text), IsError: isError})
}

func assistant(replay messages.JSON, blocks ...messages.Block) messages.Message {
	return messages.Message{
		Role: messages.RoleAssistant, Content: messages.NewContent(blocks...),
		Provenance: messages.Provenance{Provider: "anthropic", Model: "claude", ReplayState: replay},
	}
}

func text(s string) messages.Block      { return messages.TextBlock{Text: s} }
func reasoning(s string) messages.Block { return messages.ReasoningBlock{Text: s} }
func call(id, arguments string) messages.Block {
	return messages.ToolCallBlock{ID: messages.CallID(id), Name: "Bash", Arguments: arguments}
}

var image = messages.ImageBlock{MediaType: "image/png", Data: "iVBORw0KGgo="}

func ask(history ...messages.Message) model.Request {
	return model.Request{
		Header:  messages.RequestHeader{Config: messages.RequestConfig{Provider: "anthropic", Model: "claude-test"}},
		History: messages.ListOf(history...), Session: "s", Turn: 1, Step: 1,
	}
}

var tools = messages.ListOf(
	messages.ToolSpec{Name: "Bash", Description: "Runs a command.", Parameters: `{"type":"object","properties":{"command":{"type":"string"}},"required":["command"]}`},
	messages.ToolSpec{Name: "Ping"},
)

func TestRequests(t *testing.T) {
	full := ask(user(text("hello")))
	full.Header.System = "You are a test."
	full.Header.Tools = tools
	full.Header.Config.MaxTokens = 1000
	full.Header.Config.Temperature = "0.5"
	full.Header.Config.Stop = messages.ListOf("STOP", "\n\n")
	full.Header.MessagePrefix = messages.ListOf(
		messages.Message{Role: messages.RoleSystem, Content: messages.Text("More rules.")}, user(text("Look at this first.")),
	)
	signed := messages.JSON(`{"anthropic":1,"reasoning":[{"signature":"sig-1"},{"redacted":"opaque"},{"signature":"sig-2"}]}`)
	foreign := assistant(signed, reasoning("theirs"), reasoning(""), reasoning(""), text("answer"))
	foreign.Provenance.Provider = "other"
	later := messages.Message{Role: messages.RoleSystem, Content: messages.Text("The date has changed.")}
	for _, c := range []struct {
		name string
		cfg  Config
		req  model.Request
	}{
		{"minimal", Config{}, ask(user(text("hello")))},
		{"full", Config{Extra: `{"thinking": {"type": "enabled", "budget_tokens": 2000}}`, CacheTTL: "1h"}, full},
		{"no cache", Config{NoCache: true, MaxTokens: 5}, full},
		// A turn with two parallel calls, contexts of plugins around the prompt and
		// the results, and the next prompt.
		{"tools", Config{}, func() model.Request {
			r := ask(
				user(text("fix the bug")), user(text("context of a hook")),
				assistant("", text("Let me look."), call("toolu_1", `{"command":"ls"}`), call("toolu_2", `{ "command" : "cat x" , "n": 1.0 }`)),
				result("toolu_1", "a.go", false), result("toolu_2", "no such file", true),
				user(text("context of a result")), user(text("steering")),
				assistant("", text("Done.")), user(text("thanks"), image),
			)
			r.Header.Tools = tools
			return r
		}()},
		{"results first", Config{}, ask(
			user(text("go")), assistant("", call("a", "{}"), call("b", "{}")),
			result("a", "1", false), user(text("between")), result("b", "2", false),
		)},
		{"results", Config{}, ask(
			user(text("go")), assistant("", call("a", ""), call("b", "{}"), call("c", "{}"), call("d", "{}")),
			user(messages.ToolResultBlock{ToolCallID: "a", Content: messages.NewContent(text("see"), image, text(" "), messages.OtherBlock{Type: "audio", Raw: `{"type":"audio"}`})}),
			result("b", "", false), result("c", "", true),
			user(messages.ToolResultBlock{ToolCallID: "d"}),
		)},
		{"thinking", Config{}, ask(
			user(text("think")),
			assistant(signed, reasoning("first"), reasoning(""), text("Let me see."), reasoning(""), call("a", "{}")),
			result("a", "ok", false),
			assistant(`{"anthropic":1,"reasoning":[{"signature":"sig-3"}]}`, text("So."), reasoning("the API refuses this at the end")),
			user(text("next")),
			assistant(`{"anthropic":1,"reasoning":[{"signature":"sig-4"}]}`, reasoning("nothing but thinking")),
			user(text("again")),
		)},
		{"thinking not ours", Config{}, ask(
			user(text("think")), foreign,
			user(text("1")), assistant("", reasoning("no state"), text("a")),
			user(text("2")), assistant(`{"anthropic":1,"reasoning":[{"signature":"s"}]}`, reasoning("x"), reasoning("does not fit"), text("b")),
			user(text("3")), assistant(`{"anthropic":2,"reasoning":[{"signature":"s"}]}`, reasoning("another version"), text("c")),
			user(text("4")), assistant(`{"place":"scripted"}`, reasoning("another adapter"), text("d")),
			user(text("5")), assistant(`{"anthropic":1,"reasoning":[{}]}`, reasoning("cut off"), text("e")),
			user(text("6")), assistant(`{"anthropic":1,"reasoning":5}`, reasoning("damaged"), text("f")),
		)},
		{"odd", Config{}, ask(
			user(text("a"), text(" \n"), text("")), user(text("")),
			assistant("", text("  "), call("f.B:0", `{"half":`), call("é", `[1]`)),
			result("f.B:0", "1", false), result("é", "2", false),
			assistant("", text("one")), assistant("", text("two"), call("f.B:0", `{"a":1,"a":2}`)),
			result("f.B:0", "3", false), later, user(text("b"), reasoning("not mine"), call("x", "{}")),
			assistant(`{"anthropic":1}`, messages.OtherBlock{Type: "server_tool_use", Raw: `{"type":"server_tool_use","id":"srv","name":"web","input":{}}`}, text("c")),
			user(messages.OtherBlock{Type: "audio", Raw: `{"type":"audio"}`}),
			assistant("", messages.OtherBlock{Type: "server_tool_use", Raw: `{"type":"not ours"}`}),
			user(messages.ToolResultBlock{ToolCallID: "gone", Content: messages.Text("orphan")}),
		)},
	} {
		t.Run(c.name, func(t *testing.T) {
			m, err := New(c.cfg)
			if err != nil {
				t.Fatal(err)
			}
			body, err := m.encode(&c.req)
			if err != nil {
				t.Fatal(err)
			}
			wiretest.Golden(t, "requests/"+strings.ReplaceAll(c.name, " ", "-")+".json", body)
		})
	}
}

func TestRequestsThatCannotBe(t *testing.T) {
	m, err := New(Config{})
	if err != nil {
		t.Fatal(err)
	}
	bad := ask(user(text("x")))
	bad.Header.Config.Temperature = `"hot"`
	schema := ask(user(text("x")))
	schema.Header.Tools = messages.ListOf(messages.ToolSpec{Name: "T", Parameters: `true`})
	for name, req := range map[string]model.Request{"temperature": bad, "tool \"T\"": schema} {
		_, err := wiretest.Collect(t.Context(), m, req)
		f, ok := err.(messages.Failure)
		if !ok || f.Code != messages.CodeInvalidRequest || !strings.Contains(f.Message, name) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// body is a request as far as the tests read it.
type body struct {
	System   []map[string]jsontext.Value `json:"system"`
	Tools    []map[string]jsontext.Value `json:"tools"`
	Messages []struct {
		Role    string                      `json:"role"`
		Content []map[string]jsontext.Value `json:"content"`
	} `json:"messages"`
}

// flat returns the blocks of the messages without cache marks, and the number of
// marks in the whole request.
func (b *body) flat() (blocks []string, marks int) {
	strip := func(m map[string]jsontext.Value) string {
		if _, ok := m["cache_control"]; ok {
			marks++
			delete(m, "cache_control")
		}
		out, _ := json.Marshal(m, json.Deterministic(true))
		return string(out)
	}
	for _, m := range slices.Concat(b.System, b.Tools) {
		strip(m)
	}
	for _, m := range b.Messages {
		for _, c := range m.Content {
			blocks = append(blocks, m.Role+" "+strip(c))
		}
	}
	return blocks, marks
}

// What a request says is a prefix of what the next one says, whatever the history
// is, and the request has the form that the API wants.
func TestRequestsGrow(t *testing.T) {
	m, err := New(Config{})
	if err != nil {
		t.Fatal(err)
	}
	rapid.Check(t, func(t *rapid.T) {
		history, cuts := wiretest.History(t, func(c messages.Content) messages.JSON {
			var r replay
			for b := range c.Blocks() {
				if _, ok := b.(messages.ReasoningBlock); ok {
					r.Reasoning = append(r.Reasoning, rapid.SampledFrom([]thinking{{Signature: "s"}, {Redacted: "r"}, {}}).Draw(t, "thinking"))
				}
			}
			return r.encode(false)
		})
		var before []string
		for _, cut := range cuts {
			req := ask(history[:cut]...)
			req.Header.Config.Provider = "p"
			req.Header.System, req.Header.Tools = "system", tools
			text, err := m.encode(&req)
			if err != nil {
				t.Fatal(err)
			}
			var b body
			if err := json.Unmarshal(text, &b); err != nil {
				t.Fatalf("%v: %s", err, text)
			}
			checkForm(t, &b)
			now, marks := b.flat()
			if users := min(strings.Count(string(text), `"role":"user"`), 2); marks != 2+users {
				t.Fatalf("%d cache marks", marks)
			}
			if len(now) < len(before) || !slices.Equal(now[:len(before)], before) {
				t.Fatalf("not a prefix:\n%s", cmp.Diff(before, now))
			}
			before = now
		}
	})
}

// checkForm checks what the API would refuse.
func checkForm(t *rapid.T, b *body) {
	role, open := "", map[string]bool{}
	ids := map[string]bool{}
	str := func(v jsontext.Value) (s string) {
		_ = json.Unmarshal(v, &s)
		return s
	}
	for _, m := range b.Messages {
		if m.Role == role || len(m.Content) == 0 {
			t.Fatalf("two messages of role %s, or an empty one", role)
		}
		role = m.Role
		others := false
		for _, c := range m.Content {
			typ := str(c["type"])
			switch typ {
			case "text":
				if strings.TrimSpace(str(c["text"])) == "" {
					t.Fatal("a blank text")
				}
			case "tool_use":
				id := str(c["id"])
				if ids[id] || c["input"].Kind() != '{' {
					t.Fatalf("a second call %q, or its input is %s", id, c["input"])
				}
				ids[id], open[id] = true, true
			case "tool_result":
				if id := str(c["tool_use_id"]); !open[id] || others {
					t.Fatalf("a result for %q, which is not open, or after other content", id)
				}
				delete(open, str(c["tool_use_id"]))
			}
			others = typ != "tool_result"
			if _, ok := c["cache_control"]; ok && strings.Contains(typ, "thinking") {
				t.Fatal("a cache mark on thinking")
			}
		}
		if last := str(m.Content[len(m.Content)-1]["type"]); strings.Contains(last, "thinking") {
			t.Fatal("a message ends with thinking")
		}
		if role == "user" && len(open) > 0 {
			t.Fatalf("no results for %v", open)
		}
	}
}

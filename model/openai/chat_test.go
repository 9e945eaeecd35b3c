package openai

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/dsh-actor/dsh-actor/messages"
	"github.com/dsh-actor/dsh-actor/model/internal/wiretest"
	"github.com/dsh-actor/dsh-actor/model/modeltest"
)

// delta is an event with a delta and maybe a finish reason.
func delta(members, finish string) string {
	if finish != "" {
		finish = `,"finish_reason":"` + finish + `"`
	}
	return `{"choices":[{"index":0,"delta":{` + members + `}` + finish + `}]}`
}

const (
	chatUsage = `{"choices":[],"usage":{"prompt_tokens":10,"completion_tokens":5}}`
	chatDone  = "[DONE]"
)

// V-6 to V-9
func TestChat(t *testing.T) {
	const field = `{"openai":1,"api":"chat","field":"reasoning_content"}`
	for _, c := range []answerCase{
		{"recorded text", recorded(t, "chat-text"), []messages.Block{thought("First this."), text(`Hello, "wörld" 😀!`)},
			messages.Usage{InputTokens: 176, OutputTokens: 15, CacheReadTokens: 1024, ReasoningTokens: 25}, "stop", field},
		{"recorded calls", recorded(t, "chat-calls"), []messages.Block{
			text("Let me look."), call("call_01", `{"command": "ls"}`), messages.ToolCallBlock{ID: "call_02", Name: "Ping", Arguments: "{}"},
		}, messages.Usage{InputTokens: 100, OutputTokens: 20}, "tool-calls", ""},
		{"cache hits of DeepSeek alone", events(delta(`"content":"a"`, "stop"), `{"choices":[],"usage":{"prompt_tokens":100,"completion_tokens":5,"prompt_cache_hit_tokens":64,"prompt_cache_miss_tokens":36}}`, chatDone),
			[]messages.Block{text("a")}, messages.Usage{InputTokens: 36, OutputTokens: 5, CacheReadTokens: 64}, "stop", ""},
		{"usage with the finish", events(delta(`"content":"a"`, ""), `{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}],"usage":{"prompt_tokens":10,"completion_tokens":5}}`, chatDone), []messages.Block{text("a")}, few, "stop", ""},
		{"without a mark", events(delta(`"content":"a"`, "stop"), chatUsage), []messages.Block{text("a")}, few, "stop", ""},
		{"without usage", events(delta(`"content":"a"`, "stop"), chatDone), []messages.Block{text("a")}, messages.Usage{}, "stop", ""},
		{"only a mark", events(chatDone), nil, messages.Usage{}, "stop", ""},
		{"reasoning in another member", events(delta(`"reasoning":"hm"`, ""), delta(`"content":"a"`, "stop"), chatUsage, chatDone),
			[]messages.Block{thought("hm"), text("a")}, few, "stop", `{"openai":1,"api":"chat","field":"reasoning"}`},
		{"reasoning in both members", events(delta(`"reasoning":"hm","reasoning_content":"hm"`, ""), delta(`"content":"a"`, "stop"), chatUsage, chatDone),
			[]messages.Block{thought("hm"), text("a")}, few, "stop", field},
		{"reasoning resumed", events(delta(`"reasoning_content":"a"`, ""), delta(`"content":"b"`, ""), delta(`"reasoning_content":"c"`, ""), delta(`"content":"d"`, "stop"), chatUsage, chatDone),
			[]messages.Block{thought("a"), text("b"), thought("c"), text("d")}, few, "stop", field},
		{"interleaved calls", events(delta(`"tool_calls":[{"index":0,"id":"a","function":{"name":"Bash","arguments":"{"}},{"index":1,"id":"b","function":{"name":"Bash","arguments":"["}}]`, ""),
			delta(`"tool_calls":[{"index":1,"function":{"arguments":"]"}},{"index":0,"function":{"arguments":"}"}}]`, "tool_calls"), chatUsage, chatDone),
			[]messages.Block{call("a", "{}"), call("b", "[]")}, few, "tool-calls", ""},
		{"calls, but stop", events(delta(`"tool_calls":[{"index":0,"id":"a","function":{"name":"Bash","arguments":"{}"}}]`, "stop"), chatUsage, chatDone), []messages.Block{call("a", "{}")}, few, "tool-calls", ""},
		{"calls without ids", events(delta(`"tool_calls":[{"index":0,"function":{"name":"Bash","arguments":"{"}}]`, ""), delta(`"tool_calls":[{"index":0,"function":{"arguments":"}"}},{"index":1,"function":{"name":"Bash"}}]`, "tool_calls"), chatUsage, chatDone),
			[]messages.Block{call("call-1-1-1", "{}"), call("call-1-1-2", "{}")}, few, "tool-calls", ""},
		{"calls without indices", events(delta(`"tool_calls":[{"id":"a","function":{"name":"Bash","arguments":"{"}}]`, ""), delta(`"tool_calls":[{"function":{"arguments":"}"}}]`, ""),
			delta(`"tool_calls":[{"id":"b","function":{"name":"Bash","arguments":"{"}}]`, ""), delta(`"tool_calls":[{"id":"b","function":{"name":"Bash","arguments":"}"}}]`, "tool_calls"), chatUsage, chatDone),
			[]messages.Block{call("a", "{}"), call("b", "{}")}, few, "tool-calls", ""},
		{"all calls have index 0", events(delta(`"tool_calls":[{"index":0,"id":"a","function":{"name":"Bash","arguments":"{}"}}]`, ""), delta(`"tool_calls":[{"index":0,"id":"b","function":{"name":"Bash","arguments":"{"}}]`, ""),
			delta(`"tool_calls":[{"index":0,"function":{"arguments":"}"}}]`, "tool_calls"), chatUsage, chatDone),
			[]messages.Block{call("a", "{}"), call("b", "{}")}, few, "tool-calls", ""},
		{"the id in every delta", events(delta(`"tool_calls":[{"index":0,"id":"a","function":{"name":"Bash","arguments":"{"}}]`, ""), delta(`"tool_calls":[{"index":0,"id":"a","function":{"name":"Bash","arguments":"}"}}]`, "tool_calls"), chatUsage, chatDone),
			[]messages.Block{call("a", "{}")}, few, "tool-calls", ""},
		{"other choices", events(`{"choices":[{"index":1,"delta":{"content":"no"},"finish_reason":"length"},{"index":0,"delta":{"content":"a"},"finish_reason":"stop"}]}`, chatUsage, chatDone), []messages.Block{text("a")}, few, "stop", ""},
		{"a refusal", events(delta(`"refusal":"I can"`, ""), delta(`"refusal":"not."`, "stop"), chatUsage, chatDone), []messages.Block{text("I cannot.")}, few, "refusal", ""},
		{"length", events(delta(`"content":"a"`, "length"), chatUsage, chatDone), []messages.Block{text("a")}, few, "max-tokens", ""},
		{"length in a call", events(delta(`"tool_calls":[{"index":0,"id":"a","function":{"name":"Bash","arguments":"{\"x"}}]`, "length"), chatUsage, chatDone), []messages.Block{call("a", `{"x`)}, few, "max-tokens", ""},
		{"content filter", events(delta(`"content":"a"`, "content_filter"), chatUsage, chatDone), []messages.Block{text("a")}, few, "content-filter", ""},
		{"a new reason", events(delta(`"content":"a"`, "some_new"), chatUsage, chatDone), []messages.Block{text("a")}, few, "some-new", ""},
		{"nulls", events(`{"choices":null,"usage":null,"error":null}`, `{"choices":[{"index":0,"delta":{"content":null,"tool_calls":null},"finish_reason":null}]}`, delta(`"content":"a"`, "stop"), chatUsage, chatDone), []messages.Block{text("a")}, few, "stop", ""},
	} {
		t.Run(c.name, func(t *testing.T) { c.run(t, Chat) })
	}
}

func TestBrokenChat(t *testing.T) {
	protocol := func(message string) messages.Failure {
		return messages.Failure{Message: message, Code: messages.CodeProtocol}
	}
	for _, c := range []brokenCase{
		{"error in the stream", events(delta(`"content":"a"`, ""), `{"error":{"message":"boom","type":"server_error","code":null}}`), "", messages.Failure{Message: "boom", Code: messages.CodeServerError}},
		{"error of a gateway", events(`{"error":{"message":"busy","code":429}}`), "", messages.Failure{Message: "busy", Code: messages.CodeRateLimited, Status: 429}},
		{"error is a string", events(`{"error":"boom"}`), "", messages.Failure{Message: "boom", Code: messages.CodeServerError}},
		{"interrupted", events(delta(`"content":"a"`, "insufficient_system_resource")), "", messages.Failure{Message: "insufficient_system_resource", Code: messages.CodeOverloaded}},
		{"early end", events(delta(`"content":"a"`, "")), "", messages.Failure{Message: "ended before", Code: messages.CodeConnection}},
		{"not JSON", events("nonsense"), "", protocol("malformed event")},
		{"wrong types", events(`{"choices":[{"index":0,"delta":{"content":[]}}]}`), "", protocol("malformed event")},
		{"JSON, no choices", `{"hello":1}`, "application/json", protocol("no choices")},
		{"JSON, half", `{"choices":[`, "application/json", protocol("malformed answer")},
		{"JSON, error", `{"error":{"message":"boom","type":"server_error"}}`, "application/json", messages.Failure{Message: "boom", Code: messages.CodeServerError}},
		{"JSON, interrupted", `{"choices":[{"message":{"content":"a"},"finish_reason":"insufficient_system_resource"}]}`, "application/json", messages.Failure{Message: "interrupted", Code: messages.CodeOverloaded}},
	} {
		t.Run(c.name, func(t *testing.T) { c.run(t, Chat) })
	}
}

// An answer that is one JSON value says the same as the stream.
func TestChatJSON(t *testing.T) {
	const body = `{"id":"c","object":"chat.completion","choices":[{"index":0,"message":{"role":"assistant","content":"hi","reasoning_content":"hm",
		"tool_calls":[{"id":"a","type":"function","function":{"name":"Bash","arguments":"{\"a\":1}"}},{"id":"b","type":"function","function":{"name":"Bash","arguments":"{}"}}]},"finish_reason":"tool_calls"}],
		"usage":{"prompt_tokens":10,"completion_tokens":8,"prompt_tokens_details":{"cached_tokens":4},"completion_tokens_details":{"reasoning_tokens":3}}}`
	chunks, err := answer(t, Chat, wiretest.Canned{Text: body, ContentType: "application/json"})
	if err != nil {
		t.Fatal(err)
	}
	if err := modeltest.CheckChunks(chunks); err != nil {
		t.Error(err)
	}
	got := wiretest.Assemble(t, chunks)
	if diff := cmp.Diff([]messages.Block{thought("hm"), text("hi"), call("a", `{"a":1}`), call("b", "{}")}, blocks(got.Content)); diff != "" {
		t.Error(diff)
	}
	if got.Usage != (messages.Usage{InputTokens: 6, OutputTokens: 5, CacheReadTokens: 4, ReasoningTokens: 3}) || got.Finish.Kind != "tool-calls" {
		t.Errorf("%+v", got)
	}
}

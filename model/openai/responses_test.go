package openai

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/dsh-actor/dsh-actor/messages"
	"github.com/dsh-actor/dsh-actor/model/internal/wiretest"
	"github.com/dsh-actor/dsh-actor/model/modeltest"
)

func completed(more string) string {
	return `{"type":"response.completed","response":{"status":"completed","usage":{"input_tokens":10,"output_tokens":5}` + more + `}}`
}

const (
	helloDelta = `{"type":"response.output_text.delta","output_index":0,"content_index":0,"delta":"hello"}`
	helloDone  = `{"type":"response.output_item.done","output_index":0,"item":{"type":"message","role":"assistant","content":[{"type":"output_text","text":"hello"}]}}`
)

type answerCase struct {
	name   string
	stream string
	want   []messages.Block
	usage  messages.Usage
	finish string
	replay messages.JSON
}

var few = messages.Usage{InputTokens: 10, OutputTokens: 5}

func (c answerCase) run(t *testing.T, api API) {
	t.Helper()
	chunks, err := answer(t, api, wiretest.Canned{Text: c.stream})
	if err != nil {
		t.Fatal(err)
	}
	if err := modeltest.CheckChunks(chunks); err != nil {
		t.Error(err)
	}
	got := wiretest.Assemble(t, chunks)
	if diff := cmp.Diff(c.want, blocks(got.Content)); diff != "" {
		t.Errorf("content (-want +got):\n%s", diff)
	}
	if got.Usage != c.usage || got.Finish.Kind != c.finish || got.ReplayState != c.replay {
		t.Errorf("got %+v, %+v, %s", got.Usage, got.Finish, got.ReplayState)
	}
}

// V-6 to V-9
func TestResponses(t *testing.T) {
	for _, c := range []answerCase{
		{"recorded text", recorded(t, "responses-text"), []messages.Block{text(`Hello, "wörld" 😀!`)},
			messages.Usage{InputTokens: 176, OutputTokens: 15, CacheReadTokens: 1024}, "stop", ""},
		{"recorded calls", recorded(t, "responses-calls"), []messages.Block{
			thought("First this.\n\nThen that."), call("call_01", `{"command": "ls"}`), messages.ToolCallBlock{ID: "call_02", Name: "Ping", Arguments: "{}"},
		}, messages.Usage{InputTokens: 400, OutputTokens: 56, ReasoningTokens: 64}, "tool-calls",
			`{"openai":1,"api":"responses","reasoning":[{"id":"rs_01","summary":[{"type":"summary_text","text":"First this."},{"type":"summary_text","text":"Then that."}],"encrypted_content":"gAAAAABo"}]}`},
		{"items without deltas", events( // as in the recordings of Codex's runs
			`{"type":"response.created","response":{"id":"resp_1"}}`,
			`{"type":"response.output_item.added","output_index":0,"item":{"type":"message","role":"assistant","id":"msg_1","content":[{"type":"output_text","text":"hi"}]}}`,
			`{"type":"response.output_item.done","output_index":0,"item":{"type":"message","role":"assistant","id":"msg_1","content":[{"type":"output_text","text":"hi"}]}}`,
			`{"type":"response.output_item.added","output_index":1,"item":{"type":"function_call","id":"fc_1_0","call_id":"call_1_0","name":"Bash","arguments":"{\"a\": 1}"}}`,
			`{"type":"response.output_item.done","output_index":1,"item":{"type":"function_call","id":"fc_1_0","call_id":"call_1_0","name":"Bash","arguments":"{\"a\": 1}"}}`,
			`{"type":"response.completed","response":{"id":"resp_1","usage":{"input_tokens":100,"input_tokens_details":{"cached_tokens":0},"output_tokens":10,"output_tokens_details":{"reasoning_tokens":0},"total_tokens":110}}}`),
			[]messages.Block{text("hi"), call("call_1_0", `{"a": 1}`)}, messages.Usage{InputTokens: 100, OutputTokens: 10}, "tool-calls", ""},
		{"items only done", events(helloDone, `{"type":"response.output_item.done","output_index":1,"item":{"type":"function_call","call_id":"c","name":"Bash","arguments":""}}`, completed("")),
			[]messages.Block{text("hello"), call("c", "{}")}, few, "tool-calls", ""},
		{"items only at the end", events(`{"type":"response.completed","response":{"status":"completed","output":[{"type":"reasoning","id":"r","summary":[],"content":[{"type":"reasoning_text","text":"open"}]},{"type":"message","content":[{"type":"output_text","text":"hi"}]}]}}`),
			[]messages.Block{thought("open"), text("hi")}, messages.Usage{}, "stop",
			`{"openai":1,"api":"responses","reasoning":[{"id":"r","content":[{"type":"reasoning_text","text":"open"}]}]}`},
		{"item done twice", events(helloDelta, helloDone, helloDone, completed("")), []messages.Block{text("hello")}, few, "stop", ""},
		{"not done", events(helloDelta, completed("")), []messages.Block{text("hello")}, few, "stop", ""},
		{"two parts", events(helloDelta, `{"type":"response.output_text.delta","output_index":0,"content_index":1,"delta":"there"}`, completed("")),
			[]messages.Block{text("hello"), text("there")}, few, "stop", ""},
		{"a refusal", events(`{"type":"response.refusal.delta","output_index":0,"content_index":0,"delta":"I can"}`, `{"type":"response.refusal.delta","output_index":0,"content_index":0,"delta":"not."}`,
			`{"type":"response.output_item.done","output_index":0,"item":{"type":"message","content":[{"type":"refusal","refusal":"I cannot."}]}}`, completed("")),
			[]messages.Block{text("I cannot.")}, few, "refusal", ""},
		{"a refusal without deltas", events(`{"type":"response.output_item.done","output_index":0,"item":{"type":"message","content":[{"type":"refusal","refusal":"No."},{"type":"new"}]}}`, completed("")),
			[]messages.Block{text("No.")}, few, "refusal", ""},
		{"open reasoning", events(`{"type":"response.reasoning_text.delta","output_index":0,"content_index":0,"delta":"hm"}`, `{"type":"response.reasoning_text.delta","output_index":0,"content_index":0,"delta":"m"}`, completed("")),
			[]messages.Block{thought("hmm")}, few, "stop", `{"openai":1,"api":"responses","reasoning":[{}]}`},
		{"reasoning without a summary", events(`{"type":"response.output_item.added","output_index":0,"item":{"type":"reasoning","id":"r"}}`,
			`{"type":"response.output_item.done","output_index":0,"item":{"type":"reasoning","id":"r","encrypted_content":"e","summary":[]}}`, completed("")),
			[]messages.Block{thought("")}, few, "stop", `{"openai":1,"api":"responses","reasoning":[{"id":"r","encrypted_content":"e"}]}`},
		{"phases", events(
			`{"type":"response.output_item.done","output_index":0,"item":{"type":"message","phase":"commentary","content":[{"type":"output_text","text":"a"}]}}`,
			`{"type":"response.output_item.done","output_index":1,"item":{"type":"message","content":[{"type":"output_text","text":"b"}]}}`, completed("")),
			[]messages.Block{text("a"), text("b")}, few, "stop", `{"openai":1,"api":"responses","phases":["commentary",""]}`},
		{"a tool of the provider", events(`{"type":"response.output_item.done","output_index":0,"item":{"type":"web_search_call","id":"ws","status":"completed"}}`, completed("")),
			[]messages.Block{messages.OtherBlock{Type: "web_search_call", Raw: `{"type":"web_search_call","id":"ws","status":"completed"}`}}, few, "stop", `{"openai":1,"api":"responses"}`},
		{"unknown events", events(`{"type":"response.new","delta":{"x":1},"output_index":"a"}`, helloDelta, `{"type":"response.mcp_call.in_progress"}`, completed("")), []messages.Block{text("hello")}, few, "stop", ""},
		{"ids twice", events(`{"type":"response.output_item.done","output_index":0,"item":{"type":"function_call","call_id":"c","name":"Bash"}}`,
			`{"type":"response.output_item.done","output_index":1,"item":{"type":"function_call","call_id":"c","name":"Bash"}}`, completed("")),
			[]messages.Block{call("c", "{}"), call("call-1-1-2", "{}")}, few, "tool-calls", ""},
		{"max tokens", events(helloDelta, `{"type":"response.incomplete","response":{"status":"incomplete","incomplete_details":{"reason":"max_output_tokens"}}}`),
			[]messages.Block{text("hello")}, messages.Usage{}, "max-tokens", ""},
		{"max tokens in a call", events(`{"type":"response.output_item.added","output_index":0,"item":{"type":"function_call","call_id":"c","name":"Bash","arguments":""}}`,
			`{"type":"response.function_call_arguments.delta","output_index":0,"delta":"{\"a"}`, `{"type":"response.incomplete","response":{"incomplete_details":{"reason":"max_output_tokens"}}}`),
			[]messages.Block{call("c", `{"a`)}, messages.Usage{}, "max-tokens", ""},
		{"incomplete for no reason", events(`{"type":"response.incomplete","response":{}}`), nil, messages.Usage{}, "max-tokens", ""},
		{"content filter", events(`{"type":"response.incomplete","response":{"status":"incomplete","incomplete_details":{"reason":"content_filter"}}}`), nil, messages.Usage{}, "content-filter", ""},
		{"cache writes", events(`{"type":"response.completed","response":{"usage":{"input_tokens":100,"input_tokens_details":{"cached_tokens":30,"cache_write_tokens":50},"output_tokens":1}}}`),
			nil, messages.Usage{InputTokens: 20, OutputTokens: 1, CacheReadTokens: 30, CacheWriteTokens: 50}, "stop", ""},
		{"parts that exceed their whole", events(`{"type":"response.completed","response":{"usage":{"input_tokens":5,"input_tokens_details":{"cached_tokens":30},"output_tokens":1,"output_tokens_details":{"reasoning_tokens":7}}}}`),
			nil, messages.Usage{InputTokens: 5, OutputTokens: 1, CacheReadTokens: 30, ReasoningTokens: 7}, "stop", ""},
		{"negative counts", events(`{"type":"response.completed","response":{"usage":{"input_tokens":-5,"output_tokens":-1}}}`), nil, messages.Usage{}, "stop", ""},
	} {
		t.Run(c.name, func(t *testing.T) { c.run(t, Responses) })
	}
}

type brokenCase struct {
	name   string
	stream string
	kind   string
	want   messages.Failure // its message is a part
}

func (c brokenCase) run(t *testing.T, api API) {
	t.Helper()
	_, err := answer(t, api, wiretest.Canned{Text: c.stream, ContentType: c.kind})
	var f messages.Failure
	if !errors.As(err, &f) || !strings.Contains(f.Message, c.want.Message) {
		t.Fatalf("got %v", err)
	}
	if f.Message = c.want.Message; f != c.want {
		t.Errorf("got %+v", f)
	}
}

func TestBrokenResponses(t *testing.T) {
	protocol := func(message string) messages.Failure {
		return messages.Failure{Message: message, Code: messages.CodeProtocol}
	}
	for _, c := range []brokenCase{
		{"failed", events(`{"type":"response.failed","response":{"status":"failed","error":{"code":"server_error","message":"boom"}}}`), "", messages.Failure{Message: "boom", Code: messages.CodeServerError}},
		{"failed, rate", events(`{"type":"response.failed","response":{"error":{"code":"rate_limit_exceeded","message":"slow"}}}`), "", messages.Failure{Message: "slow", Code: messages.CodeRateLimited}},
		{"failed, context", events(`{"type":"response.failed","response":{"error":{"code":"context_length_exceeded","message":"long"}}}`), "", messages.Failure{Message: "long", Code: messages.CodeContextTooLong}},
		{"failed without an error", events(`{"type":"response.failed","response":{"error":null}}`), "", messages.Failure{Message: "reported the response as failed", Code: messages.CodeServerError}},
		{"cancelled", events(`{"type":"response.cancelled","response":{}}`), "", messages.Failure{Message: "reported the response as cancelled", Code: messages.CodeServerError}},
		{"error event", events(helloDelta, `{"type":"error","code":"server_is_overloaded","message":"busy","param":null}`), "", messages.Failure{Message: "busy", Code: messages.CodeOverloaded}},
		{"nested error event", events(`{"type":"error","error":{"type":"insufficient_quota","code":"insufficient_quota","message":"pay"}}`), "", messages.Failure{Message: "pay", Code: messages.CodeQuotaExceeded}},
		{"early end", events(helloDelta, helloDone), "", messages.Failure{Message: "ended before", Code: messages.CodeConnection}},
		{"not JSON", events("nonsense"), "", protocol("malformed event")},
		{"wrong types", events(`{"type":"response.output_text.delta","delta":5}`), "", protocol("malformed event")},
		{"wrong item", events(`{"type":"response.output_item.added","output_index":0,"item":{"type":"function_call","call_id":5}}`), "", protocol("malformed output item")},
		{"wrong item, done", events(`{"type":"response.output_item.done","output_index":0,"item":{"type":"message","content":5}}`), "", protocol("malformed content of a message")},
		{"wrong reasoning, done", events(`{"type":"response.output_item.done","output_index":0,"item":{"type":"reasoning","id":[]}}`), "", protocol("malformed output item")},
		{"arguments without a call", events(`{"type":"response.function_call_arguments.delta","output_index":3,"delta":"x"}`), "", protocol("item 3, which was not started")},
		{"no response", events(`{"type":"response.completed"}`), "", protocol("response.completed without a response")},
		{"JSON, not a response", `{"hello":1}`, "application/json", protocol("not a response")},
		{"JSON, error", `{"error":{"code":"server_error","message":"boom"}}`, "application/json", messages.Failure{Message: "boom", Code: messages.CodeServerError}},
		{"JSON, half", `{"output":[`, "application/json", protocol("malformed answer")},
		{"JSON, failed", `{"status":"failed","error":{"code":"server_error","message":"boom"},"output":[]}`, "application/json", messages.Failure{Message: "boom", Code: messages.CodeServerError}},
	} {
		t.Run(c.name, func(t *testing.T) { c.run(t, Responses) })
	}
}

// An answer that is one JSON value says the same as the stream.
func TestResponsesJSON(t *testing.T) {
	const body = `{"id":"resp_1","object":"response","status":"completed","error":null,"incomplete_details":null,"output":[
		{"id":"rs_1","type":"reasoning","summary":[{"type":"summary_text","text":"hm"}],"encrypted_content":"e"},
		{"id":"m","type":"message","role":"assistant","content":[{"type":"output_text","text":"hi","annotations":[]}]},
		{"id":"fc","type":"function_call","call_id":"c","name":"Bash","arguments":"{\"a\":1}"}],
		"usage":{"input_tokens":10,"input_tokens_details":{"cached_tokens":4},"output_tokens":8,"output_tokens_details":{"reasoning_tokens":3}}}`
	chunks, err := answer(t, Responses, wiretest.Canned{Text: body, ContentType: "application/json"})
	if err != nil {
		t.Fatal(err)
	}
	if err := modeltest.CheckChunks(chunks); err != nil {
		t.Error(err)
	}
	got := wiretest.Assemble(t, chunks)
	if diff := cmp.Diff([]messages.Block{thought("hm"), text("hi"), call("c", `{"a":1}`)}, blocks(got.Content)); diff != "" {
		t.Error(diff)
	}
	if got.Usage != (messages.Usage{InputTokens: 6, OutputTokens: 5, CacheReadTokens: 4, ReasoningTokens: 3}) || got.Finish.Kind != "tool-calls" || got.ReplayState == "" {
		t.Errorf("%+v", got)
	}
}

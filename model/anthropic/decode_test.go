package anthropic

import (
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/dsh-actor/dsh-actor/messages"
	"github.com/dsh-actor/dsh-actor/model/internal/wiretest"
	"github.com/dsh-actor/dsh-actor/model/modeltest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// recorded returns a stream of testdata.
func recorded(t testing.TB, name string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", "streams", name+".sse"))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// answer decodes a stream that is handed out by the transport.
func answer(t testing.TB, canned wiretest.Canned) ([]messages.Chunk, error) {
	t.Helper()
	m, err := New(Config{HTTPClient: &http.Client{Transport: &canned}})
	if err != nil {
		t.Fatal(err)
	}
	return wiretest.Collect(t.Context(), m, ask(user(text("x"))))
}

// events makes a stream of events from their JSON.
func events(data ...string) string {
	var b strings.Builder
	for _, d := range data {
		b.WriteString("data: " + d + "\n\n")
	}
	return b.String()
}

const (
	start   = `{"type":"message_start","message":{"usage":{"input_tokens":1,"output_tokens":1}}}`
	textOn  = `{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}`
	hello   = `{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"hello"}}`
	textOff = `{"type":"content_block_stop","index":0}`
	stopped = `{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":5}}`
	end     = `{"type":"message_stop"}`
)

func stop(reason string) string {
	return `{"type":"message_delta","delta":{"stop_reason":"` + reason + `"},"usage":{"output_tokens":5}}`
}

// blocks returns the content of an answer.
func blocks(c messages.Content) []messages.Block {
	var out []messages.Block
	for b := range c.Blocks() {
		out = append(out, b)
	}
	return out
}

var few = messages.Usage{InputTokens: 1, OutputTokens: 5}

// V-6 to V-9
func TestAnswers(t *testing.T) {
	finish := func(kind string) messages.FinishReason { return messages.FinishReason{Kind: kind} }
	for _, c := range []struct {
		name   string
		stream string
		want   []messages.Block
		usage  messages.Usage
		finish messages.FinishReason
		replay messages.JSON
	}{
		{"recorded text", recorded(t, "text"), []messages.Block{text(`Hello, "wörld" 😀!`)},
			messages.Usage{InputTokens: 25, OutputTokens: 15, CacheReadTokens: 2000, CacheWriteTokens: 300}, finish("stop"), ""},
		{"recorded calls", recorded(t, "calls"), []messages.Block{
			text("Let me look."),
			messages.ToolCallBlock{ID: "toolu_01", Name: "Bash", Arguments: `{"command": "ls -l", "n": 1.0}`},
			messages.ToolCallBlock{ID: "toolu_02", Name: "Ping", Arguments: `{}`},
		}, messages.Usage{InputTokens: 401, OutputTokens: 89, CacheReadTokens: 7}, finish("tool-calls"), ""},
		{"recorded thinking", recorded(t, "thinking"), []messages.Block{
			reasoning("First this."), reasoning(""), text("Now."), reasoning(""), call("toolu_03", "{}"),
		}, messages.Usage{InputTokens: 12, OutputTokens: 120}, finish("tool-calls"),
			`{"anthropic":1,"reasoning":[{"signature":"EqQBCgIYAhIM1g=="},{"redacted":"EmwKAhgBEgy3va3"},{"signature":"no text"}]}`},
		{"without message_stop", events(start, textOn, hello, textOff, stopped), []messages.Block{text("hello")}, few, finish("stop"), ""},
		{"without block stop", events(start, textOn, hello, stopped, end), []messages.Block{text("hello")}, few, finish("stop"), ""},
		{"without anything", events(start, end), nil, messages.Usage{InputTokens: 1, OutputTokens: 1}, finish("stop"), ""},
		{"no usage", events(`{"type":"message_start"}`, end), nil, messages.Usage{}, finish("stop"), ""},
		{"negative usage", events(`{"type":"message_start","message":{"usage":{"input_tokens":-1,"cache_read_input_tokens":null}}}`, end), nil, messages.Usage{}, finish("stop"), ""},
		{"whole text in the start", events(start, `{"type":"content_block_start","index":0,"content_block":{"type":"text","text":"hello"}}`, textOff, stopped, end),
			[]messages.Block{text("hello")}, few, finish("stop"), ""},
		{"whole input in the start", events(start, `{"type":"content_block_start","index":3,"content_block":{"type":"tool_use","id":"a","name":"Bash","input":{"x": 1}}}`, stop("tool_use"), end),
			[]messages.Block{call("a", `{"x": 1}`)}, few, finish("tool-calls"), ""},
		{"calls without a reason", events(start, `{"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"a","name":"Bash","input":{}}}`, end),
			[]messages.Block{call("a", "{}")}, messages.Usage{InputTokens: 1, OutputTokens: 1}, finish("tool-calls"), ""},
		{"the same id twice", events(start,
			`{"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"a","name":"Bash"}}`,
			`{"type":"content_block_start","index":1,"content_block":{"type":"tool_use","id":"a","name":"Bash"}}`, stop("tool_use"), end),
			[]messages.Block{call("a", "{}"), call("call-1-1-2", "{}")}, few, finish("tool-calls"), ""},
		{"interleaved", events(start, textOn, `{"type":"content_block_start","index":1,"content_block":{"type":"thinking","thinking":"a"}}`, hello,
			`{"type":"content_block_delta","index":1,"delta":{"type":"thinking_delta","thinking":"b"}}`, hello, textOff, stopped, end),
			[]messages.Block{text("hellohello"), reasoning("ab")}, few, finish("stop"), `{"anthropic":1,"reasoning":[{}]}`},
		{"started twice", events(start, textOn, hello, textOn, hello, textOff, hello, textOff, stopped, end), []messages.Block{text("hellohello")}, few, finish("stop"), ""},
		{"unknown events and deltas", events(start, `{"type":"new","index":"x","delta":[1]}`, textOn, `{"type":"content_block_delta","index":0,"delta":{"type":"citations_delta","citation":{}}}`, hello, textOff, stopped, end),
			[]messages.Block{text("hello")}, few, finish("stop"), ""},
		{"lone surrogates and bad UTF-8", events(start, textOn, `{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"a\ud83db`+"\xff"+`"}}`, textOff, stopped, end),
			[]messages.Block{text("a\ufffdb\ufffd")}, few, finish("stop"), ""},
		{"blocks of the API's own", events(start,
			`{"type":"content_block_start","index":0,"content_block":{"type":"mcp_tool_use","id":"m","name":"n","server_name":"s","input":{}}}`,
			`{"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":"{\"q\":"}}`,
			`{"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":"1}"}}`,
			textOff,
			`{"type":"content_block_start","index":1,"content_block":{"type":"mcp_tool_result","tool_use_id":"m","text":["odd"]}}`,
			`{"type":"content_block_stop","index":1}`, stopped, end),
			[]messages.Block{
				messages.OtherBlock{Type: "mcp_tool_use", Raw: `{"id":"m","input":{"q":1},"name":"n","server_name":"s","type":"mcp_tool_use"}`},
				messages.OtherBlock{Type: "mcp_tool_result", Raw: `{"type":"mcp_tool_result","tool_use_id":"m","text":["odd"]}`},
			}, few, finish("stop"), `{"anthropic":1}`},
		{"stop sequence", events(start, stop("stop_sequence"), end), nil, few, finish("stop"), ""},
		{"max tokens", events(start, stop("max_tokens"), end), nil, few, finish("max-tokens"), ""},
		{"context window", events(start, stop("model_context_window_exceeded"), end), nil, few, finish("max-tokens"), ""},
		{"refusal", events(start, stop("refusal"), end), nil, few, finish("refusal"), ""},
		{"pause", events(start, stop("pause_turn"), end), nil, few, finish("pause-turn"), ""},
		{"a new reason", events(start, stop("some_new_reason"), end), nil, few, finish("some-new-reason"), ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			chunks, err := answer(t, wiretest.Canned{Text: c.stream})
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
			if got.Usage != c.usage || got.Finish.Kind != c.finish.Kind || got.ReplayState != c.replay {
				t.Errorf("got %+v, %+v, %s", got.Usage, got.Finish, got.ReplayState)
			}
		})
	}
}

// The chunks of a stream, one by one.
func TestChunks(t *testing.T) {
	chunks, err := answer(t, wiretest.Canned{Text: recorded(t, "calls")})
	if err != nil {
		t.Fatal(err)
	}
	want := []messages.Chunk{
		messages.UsageChunk{Usage: messages.Usage{InputTokens: 400, OutputTokens: 2}},
		messages.BlockStart{Index: 0, BlockType: "text"},
		messages.TextDelta{Index: 0, Text: "Let me look."},
		messages.BlockEnd{Index: 0, Block: text("Let me look.")},
		messages.BlockStart{Index: 1, BlockType: "tool-call"},
		messages.ToolCallDelta{Index: 1, ID: "toolu_01", Name: "Bash"},
		messages.ToolCallDelta{Index: 1, ID: "toolu_01", ArgumentsDelta: `{"comm`},
		messages.ToolCallDelta{Index: 1, ID: "toolu_01", ArgumentsDelta: `and": "ls -l", "n": 1.0}`},
		messages.BlockEnd{Index: 1, Block: call("toolu_01", `{"command": "ls -l", "n": 1.0}`)},
		messages.BlockStart{Index: 2, BlockType: "tool-call"},
		messages.ToolCallDelta{Index: 2, ID: "toolu_02", Name: "Ping"},
		messages.ToolCallDelta{Index: 2, ID: "toolu_02", ArgumentsDelta: "{}"},
		messages.BlockEnd{Index: 2, Block: messages.ToolCallBlock{ID: "toolu_02", Name: "Ping", Arguments: "{}"}},
		messages.UsageChunk{Usage: messages.Usage{InputTokens: 401, OutputTokens: 89, CacheReadTokens: 7}},
		messages.FinishChunk{Reason: messages.FinishReason{Kind: "tool-calls"}},
	}
	if d := diff(want, chunks); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

func TestBrokenAnswers(t *testing.T) {
	for _, c := range []struct {
		name   string
		stream string
		kind   string
		want   messages.Failure // its message is a part
	}{
		{"error event", events(start, textOn, hello, `{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"},"request_id":"req_9"}`), "",
			messages.Failure{Message: "Overloaded", Code: messages.CodeOverloaded, RequestID: "req_9"}},
		{"error event, rate", events(`{"type":"error","error":{"type":"rate_limit_error","message":"slow"}}`), "", messages.Failure{Message: "slow", Code: messages.CodeRateLimited}},
		{"early end", events(start, textOn, hello, textOff), "", messages.Failure{Message: "ended before", Code: messages.CodeConnection}},
		{"not JSON", events(start, "nonsense"), "", messages.Failure{Message: "malformed event", Code: messages.CodeProtocol}},
		{"half JSON", events(start, `{"type":"content_block_delta"`), "", messages.Failure{Message: "malformed event", Code: messages.CodeProtocol}},
		{"wrong types", events(`{"type":"content_block_delta","index":"zero"}`), "", messages.Failure{Message: "malformed event", Code: messages.CodeProtocol}},
		{"not an object", events(`[1]`), "", messages.Failure{Message: "malformed event", Code: messages.CodeProtocol}},
		{"wrong block", events(start, `{"type":"content_block_start","index":0,"content_block":{"type":"text","text":5}}`), "", messages.Failure{Message: "malformed content block", Code: messages.CodeProtocol}},
		{"delta without start", events(start, hello), "", messages.Failure{Message: "block 0, which was not started", Code: messages.CodeProtocol}},
		{"JSON, not a message", `{"hello":"world"}`, "application/json", messages.Failure{Message: `not a message: {"hello":"world"}`, Code: messages.CodeProtocol}},
		{"JSON, error", `{"type":"error","error":{"type":"api_error","message":"boom"}}`, "application/json", messages.Failure{Message: "boom", Code: messages.CodeServerError}},
		{"JSON, half", `{"type":"message",`, "application/json", messages.Failure{Message: "malformed answer", Code: messages.CodeProtocol}},
		{"JSON, wrong block", `{"type":"message","content":[{"type":"text","text":1}]}`, "application/json", messages.Failure{Message: "malformed content block", Code: messages.CodeProtocol}},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := answer(t, wiretest.Canned{Text: c.stream, ContentType: c.kind})
			var f messages.Failure
			if !errors.As(err, &f) || !strings.Contains(f.Message, c.want.Message) {
				t.Fatalf("got %v", err)
			}
			if f.Message = c.want.Message; f != c.want {
				t.Errorf("got %+v", f)
			}
		})
	}
}

// An answer that is one JSON value says the same as the stream.
func TestJSONAnswer(t *testing.T) {
	const body = `{"id":"msg_02","type":"message","role":"assistant","model":"claude-test","content":[
		{"type":"thinking","thinking":"hm","signature":"sig"},{"type":"text","text":"Let me look."},
		{"type":"tool_use","id":"toolu_01","name":"Bash","input":{"command": "ls"}},{"type":"tool_use","id":"toolu_02","name":"Ping","input":{}}],
		"stop_reason":"tool_use","stop_sequence":null,"usage":{"input_tokens":10,"output_tokens":20,"cache_creation_input_tokens":0,"cache_read_input_tokens":5}}`
	chunks, err := answer(t, wiretest.Canned{Text: body, ContentType: "application/json"})
	if err != nil {
		t.Fatal(err)
	}
	if err := modeltest.CheckChunks(chunks); err != nil {
		t.Error(err)
	}
	got := wiretest.Assemble(t, chunks)
	want := []messages.Block{reasoning("hm"), text("Let me look."), call("toolu_01", `{"command": "ls"}`), messages.ToolCallBlock{ID: "toolu_02", Name: "Ping", Arguments: "{}"}}
	if diff := cmp.Diff(want, blocks(got.Content)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if got.Usage != (messages.Usage{InputTokens: 10, OutputTokens: 20, CacheReadTokens: 5}) || got.Finish.Kind != "tool-calls" ||
		got.ReplayState != `{"anthropic":1,"reasoning":[{"signature":"sig"}]}` {
		t.Errorf("%+v", got)
	}
}

// However the stream is cut into reads and whatever its line ends are, the
// chunks are the same.
func TestStreamForms(t *testing.T) {
	for _, name := range []string{"text", "calls", "thinking"} {
		stream := recorded(t, name)
		want, err := answer(t, wiretest.Canned{Text: stream})
		if err != nil {
			t.Fatal(err)
		}
		same := func(form string, c wiretest.Canned) {
			t.Helper()
			if got, err := answer(t, c); err != nil || !reflect.DeepEqual(got, want) {
				t.Fatalf("%s, %s: %v (-want +got):\n%s", name, form, err, diff(want, got))
			}
		}
		for i := 1; i < len(stream) && name == "text"; i++ {
			same("split", wiretest.Canned{Text: stream, Split: i})
		}
		same("byte by byte", wiretest.Canned{Text: stream, OneByte: true})
		crlf := strings.ReplaceAll(stream, "\n", "\r\n")
		same("CRLF", wiretest.Canned{Text: crlf})
		same("CRLF byte by byte", wiretest.Canned{Text: crlf, OneByte: true})
		same("CR", wiretest.Canned{Text: strings.ReplaceAll(stream, "\n", "\r")})
		same("comments", wiretest.Canned{Text: strings.ReplaceAll(stream, "\n\n", "\n: keep-alive\n\n: ping\n\n")})
		same("no names", wiretest.Canned{Text: unnamed(stream)})
		same("no content type", wiretest.Canned{Text: stream, ContentType: " "})
	}
}

func diff(want, got []messages.Chunk) string {
	return cmp.Diff(want, got, cmp.AllowUnexported(messages.FinishReason{}))
}

// unnamed removes the event lines: the type is in the data too.
func unnamed(stream string) string {
	lines := strings.SplitAfter(stream, "\n")
	out := lines[:0]
	for _, l := range lines {
		if !strings.HasPrefix(l, "event:") {
			out = append(out, l)
		}
	}
	return strings.Join(out, "")
}

// A stream that breaks off is a broken connection, wherever that happens, until
// all content and the stop reason are there; then it is the whole answer.
func TestStreamBreaksOff(t *testing.T) {
	for _, name := range []string{"text", "calls", "thinking"} {
		stream := recorded(t, name)
		whole := strings.Index(stream, "event: message_stop") // the message_delta is closed
		all, err := answer(t, wiretest.Canned{Text: stream})
		if err != nil {
			t.Fatal(err)
		}
		for i := range len(stream) {
			if name != "text" && stream[i] != '\n' {
				continue // one stream at every byte, the others at every line
			}
			got, err := answer(t, wiretest.Canned{Text: stream[:i]})
			if i >= whole {
				if err != nil || !reflect.DeepEqual(got, all) {
					t.Fatalf("%s[:%d]: %v (-want +got):\n%s", name, i, err, diff(all, got))
				}
				continue
			}
			var f messages.Failure
			if !errors.As(err, &f) || f.Code != messages.CodeConnection {
				t.Fatalf("%s[:%d]: %v", name, i, err)
			}
			if len(got) > 0 && !reflect.DeepEqual(got, all[:len(got)]) {
				t.Fatalf("%s[:%d] (-want +got):\n%s", name, i, diff(all, got))
			}
		}
	}
}

// An answer goes back as it came, thinking and its signatures included.
func TestRoundTrip(t *testing.T) {
	chunks, err := answer(t, wiretest.Canned{Text: recorded(t, "thinking")})
	if err != nil {
		t.Fatal(err)
	}
	got := wiretest.Assemble(t, chunks)
	back := messages.Message{
		Role: messages.RoleAssistant, Content: got.Content,
		Provenance: messages.Provenance{Provider: "anthropic", Model: "claude", ReplayState: got.ReplayState},
	}
	m, err := New(Config{NoCache: true})
	if err != nil {
		t.Fatal(err)
	}
	req := ask(user(text("think")), back, result("toolu_03", "ok", false))
	body, err := m.encode(&req)
	if err != nil {
		t.Fatal(err)
	}
	const want = `{"role":"assistant","content":[{"type":"thinking","thinking":"First this.","signature":"EqQBCgIYAhIM1g=="},` +
		`{"type":"redacted_thinking","data":"EmwKAhgBEgy3va3"},{"type":"text","text":"Now."},` +
		`{"type":"thinking","thinking":"","signature":"no text"},{"type":"tool_use","id":"toolu_03","name":"Bash","input":{}}]}`
	if !strings.Contains(string(body), want) {
		t.Errorf("got %s\nwant %s", body, want)
	}
	// T-9: calls taken out leave the signatures where they belong.
	back.Content = back.Content.WithoutToolCalls()
	req = ask(user(text("think")), back)
	if body, err = m.encode(&req); err != nil {
		t.Fatal(err)
	}
	const short = `{"role":"assistant","content":[{"type":"thinking","thinking":"First this.","signature":"EqQBCgIYAhIM1g=="},` +
		`{"type":"redacted_thinking","data":"EmwKAhgBEgy3va3"},{"type":"text","text":"Now."}]}`
	if !strings.Contains(string(body), short) {
		t.Errorf("got %s\nwant %s", body, short)
	}
}

// V-6 in any order of events.
func TestAnyOrder(t *testing.T) {
	pool := []string{start, textOn, hello, textOff, stopped, stop("tool_use"), end, `{"type":"ping"}`, `{"type":"error","error":{"type":"api_error"}}`}
	for _, index := range []string{"0", "1", "7"} {
		at := func(typ, members string) string {
			return `{"type":"content_block_` + typ + `","index":` + index + members + `}`
		}
		pool = append(pool,
			at("start", `,"content_block":{"type":"thinking","thinking":"t","signature":"s"}`), at("start", `,"content_block":{"type":"redacted_thinking","data":"d"}`),
			at("start", `,"content_block":{"type":"tool_use","id":"a","name":"Bash","input":{"x":1}}`), at("start", `,"content_block":{"type":"tool_use","id":"","name":"Bash"}`),
			at("start", `,"content_block":{"type":"server_tool_use","input":{}}`), at("start", `,"content_block":{}`),
			at("delta", `,"delta":{"type":"text_delta","text":"x"}`), at("delta", `,"delta":{"type":"thinking_delta","thinking":"y"}`),
			at("delta", `,"delta":{"type":"signature_delta","signature":"z"}`), at("delta", `,"delta":{"type":"input_json_delta","partial_json":"{}"}`),
			at("stop", ""),
		)
	}
	wiretest.AnyOrder(t, pool, func(stream string) ([]messages.Chunk, error) { return answer(t, wiretest.Canned{Text: stream}) })
}

// FuzzAnswer: no stream panics, and what comes before an error keeps V-6.
func FuzzAnswer(f *testing.F) {
	for _, name := range []string{"text", "calls", "thinking"} {
		f.Add(recorded(f, name), false)
	}
	f.Add(events(start, textOn, hello, `{"type":"error","error":{"type":"x"}}`), false)
	f.Add(`{"type":"message","content":[{"type":"text","text":"a"},{"type":"x"}],"stop_reason":"end_turn"}`, true)
	f.Fuzz(func(t *testing.T, stream string, whole bool) {
		c := wiretest.Canned{Text: stream}
		if whole {
			c.ContentType = "application/json"
		}
		chunks, err := answer(t, c)
		if bad := wiretest.WellFormed(chunks, err); bad != nil {
			t.Fatal(bad)
		}
	})
}

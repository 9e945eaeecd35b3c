package openai

import (
	"errors"
	"fmt"
	"net/http"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/dsh-actor/dsh-actor/messages"
	"github.com/dsh-actor/dsh-actor/model/internal/wiretest"
)

var streams = []struct {
	api  API
	name string
	// last is how the event begins without which the answer is not whole.
	last string
	// step is how far the places are apart where the stream is cut. One stream is
	// cut at every byte.
	step int
}{
	{Responses, "responses-text", "event: response.completed", 17},
	{Responses, "responses-calls", "event: response.completed", 101},
	{Chat, "chat-text", `data: {"id":"c1","object":"chat.completion.chunk","created":1,"model":"deepseek-test","choices":[]`, 1},
	{Chat, "chat-calls", `data: {"id":"c2","object":"chat.completion.chunk","created":1,"model":"gpt-test","choices":[]`, 101},
}

// However the stream is cut into reads and whatever its line ends are, the
// chunks are the same.
func TestStreamForms(t *testing.T) {
	for _, c := range streams {
		stream := recorded(t, c.name)
		want, err := answer(t, c.api, wiretest.Canned{Text: stream})
		if err != nil {
			t.Fatal(err)
		}
		same := func(form string, canned wiretest.Canned) {
			t.Helper()
			if got, err := answer(t, c.api, canned); err != nil || !reflect.DeepEqual(got, want) {
				t.Fatalf("%s, %s: %v (-want +got):\n%s", c.name, form, err, diff(want, got))
			}
		}
		for i := 1; i < len(stream); i += c.step {
			same("split", wiretest.Canned{Text: stream, Split: i})
		}
		same("byte by byte", wiretest.Canned{Text: stream, OneByte: true})
		crlf := strings.ReplaceAll(stream, "\n", "\r\n")
		same("CRLF", wiretest.Canned{Text: crlf})
		same("CRLF byte by byte", wiretest.Canned{Text: crlf, OneByte: true})
		same("CR", wiretest.Canned{Text: strings.ReplaceAll(stream, "\n", "\r")})
		same("comments", wiretest.Canned{Text: strings.ReplaceAll(stream, "\n\n", "\n: keep-alive\n\n: ping\n\n")})
		same("no content type", wiretest.Canned{Text: stream, ContentType: " "})
	}
}

// A stream that breaks off is a broken connection, wherever that happens, until
// all content is there.
func TestStreamBreaksOff(t *testing.T) {
	for _, c := range streams {
		stream := recorded(t, c.name)
		all, err := answer(t, c.api, wiretest.Canned{Text: stream})
		if err != nil {
			t.Fatal(err)
		}
		whole := strings.Index(stream, c.last)
		for i := range len(stream) {
			if i%c.step != 0 && stream[i] != '\n' {
				continue
			}
			got, err := answer(t, c.api, wiretest.Canned{Text: stream[:i]})
			if c.api == Chat && i >= whole { // usage and the mark are missing at most
				if err != nil {
					t.Fatalf("%s[:%d]: %v", c.name, i, err)
				}
				continue
			}
			var f messages.Failure
			if !errors.As(err, &f) || f.Code != messages.CodeConnection {
				t.Fatalf("%s[:%d]: %v", c.name, i, err)
			}
			if len(got) > 0 && !reflect.DeepEqual(got, all[:len(got)]) {
				t.Fatalf("%s[:%d] (-want +got):\n%s", c.name, i, diff(all, got))
			}
		}
	}
}

// An answer goes back as it came.
func TestRoundTrip(t *testing.T) {
	for _, c := range []struct {
		api   API
		name  string
		calls []messages.CallID
		want  string
	}{
		{Responses, "responses-calls", []messages.CallID{"call_01", "call_02"},
			`{"type":"reasoning","id":"rs_01","summary":[{"type":"summary_text","text":"First this."},{"type":"summary_text","text":"Then that."}],"encrypted_content":"gAAAAABo"},` +
				`{"type":"function_call","call_id":"call_01","name":"Bash","arguments":"{\"command\": \"ls\"}"},{"type":"function_call","call_id":"call_02","name":"Ping","arguments":"{}"},`},
		{Chat, "chat-text", nil, `{"role":"assistant","content":"Hello, \"wörld\" 😀!","reasoning_content":"First this."}`},
	} {
		chunks, err := answer(t, c.api, wiretest.Canned{Text: recorded(t, c.name)})
		if err != nil {
			t.Fatal(err)
		}
		got := wiretest.Assemble(t, chunks)
		back := assistant(got.ReplayState, blocks(got.Content)...)
		history := []messages.Message{user(text("go")), back}
		for _, id := range c.calls {
			history = append(history, result(id, "ok"))
		}
		req := ask(history...)
		body, err := newAdapter(t, Config{API: c.api}).encode(&req)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(body), c.want) {
			t.Errorf("got  %s\nwant %s", body, c.want)
		}
	}
}

func TestKeepsTheContract(t *testing.T) {
	for _, api := range []API{Responses, Chat} {
		t.Run(string(api), func(t *testing.T) {
			stream := recorded(t, string(api)+"-text")
			hello := strings.Index(stream, "Hello")
			stalled := stream[:hello+strings.Index(stream[hello:], "\n\n")+2]
			limited := wiretest.JSON(429, `{"error":{"message":"slow down","type":"requests","code":"rate_limit_exceeded"}}`)
			limited.Header["Retry-After-Ms"] = "1500"
			wiretest.Contract{
				New:  func(t *testing.T, url string) wiretest.Adapter { return newAdapter(t, Config{API: api, BaseURL: url}) },
				Text: stream, Calls: recorded(t, string(api)+"-calls"),
				Stalled: stalled,
				Failing: limited,
				Failure: messages.Failure{Code: messages.CodeRateLimited, Status: 429, ProviderRetryAfterMS: 1500},
			}.Run(t)
		})
	}
}

func TestHeaders(t *testing.T) {
	for _, c := range []struct {
		name string
		cfg  Config
		path string
		want http.Header
	}{
		{"responses", Config{APIKey: "sk", Organization: "org", Project: "proj"}, "/v1/responses",
			http.Header{"Authorization": {"Bearer sk"}, "Openai-Organization": {"org"}, "Openai-Project": {"proj"}}},
		{"chat", Config{API: Chat, Header: http.Header{"Api-Key": {"azure"}}}, "/v1/chat/completions", http.Header{"Api-Key": {"azure"}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := wiretest.Serve(t, wiretest.Always(wiretest.Stream(recorded(t, c.name+"-text"))))
			c.cfg.BaseURL = s.URL + "/v1"
			m := newAdapter(t, c.cfg)
			defer m.Close()
			if _, err := wiretest.Collect(t.Context(), m, ask(user(text("x")))); err != nil {
				t.Fatal(err)
			}
			r := s.Requests()[0]
			if r.Method != "POST" || r.Path != c.path {
				t.Errorf("%s %s", r.Method, r.Path)
			}
			for _, name := range []string{"Accept", "Accept-Encoding", "Content-Type", "User-Agent", "Content-Length"} {
				r.Header.Del(name)
			}
			if diff := cmp.Diff(c.want, r.Header); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestFromEnv(t *testing.T) {
	env := map[string]string{
		"OPENAI_BASE_URL": "http://localhost:1/v1", "OPENAI_API_KEY": " sk\n", "OPENAI_ORG_ID": "o", "OPENAI_PROJECT_ID": "p",
		"DEEPSEEK_API_KEY": "ds",
	}
	getenv := func(name string) string { return env[name] }
	nothing := func(string) string { return "" }
	for _, c := range []struct {
		cfg              Config
		api              API
		key, path, where string
	}{
		{FromEnv(getenv), Responses, "sk", "/v1/responses", "localhost 1"},
		{FromEnv(nothing), Responses, "", "/v1/responses", "api.openai.com 443"},
		{DeepSeek(getenv), Chat, "ds", "/chat/completions", "api.deepseek.com 443"},
		{DeepSeek(nothing), Chat, "", "/chat/completions", "api.deepseek.com 443"},
	} {
		m := newAdapter(t, c.cfg)
		host, port := m.Server()
		if c.cfg.API != c.api || c.cfg.APIKey != c.key || !strings.HasSuffix(m.endpoint.String(), c.path) || fmt.Sprint(host, " ", port) != c.where {
			t.Errorf("%+v: %s, %s %d", c.cfg, m.endpoint, host, port)
		}
	}
	if got := FromEnv(getenv); got.Organization != "o" || got.Project != "p" {
		t.Errorf("%+v", got)
	}
}

func TestConfig(t *testing.T) {
	for _, c := range []struct {
		cfg  Config
		want string
	}{
		{Config{API: "grpc"}, `openai: API "grpc"`},
		{Config{BaseURL: "nowhere"}, "openai: base URL"},
		{Config{APIKey: "secret\n"}, "the API key has a control character"},
		{Config{Organization: "\n"}, "the organization has a control character"},
		{Config{Project: "\n"}, "the project has a control character"},
		{Config{Extra: `{"input":[]}`}, `extra: the member "input" is the adapter's own`},
		{Config{API: Chat, MaxTokensName: "max_x", Extra: `{"max_x":1}`}, `extra: the member "max_x" is the adapter's own`},
	} {
		_, err := New(c.cfg)
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "secret") {
			t.Errorf("%+v: %v", c.cfg, err)
		}
	}
	m := newAdapter(t, Config{APIKey: "secret"})
	if got := fmt.Sprintf("%v %s", m, m); got != "openai responses api.openai.com openai responses api.openai.com" {
		t.Error(got)
	}
	if _, err := New(Config{API: Chat, Extra: `{"input":[]}`}); err != nil {
		t.Errorf("a member of the other API: %v", err)
	}
}

// V-6 in any order of events.
func TestAnyOrder(t *testing.T) {
	pool := []string{completed(""), `{"type":"response.incomplete","response":{}}`, `{"type":"response.failed","response":{}}`, `{"type":"error","message":"x"}`,
		`{"type":"response.completed","response":{"output":[{"type":"function_call","call_id":"z","name":"B"}]}}`}
	for _, index := range []string{"0", "1", "7"} {
		at := func(typ, members string) string {
			return `{"type":"response.` + typ + `","output_index":` + index + members + `}`
		}
		pool = append(pool,
			at("output_text.delta", `,"delta":"a"`), at("output_text.delta", `,"content_index":1,"delta":"b"`), at("refusal.delta", `,"delta":"c"`),
			at("function_call_arguments.delta", `,"delta":"{}"`), at("reasoning_summary_text.delta", `,"delta":"d"`), at("reasoning_text.delta", `,"content_index":2,"delta":"e"`),
			at("output_item.added", `,"item":{"type":"reasoning"}`), at("output_item.added", `,"item":{"type":"function_call","call_id":"f","name":"B"}`), at("output_item.added", `,"item":{"type":"message"}`),
			at("output_item.done", `,"item":{"type":"reasoning","id":"r","encrypted_content":"x"}`), at("output_item.done", `,"item":{"type":"function_call","name":"B"}`),
			at("output_item.done", `,"item":{"type":"message","phase":"p","content":[{"type":"output_text","text":"g"},{"type":"refusal","refusal":"h"}]}`),
			at("output_item.done", `,"item":{"type":"web_search_call"}`), at("output_item.done", ``),
		)
	}
	wiretest.AnyOrder(t, pool, func(stream string) ([]messages.Chunk, error) {
		return answer(t, Responses, wiretest.Canned{Text: stream})
	})
	wiretest.AnyOrder(t, []string{
		chatDone, chatUsage, delta("", "stop"), delta("", "length"), delta(`"content":"a"`, ""), delta(`"reasoning_content":"b"`, ""), delta(`"refusal":"c"`, ""),
		delta(`"tool_calls":[{"index":0,"id":"x","function":{"name":"B","arguments":"{"}}]`, ""), delta(`"tool_calls":[{"index":0,"function":{"arguments":"}"}}]`, ""),
		delta(`"tool_calls":[{"id":"x","function":{"name":"B"}},{"function":{"arguments":"1"}}]`, ""), delta(`"tool_calls":[{"index":1,"id":"x","function":{"name":"B"}}]`, ""),
		delta(`"tool_calls":[{}]`, ""), `{"error":{}}`, `{"choices":[]}`,
	}, func(stream string) ([]messages.Chunk, error) { return answer(t, Chat, wiretest.Canned{Text: stream}) })
}

// Fuzz: no stream panics, and what comes before an error keeps V-6.

func FuzzResponses(f *testing.F) { fuzz(f, Responses) }

func FuzzChat(f *testing.F) { fuzz(f, Chat) }

func fuzz(f *testing.F, api API) {
	for _, c := range streams {
		if c.api == api {
			f.Add(recorded(f, c.name), false)
		}
	}
	f.Add(events(helloDelta, helloDone, completed(`,"error":{"code":"x"}`)), false)
	f.Add(events(delta(`"tool_calls":[{"index":0,"id":"a","function":{"name":"B"}}]`, "stop")), false)
	f.Add(`{"output":[{"type":"message","content":[{"type":"output_text","text":"a"}]},{"type":"x"}]}`, true)
	f.Add(`{"choices":[{"message":{"content":"a"}}]}`, true)
	f.Fuzz(func(t *testing.T, stream string, whole bool) {
		c := wiretest.Canned{Text: stream}
		if whole {
			c.ContentType = "application/json"
		}
		chunks, err := answer(t, api, c)
		if bad := wiretest.WellFormed(chunks, err); bad != nil {
			t.Fatal(bad)
		}
	})
}

// BenchmarkStream measures a chunk from the bytes of the stream to the consumer,
// without a network.
func BenchmarkStream(b *testing.B) {
	const n = 1000
	for _, c := range []struct {
		api               API
		first, delta, end string
	}{
		{Responses, "", `{"type":"response.output_text.delta","sequence_number":4,"item_id":"msg_0123456789","output_index":0,"content_index":0,"delta":" a few words of text","logprobs":[],"obfuscation":"abcdef"}`, completed("")},
		{Chat, "", `{"id":"chatcmpl-0123456789","object":"chat.completion.chunk","created":1764500000,"model":"gpt-test","system_fingerprint":"fp_0","choices":[{"index":0,"delta":{"content":" a few words of text"},"logprobs":null,"finish_reason":null}],"usage":null}`, chatDone},
	} {
		b.Run(string(c.api), func(b *testing.B) {
			stream := strings.Repeat(events(c.delta), n) + events(c.end)
			m := newAdapter(b, Config{API: c.api, HTTPClient: &http.Client{Transport: &wiretest.Canned{Text: stream}}})
			req, ctx := ask(user(text("x"))), b.Context()
			b.ReportAllocs()
			for b.Loop() {
				chunks := 0
				for _, err := range m.Stream(ctx, req) {
					if err != nil {
						b.Fatal(err)
					}
					chunks++
				}
				if chunks < n {
					b.Fatal(chunks)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/chunk")
		})
	}
}

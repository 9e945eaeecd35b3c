package openai

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/dsh-actor/dsh-actor/messages"
	"github.com/dsh-actor/dsh-actor/model"
	"github.com/dsh-actor/dsh-actor/model/internal/wiretest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// Messages, as the session derives them (E-6).

func user(blocks ...messages.Block) messages.Message {
	return messages.Message{Role: messages.RoleUser, Content: messages.NewContent(blocks...)}
}

func result(id messages.CallID, text string) messages.Message {
	return user(messages.ToolResultBlock{ToolCallID: id, Content: messages.Text(text)})
}

func assistant(replay messages.JSON, blocks ...messages.Block) messages.Message {
	return messages.Message{
		Role: messages.RoleAssistant, Content: messages.NewContent(blocks...),
		Provenance: messages.Provenance{Provider: "openai", Model: "gpt", ReplayState: replay},
	}
}

func text(s string) messages.Block    { return messages.TextBlock{Text: s} }
func thought(s string) messages.Block { return messages.ReasoningBlock{Text: s} }
func call(id, arguments string) messages.Block {
	return messages.ToolCallBlock{ID: messages.CallID(id), Name: "Bash", Arguments: arguments}
}

var image = messages.ImageBlock{MediaType: "image/png", Data: "iVBORw0KGgo="}

var tools = messages.ListOf(
	messages.ToolSpec{Name: "Bash", Description: "Runs a command.", Parameters: `{"type":"object","properties":{"command":{"type":"string"}},"required":["command"]}`},
	messages.ToolSpec{Name: "Ping"},
)

func ask(history ...messages.Message) model.Request {
	return model.Request{
		Header:  messages.RequestHeader{Config: messages.RequestConfig{Provider: "openai", Model: "gpt-test"}},
		History: messages.ListOf(history...), Session: "s", Turn: 1, Step: 1,
	}
}

func newAdapter(t testing.TB, cfg Config) *Model {
	t.Helper()
	m, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

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
func answer(t testing.TB, api API, canned wiretest.Canned) ([]messages.Chunk, error) {
	t.Helper()
	m := newAdapter(t, Config{API: api, HTTPClient: &http.Client{Transport: &canned}})
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

func blocks(c messages.Content) (out []messages.Block) {
	for b := range c.Blocks() {
		out = append(out, b)
	}
	return out
}

func diff(want, got []messages.Chunk) string {
	return cmp.Diff(want, got, cmp.AllowUnexported(messages.FinishReason{}))
}

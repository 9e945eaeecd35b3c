package scripted

import (
	"context"
	"testing"

	"go.uber.org/goleak"

	"github.com/dsh-actor/dsh-actor/messages"
	"github.com/dsh-actor/dsh-actor/model"
	"github.com/dsh-actor/dsh-actor/model/modeltest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// talk is a session reduced to what a model sees of it: it derives the history
// as E-6 says and numbers turns, steps and attempts as the turn loop does.
type talk struct {
	t       testing.TB
	model   model.Model
	history messages.List[messages.Message]
	turn    int
	step    int
	attempt int
	// rewrite says that a plugin rewrites the answer, which drops its replay
	// state (T-8).
	rewrite bool
}

func newTalk(t testing.TB, m model.Model) *talk { return &talk{t: t, model: m} }

func (k *talk) request() model.Request {
	return model.Request{History: k.history, Session: "s-1", Turn: k.turn, Step: k.step, Attempt: k.attempt}
}

// prompt opens a turn with the texts as user messages.
func (k *talk) prompt(texts ...string) *talk {
	k.turn++
	k.step, k.attempt = 0, 0
	return k.user(texts...)
}

// user adds user messages, as contexts are.
func (k *talk) user(texts ...string) *talk {
	for _, text := range texts {
		k.history = k.history.Append(messages.Message{Role: messages.RoleUser, Content: messages.Text(text)})
	}
	return k
}

// ask sends one request and returns the chunks and the error.
func (k *talk) ask() ([]messages.Chunk, error) {
	k.step++
	return collect(context.Background(), k.model, k.request())
}

// answer sends one request, which must succeed, and appends the answer.
func (k *talk) answer() messages.Assembled {
	k.t.Helper()
	chunks, err := k.ask()
	if err != nil {
		k.t.Fatalf("turn %d, step %d: %v", k.turn, k.step, err)
	}
	got := assemble(k.t, chunks)
	if k.rewrite {
		got.ReplayState = ""
	}
	k.history = k.history.Append(messages.Message{
		Role: messages.RoleAssistant, Content: got.Content,
		Provenance: &messages.Provenance{Provider: "p", Model: "m", ReplayState: got.ReplayState},
	})
	k.attempt = 0
	return got
}

// text is answer's text.
func (k *talk) text() string {
	k.t.Helper()
	return k.answer().Content.Text()
}

// result appends the result of a call.
func (k *talk) result(id messages.CallID, text string) *talk {
	k.history = k.history.Append(messages.Message{
		Role:    messages.RoleUser,
		Content: messages.NewContent(messages.ToolResultBlock{ToolCallID: id, Content: messages.Text(text)}),
	})
	return k
}

// fork returns a session that goes on from the same history.
func (k *talk) fork() *talk {
	child := *k
	return &child
}

func collect(ctx context.Context, m model.Model, req model.Request) ([]messages.Chunk, error) {
	var out []messages.Chunk
	for c, err := range m.Stream(ctx, req) {
		if err != nil {
			return out, err
		}
		out = append(out, c)
	}
	return out, nil
}

func assemble(t testing.TB, chunks []messages.Chunk) messages.Assembled {
	t.Helper()
	if err := modeltest.CheckChunks(chunks); err != nil {
		t.Fatalf("chunks: %v", err)
	}
	var a messages.Assembler
	for _, c := range chunks {
		a.Add(c)
	}
	got, err := a.Result()
	if err != nil {
		t.Fatalf("assemble: %v", err)
	}
	return got
}

func mustParse(t testing.TB, name, text string) *Script {
	t.Helper()
	s, err := Parse(name, []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

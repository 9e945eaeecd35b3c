package actors_test

import (
	"context"
	"testing"

	"github.com/dsh-actor/dsh-actor/messages"
	"github.com/dsh-actor/dsh-actor/model/scripted"
	"github.com/dsh-actor/dsh-actor/pipeline"
)

func TestPlainTurn(t *testing.T) { // T-2, T-3, T-4, T-6, T-8, SPEC 3.1
	w := newWorld(t, scripted.New(scripted.Text("hello")))
	s := w.open(agent(), "")
	w.prompt(s, "hi")
	want := "turn/start{1,message/user} · user/message(hi) · step/start{1,1} · request/header{initial} · … · " +
		"assistant/message · step/end{1,1} · turn/end{1,completed}"
	if got := w.log(s); got != want {
		t.Errorf("log\n got %s\nwant %s", got, want)
	}
}

type none struct{}

func noop(name string, parallel bool, body func(context.Context, *pipeline.Invocation) error) pipeline.Tool {
	d := pipeline.Definition[none, string]{
		Name: name, Description: name,
		Run: func(ctx context.Context, inv *pipeline.Invocation, _ none) (string, error) {
			if body == nil {
				return "ok", nil
			}
			return "ok", body(ctx, inv)
		},
		Render: func(_ none, out string) messages.Content { return messages.Text(out) },
	}
	if parallel {
		d.Concurrent = func(none) bool { return true }
	}
	return pipeline.MustDefine(d)
}

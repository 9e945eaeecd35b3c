package anthropic_test

import (
	"context"
	"fmt"
	"log"
	"os"

	"github.com/dsh-actor/dsh-actor/messages"
	"github.com/dsh-actor/dsh-actor/model"
	"github.com/dsh-actor/dsh-actor/model/anthropic"
)

// A request by hand. In a runtime the adapter is one of actors.Config.Models, by
// the provider's name.
func Example() {
	cfg := anthropic.FromEnv(os.Getenv)
	cfg.Extra = `{"thinking": {"type": "enabled", "budget_tokens": 8000}}`
	m, err := anthropic.New(cfg)
	if err != nil {
		log.Fatal(err)
	}
	defer m.Close()

	req := model.Request{
		Header:  messages.RequestHeader{Config: messages.RequestConfig{Provider: "anthropic", Model: "claude-sonnet-4-5"}},
		History: messages.ListOf(messages.Message{Role: messages.RoleUser, Content: messages.Text("Hello")}),
	}
	for chunk, err := range m.Stream(context.Background(), req) {
		if err != nil {
			log.Fatal(err) // a messages.Failure, or the context's cause
		}
		if text, ok := chunk.(messages.TextDelta); ok {
			fmt.Print(text.Text)
		}
	}
}

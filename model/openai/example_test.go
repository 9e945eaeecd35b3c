package openai_test

import (
	"log"
	"os"

	"github.com/dsh-actor/dsh-actor/model"
	"github.com/dsh-actor/dsh-actor/model/openai"
)

// Adapters by provider name, as a host configures them.
func Example() {
	responses, err := openai.New(openai.FromEnv(os.Getenv))
	if err != nil {
		log.Fatal(err)
	}
	deepseek, err := openai.New(openai.DeepSeek(os.Getenv))
	if err != nil {
		log.Fatal(err)
	}
	local, err := openai.New(openai.Config{API: openai.Chat, BaseURL: "http://localhost:8000/v1"})
	if err != nil {
		log.Fatal(err)
	}
	var _ model.Models = model.Map{"openai": responses, "deepseek": deepseek, "local": local}
}

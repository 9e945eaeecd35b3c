package scripted_test

import (
	"context"
	"fmt"

	"github.com/dsh-actor/dsh-actor/messages"
	"github.com/dsh-actor/dsh-actor/model"
	"github.com/dsh-actor/dsh-actor/model/scripted"
)

// print prints what a model answers.
func print(m model.Model, req model.Request) {
	var a messages.Assembler
	for chunk, err := range m.Stream(context.Background(), req) {
		if err != nil {
			fmt.Println("error:", err)
			return
		}
		a.Add(chunk)
	}
	answer, err := a.Result()
	if err != nil {
		fmt.Println("error:", err)
		return
	}
	for _, call := range answer.Content.ToolCalls() {
		fmt.Println("call:", call.ID, call.Name, call.Arguments)
	}
	if text := answer.Content.Text(); text != "" {
		fmt.Println("text:", text)
	}
}

func ExampleNew() {
	m := scripted.New(
		scripted.Calls(scripted.Call("Read", map[string]any{"file_path": "README.md"})),
		scripted.Text("That is all."),
	)
	print(m, model.Request{Turn: 1, Step: 1})
	// Output:
	// call: call-1-1-1 Read {"file_path":"README.md"}
}

func ExampleFunc() {
	m := scripted.Func(func(_ context.Context, req model.Request) ([]messages.Chunk, error) {
		return scripted.Text(fmt.Sprintf("You sent %d messages.", req.Messages().Len())).Render(req)
	})
	print(m, model.Request{History: messages.ListOf(
		messages.Message{Role: messages.RoleUser, Content: messages.Text("Hello")},
	)})
	// Output:
	// text: You sent 1 messages.
}

func ExampleParse() {
	_, err := scripted.Parse("demo.yaml", []byte("turns:\n  - txt: Hello\n"))
	fmt.Println(err)
	m, err := scripted.Parse("demo.yaml", []byte("turns:\n  - text: Hello\n"))
	if err != nil {
		fmt.Println(err)
		return
	}
	print(m, model.Request{})
	// Output:
	// demo.yaml:2:5: unknown key "txt" in an answer; did you mean "text"?
	// text: Hello
}

func ExampleFailTimes() {
	overloaded := messages.Failure{Message: "overloaded", Code: "OVERLOADED", Status: 529}
	m := scripted.New(scripted.FailTimes(1, overloaded, scripted.Text("Here I am.")))
	print(m, model.Request{Attempt: 0})
	print(m, model.Request{Attempt: 1})
	// Output:
	// error: overloaded
	// text: Here I am.
}

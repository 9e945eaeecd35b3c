package actors_test

import (
	"context"
	"fmt"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/dsh-actor/dsh-actor/actors"
	"github.com/dsh-actor/dsh-actor/messages"
	"github.com/dsh-actor/dsh-actor/model"
	"github.com/dsh-actor/dsh-actor/model/scripted"
	"github.com/dsh-actor/dsh-actor/pipeline"
)

// The runtime under a host's own actor system.
func ExampleNew() {
	system := actor.NewActorSystem(actor.WithLoggerFactory(quietLogger))
	rt, err := actors.New(actors.Config{
		Models: model.Map{"scripted": scripted.New(scripted.Text("Hello!"))},
		Under:  system.Root, // our supervisor becomes a child here
	})
	if err != nil {
		fmt.Println(err)
		return
	}

	ctx := context.Background()
	s, err := rt.Create(ctx, actors.SessionOptions{Agent: &actors.Agent{
		Name:    "greeter",
		Request: messages.RequestConfig{Provider: "scripted", Model: "any"},
	}})
	if err != nil {
		fmt.Println(err)
		return
	}
	if _, err := s.Followup(ctx, messages.Text("Hi")); err != nil { // durable when it returns
		fmt.Println(err)
		return
	}
	if err := s.WhenIdle(ctx); err != nil {
		fmt.Println(err)
		return
	}
	for e, err := range s.Events(ctx, 0) { // replays from a sequence number, then follows
		if err != nil {
			fmt.Println(err)
			return
		}
		if m, ok := e.Data.(messages.AssistantMessage); ok {
			fmt.Println(m.Content.Text())
		}
		if _, ended := e.Data.(messages.TurnEnd); ended {
			break
		}
	}

	patience, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	report, err := rt.Shutdown(patience) // names what is still alive, if anything is
	fmt.Println(report.Quiet(), err)
	// Output:
	// Hello!
	// true <nil>
}

// What belongs to one session is registered in its Setup, which runs at every
// activation.
func ExampleAgent_setup() {
	rt, err := actors.New(actors.Config{Models: model.Single(scripted.New(
		scripted.Calls(scripted.Call("Deploy", nil)), scripted.Text("I may not.")))})
	if err != nil {
		fmt.Println(err)
		return
	}
	readOnly := &actors.Agent{
		Name:    "read-only",
		Request: messages.RequestConfig{Provider: "scripted", Model: "any"},
		Setup: func(scope *actors.Scope) error {
			scope.Guard(func(call *pipeline.Call) (string, bool) {
				return "this session may not deploy", call.Name() == "Deploy"
			})
			return nil
		},
	}
	ctx := context.Background()
	s, err := rt.Create(ctx, actors.SessionOptions{Agent: readOnly})
	if err != nil {
		fmt.Println(err)
		return
	}
	rt.Seams().Result.Use(func(_ context.Context, o pipeline.Outcome) {
		fmt.Println(o.Call.Name(), "→", o.Result.Content().Text())
	})
	if _, err := s.Followup(ctx, messages.Text("deploy")); err != nil {
		fmt.Println(err)
	}
	_ = s.WhenIdle(ctx)
	_, err = rt.Shutdown(ctx)
	fmt.Println(err)
	// Output:
	// Deploy → Error: this session may not deploy
	// <nil>
}

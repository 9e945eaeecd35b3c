package pipeline_test

import (
	"context"
	"fmt"
	"strings"

	"github.com/dsh-actor/dsh-actor/messages"
	"github.com/dsh-actor/dsh-actor/pipeline"
)

type greetIn struct {
	Name string `json:"name" description:"whom to greet"`
}

// Example runs a tool through every phase, without any session: policy, a final
// guard, a wrapper that retries, a transformation of what the model reads, and an
// observer.
func Example() {
	tries := 0
	greet := pipeline.MustDefine(pipeline.Definition[greetIn, string]{
		Name:        "Greet",
		Description: "Greets somebody.",
		Run: func(_ context.Context, _ *pipeline.Invocation, in greetIn) (string, error) {
			if tries++; tries == 1 {
				return "", fmt.Errorf("%s did not listen", in.Name)
			}
			return "Hello, " + in.Name, nil
		},
		Render: func(_ greetIn, greeting string) messages.Content { return messages.Text(greeting) },
	})

	p := pipeline.New(pipeline.Config{})
	if _, err := p.Tools().Register(greet); err != nil {
		fmt.Println(err)
		return
	}
	seams := p.Seams()

	// Policy: allow, deny or ask.
	seams.PreExecute.Use(func(ctx context.Context, call *pipeline.Call, next pipeline.Next[messages.PreToolDecision]) (messages.PreToolDecision, error) {
		if strings.Contains(string(call.Arguments()), "Mallory") {
			return messages.ToolDeny{Reason: "we do not greet Mallory"}, nil
		}
		return next(ctx)
	})
	// A guard is final: no listener can allow what it denies.
	p.Guard(func(call *pipeline.Call) (string, bool) {
		return "nobody greets the void", call.Arguments() == `{"name":""}`
	})
	// A wrapper around the tool: here, one more try.
	seams.Execute.Use(func(ctx context.Context, _ *pipeline.Call, next pipeline.Next[*messages.Result]) (*messages.Result, error) {
		result, err := next(ctx)
		if err == nil && result.IsError() {
			fmt.Println("again, because", result.Message())
			return next(ctx)
		}
		return result, err
	})
	// What the model reads of it.
	seams.PostExecute.Use(func(ctx context.Context, o pipeline.Outcome, next pipeline.Next[messages.PostToolDecision]) (messages.PostToolDecision, error) {
		if o.Result.IsError() {
			return next(ctx)
		}
		return messages.ResultAccept{Content: messages.Text(o.Result.Content().Text() + "!")}, nil
	})
	// Who else wants to know.
	seams.Result.Use(func(_ context.Context, o pipeline.Outcome) {
		fmt.Printf("%s: %s\n", o.Call.ID(), o.Result.Content().Text())
	})

	ctx := context.Background()
	p.Execute(ctx, pipeline.Input{ID: "call-1", Name: "Greet", Arguments: `{"name":"Alice"}`})
	p.Execute(ctx, pipeline.Input{ID: "call-2", Name: "Greet", Arguments: `{"name":"Mallory"}`})
	p.Execute(ctx, pipeline.Input{ID: "call-3", Name: "Greet", Arguments: `{"name":""}`})
	p.Execute(ctx, pipeline.Input{ID: "call-4", Name: "Greet", Arguments: `{"name":7}`})
	// Output:
	// again, because Alice did not listen
	// call-1: Hello, Alice!
	// call-2: Error: we do not greet Mallory
	// call-3: Error: nobody greets the void
	// again, because invalid arguments: "name" must be a string
	// call-4: Error: invalid arguments: "name" must be a string
}

// A scope is one session's part of the pipeline: what is registered on it reaches
// that session only.
func ExamplePipeline_Scope() {
	p := pipeline.New(pipeline.Config{})
	careful, bold := p.Scope(), p.Scope()
	careful.Guard(func(*pipeline.Call) (string, bool) { return "not in this session", true })

	in := pipeline.Input{Name: "Anything"}
	fmt.Println(careful.Execute(context.Background(), in).Message())
	fmt.Println(bold.Execute(context.Background(), in).Message())
	// Output:
	// not in this session
	// unknown tool "Anything"
}

package actors_test

import (
	"context"
	"fmt"
	"strings"

	"github.com/dsh-actor/dsh-actor/actors"
	"github.com/dsh-actor/dsh-actor/messages"
	"github.com/dsh-actor/dsh-actor/model"
	"github.com/dsh-actor/dsh-actor/model/scripted"
	"github.com/dsh-actor/dsh-actor/pipeline"
)

// plugin is an ordinary Go plugin: no hook protocol, no serialization. It
// registers a function on every seam and prints what it sees.
type plugin struct {
	forced    bool
	cancelled chan struct{}
}

func (p *plugin) install(rt *actors.Runtime) {
	s := rt.Seams()
	s.SessionCreated.Use(func(_ context.Context, e *pipeline.SessionStart) error {
		fmt.Println("session/created", e.Source)
		return nil // an error would veto the session
	})
	s.AgentCreated.Use(func(context.Context, *pipeline.SessionStart) error {
		fmt.Println("agent/created")
		return nil
	})
	s.SessionStart.Use(func(ctx context.Context, e *pipeline.SessionStart) error {
		_, err := e.Agent.Inject(ctx, messages.NewContext("example", "The date is today."))
		return err
	})
	s.PromptSubmit.Use(func(ctx context.Context, e *pipeline.PromptSubmit, next pipeline.Next[messages.PromptDecision]) (messages.PromptDecision, error) {
		fmt.Println("agent/prompt-submit", e.Content.Text())
		switch text := e.Content.Text(); {
		case strings.Contains(text, "secret"):
			return messages.PromptBlock{Reason: "no secrets, please"}, nil
		case strings.Contains(text, "never mind"):
			s, _ := rt.Session(e.Agent.ID())
			return messages.PromptAllow{}, s.Cancel(ctx)
		}
		return next(ctx)
	})
	s.SessionPrefix.Use(func(ctx context.Context, _ *pipeline.SessionPrefix, next pipeline.Next[*messages.List[messages.Message]]) (*messages.List[messages.Message], error) {
		fmt.Println("agent/session-prefix")
		return next(ctx)
	})
	s.PreStep.Use(func(_ context.Context, e *pipeline.Step) (messages.StepVerdict, error) {
		fmt.Println("agent/pre-step", e.Step)
		return nil, nil // messages.Halt{} would end the run
	})
	s.Request.Use(func(ctx context.Context, e *pipeline.Request, _ pipeline.Next[*messages.RequestConfig]) (*messages.RequestConfig, error) {
		config := e.Config
		config.Model = "small"
		return &config, nil
	})
	s.StepResult.Use(func(ctx context.Context, e *pipeline.StepResult, next pipeline.Next[*messages.Message]) (*messages.Message, error) {
		fmt.Println("agent/step-result", len(e.Message.Content.ToolCalls()), "calls")
		return next(ctx)
	})
	s.RequestError.Use(func(_ context.Context, e *pipeline.RequestError, _ pipeline.Next[messages.RequestErrorDecision]) (messages.RequestErrorDecision, error) {
		fmt.Println("agent/request-error", e.Failure.Code)
		return messages.RequestRetry{}, nil
	})
	s.PreExecute.Use(func(ctx context.Context, c *pipeline.Call, next pipeline.Next[messages.PreToolDecision]) (messages.PreToolDecision, error) {
		fmt.Println("tools/pre-execute", c.Name(), c.Arguments())
		return messages.ToolAsk{Reason: "it writes"}, nil
	})
	s.Approval.Use(func(_ context.Context, r *pipeline.ApprovalRequest, _ pipeline.Next[messages.ApprovalAnswer]) (messages.ApprovalAnswer, error) {
		fmt.Println("tools/approval", r.Reason)
		return messages.ApprovalOnce{}, nil
	})
	rt.Guard(func(c *pipeline.Call) (string, bool) {
		fmt.Println("guard", c.Name())
		return "", false
	})
	s.Execute.Use(func(ctx context.Context, c *pipeline.Call, next pipeline.Next[*messages.Result]) (*messages.Result, error) {
		r, err := next(ctx)
		fmt.Println("tools/execute", r.Content().Text())
		return r, err
	})
	s.PostExecute.Use(func(_ context.Context, o pipeline.Outcome, _ pipeline.Next[messages.PostToolDecision]) (messages.PostToolDecision, error) {
		fmt.Println("tools/post-execute, body ran:", o.Call.BodyInvoked())
		return messages.ResultAccept{Contexts: messages.ListOf(messages.NewContext("example", "Greetings are logged."))}, nil
	})
	s.Result.Use(func(_ context.Context, o pipeline.Outcome) { fmt.Println("tools/result", o.Result.Content().Text()) })
	s.PostStep.Use(func(_ context.Context, e *pipeline.Step) error {
		fmt.Println("agent/post-step", e.Step)
		return nil
	})
	s.TurnContinuation.Use(p.continuation)
	s.TurnStop.Use(func(_ context.Context, e *pipeline.Continuation) (messages.StepVerdict, error) {
		fmt.Println("agent/turn-stop, steering pending:", e.SteeringPending)
		return nil, nil
	})
	s.CancelRequested.Use(func(_ context.Context, e *pipeline.CancelRequested) {
		fmt.Println("agent/cancel-requested", e.Cause)
		close(p.cancelled)
	})
	s.SessionEnd.Use(func(_ context.Context, e *pipeline.SessionEnd) error {
		fmt.Println("agent/session-end", e.Reason)
		return nil
	})
}

// continuation makes the agent check its work once, when it would otherwise stop.
func (p *plugin) continuation(ctx context.Context, _ *pipeline.Continuation, next pipeline.Next[messages.ContinuationDecision]) (messages.ContinuationDecision, error) {
	d, err := next(ctx)
	if _, stop := d.(messages.TurnStop); stop && !p.forced {
		p.forced = true
		return messages.TurnContinue{Reason: messages.Text("Check it."), Source: messages.PluginSource("example")}, nil
	}
	return d, err
}

// A plugin uses every seam through the real loop.
func Example() {
	type greeting struct {
		Name string `json:"name" description:"whom to greet"`
	}
	rt, err := actors.New(actors.Config{Models: model.Single(scripted.New(
		scripted.FailTimes(1, messages.Failure{Message: "too busy", Code: "OVERLOADED"},
			scripted.Calls(scripted.Call("Greet", map[string]any{"name": "Ada"}))),
		scripted.Text("Ada was greeted."),
		scripted.Text("It is right."),
	))})
	if err != nil {
		fmt.Println(err)
		return
	}
	p := &plugin{cancelled: make(chan struct{})}
	p.install(rt)
	greet := pipeline.MustDefine(pipeline.Definition[greeting, string]{
		Name: "Greet", Description: "Greets somebody.",
		Run: func(_ context.Context, _ *pipeline.Invocation, in greeting) (string, error) {
			return "Hello, " + in.Name + "!", nil
		},
		Render: func(_ greeting, out string) messages.Content { return messages.Text(out) },
	})
	if _, err := rt.Tools().Register(greet); err != nil {
		fmt.Println(err)
		return
	}
	ctx := context.Background()
	s, err := rt.Create(ctx, actors.SessionOptions{Agent: &actors.Agent{
		Name: "example", Request: messages.RequestConfig{Provider: "scripted", Model: "large"},
	}})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, prompt := range []string{"my secret", "greet Ada", "never mind"} {
		if _, err := s.Followup(ctx, messages.Text(prompt)); err != nil {
			fmt.Println(err)
		}
		if err := s.WhenIdle(ctx); err != nil {
			fmt.Println(err)
		}
	}
	<-p.cancelled // told after the fact, on the session's own lane
	report, err := rt.Shutdown(ctx)
	fmt.Println("quiet:", report.Quiet(), err)
	// Output:
	// session/created startup
	// agent/created
	// agent/prompt-submit my secret
	// agent/prompt-submit greet Ada
	// agent/session-prefix
	// agent/pre-step 1
	// agent/request-error OVERLOADED
	// agent/pre-step 2
	// agent/step-result 1 calls
	// tools/pre-execute Greet {"name":"Ada"}
	// tools/approval it writes
	// guard Greet
	// tools/execute Hello, Ada!
	// tools/post-execute, body ran: true
	// tools/result Hello, Ada!
	// agent/post-step 2
	// agent/turn-stop, steering pending: false
	// agent/pre-step 3
	// agent/step-result 0 calls
	// agent/post-step 3
	// agent/turn-stop, steering pending: true
	// agent/pre-step 4
	// agent/step-result 0 calls
	// agent/post-step 4
	// agent/turn-stop, steering pending: false
	// agent/prompt-submit never mind
	// agent/cancel-requested turn cancelled: user
	// agent/session-end shutdown
	// quiet: true <nil>
}

package retry_test

import (
	"context"
	"fmt"
	"time"

	"github.com/dsh-actor/dsh-actor/messages"
	"github.com/dsh-actor/dsh-actor/pipeline"
	"github.com/dsh-actor/dsh-actor/tools/retry"
)

func Example() {
	l, err := retry.New(retry.Config{
		Tries: 3,
		Wait:  func(context.Context, time.Duration) error { return nil }, // for the example
		Observe: func(_ context.Context, r retry.Retry) {
			fmt.Printf("retry %d of %d: %s\n", r.Attempt, r.MaxRetries, r.Failure.Code)
		},
	})
	if err != nil {
		panic(err)
	}
	p := pipeline.New(pipeline.Config{}) // a runtime has one: rt.Seams()
	defer l.Install(p.Seams())()

	event := &pipeline.RequestError{Turn: 1, Step: 1, Failure: messages.Failure{Message: "busy", Code: messages.CodeOverloaded}}
	decision, err := p.Seams().RequestError.Run(context.Background(), event, func(context.Context, *pipeline.RequestError) (messages.RequestErrorDecision, error) {
		return messages.RequestFail{}, nil
	})
	fmt.Printf("%T %v\n", decision, err)
	// Output:
	// retry 1 of 2: OVERLOADED
	// messages.RequestRetry <nil>
}

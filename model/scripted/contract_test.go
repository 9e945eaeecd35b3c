package scripted

import (
	"context"
	"testing"

	"github.com/dsh-actor/dsh-actor/messages"
	"github.com/dsh-actor/dsh-actor/model"
	"github.com/dsh-actor/dsh-actor/model/modeltest"
)

var rateLimited = messages.Failure{
	Message: "slow down", Code: "RATE_LIMITED", Status: 429, ProviderRetryAfterMS: 1500, RequestID: "r-1",
}

func TestScriptKeepsTheContract(t *testing.T) {
	always := func(a Answer) func(*testing.T) modeltest.Case {
		return func(*testing.T) modeltest.Case { return modeltest.Case{Model: New(a)} }
	}
	stalled := Text("one two")
	stalled.Hang = true
	modeltest.Run(t, modeltest.Suite{
		Text:    always(Text("Hello, world.")),
		Calls:   always(Calls(Call("Read", nil), Call("Read", nil))),
		Silent:  always(Hang()),
		Stalled: always(stalled),
		Failing: always(Fail(rateLimited)),
		Failure: rateLimited,
	})
}

func TestFuncKeepsTheContract(t *testing.T) {
	from := func(f Func) func(*testing.T) modeltest.Case {
		return func(*testing.T) modeltest.Case { return modeltest.Case{Model: f} }
	}
	render := func(a Answer) func(*testing.T) modeltest.Case {
		return from(func(_ context.Context, req model.Request) ([]messages.Chunk, error) { return a.Render(req) })
	}
	modeltest.Run(t, modeltest.Suite{
		Text:  render(Text("Hello, world.")),
		Calls: render(Calls(Call("Read", nil), Call("Read", nil))),
		Silent: func(t *testing.T) modeltest.Case {
			waiting := make(chan struct{}, 1)
			f := Func(func(ctx context.Context, _ model.Request) ([]messages.Chunk, error) {
				waiting <- struct{}{}
				<-ctx.Done()
				return nil, ctx.Err()
			})
			return modeltest.Case{Model: f, Waiting: waiting}
		},
		Stalled: from(func(ctx context.Context, req model.Request) ([]messages.Chunk, error) {
			// A Func has all its chunks at once; the consumer's cancel falls
			// between them, and the deadline waits for nothing.
			if _, ok := ctx.Deadline(); ok {
				<-ctx.Done()
			}
			return Text("one two").Render(req)
		}),
		Failing: from(func(context.Context, model.Request) ([]messages.Chunk, error) { return nil, rateLimited }),
		Failure: rateLimited,
	})
}

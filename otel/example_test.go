package otel_test

import (
	"context"
	"fmt"

	"github.com/dsh-actor/dsh-actor/messages"
	"github.com/dsh-actor/dsh-actor/otel"
	"github.com/dsh-actor/dsh-actor/otel/oteltest"
)

// Traced code takes a *Tracer, which may be nil, starts a span with plain
// values, and ends it with how the work went.
func ExampleTracer() {
	rec := oteltest.New()
	tracer := otel.New(otel.Config{TracerProvider: rec.Provider()})

	ctx, turn := tracer.StartTurn(context.Background(), otel.TurnStart{Agent: "helper", Turn: 1})
	_, seam := tracer.StartSeam(ctx, "agent/prompt-submit")
	seam.End(otel.SeamEnd{Decision: messages.PromptBlock{Reason: "not today"}, Listeners: 1})
	turn.End(otel.TurnEnd{Reason: messages.EndReason{Kind: messages.EndRejected, Reason: "not today"}})

	for _, root := range rec.Roots() {
		fmt.Println(root.Name, root.Attributes[otel.KeyTurnEnd])
		for _, child := range root.Children {
			fmt.Println(" ", child.Name, child.Attributes[otel.KeyDecision])
		}
	}
	// Output:
	// invoke_agent helper rejected
	//   dsh.seam agent/prompt-submit block
}

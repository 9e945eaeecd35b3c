package pipeline

import (
	"context"

	"github.com/dsh-actor/dsh-actor/messages"
)

// Settle runs post-execute, finalizeContent and tools/result (P-22 to P-26) and
// returns the frozen result, the same object that the observers saw. A call that
// was never dispatched settles as aborted before dispatch. Settling again returns
// the same result and runs nothing.
func (x *Execution) Settle(ctx context.Context) (r *messages.Result) {
	if x.settled {
		return x.result
	}
	x.settled = true
	// Deferred, so that a listener that ends the goroutine does not keep the tool
	// from its last word and the observers from the outcome.
	defer func() {
		r = x.result
		if x.trace != nil {
			defer x.endTrace()
		}
		x.pipeline.seams.Result.Run(x.traced(ctx), Outcome{&x.call, r})
	}()
	defer x.finish()
	if x.result == nil {
		x.result = x.abort(noContexts)
	}
	if !x.skipPost {
		x.guarded("tools/post-execute", (*Execution).post, ctx)
	}
	return nil
}

// finish checks the candidate (P-25) and gives the tool the last word (P-24).
func (x *Execution) finish() {
	if !losslessResult(x.result) {
		x.earned = losslessContexts(x.earned)
		x.result = failed(errBadResult, x.earned)
	}
	if x.finalize != nil {
		x.runFinalize()
	}
}

package scripted

import (
	"context"
	"iter"

	"github.com/dsh-actor/dsh-actor/messages"
	"github.com/dsh-actor/dsh-actor/model"
)

// Func is a [model.Model] that computes its answers. It returns the chunks of
// the answer, or the chunks that come before a failure, and the failure. It
// runs on the goroutine that reads the stream, and must return soon after ctx
// is done; it is called from many sessions at once. [Answer.Render] makes
// chunks.
type Func func(ctx context.Context, req model.Request) ([]messages.Chunk, error)

var _ model.Model = Func(nil)

// Stream answers the request by calling f; see [model.Model].
func (f Func) Stream(ctx context.Context, req model.Request) iter.Seq2[messages.Chunk, error] {
	return func(yield func(messages.Chunk, error) bool) {
		if ctx.Err() != nil {
			yield(nil, context.Cause(ctx))
			return
		}
		chunks, err := f(ctx, req)
		for _, c := range chunks {
			if ctx.Err() != nil {
				yield(nil, context.Cause(ctx))
				return
			}
			if !yield(c, nil) {
				return
			}
		}
		if len(chunks) == 0 || err != nil {
			if ctx.Err() != nil { // f most likely gave up because of it
				err = context.Cause(ctx)
			}
		}
		if err != nil {
			yield(nil, err)
		}
	}
}

// Render returns the chunks of the answer for a request: templates replaced,
// ids minted, without delays and without a mark. If the answer fails the
// request, the failure is returned with the chunks that come before it, as
// [Func] returns them. Of an answer that hangs it is what comes before. It
// panics if the answer makes no sense, as [New] does.
func (a Answer) Render(req model.Request) ([]messages.Chunk, error) {
	if bad := check(a); bad != nil {
		panic("scripted: render: " + bad.text)
	}
	a.Delay, a.Pace = 0, 0
	prepared := prepare(a, noMark)
	prepared.hang = false
	var out []messages.Chunk
	var failure error
	prepared.play(context.Background(), prepared.stream(req, 1), req.Attempt, func(c messages.Chunk, err error) bool {
		if err != nil {
			failure = err
			return true
		}
		out = append(out, c)
		return true
	})
	return out, failure
}

// Place implements model.Placed: a function runs in process.
func (f Func) Place() model.Place { return model.Place{InProcess: true} }

package modeltest

import (
	"context"
	"errors"
	"iter"
	"strings"
	"sync"
	"testing"

	"go.uber.org/goleak"

	"github.com/dsh-actor/dsh-actor/messages"
	"github.com/dsh-actor/dsh-actor/model"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// streamFunc is a model as a function.
type streamFunc func(ctx context.Context, yield func(messages.Chunk, error) bool)

func (f streamFunc) Stream(ctx context.Context, _ model.Request) iter.Seq2[messages.Chunk, error] {
	return func(yield func(messages.Chunk, error) bool) { f(ctx, yield) }
}

func caseOf(f streamFunc) Case { return Case{Model: f} }

var (
	errOwn  = errors.New("own error")
	failure = messages.Failure{Message: "no", Code: "RATE_LIMITED", Status: 429, ProviderRetryAfterMS: 1500}
	hello   = messages.TextDelta{Index: 0, Text: "hello"}
	world   = messages.TextDelta{Index: 0, Text: "world"}
	callA   = messages.ToolCallDelta{Index: 0, ID: "a", Name: "A", ArgumentsDelta: "{}"}
	callB   = messages.ToolCallDelta{Index: 1, ID: "b", Name: "B", ArgumentsDelta: "{}"}
	wantsTo = messages.FinishChunk{Reason: messages.FinishReason{Kind: messages.FinishToolCalls}}
)

// say yields the chunks, and stops when it is told to or ctx is done.
func say(chunks ...messages.Chunk) streamFunc {
	return func(ctx context.Context, yield func(messages.Chunk, error) bool) {
		for _, c := range chunks {
			if ctx.Err() != nil {
				yield(nil, context.Cause(ctx))
				return
			}
			if !yield(c, nil) {
				return
			}
		}
	}
}

// stall yields the chunks and then waits for ctx.
func stall(chunks ...messages.Chunk) streamFunc {
	return func(ctx context.Context, yield func(messages.Chunk, error) bool) {
		for _, c := range chunks {
			if !yield(c, nil) {
				return
			}
		}
		<-ctx.Done()
		yield(nil, context.Cause(ctx))
	}
}

func failWith(err error) streamFunc {
	return func(_ context.Context, yield func(messages.Chunk, error) bool) { yield(nil, err) }
}

// A model that keeps the contract passes.
func TestSuitePasses(t *testing.T) {
	always := func(f streamFunc) func(*testing.T) Case {
		return func(*testing.T) Case { return caseOf(f) }
	}
	settled := false
	Run(t, Suite{
		Text:  always(say(hello, world)),
		Calls: always(say(callA, callB, wantsTo)),
		Silent: func(*testing.T) Case {
			waiting := make(chan struct{}, 1)
			c := caseOf(func(ctx context.Context, yield func(messages.Chunk, error) bool) {
				waiting <- struct{}{}
				stall()(ctx, yield)
			})
			c.Waiting, c.Settle = waiting, func() { settled = true }
			return c
		},
		Stalled: always(stall(hello)),
		Failing: always(failWith(failure)),
		Failure: failure,
	})
	if !settled {
		t.Error("Settle was not called")
	}
}

// A model that breaks the contract is found out.
func TestSuiteFails(t *testing.T) {
	other := failure
	other.Status = 500
	for _, c := range []struct {
		name  string
		check func(Case) error
		model streamFunc
		want  string
	}{
		{"no text", checkText, say(), "has no text"},
		{"bad chunks", checkText, say(hello, messages.ReasoningDelta{Index: 0}), "which is a text block"},
		{"wrong finish", checkText, say(hello, wantsTo), "want \"stop\""},
		{"fails", checkText, failWith(errOwn), "own error"},
		{"finishes with an error", checkText, say(hello, messages.FinishChunk{Reason: messages.FinishReason{Kind: messages.FinishError, Failure: failure}}), "finished \"error\""},
		{"panics", checkText, func(context.Context, func(messages.Chunk, error) bool) { panic("boom") }, "boom"},
		{"goes on after an error", checkText, func(_ context.Context, yield func(messages.Chunk, error) bool) {
			_ = yield(nil, errOwn) && yield(hello, nil)
		}, "went on after the error"},
		{"chunk and error at once", checkText, func(_ context.Context, yield func(messages.Chunk, error) bool) { yield(hello, errOwn) }, "at once"},
		{"one call", checkCalls, say(callA, wantsTo), "1 tool calls"},
		{"calls without their finish", checkCalls, say(callA, callB), "want \"tool-calls\""},
		{"not the same beside others", checkConcurrent, counting(), "alone it was"},
		{"succeeds", func(c Case) error { return checkFailure(c, failure) }, say(hello), "want a messages.Failure"},
		{"plain error", func(c Case) error { return checkFailure(c, failure) }, failWith(errOwn), "want a messages.Failure"},
		{"other failure", func(c Case) error { return checkFailure(c, failure) }, failWith(other), "the failure is"},
		{"no message", func(c Case) error { return checkFailure(c, failure) }, failWith(messages.Failure{Code: "RATE_LIMITED", Status: 429}), "no message"},
		{"starts although cancelled", checkCancelledBefore, stall(hello), "chunks came"},
		{"own error when cancelled", checkCancelledSilent, func(ctx context.Context, yield func(messages.Chunk, error) bool) {
			<-ctx.Done()
			yield(nil, errOwn)
		}, "own error"},
		{"not the cause", checkCancelledStalled, func(ctx context.Context, yield func(messages.Chunk, error) bool) {
			if yield(hello, nil) {
				<-ctx.Done()
				yield(nil, ctx.Err())
			}
		}, "want the context's cause"},
		{"silent end", checkCancelledStalled, func(ctx context.Context, yield func(messages.Chunk, error) bool) {
			if yield(hello, nil) {
				<-ctx.Done()
			}
		}, "ended without an error"},
		{"nothing before the stall", checkCancelledStalled, failWith(errOwn), "no chunk came"},
		{"ends before the deadline", checkDeadline, say(hello), "ended without an error"},
		{"ignores the stop", checkEarlyStop, func(_ context.Context, yield func(messages.Chunk, error) bool) {
			yield(hello, nil)
			yield(world, nil)
		}, "panicked"},
		{"nothing to stop", checkEarlyStop, say(), "want one chunk"},
	} {
		t.Run(c.name, func(t *testing.T) {
			err := c.check(caseOf(c.model))
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want an error with %q", err, c.want)
			}
		})
	}
}

// A goroutine that outlives its stream is found, also if the stream itself
// behaved.
func TestSuiteFindsLeaks(t *testing.T) {
	release := make(chan struct{})
	var wg sync.WaitGroup
	err := examine(caseOf(func(ctx context.Context, yield func(messages.Chunk, error) bool) {
		wg.Go(func() { <-release })
		yield(hello, nil)
	}), checkEarlyStop)
	close(release)
	wg.Wait()
	if err == nil || !strings.Contains(err.Error(), "left running") {
		t.Errorf("got %v, want what was left running", err)
	}
}

// counting answers each request with another text.
func counting() streamFunc {
	texts := make(chan string, 64)
	for i := range 64 {
		texts <- strings.Repeat("x", i+1)
	}
	return func(ctx context.Context, yield func(messages.Chunk, error) bool) {
		say(messages.TextDelta{Index: 0, Text: <-texts})(ctx, yield)
	}
}

// A finish of kind error counts as a failure too (V-8).
func TestFailureInFinish(t *testing.T) {
	m := say(messages.FinishChunk{Reason: messages.FinishReason{Kind: messages.FinishError, Failure: failure}})
	if err := checkFailure(caseOf(m), failure); err != nil {
		t.Error(err)
	}
}

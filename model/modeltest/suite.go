package modeltest

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/dsh-actor/dsh-actor/messages"
	"github.com/dsh-actor/dsh-actor/model"
)

// Case is an adapter that was set up for one situation, and a request to it.
type Case struct {
	Model   model.Model
	Request model.Request
	// Waiting, if not nil, is closed or sent to when a request has reached the
	// provider, so that the suite can cancel while the answer is awaited.
	Waiting <-chan struct{}
	// Settle, if not nil, is called before the suite looks for goroutines that
	// were left running: it closes idle connections, for one.
	Settle func()
}

// Suite says how to set an adapter up. Each function is called once for each
// check that needs it and registers its own clean-up; all are required.
type Suite struct {
	// Text is answered with text, in at least two chunks, any number of times.
	Text func(t *testing.T) Case
	// Calls is answered with at least two tool calls.
	Calls func(t *testing.T) Case
	// Silent is not answered at all until the request is cancelled.
	Silent func(t *testing.T) Case
	// Stalled is answered with at least one chunk, and then nothing comes until
	// the request is cancelled.
	Stalled func(t *testing.T) Case
	// Failing fails with Failure, whose Code, Status and ProviderRetryAfterMS
	// are compared; its Message only has to be there.
	Failing func(t *testing.T) Case
	Failure messages.Failure
}

// Patience is how long an adapter may take to end after its context is done or
// its consumer has stopped. It is not waited for unless the adapter is broken.
const Patience = 10 * time.Second

// Run runs the adapter through the suite, as subtests. They look for leaked
// goroutines and must not run beside other tests.
func Run(t *testing.T, s Suite) {
	for _, c := range []struct {
		name  string
		setup func(*testing.T) Case
		check func(Case) error
	}{
		{"text", s.Text, checkText},
		{"tool calls", s.Calls, checkCalls},
		{"concurrent use", s.Text, checkConcurrent},
		{"failure", s.Failing, func(c Case) error { return checkFailure(c, s.Failure) }},
		{"cancelled before", s.Text, checkCancelledBefore},
		{"cancelled while nothing comes", s.Silent, checkCancelledSilent},
		{"cancelled in the middle", s.Stalled, checkCancelledStalled},
		{"deadline", s.Stalled, checkDeadline},
		{"consumer stops", s.Text, checkEarlyStop},
		{"consumer stops a stalled stream", s.Stalled, checkEarlyStop},
		{"never read", s.Silent, checkNeverRead},
	} {
		t.Run(c.name, func(t *testing.T) {
			if err := examine(c.setup(t), c.check); err != nil {
				t.Error(err)
			}
		})
	}
}

// examine runs one check and looks for what it left running.
func examine(c Case, check func(Case) error) error {
	before := goleak.IgnoreCurrent()
	err := check(c)
	if c.Settle != nil {
		c.Settle()
	}
	if leak := goleak.Find(before); leak != nil {
		err = errors.Join(err, fmt.Errorf("left running: %w", leak))
	}
	return err
}

// outcome is what one stream yielded.
type outcome struct {
	chunks []messages.Chunk
	err    error // the error that ended it, if any
	broken error // what it did that a stream may not do
}

// read reads a stream to its end. Each, if not nil, is called after each chunk
// and says whether to go on.
func read(ctx context.Context, c Case, each func(n int) bool) outcome {
	done := make(chan outcome, 1)
	go func() {
		var out outcome
		defer func() {
			if r := recover(); r != nil {
				out.broken = fmt.Errorf("the stream panicked: %v", r)
			}
			done <- out
		}()
		for chunk, err := range c.Model.Stream(ctx, c.Request) {
			switch {
			case out.err != nil:
				out.broken = fmt.Errorf("the stream went on after the error %q", out.err)
				return
			case err != nil && chunk != nil:
				out.broken = fmt.Errorf("the stream yielded a chunk (%T) and an error (%w) at once", chunk, err)
				return
			case err != nil:
				out.err = err
				continue
			}
			out.chunks = append(out.chunks, chunk)
			if each != nil && !each(len(out.chunks)) {
				return
			}
		}
	}()
	watchdog := time.NewTimer(Patience)
	defer watchdog.Stop()
	select {
	case out := <-done:
		return out
	case <-watchdog.C:
		return outcome{broken: fmt.Errorf("the stream did not end within %v", Patience)}
	}
}

// whole reads a stream that must succeed, and assembles it.
func whole(c Case) (messages.Assembled, error) {
	out := read(context.Background(), c, nil)
	if err := errors.Join(out.broken, out.err); err != nil {
		return messages.Assembled{}, fmt.Errorf("want an answer: %w", err)
	}
	if err := CheckChunks(out.chunks); err != nil {
		return messages.Assembled{}, err
	}
	var a messages.Assembler
	for _, chunk := range out.chunks {
		a.Add(chunk)
	}
	got, err := a.Result()
	if err == nil && got.Finish.Failed() {
		err = fmt.Errorf("want an answer, the stream finished %q: %w", got.Finish.Kind, got.Finish.Failure)
	}
	return got, err
}

func checkText(c Case) error {
	got, err := whole(c)
	if err != nil {
		return err
	}
	if got.Content.Text() == "" {
		return fmt.Errorf("the answer has no text: %v", got.Content)
	}
	if len(got.Content.ToolCalls()) == 0 && got.Finish.Kind != messages.FinishStop {
		return fmt.Errorf("the answer finished %q, want %q", got.Finish.Kind, messages.FinishStop)
	}
	return nil
}

func checkCalls(c Case) error {
	got, err := whole(c)
	if err != nil {
		return err
	}
	if n := len(got.Content.ToolCalls()); n < 2 {
		return fmt.Errorf("the answer has %d tool calls, want at least 2", n)
	}
	if got.Finish.Kind != messages.FinishToolCalls {
		return fmt.Errorf("the answer finished %q, want %q", got.Finish.Kind, messages.FinishToolCalls)
	}
	return nil
}

func checkConcurrent(c Case) error {
	const readers, each = 8, 4
	want, err := whole(c)
	if err != nil {
		return err
	}
	errs := make([]error, readers)
	var wg sync.WaitGroup
	for i := range readers {
		wg.Go(func() {
			for range each {
				got, err := whole(c)
				if err == nil && !reflect.DeepEqual(got.Content, want.Content) {
					err = fmt.Errorf("got %v, alone it was %v", got.Content, want.Content)
				}
				errs[i] = errors.Join(errs[i], err)
			}
		})
	}
	wg.Wait()
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("beside other requests: %w", err)
	}
	return nil
}

func checkFailure(c Case, want messages.Failure) error {
	out := read(context.Background(), c, nil)
	if out.broken != nil {
		return out.broken
	}
	err := out.err
	if err == nil { // the other way to say it (V-8)
		var a messages.Assembler
		for _, chunk := range out.chunks {
			a.Add(chunk)
		}
		if got, _ := a.Result(); got.Finish.Failed() {
			err = got.Finish.Failure
		}
	}
	var got messages.Failure
	if !errors.As(err, &got) {
		return fmt.Errorf("the stream ended with %v, want a messages.Failure", err)
	}
	if got.Message == "" {
		return fmt.Errorf("the failure has no message: %+v", got)
	}
	if got.Code != want.Code || got.Status != want.Status || got.ProviderRetryAfterMS != want.ProviderRetryAfterMS {
		return fmt.Errorf("the failure is %+v, want %+v", got, want)
	}
	return nil
}

// errStop is the cause that the suite cancels with.
var errStop = errors.New("modeltest: cancelled by the suite")

func wantCause(out outcome, want error) error {
	switch {
	case out.broken != nil:
		return out.broken
	case out.err == nil:
		return fmt.Errorf("the stream ended without an error, want the context's cause")
	case !errors.Is(out.err, want):
		return fmt.Errorf("the stream ended with %q, want the context's cause, %q", out.err, want)
	}
	return nil
}

func checkCancelledBefore(c Case) error {
	ctx, cancel := context.WithCancelCause(context.Background())
	cancel(errStop)
	out := read(ctx, c, nil)
	if len(out.chunks) > 0 {
		return fmt.Errorf("%d chunks came although the context was done before", len(out.chunks))
	}
	return wantCause(out, errStop)
}

func checkCancelledSilent(c Case) error {
	ctx, cancel := context.WithCancelCause(context.Background())
	defer cancel(nil)
	ended := make(chan struct{})
	var wg sync.WaitGroup
	defer wg.Wait()
	defer close(ended)
	wg.Go(func() {
		if c.Waiting != nil {
			select {
			case <-c.Waiting:
			case <-ended:
			}
		}
		cancel(errStop)
	})
	return wantCause(read(ctx, c, nil), errStop)
}

func checkCancelledStalled(c Case) error {
	ctx, cancel := context.WithCancelCause(context.Background())
	defer cancel(nil)
	out := read(ctx, c, func(int) bool { cancel(errStop); return true })
	if out.broken == nil && len(out.chunks) == 0 {
		return fmt.Errorf("no chunk came before the stream ended: %w", out.err)
	}
	return wantCause(out, errStop)
}

func checkDeadline(c Case) error {
	ctx, cancel := context.WithTimeoutCause(context.Background(), 20*time.Millisecond, errStop)
	defer cancel()
	return wantCause(read(ctx, c, nil), errStop)
}

func checkEarlyStop(c Case) error {
	// The context is never done: only the consumer's stop ends the stream.
	out := read(context.Background(), c, func(int) bool { return false })
	if out.broken != nil {
		return out.broken
	}
	if len(out.chunks) != 1 {
		return fmt.Errorf("want one chunk and then a stop, got %d and %v", len(out.chunks), out.err)
	}
	return nil
}

func checkNeverRead(c Case) error {
	_ = c.Model.Stream(context.Background(), c.Request)
	return nil
}

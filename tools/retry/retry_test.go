package retry_test

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"
	"pgregory.net/rapid"

	"github.com/dsh-actor/dsh-actor/messages"
	"github.com/dsh-actor/dsh-actor/pipeline"
	"github.com/dsh-actor/dsh-actor/tools/retry"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var overloaded = messages.Failure{Message: "busy", Code: messages.CodeOverloaded, Status: 529, RequestID: "req_1"}

// agent records what it is given, in order, together with what the test notes.
type agent struct {
	pipeline.Agent // not asked
	t              *testing.T
	order          []any
	fail           error
}

func (a *agent) Record(_ context.Context, events ...messages.EventData) error {
	for _, e := range events {
		a.order = append(a.order, e)
	}
	return a.fail
}

func event(a *agent, f messages.Failure, retried int) *pipeline.RequestError {
	e := &pipeline.RequestError{
		Turn: 3, Step: 2 + retried, Failure: f, Retried: messages.ListOf(slices.Repeat([]messages.Failure{f}, retried)...),
	}
	if a != nil {
		e.Agent = a
	}
	return e
}

// inner is what is inside the listener: it notes that it was asked and fails.
func inner(asked *int) pipeline.Next[messages.RequestErrorDecision] {
	return func(context.Context) (messages.RequestErrorDecision, error) {
		*asked++
		return messages.RequestFail{}, nil
	}
}

func newListener(t *testing.T, cfg retry.Config) *retry.Listener {
	t.Helper()
	l, err := retry.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// Z-18: five tries at growing intervals; each retry is recorded before its wait.
func TestFiveTries(t *testing.T) {
	a := &agent{t: t}
	l := newListener(t, retry.Config{
		Random:  func() float64 { return 0.5 }, // no jitter
		Wait:    func(_ context.Context, d time.Duration) error { a.order = append(a.order, d); return nil },
		Observe: func(_ context.Context, r retry.Retry) { a.order = append(a.order, r.Attempt) },
	})
	asked := 0
	for retried := range 6 {
		got, err := l.Decide(t.Context(), event(a, overloaded, retried), inner(&asked))
		want := messages.RequestErrorDecision(messages.RequestRetry{})
		if retried >= 4 {
			want = messages.RequestFail{}
		}
		if err != nil || got != want {
			t.Errorf("after %d retries: %#v, %v", retried, got, err)
		}
	}
	if asked != 2 {
		t.Errorf("the inner listeners were asked %d times, want 2", asked)
	}
	var want []any
	for i, d := range []time.Duration{time.Second, 2 * time.Second, 4 * time.Second, 8 * time.Second} {
		r := retry.Retry{Turn: 3, Step: 2 + i, Attempt: i + 1, MaxRetries: 4, DelayMS: d.Milliseconds(), Failure: overloaded}
		want = append(want, r, i+1, d)
	}
	if diff := cmp.Diff(want, a.order); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestWhatIsRetried(t *testing.T) {
	for _, c := range []struct {
		failure messages.Failure
		want    bool
	}{
		{messages.Failure{Code: messages.CodeConnection}, true},
		{messages.Failure{Code: messages.CodeTimeout}, true},
		{messages.Failure{Code: messages.CodeTimeout, Status: 408}, true},
		{messages.Failure{Code: messages.CodeConflict, Status: 409}, true},
		{messages.Failure{Code: messages.CodeRateLimited, Status: 429}, true},
		{messages.Failure{Code: messages.CodeOverloaded}, true}, // inside a stream
		{messages.Failure{Code: messages.CodeServerError, Status: 500}, true},
		{messages.Failure{Code: messages.CodeQuotaExceeded, Status: 429}, false},
		{messages.Failure{Code: messages.CodeAuthentication, Status: 401}, false},
		{messages.Failure{Code: messages.CodePermission, Status: 403}, false},
		{messages.Failure{Code: messages.CodeNotFound, Status: 404}, false},
		{messages.Failure{Code: messages.CodeRequestTooLarge, Status: 413}, false},
		{messages.Failure{Code: messages.CodeContextTooLong, Status: 400}, false},
		{messages.Failure{Code: messages.CodeInvalidRequest, Status: 400}, false},
		{messages.Failure{Code: messages.CodeProtocol, Status: 200}, false},
		{messages.Failure{Code: messages.CodeUnknown}, false},
		// Codes of other adapters: the status decides.
		{messages.Failure{Code: messages.CodeUnknown, Status: 503}, true},
		{messages.Failure{Code: "BUSY", Status: 429}, true},
		{messages.Failure{Code: "BUSY", Status: 408}, true},
		{messages.Failure{Code: "BUSY", Status: 409}, true},
		{messages.Failure{Code: "NO", Status: 400}, false},
		{messages.Failure{Code: "NO", Status: 600}, false},
	} {
		if got := retry.Retryable(c.failure); got != c.want {
			t.Errorf("%+v: %v, want %v", c.failure, got, c.want)
		}
	}
}

func TestNotRetried(t *testing.T) {
	denied := messages.Failure{Message: "no", Code: messages.CodeAuthentication, Status: 401}
	late := overloaded
	late.ProviderRetryAfterMS = retry.DefaultPatience.Milliseconds() + 1
	for _, c := range []struct {
		name    string
		cfg     retry.Config
		failure messages.Failure
	}{
		{"not retryable", retry.Config{}, denied},
		{"one try", retry.Config{Tries: 1}, overloaded},
		{"the provider wants too long", retry.Config{}, late},
		{"the host's judgement", retry.Config{Retryable: func(messages.Failure) bool { return false }}, overloaded},
	} {
		t.Run(c.name, func(t *testing.T) {
			a := &agent{t: t}
			c.cfg.Wait = func(context.Context, time.Duration) error { t.Error("waited"); return nil }
			asked := 0
			got, err := newListener(t, c.cfg).Decide(t.Context(), event(a, c.failure, 0), inner(&asked))
			if got != (messages.RequestFail{}) || err != nil || asked != 1 || a.order != nil {
				t.Errorf("%#v, %v; asked %d, recorded %v", got, err, asked, a.order)
			}
		})
	}
}

// The wait is the provider's, and only ever longer.
func TestProviderWait(t *testing.T) {
	for _, c := range []struct {
		ms     int64
		random float64
		want   time.Duration
	}{
		{1500, 0, 1500 * time.Millisecond},
		{1500, 0.999, 1875 * time.Millisecond},
		{retry.DefaultPatience.Milliseconds(), 0, retry.DefaultPatience},
		{0, 0, 750 * time.Millisecond}, // none: a quarter less than one second
		{-5, 0, 750 * time.Millisecond},
	} {
		f, waited := overloaded, time.Duration(-1)
		f.ProviderRetryAfterMS = c.ms
		l := newListener(t, retry.Config{
			Random: func() float64 { return c.random },
			Wait:   func(_ context.Context, d time.Duration) error { waited = d; return nil },
		})
		got, err := l.Decide(t.Context(), event(&agent{t: t}, f, 0), nil)
		if got != (messages.RequestRetry{}) || err != nil || waited != c.want {
			t.Errorf("%+v: %#v, %v, waited %v", c, got, err, waited)
		}
	}
}

func TestWaitProperty(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		cfg := retry.Config{
			Tries:   rapid.IntRange(2, 2000).Draw(t, "tries"),
			Initial: time.Duration(rapid.Int64Range(1, int64(time.Hour)).Draw(t, "initial")),
			Max:     time.Duration(rapid.Int64Range(int64(time.Millisecond), int64(time.Hour)).Draw(t, "max")),
		}
		random := rapid.Float64Range(0, math.Nextafter(1, 0)).Draw(t, "random")
		retried := rapid.IntRange(0, cfg.Tries-2).Draw(t, "retried")
		var waited time.Duration
		cfg.Random = func() float64 { return random }
		cfg.Wait = func(_ context.Context, d time.Duration) error { waited = d; return nil }
		l, err := retry.New(cfg)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := l.Decide(context.Background(), event(nil, overloaded, retried), nil); err != nil {
			t.Fatal(err)
		}
		base := min(cfg.Initial, cfg.Max)
		for range retried {
			base = min(2*base, cfg.Max)
		}
		low, high := base-base/4-time.Millisecond, base+base/4+time.Millisecond
		if waited < low || waited > high || waited%time.Millisecond != 0 {
			t.Fatalf("waited %v, want %v to %v", waited, low, high)
		}
	})
}

// Nothing is retried after a cancellation, and a wait ends with it.
func TestCancellation(t *testing.T) {
	t.Run("before", func(t *testing.T) {
		ctx, cancel := context.WithCancelCause(t.Context())
		cancel(messages.CancelUser)
		a := &agent{t: t}
		got, err := newListener(t, retry.Config{}).Decide(ctx, event(a, overloaded, 0), nil)
		if got != nil || !errors.Is(err, messages.CancelUser) || a.order != nil {
			t.Errorf("%#v, %v, recorded %v", got, err, a.order)
		}
	})
	t.Run("during the wait", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithCancelCause(t.Context())
			a := &agent{t: t}
			start := time.Now()
			time.AfterFunc(200*time.Millisecond, func() { cancel(messages.CancelUser) })
			got, err := newListener(t, retry.Config{}).Decide(ctx, event(a, overloaded, 0), nil)
			if got != nil || !errors.Is(err, messages.CancelUser) || len(a.order) != 1 {
				t.Errorf("%#v, %v, recorded %v", got, err, a.order)
			}
			if took := time.Since(start); took != 200*time.Millisecond {
				t.Errorf("took %v", took)
			}
		})
	})
}

// The default wait takes the time that was recorded.
func TestDefaultWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := &agent{t: t}
		start := time.Now()
		got, err := newListener(t, retry.Config{}).Decide(t.Context(), event(a, overloaded, 1), nil)
		if got != (messages.RequestRetry{}) || err != nil {
			t.Fatalf("%#v, %v", got, err)
		}
		took := time.Since(start)
		if r := a.order[0].(retry.Retry); took.Milliseconds() != r.DelayMS || took < 1500*time.Millisecond || took > 2500*time.Millisecond {
			t.Errorf("took %v, recorded %d ms", took, r.DelayMS)
		}
	})
}

// A retry that cannot be recorded is not made.
func TestRecordFails(t *testing.T) {
	a := &agent{t: t, fail: errors.New("disk full")}
	l := newListener(t, retry.Config{Wait: func(context.Context, time.Duration) error { t.Error("waited"); return nil }})
	got, err := l.Decide(t.Context(), event(a, overloaded, 0), nil)
	if got != nil || err == nil || !errors.Is(err, a.fail) {
		t.Errorf("%#v, %v", got, err)
	}
}

func TestConfig(t *testing.T) {
	for _, c := range []struct {
		cfg  retry.Config
		want string
	}{
		{retry.Config{Tries: -1}, "number of tries"},
		{retry.Config{Initial: -1}, "initial interval"},
		{retry.Config{Max: -1}, "longest interval"},
		{retry.Config{Patience: -1}, "patience"},
	} {
		if _, err := retry.New(c.cfg); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v", c.cfg, err)
		}
	}
}

// The event is log-only, and survives its encoding.
func TestEvent(t *testing.T) {
	types := messages.NewRegistry(retry.EventTypes()...)
	typ, ok := types.Lookup("llm/retry")
	if !ok || typ.Enclosure != messages.InTurn {
		t.Fatalf("%+v, %v", typ, ok)
	}
	want := retry.Retry{Turn: 1, Step: 2, Attempt: 3, MaxRetries: 4, DelayMS: 1500, Failure: overloaded}
	text, err := messages.MarshalJSON(messages.Event{Data: want})
	if err != nil {
		t.Fatal(err)
	}
	const golden = `{"type":"llm/retry","seq":0,"time":0,"data":{"turn":1,"step":2,"attempt":3,"maxRetries":4,"delayMs":1500,` +
		`"failure":{"message":"busy","code":"OVERLOADED","status":529,"requestId":"req_1"}}}`
	if string(text) != golden {
		t.Errorf("got  %s\nwant %s", text, golden)
	}
	got, err := types.DecodeEvent(text)
	if err != nil || got.Data != messages.EventData(want) {
		t.Errorf("%+v, %v", got, err)
	}
}

// Installed, it decides for the seam, outside the listeners that come later, and
// is gone when it is removed.
func TestInstall(t *testing.T) {
	p := pipeline.New(pipeline.Config{})
	l := newListener(t, retry.Config{Wait: func(context.Context, time.Duration) error { return nil }})
	remove := l.Install(p.Seams())
	run := func() messages.RequestErrorDecision {
		got, err := p.Seams().RequestError.Run(t.Context(), event(&agent{t: t}, overloaded, 0),
			func(context.Context, *pipeline.RequestError) (messages.RequestErrorDecision, error) {
				return messages.RequestFail{}, nil
			})
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	if got := run(); got != (messages.RequestRetry{}) {
		t.Errorf("installed: %#v", got)
	}
	remove()
	if got := run(); got != (messages.RequestFail{}) {
		t.Errorf("removed: %#v", got)
	}
}

package scripted

import (
	"testing"

	"github.com/dsh-actor/dsh-actor/messages"
)

// What a file cannot say, a program can; see TestParseErrors for the rest.
func TestCheck(t *testing.T) {
	with := func(change func(*Answer)) Answer {
		a := FailTimes(1, rateLimited, Text("a"))
		change(&a)
		return a
	}
	for _, c := range []struct {
		answer    Answer
		key, want string
	}{
		{with(func(*Answer) {}), "", ""},
		{with(func(a *Answer) { a.Chunks = -1 }), "chunks", "chunks must be at least 1"},
		{with(func(a *Answer) { a.Repeat = -1 }), "repeat", "repeat must be at least 1"},
		{with(func(a *Answer) { a.Delay = -1 }), "delay", "delay must not be negative"},
		{with(func(a *Answer) { a.Pace = -1 }), "pace", "pace must not be negative"},
		{with(func(a *Answer) { a.Usage.ReasoningTokens = -1 }), "usage.reasoningTokens", "reasoningTokens must not be negative"},
		{with(func(a *Answer) { a.Finish = messages.FinishAborted }), "finish", `finish cannot be "aborted": give the answer an error`},
		{with(func(a *Answer) { a.Error.Failure.Message = "" }), "error", "an error needs a message"},
		{with(func(a *Answer) { a.Error.Times = -1 }), "error.times", "times must be at least 1"},
		{with(func(a *Answer) { a.Error.After = -1 }), "error.after", "after must not be negative"},
		{with(func(a *Answer) { a.Error.Failure.Status = 5 }), "error.status", "status 5 is not an HTTP status"},
		{with(func(a *Answer) { a.Error.Failure.ProviderRetryAfterMS = -1 }), "error.retryAfter", "retryAfter must not be negative"},
		{with(func(a *Answer) { a.Tools = []Tool{{}} }), "tools", "a tool call needs a name"},
	} {
		bad := check(c.answer)
		if bad == nil {
			if c.want != "" {
				t.Errorf("accepted, want %q", c.want)
			}
			continue
		}
		if bad.key != c.key || bad.text != c.want {
			t.Errorf("got %q: %q, want %q: %q", bad.key, bad.text, c.key, c.want)
		}
	}
}

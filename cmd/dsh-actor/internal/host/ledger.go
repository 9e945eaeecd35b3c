package host

import (
	"context"
	"sync"

	"github.com/dsh-actor/dsh-actor/messages"
	"github.com/dsh-actor/dsh-actor/pipeline"
)

// CallFacts is what the log does not keep of a call and a printer needs.
type CallFacts struct {
	Name      string
	ID        messages.CallID
	Arguments messages.JSON
	// Value is what the tool returned: its canonical value, or its error as a JSON
	// string.
	Value messages.JSON
	// Denied says that policy refused the call.
	Denied bool
}

// ledger keeps the facts of calls between their end and the printing of their
// result. It is safe for concurrent use.
type ledger struct {
	mu    sync.Mutex
	calls map[callKey][]CallFacts
}

// callKey names a call within a session. Models repeat ids, so there may be several
// of one key; they end in the order in which their results are logged (C-4).
type callKey struct {
	turn, step int
	id         messages.CallID
}

func newLedger() *ledger { return &ledger{calls: map[callKey][]CallFacts{}} }

// note is a listener of tools/result.
func (l *ledger) note(_ context.Context, o pipeline.Outcome) {
	if o.Call.Parent() != 0 {
		return // a nested call has no result in the log
	}
	facts := CallFacts{
		Name: o.Call.Name(), ID: o.Call.ID(), Arguments: o.Call.Arguments(), Value: o.Result.Value(),
		Denied: denied(o),
	}
	if o.Result.IsError() {
		facts.Value = messages.QuoteJSON("Error: " + o.Result.Message())
	}
	key := callKey{o.Call.Turn(), o.Call.Step(), o.Call.ID()}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.calls[key] = append(l.calls[key], facts)
}

// denied tells a denial from other failures: it has no identity, and the call did
// not get to its tool (P-12, P-34). A call whose arguments were refused did not get
// to policy (P-6). What fails in policy itself is refused too (P-14).
func denied(o pipeline.Outcome) bool {
	return o.Result.IsError() && !o.Call.BodyInvoked() && o.Result.Info().IsZero() && o.Call.Arguments() != ""
}

// take returns the facts of the call that a result in the log belongs to, and
// forgets them. A call that was never dispatched has none (C-6).
func (l *ledger) take(r messages.ToolResult) (CallFacts, bool) {
	key := callKey{r.Turn, r.Step, r.CallID}
	l.mu.Lock()
	defer l.mu.Unlock()
	calls := l.calls[key]
	if len(calls) == 0 {
		return CallFacts{}, false
	}
	if len(calls) == 1 {
		delete(l.calls, key)
	} else {
		l.calls[key] = calls[1:]
	}
	return calls[0], true
}

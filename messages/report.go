package messages

import (
	"fmt"
	"strings"
)

// Report says what a Close, Drain or Shutdown ended and what it could not end.
// It is data: it can be logged, sent and compared.
type Report struct {
	// Owner names what was ended, such as "runtime" or "session s-1".
	Owner string `json:"owner"`
	// Counts of what was ended, by kind: "sessions", "turns", "calls", "runs",
	// "processes", "listeners".
	Ended map[string]int `json:"ended,omitzero"`
	// Discarded are the prompts that will not run.
	Discarded []MessageID `json:"discarded,omitzero"`
	// Leftovers are the goroutines and processes that ignored cancellation and
	// are still there (DESIGN 3, rule 7). Empty means quiet.
	Leftovers []Leftover `json:"leftovers,omitzero"`
	// Errors are failures met on the way, such as a flush that failed.
	Errors []string `json:"errors,omitzero"`
	// TookMS is how long it took, in milliseconds.
	TookMS int64 `json:"tookMs"`
}

// Leftover names one piece of work that outlived its owner.
type Leftover struct {
	// Kind is "listener", "tool", "run", "process" or "component".
	Kind    string    `json:"kind"`
	Name    string    `json:"name"`
	Session SessionID `json:"session,omitzero"`
	Turn    int       `json:"turn,omitzero"`
	CallID  CallID    `json:"callId,omitzero"`
	PID     int       `json:"pid,omitzero"`
}

// String names the leftover for a person.
func (l Leftover) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %q", l.Kind, l.Name)
	if l.Session != "" {
		fmt.Fprintf(&b, " of session %s", l.Session)
	}
	if l.Turn != 0 {
		fmt.Fprintf(&b, ", turn %d", l.Turn)
	}
	if l.CallID != "" {
		fmt.Fprintf(&b, ", call %s", l.CallID)
	}
	if l.PID != 0 {
		fmt.Fprintf(&b, ", pid %d", l.PID)
	}
	return b.String()
}

// Quiet reports whether nothing is left and nothing failed.
func (r *Report) Quiet() bool { return len(r.Leftovers) == 0 && len(r.Errors) == 0 }

// Count adds n to the count of a kind.
func (r *Report) Count(kind string, n int) {
	if n == 0 {
		return
	}
	if r.Ended == nil {
		r.Ended = map[string]int{}
	}
	r.Ended[kind] += n
}

// Fail records an error.
func (r *Report) Fail(err error) {
	if err != nil {
		r.Errors = append(r.Errors, ErrorChain(err))
	}
}

// Merge adds what part ended to r; the owner and the duration stay.
func (r *Report) Merge(part Report) {
	for kind, n := range part.Ended {
		r.Count(kind, n)
	}
	r.Discarded = append(r.Discarded, part.Discarded...)
	r.Leftovers = append(r.Leftovers, part.Leftovers...)
	r.Errors = append(r.Errors, part.Errors...)
}

// Err returns nil if r is quiet, and otherwise an error that names what is
// still alive and what failed.
func (r *Report) Err() error {
	if r.Quiet() {
		return nil
	}
	var parts []string
	for _, l := range r.Leftovers {
		parts = append(parts, "still running: "+l.String())
	}
	parts = append(parts, r.Errors...)
	return fmt.Errorf("%s did not end quietly: %s", r.Owner, strings.Join(parts, "; "))
}

package session

import (
	"errors"
	"fmt"

	"github.com/dsh-actor/dsh-actor/messages"
)

// ErrReentrant is what an append gets that is made while the log is asking its
// vetoes or telling its observers about another one (E-2, E-3).
var ErrReentrant = errors.New("session append cannot reenter while another append is being published")

// ErrHistoryDropped is what an event that replaces history gets while the log
// does not have the history. Rebuild it first.
var ErrHistoryDropped = errors.New("derived history was dropped")

// RuleError says that an event breaks a rule of the log. The log is unchanged.
type RuleError struct {
	Rule    string // of the specification, such as "E-7"
	Type    string // of the event
	Seq     int64  // that the event has, or would have had
	Problem string
}

// Error names the event, the rule and the problem.
func (e *RuleError) Error() string {
	return fmt.Sprintf("session event %q at seq %d breaks %s: %s", e.Type, e.Seq, e.Rule, e.Problem)
}

func broken(rule string, e *messages.Event, format string, args ...any) error {
	return &RuleError{Rule: rule, Type: e.Data.EventType(), Seq: e.Seq, Problem: fmt.Sprintf(format, args...)}
}

// DataError says that a payload holds something that JSON cannot (E-2, J-2).
type DataError struct {
	Type string
	Err  error // what the encoder said
}

// Error has the exact text of E-2.
func (e *DataError) Error() string {
	return fmt.Sprintf("session event %q carries non-JSON-serializable data", e.Type)
}

// Unwrap returns the encoder's error.
func (e *DataError) Unwrap() error { return e.Err }

// SeedError says which event of a restored or seeded log was refused (E-14).
type SeedError struct {
	Index int64
	Err   error
}

// Error names the index.
func (e *SeedError) Error() string {
	return fmt.Sprintf("session event at index %d: %v", e.Index, e.Err)
}

// Unwrap returns what was wrong with the event.
func (e *SeedError) Unwrap() error { return e.Err }

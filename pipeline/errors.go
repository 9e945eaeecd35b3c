package pipeline

import (
	"errors"
	"fmt"
	"runtime/debug"

	"github.com/dsh-actor/dsh-actor/messages"
)

// ErrNextAfterReturn is the answer of a next that is called after its listener
// returned (Z-12).
var ErrNextAfterReturn = errors.New("next was called after its listener returned")

// errGoexit is the failure of foreign code that ended its goroutine.
var errGoexit = errors.New("the goroutine was ended by runtime.Goexit")

// PanicError is a panic of a listener, guard or tool body, contained where it
// happened.
type PanicError struct {
	Where string // the listener, guard or tool
	Value any
	Stack []byte
}

// Error returns the text of the panic value (P-17).
func (e *PanicError) Error() string { return messages.PanicText(e.Value) }

// Unwrap returns the panic value if it is an error.
func (e *PanicError) Unwrap() error {
	err, _ := e.Value.(error)
	return err
}

// ErrorType is the low-cardinality name of the failure in traces.
func (e *PanicError) ErrorType() string { return "panic" }

// contain turns a panic of foreign code into an error. It is deferred directly.
func contain(where string, err *error) {
	if v := recover(); v != nil {
		*err = newPanicError(where, v)
	}
}

// newPanicError must be called by the deferred function that recovered v, so
// that the stack is the panic's.
func newPanicError(where string, v any) error {
	return &PanicError{Where: where, Value: v, Stack: debug.Stack()}
}

// noDecision is the failure of a listener that returned nothing (Z-1).
func noDecision(seam, listener string) error {
	return fmt.Errorf("%s: listener %s returned no decision", seam, listener)
}

// unknownDecision is the failure of a listener that returned a decision which
// the seam does not know, such as a pointer to one (Z-1).
func unknownDecision(seam, listener string, decision any) error {
	return fmt.Errorf("%s: listener %s returned a decision of unknown kind %T", seam, listener, decision)
}

// safeText is err's text, also if its Error method panics (P-17).
func safeText(err error) (text string) {
	defer func() {
		if recover() != nil {
			text = "<unprintable thrown value>"
		}
	}()
	return err.Error()
}

// identity returns the name and code of an error that has a code (P-14, V-12),
// and nothing for any other.
func identity(err error) (info messages.ErrorInfo) {
	defer func() { _ = recover() }() // errors.As runs methods of foreign errors
	var coded *messages.Error
	if !errors.As(err, &coded) || coded == nil || coded.Code == "" {
		return messages.ErrorInfo{}
	}
	name := coded.Name
	if name == "" {
		name = "HarnessError"
	}
	return messages.ErrorInfo{Name: name, Code: coded.Code}
}

package messages

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Code is a stable machine-readable name of an error. It is on everything that
// reaches a session log or an API.
type Code string

// Codes of tool results and turns (SPEC families P, K, T).
const (
	CodeAborted               Code = "ABORTED"
	CodeAbortedBeforeDispatch Code = "ABORTED_BEFORE_DISPATCH"
	CodeUnknownTool           Code = "UNKNOWN_TOOL"
	CodeInvalidArgs           Code = "INVALID_ARGS"
	CodeInvalidToolOutput     Code = "INVALID_TOOL_OUTPUT"
	CodeToolTimeout           Code = "TOOL_TIMEOUT"
	CodeToolOutcomeUnknown    Code = "TOOL_OUTCOME_UNKNOWN"
	CodeToolNotStarted        Code = "TOOL_NOT_STARTED"
	CodeUnsupportedSchema     Code = "UNSUPPORTED_SCHEMA"
	CodeUnknown               Code = "UNKNOWN"
)

// Codes of verbs and of the session's life (SPEC E-12, DESIGN 3).
const (
	CodeSessionNotFound      Code = "SESSION_NOT_FOUND"
	CodeSessionNotLive       Code = "SESSION_NOT_LIVE"
	CodeSessionAlreadyExists Code = "SESSION_ALREADY_EXISTS"
	CodeInvalidBoundary      Code = "INVALID_BOUNDARY"
	CodeOpenTurn             Code = "OPEN_TURN"
	CodeSessionQuarantined   Code = "SESSION_QUARANTINED"
	CodeDisposed             Code = "DISPOSED"
	CodeNotOwner             Code = "NOT_OWNER"
	CodeQueueFull            Code = "QUEUE_FULL"
	CodeStoreUnavailable     Code = "STORE_UNAVAILABLE"
	CodeAskGone              Code = "ASK_GONE"
	CodeTurnLimit            Code = "TURN_LIMIT"
	CodeWouldDeadlock        Code = "WOULD_DEADLOCK"
	CodeSuperseded           Code = "SUPERSEDED"
	CodeInvalidInput         Code = "INVALID_INPUT"
	CodeShuttingDown         Code = "SHUTTING_DOWN"
)

// Error is an error with a stable code (V-12, the reference's HarnessError).
// Only such errors contribute a name and a code to a tool result or a turn's
// end. Name is the class that the log shows, such as "ToolArgsError".
type Error struct {
	Name    string
	Code    Code
	Message string
	Err     error // the cause, if any
}

// Errorf returns an [Error] of the code with a formatted message. An error
// given to %w becomes its cause.
func Errorf(code Code, format string, args ...any) *Error {
	e := fmt.Errorf(format, args...)
	return &Error{Name: "HarnessError", Code: code, Message: e.Error(), Err: errors.Unwrap(e)}
}

// Error returns the message, or the name if there is none.
func (e *Error) Error() string {
	if e.Message == "" {
		return e.Name
	}
	return e.Message
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// Is makes errors.Is match any Error of the same code, so that a caller can
// test for a code without a sentinel per message.
func (e *Error) Is(target error) bool {
	t, ok := target.(*Error)
	return ok && t.Message == "" && t.Code == e.Code
}

// CodeOf returns the code of the first [Error] or [Failure] in err's chain, or
// "".
func CodeOf(err error) Code {
	var e *Error
	if errors.As(err, &e) {
		return e.Code
	}
	var f Failure
	if errors.As(err, &f) {
		return f.Code
	}
	return ""
}

// ErrorChain renders err for a durable message (V-12): the message (the Go type
// if it is empty), members of a joined error as " [m1; m2]", then ": cause". A
// wrapper whose text already ends with its cause, as Go wrappers do, does not
// repeat it. An error that is its own cause ends in "<circular cause>"; one
// whose methods panic reads "<unrenderable value>".
func ErrorChain(err error) string {
	var c errorChain
	return ValidUTF8(c.render(err))
}

const circularCause = "<circular cause>"

// maxErrorChain bounds chains that are endless without being circular.
const maxErrorChain = 32

// errorChain holds the errors that are being rendered, outermost first.
type errorChain []error

func (c *errorChain) render(err error) string {
	if err == nil {
		return ""
	}
	if len(*c) == maxErrorChain || slices.ContainsFunc(*c, func(e error) bool { return identical(e, err) }) {
		return circularCause
	}
	*c = append(*c, err)
	defer func() { *c = (*c)[:len(*c)-1] }()

	text := safeErrorText(err)
	members, cause := safeUnwrap(err)
	if len(members) > 0 {
		var own, parts []string
		for _, m := range members {
			own = append(own, safeErrorText(m))
			parts = append(parts, c.render(m))
		}
		if text == strings.Join(own, "\n") { // errors.Join: its text is its members
			text = "multiple errors"
		}
		return text + " [" + strings.Join(parts, "; ") + "]"
	}
	if cause == nil {
		return text
	}
	tail := c.render(cause)
	if own := safeErrorText(cause); tail != circularCause && endsWith(text, own) {
		return strings.TrimSuffix(text, own) + tail // as Go wrappers do it
	}
	return text + ": " + tail
}

// identical reports whether both are the same error value. Only pointers can
// lead back to themselves, and comparing anything else could panic.
func identical(a, b error) bool {
	t := reflect.TypeOf(a)
	return t == reflect.TypeOf(b) && t.Kind() == reflect.Pointer && a == b
}

// endsWith reports whether text ends with tail, and not in the middle of a word.
func endsWith(text, tail string) bool {
	head, ok := strings.CutSuffix(text, tail)
	if !ok || head == "" {
		return ok
	}
	r, _ := utf8.DecodeLastRuneInString(head)
	return !unicode.IsLetter(r) && !unicode.IsDigit(r)
}

// safeUnwrap returns the members that err joins, without nils, or its cause.
func safeUnwrap(err error) (members []error, cause error) {
	defer func() {
		if recover() != nil {
			members, cause = nil, nil
		}
	}()
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		members = slices.DeleteFunc(slices.Clone(joined.Unwrap()), func(e error) bool { return e == nil })
		return members, nil
	}
	return nil, errors.Unwrap(err)
}

func safeErrorText(err error) (text string) {
	defer func() {
		if recover() != nil {
			text = "<unrenderable value>"
		}
	}()
	if text = err.Error(); text == "" {
		text = fmt.Sprintf("%T", err)
	}
	return text
}

// PanicText renders a recovered panic value: an error's message, else the
// value's default format (P-17).
func PanicText(v any) (text string) {
	defer func() {
		if recover() != nil {
			text = "<unprintable thrown value>"
		}
	}()
	if err, ok := v.(error); ok {
		return ValidUTF8(err.Error())
	}
	return ValidUTF8(fmt.Sprint(v))
}

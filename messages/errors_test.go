package messages

import (
	"errors"
	"fmt"
	"io"
	"testing"
)

type panicky struct{ onError, onUnwrap bool }

func (p *panicky) Error() string {
	if p.onError {
		panic("Error")
	}
	return "text"
}

func (p *panicky) Unwrap() error {
	if p.onUnwrap {
		panic("Unwrap")
	}
	return nil
}

// circle is an error that may be its own cause.
type circle struct {
	text string
	next error
}

func (c *circle) Error() string { return c.text }
func (c *circle) Unwrap() error { return c.next }

// endless is an error with a new cause whenever it is asked.
type endless int

func (e endless) Error() string { return fmt.Sprint("e", int(e)) }
func (e endless) Unwrap() error { return e + 1 }

// joined has members of any kind.
type joined struct{ members []error }

func (j joined) Error() string   { return "several" }
func (j joined) Unwrap() []error { return j.members }

// uncomparable has a value that == panics on.
type uncomparable struct{ list []int }

func (uncomparable) Error() string { return "uncomparable" }

// V-12.
func TestErrorChain(t *testing.T) {
	inner := errors.New("inner")
	self := &circle{text: "self"}
	self.next = self
	a, b := &circle{text: "a"}, &circle{text: "b"}
	a.next, b.next = b, a
	ring := &circle{text: "ring"}
	ring.next = errors.Join(inner, ring)
	for _, c := range []struct {
		err  error
		want string
	}{
		{nil, ""},
		{inner, "inner"},
		{&Error{Name: "HarnessError", Message: "outer", Err: inner}, "outer: inner"},
		{&Error{Name: "HarnessError", Message: "one", Err: &Error{Message: "two", Err: inner}}, "one: two: inner"},
		{&Error{Name: "ToolArgsError", Err: inner}, "ToolArgsError: inner"}, // the name if the message is empty
		// A cause that the wrapper's text has already is not repeated.
		{&circle{"inner", inner}, "inner"},
		{fmt.Errorf("outer: %w", inner), "outer: inner"},
		{fmt.Errorf("a: %w", fmt.Errorf("b: %w", inner)), "a: b: inner"},
		{fmt.Errorf("read (%w)", io.EOF), "read (EOF): EOF"},
		{fmt.Errorf("read: %w", &Error{Message: "outer", Err: inner}), "read: outer: inner"},
		{&circle{"dinner", inner}, "dinner: inner"}, // the end of a word is not the cause
		{&circle{"no-inner", inner}, "no-inner"},
		{&circle{"", inner}, "*messages.circle: inner"},
		// Aggregates.
		{errors.Join(inner, io.EOF), "multiple errors [inner; EOF]"},
		{errors.Join(inner), "multiple errors [inner]"},
		{fmt.Errorf("both %w and %w", inner, io.EOF), "both inner and EOF [inner; EOF]"},
		{errors.Join(&Error{Message: "outer", Err: inner}, io.EOF), "multiple errors [outer: inner; EOF]"},
		{fmt.Errorf("close: %w", errors.Join(inner, io.EOF)), "close: multiple errors [inner; EOF]"},
		{joined{[]error{nil, inner, nil}}, "several [inner]"},
		{joined{}, "several"},
		// Cycles.
		{self, "self: <circular cause>"},
		{a, "a: b: <circular cause>"},
		{ring, "ring: multiple errors [inner; <circular cause>]"},
		{&circle{"twice", errors.Join(inner, inner)}, "twice: multiple errors [inner; inner]"}, // shared is not circular
		{joined{[]error{uncomparable{[]int{1}}, uncomparable{}}}, "several [uncomparable; uncomparable]"},
		// Unprintable.
		{&panicky{onError: true}, "<unrenderable value>"},
		{&panicky{onUnwrap: true}, "text"},
		{fmt.Errorf("x: %w", (*Error)(nil)), "x: <nil>: <unrenderable value>"},
		{(*Error)(nil), "<unrenderable value>"},
		{&circle{"outer", &panicky{onError: true}}, "outer: <unrenderable value>"},
		// Z-7.
		{errors.New("a\xff"), "a\ufffd"},
	} {
		if got := ErrorChain(c.err); got != c.want {
			t.Errorf("ErrorChain(%T)\n got %q\nwant %q", c.err, got, c.want)
		}
	}
	got := ErrorChain(endless(0))
	if want := "e30: e31: <circular cause>"; len(got) < len(want) || got[len(got)-len(want):] != want {
		t.Errorf("an endless chain reads %q", got)
	}
}

func TestError(t *testing.T) {
	plain := Errorf(CodeQueueFull, "session %q: %d waiting", "s", 3)
	if plain.Error() != `session "s": 3 waiting` || plain.Name != "HarnessError" || plain.Code != CodeQueueFull || plain.Unwrap() != nil {
		t.Errorf("Errorf: %#v", plain)
	}
	wrapped := Errorf(CodeStoreUnavailable, "flush: %w", io.ErrUnexpectedEOF)
	if !errors.Is(wrapped, io.ErrUnexpectedEOF) || wrapped.Error() != "flush: unexpected EOF" {
		t.Errorf("Errorf with a cause: %#v", wrapped)
	}
	// A code alone is what to test for; a message makes it a certain error.
	if !errors.Is(fmt.Errorf("x: %w", wrapped), &Error{Code: CodeStoreUnavailable}) ||
		errors.Is(wrapped, &Error{Code: CodeQueueFull}) ||
		errors.Is(wrapped, &Error{Code: CodeStoreUnavailable, Message: "flush: unexpected EOF"}) ||
		!errors.Is(wrapped, wrapped) {
		t.Error("errors.Is does not go by the code")
	}
	if (&Error{Name: "AbortError"}).Error() != "AbortError" {
		t.Error("an error without a message has no name either")
	}
}

func TestCodeOf(t *testing.T) {
	for _, c := range []struct {
		err  error
		want Code
	}{
		{nil, ""},
		{io.EOF, ""},
		{Errorf(CodeAborted, "x"), CodeAborted},
		{fmt.Errorf("a: %w", Errorf(CodeAborted, "x")), CodeAborted},
		{&Error{Code: CodeUnknown, Err: &Error{Code: CodeAborted}}, CodeUnknown},
		{fmt.Errorf("a: %w", Failure{Message: "m", Code: "HTTP_500"}), "HTTP_500"},
		{errors.Join(io.EOF, Errorf(CodeAskGone, "x")), CodeAskGone},
	} {
		if got := CodeOf(c.err); got != c.want {
			t.Errorf("CodeOf(%v) = %q, want %q", c.err, got, c.want)
		}
	}
}

type silent struct{}

func (silent) Format(fmt.State, rune) { panic("Format") }

// P-17.
func TestPanicText(t *testing.T) {
	for _, c := range []struct {
		value any
		want  string
	}{
		{errors.New("boom"), "boom"},
		{"text\xff", "text\ufffd"},
		{42, "42"},
		{nil, "<nil>"},
		{struct{ A int }{1}, "{1}"},
		{&panicky{onError: true}, "<unprintable thrown value>"},
	} {
		if got := PanicText(c.value); got != c.want {
			t.Errorf("PanicText(%T) = %q, want %q", c.value, got, c.want)
		}
	}
	if got := PanicText(silent{}); got == "" {
		t.Error("a value that cannot print itself has no text")
	}
}

func TestCancelCause(t *testing.T) {
	// Z-10: causes are values with a stable text.
	for cause, want := range map[CancelCause]string{
		CancelUser: "turn cancelled: user", CancelParent: "turn cancelled: parent", CancelDisposed: "turn cancelled: disposed",
	} {
		if cause.Error() != want {
			t.Errorf("%q reads %q", string(cause), cause.Error())
		}
	}
	if !errors.Is(fmt.Errorf("x: %w", CancelUser), CancelUser) || errors.Is(CancelUser, CancelParent) {
		t.Error("causes cannot be told apart by errors.Is")
	}
}

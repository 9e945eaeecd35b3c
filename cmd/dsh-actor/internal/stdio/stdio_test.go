package stdio

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// pipe returns an input and what writes to it.
func pipe(t *testing.T) (*Input, *os.File) {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close(); w.Close() })
	return NewInput(r), w
}

func write(t *testing.T, f *os.File, s string) {
	t.Helper()
	if _, err := f.WriteString(s); err != nil {
		t.Fatal(err)
	}
}

func TestAll(t *testing.T) {
	in, w := pipe(t)
	write(t, w, "hello\n")
	w.Close()
	got, err := in.All(t.Context(), 6)
	if err != nil || string(got) != "hello\n" {
		t.Errorf("got %q, %v", got, err)
	}
}

func TestAllIsTooLong(t *testing.T) {
	in, w := pipe(t)
	write(t, w, "hello\n")
	w.Close()
	if _, err := in.All(t.Context(), 5); !errors.Is(err, ErrTooLong) {
		t.Errorf("error %v, want %v", err, ErrTooLong)
	}
}

func TestFile(t *testing.T) {
	f, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	in := NewInput(f)
	if got, err := in.All(t.Context(), 10); err != nil || len(got) > 0 {
		t.Errorf("got %q, %v", got, err)
	}
	if in.Waits(t.Context(), time.Minute) || in.Terminal() {
		t.Error("the null device waits, or is a terminal")
	}
}

// TestWaits: an open pipe that nobody writes to is not waited for longer than asked.
func TestWaits(t *testing.T) {
	in, w := pipe(t)
	if !in.Waits(t.Context(), time.Millisecond) {
		t.Error("an empty pipe does not wait")
	}
	write(t, w, "x")
	if in.Waits(t.Context(), time.Minute) {
		t.Error("a pipe with input waits")
	}
}

// TestReadEndsWithContext: the read returns, and takes nothing from the next one.
func TestReadEndsWithContext(t *testing.T) {
	in, w := pipe(t)
	cause := errors.New("enough")
	ctx, cancel := context.WithCancelCause(t.Context())
	done := make(chan error)
	go func() {
		_, err := in.Reader(ctx).Read(make([]byte, 10))
		done <- err
	}()
	cancel(cause)
	if err := <-done; !errors.Is(err, cause) {
		t.Errorf("error %v, want %v", err, cause)
	}
	if _, err := in.Reader(ctx).Read(make([]byte, 10)); !errors.Is(err, cause) {
		t.Errorf("with a done context: error %v, want %v", err, cause)
	}
	write(t, w, "kept\nand more\n")
	for _, want := range []string{"kept", "and more"} {
		if got, err := in.Line(t.Context()); err != nil || got != want {
			t.Errorf("got %q, %v, want %q", got, err, want)
		}
	}
}

func TestLine(t *testing.T) {
	in, w := pipe(t)
	write(t, w, "one\r\n\ntwo\nlast")
	w.Close()
	for _, want := range []string{"one", "", "two", "last"} {
		if got, err := in.Line(t.Context()); err != nil || got != want {
			t.Errorf("got %q, %v, want %q", got, err, want)
		}
	}
	if _, err := in.Line(t.Context()); !errors.Is(err, io.EOF) {
		t.Errorf("error %v, want EOF", err)
	}
}

func TestEndlessLine(t *testing.T) {
	in, w := pipe(t)
	write(t, w, strings.Repeat("x", 5000)+"\n")
	if got, err := in.Line(t.Context()); err != nil || len(got) != 4096 {
		t.Errorf("got %d bytes, %v", len(got), err)
	}
}

// TestLargeInput reads more than a pipe holds.
func TestLargeInput(t *testing.T) {
	in, w := pipe(t)
	want := bytes.Repeat([]byte("0123456789abcdef"), 1<<16)
	done := make(chan error)
	go func() {
		_, err := w.Write(want)
		done <- errors.Join(err, w.Close())
	}()
	got, err := in.All(t.Context(), 10<<20)
	if err != nil || !bytes.Equal(got, want) {
		t.Errorf("%d bytes, %v", len(got), err)
	}
	if err := <-done; err != nil {
		t.Error(err)
	}
}

func TestOutputThatIsNoTerminal(t *testing.T) {
	_, w := pipe(t)
	out := NewOutput(w)
	none := func(string) string { return "" }
	if out.Terminal() || out.Escapes(none) || out.Colors(none) || out.Width() != 80 {
		t.Errorf("a pipe is taken for a terminal of %d columns", out.Width())
	}
}

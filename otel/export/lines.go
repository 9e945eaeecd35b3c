package export

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"go.opentelemetry.io/collector/pdata/ptrace"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
)

const (
	// lineSpans is the most spans on a line: few enough that a crash in the middle
	// of a write loses little, enough that the resource is not most of the file.
	lineSpans = 64
	// lineBytes is the longest line of more than one span. The Collector's file
	// receiver cuts at 1 MiB.
	lineBytes = 512 << 10
)

// Lines is an exporter that writes OTLP/JSON lines: one TracesData per line, ids
// in hex, 64-bit integers as strings, enums as integers. It is used by one
// goroutine at a time, which a [Queue] is.
//
// After a write that failed in the middle of a line, the next one starts on a
// line of its own, so that a torn line spoils nothing but itself.
type Lines struct {
	w      io.Writer
	close  func() error
	torn   bool
	closed bool
	buf    bytes.Buffer
	ends   []lineEnd
}

// lineEnd says how many spans of the batch are written when so many bytes are.
type lineEnd struct{ bytes, spans int }

// NewLines returns an exporter to w. Close is called by Shutdown; nil does
// nothing.
func NewLines(w io.Writer, close func() error) *Lines {
	if close == nil {
		close = func() error { return nil }
	}
	return &Lines{w: w, close: close}
}

// OpenLines returns an exporter that appends to the file, which is made, private
// to the user, if it does not exist. An incomplete last line of an earlier run
// is closed off first. Shutdown syncs and closes the file.
func OpenLines(path string) (*Lines, error) {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open trace file: %w", err)
	}
	info, err := f.Stat()
	if err != nil {
		return nil, errors.Join(fmt.Errorf("open trace file: %w", err), f.Close())
	}
	regular := info.Mode().IsRegular()
	l := NewLines(f, func() error {
		var err error
		if regular {
			err = f.Sync()
		}
		return errors.Join(err, f.Close())
	})
	l.torn = regular && info.Size() > 0 && !endsLine(path, info.Size())
	return l, nil
}

// endsLine reports whether the last byte of the file is a newline. A file that
// cannot be read is taken to be torn: an empty line does no harm.
func endsLine(path string, size int64) bool {
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	var last [1]byte
	_, err = f.ReadAt(last[:], size-1)
	return err == nil && last[0] == '\n'
}

// ExportSpans writes the spans in one write. If that fails, the error is a
// [PartialError] that says how many spans are on complete lines.
func (l *Lines) ExportSpans(ctx context.Context, spans []sdktrace.ReadOnlySpan) error {
	if err := context.Cause(ctx); err != nil {
		return fmt.Errorf("write trace: %w", err)
	}
	if l.closed {
		return fmt.Errorf("write trace: %w", os.ErrClosed)
	}
	l.buf.Reset()
	l.ends = l.ends[:0]
	if l.torn {
		l.buf.WriteByte('\n')
	}
	for done := 0; done < len(spans); {
		n := min(len(spans)-done, lineSpans)
		if err := l.line(spans[done:done+n], done); err != nil {
			return err
		}
		done += n
	}
	release := l.bound(ctx)
	n, err := l.w.Write(l.buf.Bytes())
	release()
	if err == nil {
		l.torn = false
		return nil
	}
	written := 0
	for _, end := range l.ends {
		if n < end.bytes-1 { // only the newline may be missing
			break
		}
		written = end.spans
	}
	if n > 0 {
		l.torn = l.buf.Bytes()[n-1] != '\n'
	}
	return &PartialError{Written: written, Err: fmt.Errorf("write trace: %w", err)}
}

// line adds one line, or several if it would be too long.
func (l *Lines) line(spans []sdktrace.ReadOnlySpan, done int) error {
	text, err := (&ptrace.JSONMarshaler{}).MarshalTraces(Traces(spans))
	if err != nil {
		return fmt.Errorf("encode trace: %w", err)
	}
	if len(text) > lineBytes && len(spans) > 1 {
		half := len(spans) / 2
		if err := l.line(spans[:half], done); err != nil {
			return err
		}
		return l.line(spans[half:], done+half)
	}
	l.buf.Write(text)
	l.buf.WriteByte('\n')
	l.ends = append(l.ends, lineEnd{l.buf.Len(), done + len(spans)})
	return nil
}

// bound makes the end of ctx interrupt the write, where the writer can be
// interrupted (pipes, sockets; not files).
func (l *Lines) bound(ctx context.Context) (release func()) {
	w, ok := l.w.(interface{ SetWriteDeadline(time.Time) error })
	if !ok || w.SetWriteDeadline(time.Time{}) != nil {
		return func() {}
	}
	stop := context.AfterFunc(ctx, func() { w.SetWriteDeadline(time.Unix(1, 0)) })
	return func() {
		if !stop() {
			w.SetWriteDeadline(time.Time{})
		}
	}
}

// Shutdown closes the writer. Calling it again does nothing.
func (l *Lines) Shutdown(context.Context) error {
	if l.closed {
		return nil
	}
	l.closed = true
	if err := l.close(); err != nil {
		return fmt.Errorf("close trace: %w", err)
	}
	return nil
}

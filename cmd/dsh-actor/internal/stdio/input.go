package stdio

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"
)

// ErrTooLong says that standard input has more than was asked for.
var ErrTooLong = errors.New("standard input is too long")

// Input is standard input. It is used by one goroutine at a time.
type Input struct {
	file *os.File
	pump pump
}

// NewInput returns f as an input. F stays the caller's.
func NewInput(f *os.File) *Input { return &Input{file: f} }

// Terminal reports whether the input is a terminal.
func (in *Input) Terminal() bool { return isTerminal(in.file) }

// Reader returns a reader whose reads fail with the context's cause when ctx is
// done.
func (in *Input) Reader(ctx context.Context) io.Reader { return &reader{in, ctx} }

type reader struct {
	in  *Input
	ctx context.Context // of every read: an io.Reader has no place for one
}

// Read reads what is there, or waits for it.
func (r *reader) Read(p []byte) (int, error) {
	if r.ctx.Err() != nil {
		return 0, context.Cause(r.ctx)
	}
	return r.in.read(r.ctx, p)
}

// Waits reports whether reading would have to wait for longer than patience: the
// input is open, and nobody writes to it.
func (in *Input) Waits(ctx context.Context, patience time.Duration) bool {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	return !in.ready(ctx)
}

// All reads up to limit bytes; more is an error that wraps [ErrTooLong].
func (in *Input) All(ctx context.Context, limit int64) ([]byte, error) {
	b, err := io.ReadAll(io.LimitReader(in.Reader(ctx), limit+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("read standard input: %w", err)
	case int64(len(b)) > limit:
		return nil, fmt.Errorf("%w: it has more than %d bytes", ErrTooLong, limit)
	}
	return b, nil
}

// Line reads one line, without its end. It reads byte by byte, so that what follows
// is there for the next reader. At the end of the input it returns io.EOF.
func (in *Input) Line(ctx context.Context) (string, error) {
	r := in.Reader(ctx)
	var line []byte
	var b [1]byte
	for len(line) < 4096 {
		switch n, err := r.Read(b[:]); {
		case n == 1 && b[0] == '\n':
			return trimCR(line), nil
		case n == 1:
			line = append(line, b[0])
		case errors.Is(err, io.EOF) && len(line) > 0:
			return trimCR(line), nil
		case err != nil:
			return "", err
		}
	}
	return string(line), nil
}

func trimCR(line []byte) string {
	if n := len(line); n > 0 && line[n-1] == '\r' {
		line = line[:n-1]
	}
	return string(line)
}

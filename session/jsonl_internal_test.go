package session

import (
	"bufio"
	"errors"
	"strings"
	"testing"
)

// Text without line ends is refused before it fills the memory.
func TestLineLimit(t *testing.T) {
	const limit = 10_000
	read := func(n int) (int, error) {
		j := &JSONL{in: bufio.NewReader(strings.NewReader(strings.Repeat("x", n) + "\nnext\n")), limit: limit}
		line, err := j.next()
		return len(line), err
	}
	if n, err := read(limit); n != limit || err != nil {
		t.Errorf("a line of the limit: %d bytes, %v", n, err)
	}
	_, err := read(100 * limit)
	var bad *LineError
	if !errors.As(err, &bad) || bad.Line != 1 || !strings.Contains(err.Error(), "longer than 10000 bytes") {
		t.Errorf("a longer line: %v", err)
	}
}

package stdio

import (
	"os"

	"golang.org/x/term"
)

// Output is standard output or standard error.
type Output struct {
	*os.File
	terminal bool
	escapes  bool
}

// NewOutput returns f as an output. F stays the caller's.
func NewOutput(f *os.File) *Output {
	out := &Output{File: f, terminal: isTerminal(f)}
	out.escapes = out.terminal && enableEscapes(f)
	return out
}

// Terminal reports whether the output is a terminal.
func (o *Output) Terminal() bool { return o.terminal }

// Escapes reports whether the output is a terminal that moves its cursor when it is
// told so.
func (o *Output) Escapes(getenv func(string) string) bool {
	return o.escapes && getenv("TERM") != "dumb"
}

// Colors reports whether the output is a terminal that shows colours, and nobody
// minds (NO_COLOR).
func (o *Output) Colors(getenv func(string) string) bool {
	return o.Escapes(getenv) && getenv("NO_COLOR") == ""
}

// Width is the number of columns, 80 if that is not known.
func (o *Output) Width() int {
	if w, _, err := term.GetSize(int(o.Fd())); err == nil && w > 0 {
		return w
	}
	return 80
}

func isTerminal(f *os.File) bool { return term.IsTerminal(int(f.Fd())) }

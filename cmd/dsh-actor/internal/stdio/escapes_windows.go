package stdio

import (
	"os"

	"golang.org/x/sys/windows"
)

// enableEscapes makes a console understand escape sequences, and reports whether it
// does.
func enableEscapes(f *os.File) bool {
	h := windows.Handle(f.Fd())
	var mode uint32
	if windows.GetConsoleMode(h, &mode) != nil {
		return false
	}
	return windows.SetConsoleMode(h, mode|windows.ENABLE_VIRTUAL_TERMINAL_PROCESSING) == nil
}

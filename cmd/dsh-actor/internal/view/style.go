package view

import (
	"fmt"
	"time"
)

// style is a colour, or none.
type style string

const (
	plain  style = ""
	dim    style = "2"
	bold   style = "1"
	red    style = "31"
	green  style = "32"
	yellow style = "33"
	cyan   style = "36"
)

// paint colours s, if the view has colours.
func (v *View) paint(c style, s string) string {
	if c == plain || s == "" || !v.cfg.Color {
		return s
	}
	return "\x1b[" + string(c) + "m" + s + "\x1b[0m"
}

// Marks at the beginning of a line.
const (
	markDone      = "✓"
	markFailed    = "✗"
	markDenied    = "⊘"
	markCancelled = "–"
	markRetry     = "↻"
	markAsk       = "?"
)

// frames of the spinner.
var frames = [...]string{"⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"}

// Duration is a duration as people read it: 12ms, 1.2s, 2m05s.
func Duration(d time.Duration) string {
	switch {
	case d < time.Second:
		return fmt.Sprintf("%dms", d.Milliseconds())
	case d < 10*time.Second:
		return fmt.Sprintf("%.1fs", d.Truncate(100*time.Millisecond).Seconds())
	case d < time.Minute:
		return fmt.Sprintf("%ds", int(d.Seconds()))
	default:
		return fmt.Sprintf("%dm%02ds", int(d.Minutes()), int(d.Seconds())%60)
	}
}

// seconds is a duration in whole seconds.
func seconds(d time.Duration) string {
	if d < time.Minute {
		return fmt.Sprintf("%ds", int(d.Seconds()))
	}
	return Duration(d)
}

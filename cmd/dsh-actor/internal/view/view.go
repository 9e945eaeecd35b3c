package view

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/dsh-actor/dsh-actor/messages"
)

// Config adjusts a View.
type Config struct {
	// Color allows colours, Animate the spinner: a terminal that understands neither
	// gets plain lines.
	Color, Animate bool
	// Verbose shows the model's reasoning and what tools returned.
	Verbose bool
	// Width is the terminal's number of columns; nil is 80.
	Width func() int
	// Now is the clock of the spinner; nil is time.Now.
	Now func() time.Time
}

// period is the time between two frames of the spinner.
const period = 100 * time.Millisecond

// View writes to one terminal. Errors of the terminal are kept: after the first
// one nothing is written, and every method returns it.
type View struct {
	cfg  Config
	quit chan struct{}
	done chan struct{}

	mu      sync.Mutex
	out     io.Writer
	err     error
	column  bool // the cursor is inside a line
	shown   bool // the spinner is on the screen
	paused  int  // somebody else writes
	frame   int
	last    section
	calls   []*call // running, in the order of their start
	waiting wait
	asked   map[messages.ApprovalID]chan struct{}
	blocks  map[int]bool // text blocks of the step that were streamed
}

// section is what was written last: a blank line comes between different ones.
type section uint8

const (
	nothing section = iota
	text
	reasoning
	lines
)

// call is a tool call without a result yet.
type call struct {
	id      messages.CallID
	name    string
	subject string
	since   int64 // ms since the Unix epoch; later if somebody was asked
	pending messages.ApprovalID
}

// wait is what the spinner says.
type wait struct {
	what  string
	since time.Time
	until time.Time // counts down to it, if set
}

// New returns a view and starts its spinner's goroutine.
func New(out io.Writer, cfg Config) *View {
	if cfg.Width == nil {
		cfg.Width = func() int { return 80 }
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	v := &View{
		cfg: cfg, out: out, quit: make(chan struct{}), done: make(chan struct{}),
		asked: map[messages.ApprovalID]chan struct{}{}, blocks: map[int]bool{},
	}
	go v.spin()
	return v
}

// Close erases the spinner and ends its goroutine.
func (v *View) Close() error {
	select {
	case <-v.quit:
	default:
		close(v.quit)
	}
	<-v.done
	v.mu.Lock()
	defer v.mu.Unlock()
	v.waiting = wait{}
	v.eraseLocked()
	v.freshLineLocked()
	return v.err
}

func (v *View) spin() {
	defer close(v.done)
	if !v.cfg.Animate {
		<-v.quit
		return
	}
	ticker := time.NewTicker(period)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
			v.mu.Lock()
			v.frame++
			v.drawLocked()
			v.mu.Unlock()
		case <-v.quit:
			return
		}
	}
}

// drawLocked puts the spinner on the screen, if there is something to wait for.
func (v *View) drawLocked() {
	if v.waiting.what == "" || v.paused > 0 || v.column || !v.cfg.Animate {
		return
	}
	now := v.cfg.Now()
	clock := ""
	switch waited := now.Sub(v.waiting.since); {
	case !v.waiting.until.IsZero():
		clock = "in " + seconds(max(v.waiting.until.Sub(now).Round(time.Second), 0))
	case waited >= time.Second:
		clock = seconds(waited)
	}
	mark := frames[v.frame%len(frames)]
	label := fit(v.waiting.what, v.cfg.Width()-len(clock)-4)
	v.writeLocked("\r\x1b[K" + v.paint(cyan, mark) + " " + label + v.paint(dim, suffix(clock)))
	v.shown = true
}

func suffix(s string) string {
	if s == "" {
		return ""
	}
	return " " + s
}

// eraseLocked takes the spinner off the screen.
func (v *View) eraseLocked() {
	if v.shown {
		v.writeLocked("\r\x1b[K")
		v.shown = false
	}
}

func (v *View) writeLocked(s string) {
	if v.err == nil {
		_, err := io.WriteString(v.out, s)
		if err != nil {
			v.err = fmt.Errorf("write to the terminal: %w", err)
		}
	}
}

// freshLineLocked ends the line that the cursor is in.
func (v *View) freshLineLocked() {
	if v.column {
		v.writeLocked("\n")
		v.column = false
	}
}

// beginLocked makes room for a section.
func (v *View) beginLocked(s section) {
	v.eraseLocked()
	if v.last == s {
		return
	}
	v.freshLineLocked()
	// A blank line sets text apart; lines of tools follow the text that led to them.
	if v.last != nothing && s != lines {
		v.writeLocked("\n")
	}
	v.last = s
}

// lineLocked writes a whole line that stays.
func (v *View) lineLocked(s string) {
	v.beginLocked(lines)
	v.freshLineLocked()
	v.writeLocked(s + "\n")
}

// waitLocked changes what the spinner says, and draws it at once.
func (v *View) waitLocked(what string) {
	v.waiting = wait{what: what, since: v.cfg.Now()}
	if what == "" {
		v.eraseLocked()
		return
	}
	v.drawLocked()
}

// Line writes a line of the host's own, such as a warning.
func (v *View) Line(s string) error {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.lineLocked(clean(s))
	return v.err
}

// Pause keeps the view off the screen until resume is called: somebody else
// writes.
func (v *View) Pause() (resume func()) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.eraseLocked()
	v.freshLineLocked()
	v.paused++
	return sync.OnceFunc(func() {
		v.mu.Lock()
		defer v.mu.Unlock()
		v.paused--
		v.last = lines
		v.drawLocked()
	})
}

// Asked returns a channel that is closed once the view has shown everything up to
// the question.
func (v *View) Asked(id messages.ApprovalID) <-chan struct{} {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.askedLocked(id)
}

func (v *View) askedLocked(id messages.ApprovalID) chan struct{} {
	ch := v.asked[id]
	if ch == nil {
		ch = make(chan struct{})
		v.asked[id] = ch
	}
	return ch
}

// toolLine is the line of a call that has ended.
func (v *View) toolLine(mark string, c style, k *call, took time.Duration, note string) string {
	clock := Duration(took)
	head := mark + " " + k.name
	room := v.cfg.Width() - len([]rune(head)) - len(clock) - 4
	what := k.subject
	if note != "" {
		// Two thirds for what it was, if both are long.
		short := max(room-len([]rune(note))-2, room*2/3)
		what = fit(what, short)
		note = fit(note, room-len([]rune(what))-2)
	}
	what = fit(what, room)
	var b strings.Builder
	b.WriteString(v.paint(c, mark) + " " + v.paint(bold, k.name))
	if what != "" {
		b.WriteString(" " + what)
	}
	b.WriteString(v.paint(dim, "  "+clock))
	if note != "" {
		b.WriteString("  " + v.paint(c, note))
	}
	return b.String()
}

//go:build unix

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/creack/pty"
	"github.com/google/go-cmp/cmp"
)

// terminal is a pseudo-terminal that dsh-actor runs on, and what is on its screen.
type terminal struct {
	*process
	tty  *os.File
	read chan struct{} // closed when the program has closed the terminal

	mu     sync.Mutex
	change chan struct{}
	raw    strings.Builder
	screen screen
}

// onTerminal starts dsh-actor on a wide terminal: nothing is cut.
func onTerminal(t *testing.T, scenario string, env []string, args ...string) *terminal {
	t.Helper()
	p := start(t, scenario, args...)
	p.cmd.Env = append(p.cmd.Env, "TERM=xterm-256color")
	p.cmd.Env = append(p.cmd.Env, env...)
	p.cmd.Stderr = nil // the terminal
	tty, err := pty.StartWithSize(p.cmd, &pty.Winsize{Rows: 50, Cols: 200})
	if err != nil {
		t.Fatal(err)
	}
	term := &terminal{process: p, tty: tty, read: make(chan struct{}), change: make(chan struct{})}
	t.Cleanup(func() { tty.Close() })
	go term.follow()
	return term
}

func (term *terminal) follow() {
	defer close(term.read)
	b := make([]byte, 4096)
	for {
		n, err := term.tty.Read(b)
		term.mu.Lock()
		term.raw.Write(b[:n])
		term.screen.write(string(b[:n]))
		close(term.change)
		term.change = make(chan struct{})
		term.mu.Unlock()
		if err != nil {
			return
		}
	}
}

// expect waits until the pattern is on the screen, or was, if it is of something that
// stays for a moment only.
func (term *terminal) expect(pattern string) {
	term.t.Helper()
	re := regexp.MustCompile(pattern)
	giveUp := time.After(patience)
	for {
		term.mu.Lock()
		found := re.MatchString(term.screen.String()) || re.MatchString(term.raw.String())
		change, shown := term.change, term.screen.String()
		term.mu.Unlock()
		if found {
			return
		}
		select {
		case <-change:
		case <-term.read:
			term.t.Fatalf("the program ended without %q; the screen:\n%s", pattern, shown)
		case <-giveUp:
			term.t.Fatalf("%q did not come; the screen:\n%s", pattern, shown)
		}
	}
}

// enter types something.
func (term *terminal) enter(keys string) {
	term.t.Helper()
	if _, err := term.tty.WriteString(keys); err != nil {
		term.t.Fatal(err)
	}
}

// end waits for the program's end and returns its exit code.
func (term *terminal) end() int {
	term.t.Helper()
	<-term.read
	_ = term.cmd.Wait()
	if code := term.cmd.ProcessState.ExitCode(); code >= 0 {
		return code
	}
	term.t.Fatalf("the program did not end by itself: %v", term.cmd.ProcessState)
	return -1
}

var clocks = regexp.MustCompile(`\b(\d+m\d\ds|\d+(\.\d)?m?s)\b`)

// transcript compares what is left on the screen with a golden file.
func (term *terminal) transcript(name string, code int) {
	term.t.Helper()
	got := term.screen.String()
	got = clocks.ReplaceAllString(strings.ReplaceAll(got, term.dir, "$WORK"), "TIME")
	got = fmt.Sprintf("%s\n[exit code %d]\n", strings.TrimRight(got, "\n"), code)
	path := filepath.Join("testdata", "terminal", name+".txt")
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			term.t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		term.t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		term.t.Errorf("%s (-want +got):\n%s", name, diff)
	}
}

// screen is as much of a terminal as the view uses: lines, carriage return, erase to
// the end of the line. Colours are left out. A sequence that it does not know shows.
type screen struct {
	lines  [][]rune
	column int
	escape string // an escape sequence that is not complete
	rest   []byte // bytes of a character that is not complete
}

func (s *screen) write(text string) {
	text = string(s.rest) + text
	s.rest = nil
	if s.lines == nil {
		s.lines = [][]rune{nil}
	}
	for i, r := range text {
		if r == '\ufffd' && len(text)-i < 4 && !strings.HasPrefix(text[i:], "\ufffd") {
			s.rest = []byte(text[i:])
			return
		}
		s.put(r)
	}
}

var complete = regexp.MustCompile(`^\x1b\[[0-9;?]*[A-Za-z]$`)

func (s *screen) put(r rune) {
	last := len(s.lines) - 1
	switch {
	case s.escape != "":
		s.escape += string(r)
		switch {
		case !complete.MatchString(s.escape):
		case s.escape == "\x1b[K":
			s.lines[last] = s.lines[last][:min(s.column, len(s.lines[last]))]
			s.escape = ""
		case strings.HasSuffix(s.escape, "m"):
			s.escape = ""
		default:
			unknown := strings.ReplaceAll(s.escape, "\x1b", "<ESC>")
			s.escape = ""
			for _, r := range unknown {
				s.put(r)
			}
		}
	case r == '\x1b':
		s.escape = string(r)
	case r == '\r':
		s.column = 0
	case r == '\n':
		s.lines = append(s.lines, nil)
		s.column = 0
	default:
		line := s.lines[last]
		for len(line) <= s.column {
			line = append(line, ' ')
		}
		line[s.column] = r
		s.lines[last] = line
		s.column++
	}
}

// String is what is on the screen.
func (s *screen) String() string {
	var b strings.Builder
	for _, line := range s.lines {
		b.WriteString(strings.TrimRight(string(line), " ") + "\n")
	}
	return b.String()
}

var noColor = []string{"NO_COLOR=1"}

const interrupt = "\x03" // what the key combination Ctrl-C types

// TestTerminalTools: text as it streams, a line per call with duration and outcome.
func TestTerminalTools(t *testing.T) {
	term := onTerminal(t, `
turns:
  - text: |
      I look at the notes.
    reasoning: Not shown.
    chunks: 3
    tools:
      - {name: Write, input: {file_path: notes.txt, content: "one\ntwo\n"}}
      - {name: Read, input: {file_path: notes.txt}}
      - {name: Bash, input: {command: "cat notes.txt | wc -l"}}
  - tools:
      - {name: Bash, input: {command: "echo so-so >&2; exit 3", description: Fails}}
      - {name: Read, input: {file_path: nowhere.txt}}
      - {name: Bash, input: {command: "rm notes.txt"}}
  - text: Two lines.
`, noColor, "--permission-mode", "acceptEdits", "--allowedTools", "Bash(echo *) Bash(exit *)", "--disallowedTools", "Bash(rm *)", "--", "how many lines?")
	term.transcript("tools", term.end())
}

// TestTerminalVerbose shows reasoning, and what tools return.
func TestTerminalVerbose(t *testing.T) {
	term := onTerminal(t, `
turns:
  - {reasoning: I have to count., tools: [{name: Bash, input: {command: "seq 12"}}]}
  - text: "Twelve.\n"
`, noColor, "--verbose", "--allowedTools", "Bash(seq *)", "--", "count")
	term.transcript("verbose", term.end())
}

// TestTerminalAsk: once, always, no with a reason, and a word that is no answer.
func TestTerminalAsk(t *testing.T) {
	term := onTerminal(t, `
turns:
  - text: I write a file twice.
    tools:
      - {name: Write, input: {file_path: a.txt, content: a}}
      - {name: Edit, input: {file_path: a.txt, old_string: a, new_string: b}}
  - tools:
      - {name: Bash, input: {command: "touch c.txt"}}
  - tools:
      - {name: Bash, input: {command: "touch d.txt"}}
  - text: "You said: {{lastToolResult}}"
`, noColor, "write")
	term.expect(`(?s)a\.txt.*\[y/a/n\] $`)
	term.enter("a\n")
	term.expect(`(?s)touch c\.txt.*\[y/a/n\] $`)
	term.enter("perhaps\n")
	term.expect(`(?s)perhaps.*\[y/a/n\] $`)
	term.enter("y\n")
	term.expect(`(?s)touch d\.txt.*\[y/a/n\] $`)
	term.enter("n not today\n")
	code := term.end()
	term.transcript("ask", code)
	for name, want := range map[string]bool{"a.txt": true, "c.txt": true, "d.txt": false} {
		if _, err := os.Stat(filepath.Join(term.dir, name)); (err == nil) != want {
			t.Errorf("%s: %v, want it to be there: %v", name, err, want)
		}
	}
}

// TestTerminalAskCancelled: Ctrl-C while the question is open (P-11): the call was
// never dispatched, and what comes after it neither.
func TestTerminalAskCancelled(t *testing.T) {
	term := onTerminal(t, `turns: [{text: I write., tools: [{name: Write, input: {file_path: a.txt, content: a}}, {name: Glob, input: {pattern: x}}]}]`, noColor, "write")
	term.expect(`\[y/a/n\] $`)
	term.enter(interrupt)
	code := term.end()
	term.transcript("ask-cancelled", code)
	want := []string{"tool/call", "approval/asked", "approval/decided", "tool/result", "tool/call", "tool/result", "step/end", "turn/end"}
	events := term.events()
	if diff := cmp.Diff(want, events[len(events)-len(want):]); diff != "" {
		t.Errorf("end of the log (-want +got):\n%s", diff)
	}
}

// TestTerminalFailure: a request that fails.
func TestTerminalFailure(t *testing.T) {
	term := onTerminal(t, `
turns:
  - {text: "I begin", error: {message: "the key is\nnot valid", status: 401, code: AUTHENTICATION, after: 1}, chunks: 2}
`, noColor, "hi")
	term.transcript("failure", term.end())
}

// TestTerminalCancel: Ctrl-C in the middle of a line.
func TestTerminalCancel(t *testing.T) {
	term := onTerminal(t, `turns: [{text: "I begin and do not", hang: true}]`, noColor, "hi")
	term.expect(`I begin and do not`)
	term.enter(interrupt)
	term.transcript("cancel", term.end())
}

// TestTerminalCancelTool: Ctrl-C while a command runs.
func TestTerminalCancelTool(t *testing.T) {
	term := onTerminal(t, `turns: [{tools: [{name: Bash, input: {command: "echo > up; sleep 1000"}}]}]`, noColor, "--dangerously-skip-permissions", "hi")
	term.await("up")
	term.expect(`[⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏] Bash echo > up; sleep 1000`)
	term.enter(interrupt)
	term.transcript("cancel-tool", term.end())
}

// TestTerminalRetry: a request that is sent again, and Ctrl-C in the wait.
func TestTerminalRetry(t *testing.T) {
	term := onTerminal(t, `turns: [{error: {message: busy, status: 529, code: OVERLOADED, retryAfter: 60s}}]`, noColor, "hi")
	term.expect(`[⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏] waiting to ask again in \d`)
	term.enter(interrupt)
	term.transcript("retry-cancelled", term.end())
}

// TestTerminalSpinner: while the model thinks, and only on a terminal that can.
func TestTerminalSpinner(t *testing.T) {
	const scenario = `turns: [{text: hello, hang: true}]`
	term := onTerminal(t, strings.Replace(scenario, "text: hello, ", "", 1), nil, "hi")
	term.expect(`⠙.* thinking`) // the second frame: it turns
	term.enter(interrupt)
	term.end()
	if !strings.Contains(term.raw.String(), "\x1b[36m") {
		t.Errorf("no colours: %q", term.raw.String())
	}
	dumb := onTerminal(t, scenario, []string{"TERM=dumb"}, "hi")
	dumb.expect("hello")
	dumb.enter(interrupt)
	dumb.end()
	if strings.Contains(dumb.raw.String(), "\x1b") || strings.Contains(dumb.raw.String(), "thinking") {
		t.Errorf("escapes on a terminal that has none: %q", dumb.raw.String())
	}
	plain := onTerminal(t, scenario, noColor, "hi")
	plain.expect("hello")
	plain.enter(interrupt)
	plain.end()
	if regexp.MustCompile(`\x1b\[[0-9;]*m`).MatchString(plain.raw.String()) {
		t.Errorf("colours despite NO_COLOR: %q", plain.raw.String())
	}
}

// TestTerminalOnlyForAsking: standard output is a pipe, the rest a terminal. The
// question goes to the terminal, the result to the pipe.
func TestTerminalOnlyForAsking(t *testing.T) {
	p := start(t, `turns: [{tools: [{name: Write, input: {file_path: a.txt, content: a}}]}, {text: done}]`, "--output-format", "json", "hi")
	master, tty, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer master.Close()
	out := filepath.Join(p.dir, "out.json")
	file, err := os.Create(out)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	p.cmd.Stdin, p.cmd.Stderr, p.cmd.Stdout = tty, tty, file
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	tty.Close()
	term := &terminal{process: p, tty: master, read: make(chan struct{}), change: make(chan struct{})}
	go term.follow()
	term.expect(`\[y/a/n\] $`)
	term.enter("y\n")
	if code := term.end(); code != 0 {
		t.Errorf("exit code %d", code)
	}
	b, err := os.ReadFile(out)
	if err != nil || !strings.Contains(string(b), `"result":"done"`) || strings.Count(string(b), "\n") != 1 {
		t.Errorf("standard output: %s, %v", b, err)
	}
	if _, err := os.Stat(filepath.Join(p.dir, "a.txt")); err != nil {
		t.Error(err)
	}
}

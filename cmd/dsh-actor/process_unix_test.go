//go:build unix

package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/dsh-actor/dsh-actor/internal/proc"
	"github.com/dsh-actor/dsh-actor/internal/proc/proctest"
)

// patience is when a test gives up on the program. It is no wait: everything that a
// test waits for is an event.
const patience = 60 * time.Second

// process is a running dsh-actor.
type process struct {
	t      *testing.T
	dir    string
	cmd    *exec.Cmd
	stdin  io.WriteCloser
	out    *bufio.Reader
	stderr lockedBuffer
	last   string // the last line of standard output
	count  int
	lines  []string // that seen has read and not found
}

// start prepares dsh-actor in a directory of its own, with a scenario, and with named
// pipes by which commands talk with the test.
func start(t *testing.T, scenario string, args ...string) *process {
	t.Helper()
	proctest.VerifyNone(t)
	p := &process{t: t, dir: t.TempDir()}
	if err := os.WriteFile(filepath.Join(p.dir, "s.yaml"), []byte(scenario), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"up", "told", "wait"} {
		if err := syscall.Mkfifo(filepath.Join(p.dir, name), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	t.Cleanup(cancel)
	args = append([]string{"run", "--scenario", "s.yaml", "--debug-file", "debug.log"}, args...)
	p.cmd = exec.CommandContext(ctx, "dsh-actor", args...)
	p.cmd.Dir = p.dir
	p.cmd.Env = environ(p.dir)
	p.cmd.Stderr = &p.stderr
	return p
}

func environ(home string) []string {
	return []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + home, "LANG=C.UTF-8",
		proc.DefaultMark + "=" + os.Getenv(proc.DefaultMark),
	}
}

func (p *process) begin() *process {
	p.t.Helper()
	var err error
	if p.stdin, err = p.cmd.StdinPipe(); err != nil {
		p.t.Fatal(err)
	}
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		p.t.Fatal(err)
	}
	p.out = bufio.NewReaderSize(out, 1<<20)
	if err := p.cmd.Start(); err != nil {
		p.t.Fatal(err)
	}
	return p
}

// closeStdin ends the program's input.
func (p *process) closeStdin() *process {
	p.t.Helper()
	if err := p.stdin.Close(); err != nil {
		p.t.Fatal(err)
	}
	return p
}

// say writes a line to the program's input.
func (p *process) say(line string) {
	p.t.Helper()
	if _, err := io.WriteString(p.stdin, line+"\n"); err != nil {
		p.t.Fatal(err)
	}
}

// line reads standard output up to the line that matches.
func (p *process) line(pattern string) string {
	p.t.Helper()
	re := regexp.MustCompile(pattern)
	for {
		line, err := p.out.ReadString('\n')
		p.keep(line)
		switch {
		case re.MatchString(line):
			return line
		case err != nil:
			p.t.Fatalf("standard output ended (%v) without %q; standard error: %s", err, pattern, p.stderr.String())
		}
	}
}

// seen reads standard output until a line that was not asked for yet has matched, in
// whatever order the lines come.
func (p *process) seen(pattern string) {
	p.t.Helper()
	re := regexp.MustCompile(pattern)
	for i, line := range p.lines {
		if re.MatchString(line) {
			p.lines = append(p.lines[:i:i], p.lines[i+1:]...)
			return
		}
	}
	for {
		before := p.count
		line := p.line("")
		if p.count == before {
			p.t.Fatalf("standard output ended without %q", pattern)
		}
		if re.MatchString(line) {
			return
		}
		p.lines = append(p.lines, line)
	}
}

func (p *process) keep(line string) {
	if line != "" {
		p.last = line
		p.count++
	}
}

func (p *process) signal(s syscall.Signal) {
	p.t.Helper()
	if err := p.cmd.Process.Signal(s); err != nil {
		p.t.Fatal(err)
	}
}

// end reads the rest of standard output and returns the exit code.
func (p *process) end() int {
	p.t.Helper()
	for {
		line, err := p.out.ReadString('\n')
		p.keep(line)
		if err != nil {
			break
		}
	}
	var exit *exec.ExitError
	err := p.cmd.Wait()
	switch {
	case err == nil:
		return 0
	case !errors.As(err, &exit) || exit.ExitCode() < 0:
		p.t.Fatalf("the program did not end by itself: %v; standard error: %s", err, p.stderr.String())
	}
	return exit.ExitCode()
}

// field is a member of the last line.
func (p *process) field(path string) string {
	p.t.Helper()
	got, err := member(jsontext.Value(strings.TrimSpace(p.last)), strings.Split(path, "."))
	if err != nil {
		p.t.Fatalf("%v in %q", err, p.last)
	}
	return got
}

var eventType = regexp.MustCompile(`msg=event event="\{\\"type\\":\\"([a-z/]+)`)

// events are the types of the session's events, from the debug file.
func (p *process) events() (types []string) {
	p.t.Helper()
	b, err := os.ReadFile(filepath.Join(p.dir, "debug.log"))
	if err != nil {
		p.t.Fatal(err)
	}
	for _, m := range eventType.FindAllStringSubmatch(string(b), -1) {
		types = append(types, m[1])
	}
	return types
}

// await returns when a command has written a line to the named pipe: that is how it
// says where it is.
func (p *process) await(name string) {
	p.t.Helper()
	f := p.pipe(name)
	if err := f.SetReadDeadline(time.Now().Add(patience)); err != nil {
		p.t.Fatal(err)
	}
	if _, err := f.Read(make([]byte, 1)); err != nil {
		p.t.Fatalf("%s: %v; standard error: %s", name, err, p.stderr.String())
	}
}

// release lets a command go on that reads a line from the named pipe.
func (p *process) release(name string) {
	p.t.Helper()
	if _, err := p.pipe(name).WriteString("\n"); err != nil {
		p.t.Fatal(err)
	}
}

// pipe opens a named pipe for both directions, which never waits.
func (p *process) pipe(name string) *os.File {
	p.t.Helper()
	f, err := os.OpenFile(filepath.Join(p.dir, name), os.O_RDWR, 0)
	if err != nil {
		p.t.Fatal(err)
	}
	p.t.Cleanup(func() { f.Close() })
	return f
}

// lockedBuffer is a buffer that can be read while it is written.
type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

// Write implements io.Writer.
func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

// String returns what was written so far.
func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

package app

import (
	"bufio"
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"go.uber.org/goleak"

	"github.com/dsh-actor/dsh-actor/cmd/dsh-actor/internal/outcome"
	"github.com/dsh-actor/dsh-actor/cmd/dsh-actor/internal/stdio"
	"github.com/dsh-actor/dsh-actor/internal/proc/proctest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(proctest.Main(m)) }

// inside runs a command line in this process, where a goroutine that is left shows.
type inside struct {
	sys      System
	signals  chan outcome.Cause
	stdin    *os.File // to write to
	out, err *reader
}

// reader collects what is written to a pipe.
type reader struct {
	*stdio.Output
	wg    sync.WaitGroup
	mu    sync.Mutex
	text  strings.Builder
	lines chan string
}

func newReader(t *testing.T) *reader {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	out := &reader{Output: stdio.NewOutput(w), lines: make(chan string, 10_000)}
	out.wg.Go(func() {
		defer r.Close()
		defer close(out.lines)
		in := bufio.NewReader(r)
		for {
			line, err := in.ReadString('\n')
			out.mu.Lock()
			out.text.WriteString(line)
			out.mu.Unlock()
			if line != "" {
				out.lines <- line
			}
			if err != nil {
				return
			}
		}
	})
	return out
}

// until reads lines up to the one that has the text.
func (r *reader) until(t *testing.T, text string) {
	t.Helper()
	for line := range r.lines {
		if strings.Contains(line, text) {
			return
		}
	}
	t.Errorf("%q did not come", text)
}

func (r *reader) String() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.text.String()
}

// finish waits until everything that was written has been read.
func (r *reader) finish() {
	r.Close()
	r.wg.Wait()
}

func newInside(t *testing.T, env ...string) *inside {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close(); w.Close() })
	dir := t.TempDir()
	p := &inside{signals: make(chan outcome.Cause), stdin: w, out: newReader(t), err: newReader(t)}
	p.sys = System{
		In: stdio.NewInput(r), Out: p.out.Output, Err: p.err.Output, Dir: dir, Version: "test", NewUUID: newUUID,
		Environ: append([]string{"HOME=" + dir, "PATH=" + os.Getenv("PATH")}, env...),
		Signals: func() (<-chan outcome.Cause, func()) { return p.signals, func() {} },
	}
	return p
}

func (p *inside) file(t *testing.T, name, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(p.sys.Dir, name), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func (p *inside) run(args ...string) int {
	code := Main(context.Background(), p.sys, args)
	p.out.finish()
	p.err.finish()
	return code
}

// TestNothingIsLeft: no goroutine and no process outlives a run, however it ends.
func TestNothingIsLeft(t *testing.T) {
	for _, tt := range []struct {
		name, scenario string
		args           []string
		env            []string
		stdin          string
		during         func(*testing.T, *inside)
		code           int
	}{
		{name: "done", scenario: `turns: [{tools: [{name: Bash, input: {command: "sleep 1000 >/dev/null 2>&1 & echo hi"}}]}, {text: done}]`,
			args: []string{"--dangerously-skip-permissions", "hi"}},
		{name: "failed", scenario: `turns: [{error: {message: no, status: 400}}]`, args: []string{"hi"}, code: 1},
		{name: "no prompt", scenario: `turns: [{text: x}]`, code: 1},
		{name: "bad environment", scenario: `turns: [{text: x}]`, args: []string{"hi"}, env: []string{"CLAUDE_CODE_MAX_RETRIES=x"}, code: 1},
		{name: "bad trace file", scenario: `turns: [{text: x}]`, args: []string{"--trace", "no/where", "hi"}, code: 1},
		{name: "traced", scenario: `turns: [{text: x}]`, args: []string{"--trace", "t.jsonl", "--debug-file", "d.log", "hi"}},
		{name: "cancelled", scenario: `turns: [{text: begin, hang: true}]`,
			args:   []string{"--output-format", "stream-json", "--include-partial-messages", "hi"},
			during: func(t *testing.T, p *inside) { p.out.until(t, "text_delta"); p.signals <- outcome.Terminated }, code: 143},
		{name: "lines", scenario: `turns: [{text: one}, {text: two}]`, args: []string{"--input-format", "stream-json", "--output-format", "stream-json"},
			stdin: `{"type":"user","message":{"role":"user","content":"a"}}` + "\n" + `{"type":"user","message":{"role":"user","content":"b"}}` + "\n"},
		{name: "open input", scenario: `turns: [{text: one}]`, args: []string{"--input-format", "stream-json", "--output-format", "stream-json"},
			during: func(t *testing.T, p *inside) { p.out.until(t, "init"); p.signals <- outcome.Interrupted }},
		{name: "verbose", scenario: `turns: [{text: one}]`, args: []string{"--verbose", "hi"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			proctest.VerifyNone(t)
			p := newInside(t, tt.env...)
			p.file(t, "s.yaml", tt.scenario)
			if _, err := io.WriteString(p.stdin, tt.stdin); err != nil {
				t.Fatal(err)
			}
			if tt.name != "open input" {
				p.stdin.Close()
			}
			var wg sync.WaitGroup
			if tt.during != nil {
				wg.Go(func() { tt.during(t, p) })
			}
			code := p.run(append([]string{"run", "--scenario", "s.yaml"}, tt.args...)...)
			wg.Wait()
			if code != tt.code {
				t.Errorf("exit code %d, want %d; %s%s", code, tt.code, p.out, p.err)
			}
			goleak.VerifyNone(t)
		})
	}
}

// TestProcessSystem: signals that are given back leave no goroutine.
func TestProcessSystem(t *testing.T) {
	sys, err := Process()
	if err != nil {
		t.Fatal(err)
	}
	if sys.Dir == "" || sys.Version == "" || len(sys.Environ) == 0 || !isUUID(sys.NewUUID()) {
		t.Errorf("%+v", sys)
	}
	signals, stop := sys.Signals()
	stop()
	select {
	case s := <-signals:
		t.Errorf("a signal from nowhere: %v", s)
	default:
	}
}

func TestGetenv(t *testing.T) {
	sys := System{Environ: []string{"A=1", "B=x=y", "A=2", "EMPTY="}}
	for name, want := range map[string]string{"A": "2", "B": "x=y", "EMPTY": "", "NONE": ""} {
		if got := sys.Getenv(name); got != want {
			t.Errorf("%s = %q, want %q", name, got, want)
		}
	}
}

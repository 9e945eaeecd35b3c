//go:build unix

package proc_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/dsh-actor/dsh-actor/internal/proc"
	"github.com/dsh-actor/dsh-actor/internal/proc/proctest"
)

// owner returns an owner that is drained when the test ends. The drain must
// leave nothing.
func owner(t testing.TB) *proc.Owner {
	t.Helper()
	proctest.VerifyNone(t)
	o := proc.New(proc.Config{})
	t.Cleanup(func() {
		if r := o.Drain(context.Background(), 0); len(r.Left) > 0 {
			t.Errorf("left after the drain: %v", r.Left)
		}
	})
	return o
}

// sh is a shell command with generous times, so that none of them decides a
// test that is about something else.
func sh(command string) proc.Spec {
	return proc.Spec{
		Shell:    []string{"/bin/sh", "-c"},
		Command:  command,
		Env:      proc.Env{Base: os.Environ()},
		Timeout:  time.Minute,
		Grace:    10 * time.Second,
		PipeWait: 30 * time.Second,
	}
}

func wantExit(t testing.TB, out proc.Outcome, code int) {
	t.Helper()
	if !out.Started || !out.Exited || out.ExitCode != code || out.TimedOut || out.Cancelled || out.Signal != 0 {
		t.Fatalf("want exit %d, got %s", code, facts(out))
	}
}

// facts is an outcome without its output, for messages.
func facts(out proc.Outcome) string {
	var b strings.Builder
	add := func(is bool, s string) {
		if is {
			b.WriteString(s + " ")
		}
	}
	add(out.Started, "started")
	add(out.Exited, "exited:"+string(rune('0'+out.ExitCode%10)))
	add(out.Signal != 0, "signal:"+out.Signal.String())
	add(out.TimedOut, "timed-out")
	add(out.Cancelled, "cancelled")
	add(out.Killed, "killed")
	add(out.PipesHeld, "pipes-held")
	add(len(out.Survivors) > 0, "survivors")
	add(len(out.Left) > 0, "left")
	add(out.Stdout.Truncated, "stdout-cut")
	add(out.LaunchErr != nil, "launch-error")
	return b.String() + "in " + out.Took.String()
}

func TestRunExit(t *testing.T) {
	o := owner(t)
	for _, tc := range []struct {
		command string
		code    int
		stdout  string
		stderr  string
	}{
		{"true", 0, "", ""},
		{"echo out; echo err >&2; exit 3", 3, "out\n", "err\n"},
		{"exit 255", 255, "", ""},
		{"/no/such/program", 127, "", "/bin/sh: 1: /no/such/program: not found\n"},
	} {
		out := o.Run(context.Background(), sh(tc.command))
		wantExit(t, out, tc.code)
		if string(out.Stdout.Data) != tc.stdout {
			t.Errorf("%s: stdout %q", tc.command, out.Stdout.Data)
		}
		if got := string(out.Stderr.Data); got != tc.stderr && tc.code != 127 {
			t.Errorf("%s: stderr %q", tc.command, got)
		}
		if out.PID <= 0 || out.Ran <= 0 || out.Took < out.Ran || out.CPU < 0 {
			t.Errorf("%s: pid %d, ran %v, took %v, cpu %v", tc.command, out.PID, out.Ran, out.Took, out.CPU)
		}
		if out.PipesHeld || out.Survivors != nil || out.Killed || out.SignalName() != "" {
			t.Errorf("%s: %s", tc.command, facts(out))
		}
	}
}

// PAIN 41
func TestRunKilledBySignal(t *testing.T) {
	o := owner(t)
	for sig, name := range map[syscall.Signal]string{syscall.SIGKILL: "KILL", syscall.SIGTERM: "TERM", syscall.SIGHUP: "HUP"} {
		out := o.Run(context.Background(), sh("echo before; kill -"+name+" $$"))
		if !out.Started || out.Exited || out.Signal != sig || out.TimedOut || out.Cancelled || out.Killed {
			t.Errorf("%s: %s", name, facts(out))
		}
		if got := out.SignalName(); got != "SIG"+name {
			t.Errorf("%s: named %q", name, got)
		}
		if string(out.Stdout.Data) != "before\n" {
			t.Errorf("%s: stdout %q", name, out.Stdout.Data)
		}
	}
}

// The child leads its own session and group (SPEC R-1), and has no terminal
// (PAIN 42).
func TestRunOwnSessionWithoutTerminal(t *testing.T) {
	o := owner(t)
	out := o.Run(context.Background(), sh(`ps -o pid= -o pgid= -o sess= -p $$; { echo x >/dev/tty; } 2>/dev/null && echo tty; exit 0`))
	wantExit(t, out, 0)
	f := strings.Fields(string(out.Stdout.Data))
	if len(f) != 3 || f[0] != f[1] || f[0] != f[2] {
		t.Errorf("pid, group, session (and perhaps a terminal): %q", f)
	}
}

//
func TestRunStdin(t *testing.T) {
	o := owner(t)
	big := bytes.Repeat([]byte("x"), 3<<20)
	for _, sockets := range []bool{false, true} {
		for _, tc := range []struct {
			name    string
			stdin   []byte
			command string
			want    string
			written int64
		}{
			{"none is /dev/null", nil, `[ -c /dev/stdin ] && wc -c`, "0\n", 0},
			{"empty is a pipe that ends", []byte{}, `[ -c /dev/stdin ] || wc -c`, "0\n", 0},
			{"small", []byte("hello"), "cat", "hello", 5},
			{"with a newline for read", []byte("hello\n"), `IFS= read -r l || exit 9; printf %s "$l"`, "hello", 6},
			{"large", big, "wc -c", "3145728\n", 3 << 20},
		} {
			spec := sh(tc.command)
			spec.Stdin, spec.Sockets = tc.stdin, sockets
			out := o.Run(context.Background(), spec)
			wantExit(t, out, 0)
			if got := strings.TrimLeft(string(out.Stdout.Data), " "); got != tc.want {
				t.Errorf("%s (sockets %v): stdout %q", tc.name, sockets, got)
			}
			if out.StdinWritten != tc.written {
				t.Errorf("%s (sockets %v): %d bytes written", tc.name, sockets, out.StdinWritten)
			}
		}
	}
}

// Sockets cannot be opened by name (what Claude's children see); pipes can.
func TestRunSockets(t *testing.T) {
	if _, err := os.Stat("/proc/self/fd"); err != nil {
		t.Skip("only Linux opens /dev/stdin by name again")
	}
	o := owner(t)
	spec := sh(`{ cat /dev/stdin; } 2>/dev/null || echo no; { echo x >/dev/stdout; } 2>/dev/null || echo no`)
	spec.Stdin = []byte("in ")
	if out := o.Run(context.Background(), spec); string(out.Stdout.Data) != "in x\n" {
		t.Errorf("pipes: %q", out.Stdout.Data)
	}
	spec.Sockets = true
	if out := o.Run(context.Background(), spec); string(out.Stdout.Data) != "no\nno\n" {
		t.Errorf("sockets: %q", out.Stdout.Data)
	}
}

// PAIN 26: a child that does not read its input is no failure.
func TestRunStdinUnread(t *testing.T) {
	o := owner(t)
	spec := sh(`echo "{}"; exit 0`)
	spec.Stdin = make([]byte, 2<<20)
	for i := range 200 {
		spec.Sockets = i%2 == 1
		out := o.Run(context.Background(), spec)
		wantExit(t, out, 0)
		if string(out.Stdout.Data) != "{}\n" {
			t.Fatalf("run %d: stdout %q", i, out.Stdout.Data)
		}
	}
}

// PAIN 27: a child that closes its input and lives on is waited for.
func TestRunStdinClosed(t *testing.T) {
	o := owner(t)
	spec := sh(`exec 0<&-; sleep 0.3; exit 2`)
	spec.Stdin = make([]byte, 2<<20)
	out := o.Run(context.Background(), spec)
	wantExit(t, out, 2)
	if out.Ran < 300*time.Millisecond {
		t.Errorf("ran for %v", out.Ran)
	}
}

// R-4, with bounded memory.
func TestRunFlood(t *testing.T) {
	o := owner(t)
	const size = 100 << 20
	spec := sh(`head -c 104857600 /dev/zero; printf end; printf err >&2`)
	spec.Stdout = proc.Capture{Limit: 1000, Keep: proc.KeepTail}
	o.Run(context.Background(), sh("true")) // what is allocated once
	var out proc.Outcome
	memory := allocatedBytes(func() { out = o.Run(context.Background(), spec) })
	wantExit(t, out, 0)
	c := out.Stdout
	if c.Total != size+3 || !c.Truncated || c.Lost() != size+3-1000 || !strings.HasSuffix(string(c.Data), "\x00end") || len(c.Data) != 1000 {
		t.Errorf("total %d, lost %d, kept %d ending in %q", c.Total, c.Lost(), len(c.Data), c.Data[len(c.Data)-4:])
	}
	if out.Stderr.Truncated || string(out.Stderr.Data) != "err" {
		t.Errorf("stderr %q", out.Stderr.Data)
	}
	if memory > 1<<20 {
		t.Errorf("100 MB of output took %d bytes of memory", memory)
	}
}

func TestRunSpill(t *testing.T) {
	o := owner(t)
	dir := filepath.Join(t.TempDir(), "spill")
	spec := sh(`i=0; while [ $i -lt 5000 ]; do echo "line $i"; i=$((i+1)); done`)
	spec.Stdout = proc.Capture{Limit: 20, Keep: proc.KeepTail, Spill: proc.Spill{Dir: dir}}
	out := o.Run(context.Background(), spec)
	wantExit(t, out, 0)
	got, err := os.ReadFile(out.Stdout.SpillPath)
	if err != nil || int64(len(got)) != out.Stdout.Total || bytes.Count(got, []byte("\n")) != 5000 {
		t.Errorf("spilled %d bytes of %d, %v, %v", len(got), out.Stdout.Total, err, out.Stdout.SpillErr)
	}
	if !bytes.HasSuffix(got, out.Stdout.Data) {
		t.Errorf("kept %q", out.Stdout.Data)
	}
}

func TestRunDirAndEnv(t *testing.T) {
	o := owner(t)
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	spec := sh(`pwd; echo "$PWD|$API_TOKEN|$MINE|$AMBIENT"`)
	spec.Dir = dir
	spec.Env = proc.Env{Base: []string{"PATH=" + os.Getenv("PATH"), "API_TOKEN=secret", "AMBIENT=a", "PWD=/"}, Set: []string{"MINE=m"}}
	out := o.Run(context.Background(), spec)
	wantExit(t, out, 0)
	if want := dir + "\n" + dir + "||m|a\n"; string(out.Stdout.Data) != want {
		t.Errorf("stdout %q, want %q", out.Stdout.Data, want)
	}
}

// The mark is in the environment, behind that of a runtime around us, and is
// not where processes are to be left alone.
func TestRunMark(t *testing.T) {
	o := owner(t)
	spec := sh(`printf %s "$DSH_PROC"`)
	spec.Env = proc.Env{Base: []string{"DSH_PROC=1-outer.1"}}
	mark := func() string { return string(o.Run(context.Background(), spec).Stdout.Data) }
	a, b := mark(), mark()
	if !strings.HasPrefix(a, "1-outer.1;") || a == b {
		t.Errorf("marks %q, %q", a, b)
	}
	spec.Background = proc.BackgroundKeep
	if got := mark(); got != "1-outer.1" {
		t.Errorf("mark under BackgroundKeep: %q", got)
	}
}

// A program without a shell gets its arguments as they are, and is looked up
// in the child's PATH.
func TestRunArgv(t *testing.T) {
	o := owner(t)
	dir := t.TempDir()
	script := filepath.Join(dir, "show")
	if err := os.WriteFile(script, []byte("#!/bin/sh\nprintf '<%s>' \"$0\" \"$@\"\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		name, want string
		spec       proc.Spec
	}{
		{"absolute", script, proc.Spec{Argv: []string{script, "$HOME", "a b", ""}}},
		{"by PATH", script, proc.Spec{Argv: []string{"show", "$HOME", "a b", ""}, Env: proc.Env{Set: []string{"PATH=relative:/no/such:" + dir}}}},
		{"relative to the directory", "./show", proc.Spec{Argv: []string{"./show", "$HOME", "a b", ""}, Dir: dir}},
	} {
		out := o.Run(context.Background(), tc.spec)
		if out.LaunchErr != nil {
			t.Errorf("%s: %v", tc.name, out.LaunchErr)
			continue
		}
		if want := "<" + tc.want + "><$HOME><a b><>"; string(out.Stdout.Data) != want {
			t.Errorf("%s: %q, want %q", tc.name, out.Stdout.Data, want)
		}
	}
}

// what keeps a process from starting is a typed error that names it.
func TestLaunchErrors(t *testing.T) {
	o := owner(t)
	dir := t.TempDir()
	file := func(name, text string, mode os.FileMode) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), mode); err != nil {
			t.Fatal(err)
		}
		return path
	}
	plain := file("plain", "#!/bin/sh\n", 0o600)
	lost := file("lost", "#!/no/such/interpreter\n", 0o700)
	crlf := file("crlf", "#!/bin/sh\r\necho\r\n", 0o700)
	binary := file("binary", "\x00\x01\x02", 0o700)
	for _, tc := range []struct {
		name string
		spec proc.Spec
		kind proc.LaunchKind
		path string
		is   error
	}{
		{"no directory", proc.Spec{Argv: []string{"/bin/sh"}, Dir: "/no/such/dir"}, proc.LaunchDir, "/no/such/dir", fs.ErrNotExist},
		{"a file as directory", proc.Spec{Argv: []string{"/bin/sh"}, Dir: plain}, proc.LaunchDir, plain, syscall.ENOTDIR},
		{"no shell", proc.Spec{Shell: []string{"/no/such/sh", "-c"}}, proc.LaunchShell, "/no/such/sh", fs.ErrNotExist},
		{"no shell in PATH", proc.Spec{Shell: []string{"no-such-sh", "-c"}}, proc.LaunchShell, "no-such-sh", fs.ErrNotExist},
		{"no program", proc.Spec{Argv: []string{"/no/such"}}, proc.LaunchProgram, "/no/such", fs.ErrNotExist},
		{"no program in PATH", proc.Spec{Argv: []string{"no-such", "x"}}, proc.LaunchProgram, "no-such", fs.ErrNotExist},
		{"a name with a space", proc.Spec{Argv: []string{"echo hi"}}, proc.LaunchProgram, "echo hi", fs.ErrNotExist},
		{"no program in the directory", proc.Spec{Argv: []string{"./no-such"}, Dir: dir}, proc.LaunchProgram, "./no-such", fs.ErrNotExist},
		{"not executable", proc.Spec{Argv: []string{plain}}, proc.LaunchProgram, plain, fs.ErrPermission},
		{"not executable in PATH", proc.Spec{Argv: []string{"plain"}, Env: proc.Env{Set: []string{"PATH=" + dir}}}, proc.LaunchProgram, "plain", fs.ErrPermission},
		{"a directory", proc.Spec{Argv: []string{dir}}, proc.LaunchProgram, dir, syscall.EISDIR},
		{"no interpreter", proc.Spec{Argv: []string{lost}}, proc.LaunchInterpreter, lost, fs.ErrNotExist},
		{"an interpreter with a carriage return", proc.Spec{Argv: []string{crlf}}, proc.LaunchInterpreter, crlf, fs.ErrNotExist},
		{"no program format", proc.Spec{Argv: []string{binary}}, proc.LaunchProgram, binary, syscall.ENOEXEC},
		{"too large", proc.Spec{Shell: []string{"/bin/sh", "-c"}, Command: strings.Repeat("x", 4<<20)}, proc.LaunchSize, "/bin/sh", syscall.E2BIG},
		{"nothing", proc.Spec{}, proc.LaunchSpec, "", nil},
		{"both", proc.Spec{Argv: []string{"a"}, Shell: []string{"b"}}, proc.LaunchSpec, "", nil},
		{"empty name", proc.Spec{Argv: []string{""}}, proc.LaunchSpec, "", nil},
		{"zero byte", proc.Spec{Argv: []string{"/bin/echo", "a\x00b"}}, proc.LaunchSpec, "", nil},
		{"two inputs", proc.Spec{Argv: []string{"/bin/cat"}, Stdin: []byte{}, StdinPipe: true}, proc.LaunchSpec, "", nil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			tc.spec.Stdout.Limit = 10
			out := o.Run(context.Background(), tc.spec)
			var e *proc.LaunchError
			if !errors.As(out.LaunchErr, &e) || out.Started || out.Cancelled || out.Exited {
				t.Fatalf("outcome %s, error %v", facts(out), out.LaunchErr)
			}
			if e.Kind != tc.kind || e.Path != tc.path || tc.is != nil && !errors.Is(e, tc.is) {
				t.Errorf("%s of %q: %v", e.Kind, e.Path, e)
			}
			if !strings.Contains(e.Error(), tc.path) {
				t.Errorf("%q does not name %q", e, tc.path)
			}
			if p, err := o.Start(context.Background(), tc.spec); p != nil || !errors.As(err, &e) {
				t.Errorf("Start: %v, %v", p, err)
			}
		})
	}
	if n := o.Owned(); n != (proc.Owned{}) {
		t.Errorf("owned: %+v", n)
	}
}

// a context that is done starts nothing.
func TestRunCancelledBefore(t *testing.T) {
	o := owner(t)
	why := errors.New("turn over")
	ctx, cancel := context.WithCancelCause(context.Background())
	cancel(why)
	path := filepath.Join(t.TempDir(), "x")
	out := o.Run(ctx, sh("touch "+path))
	if out.Started || !out.Cancelled || out.Cause != why || out.LaunchErr != nil || out.TimedOut {
		t.Errorf("%s, %v", facts(out), out.Cause)
	}
	if _, err := os.Stat(path); err == nil {
		t.Error("it ran")
	}
	var not *proc.NotStartedError
	if _, err := o.Start(ctx, sh("true")); !errors.As(err, &not) || !errors.Is(err, why) {
		t.Errorf("Start: %v", err)
	}
}

// A process that talks: what it is asked is answered while it runs.
func TestStartPipes(t *testing.T) {
	o := owner(t)
	spec := sh(`while read -r l; do echo "got $l"; done; echo bye >&2; exit 4`)
	spec.StdinPipe, spec.Stdout.Pipe = true, true
	p, err := o.Start(context.Background(), spec)
	if err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewReader(p.Stdout())
	for _, word := range []string{"one", "two"} {
		if _, err := p.Stdin().Write([]byte(word + "\n")); err != nil {
			t.Fatal(err)
		}
		if l, err := lines.ReadString('\n'); l != "got "+word+"\n" {
			t.Fatalf("answer %q, %v", l, err)
		}
	}
	select {
	case <-p.Done():
		t.Fatal("it is over")
	default:
	}
	p.Stdin().Close()
	out := p.Wait()
	wantExit(t, out, 4)
	if string(out.Stderr.Data) != "bye\n" || p.Stderr() != nil || out.PID != p.PID() {
		t.Errorf("stderr %q, pids %d and %d", out.Stderr.Data, out.PID, p.PID())
	}
	if l, err := lines.ReadString('\n'); l != "" || err == nil {
		t.Errorf("after the end: %q, %v", l, err)
	}
	p.Stdout().Close()
	if again := p.Wait(); again.PID != out.PID {
		t.Error("Wait differs when called again")
	}
}

func TestTeeSeesOutputWhileItRuns(t *testing.T) {
	o := owner(t)
	seen := make(chan string, 10)
	spec := sh(`echo first; read -r l; echo second`)
	spec.StdinPipe = true
	spec.Stdout.Tee = writerFunc(func(b []byte) (int, error) { seen <- string(b); return len(b), nil })
	p, err := o.Start(context.Background(), spec)
	if err != nil {
		t.Fatal(err)
	}
	if got := <-seen; got != "first\n" {
		t.Errorf("first: %q", got)
	}
	p.Stdin().Write([]byte("go\n"))
	out := p.Wait()
	if got := <-seen; got != "second\n" || string(out.Stdout.Data) != "first\nsecond\n" {
		t.Errorf("second: %q; all: %q", got, out.Stdout.Data)
	}
}

type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(b []byte) (int, error) { return f(b) }

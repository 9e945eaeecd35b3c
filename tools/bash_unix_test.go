//go:build unix

package tools_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/dsh-actor/dsh-actor/messages"
	"github.com/dsh-actor/dsh-actor/pipeline"
	"github.com/dsh-actor/dsh-actor/tools"
)

func bash(command string) in { return in{"command": command} }

func TestBashOutput(t *testing.T) {
	b := newBench(t, tools.Config{})
	for command, want := range map[string]string{
		`echo out; echo err >&2`:               "out\nerr",
		`printf 'a\n\nb\n\n\n'`:                "a\n\nb",
		`printf '\xff\x00x'`:                   "\ufffd\x00x",
		`echo $0 $# $BASH_VERSINFO | cut -c-6`: "bash 0",
		`f() { return 0; }; f && echo "$1-x"`:  "-x",
		"cat <<E\n$((1+1))\nE":                 "2",
		"# a comment\necho x":                  "x",
		`echo '"quoted" $HOME' "it's"`:         `"quoted" $HOME it's`,
		`cat; echo read`:                       "read",
		`[ -t 0 ] || [ -t 1 ] || echo no tty`:  "no tty",
		`trap 'echo bye' EXIT; echo hi`:        "hi\nbye",
		`exec echo replaced`:                   "replaced",
	} {
		if got := b.ok("Bash", bash(command)); got != want {
			t.Errorf("%q: %q, want %q", command, got, want)
		}
	}
}

func TestBashFailure(t *testing.T) {
	b := newBench(t, tools.Config{})
	for command, want := range map[string]string{
		`echo out; echo err >&2; exit 4`: "Exit code 4\nerr\nout",
		`no-such-program`:                "Exit code 127\nbash: line 1: no-such-program: command not found",
		"true\nno-such-program":          "Exit code 127\nbash: line 2: no-such-program: command not found",
		`kill -9 $$`:                     "Exit code 137",
		`false | true; ( exit 7 )`:       "Exit code 7",
	} {
		if got := b.fails("Bash", bash(command)); got != want {
			t.Errorf("%q: %q, want %q", command, got, want)
		}
	}
	if got := b.fails("Bash", bash(`if`)); !strings.HasPrefix(got, "Exit code 2\n") && !strings.HasPrefix(got, "Exit code 1\n") {
		t.Errorf("a syntax error: %q", got)
	}
	if got := b.fails("Bash", bash("echo "+strings.Repeat("x", 1<<20))); !strings.Contains(got, "arguments and environment") {
		t.Errorf("a command that is too long: %q", got)
	}
}

// The text of a failure is the tool's own only as long as nobody else has
// changed it.
func TestFailureTextYieldsToHooks(t *testing.T) {
	b := newBench(t, tools.Config{})
	b.pipe.Seams().PostExecute.Use(func(ctx context.Context, o pipeline.Outcome, next pipeline.Next[messages.PostToolDecision]) (messages.PostToolDecision, error) {
		return messages.ResultAccept{Content: messages.Text("Error: by a hook")}, nil
	})
	if got := b.fails("Bash", bash("exit 3")); got != "Error: by a hook" {
		t.Errorf("text: %q", got)
	}
}

// A denied call was not run, and its text is the pipeline's (P-12).
func TestDeniedCallKeepsItsText(t *testing.T) {
	b := newBench(t, tools.Config{})
	b.pipe.Guard(func(*pipeline.Call) (string, bool) { return "not today", true })
	if got := b.fails("Bash", bash("touch x")); got != "Error: not today" {
		t.Errorf("text: %q", got)
	}
	if _, err := os.Stat(b.path("x")); err == nil {
		t.Error("it ran")
	}
}

//
func TestBashTimeout(t *testing.T) {
	b := newBench(t, tools.Config{MaxTimeout: 400 * time.Millisecond})
	for _, ms := range []float64{300, 1e300} {
		began := time.Now()
		got := b.fails("Bash", in{"command": "echo before; sleep 300 & sleep 300", "timeout": ms})
		if !strings.HasPrefix(got, "Exit code 143\nCommand timed out after ") || !strings.HasSuffix(got, "\nbefore") {
			t.Errorf("%v ms: %q", ms, got)
		}
		if d := time.Since(began); d > 5*time.Second {
			t.Errorf("%v ms took %v", ms, d)
		}
	}
	if got := b.fails("Bash", in{"command": "true", "timeout": -1}); got != "bash-local: request.timeoutMs must be a positive finite number" {
		t.Errorf("negative: %q", got)
	}
	b2 := newBench(t, tools.Config{DefaultTimeout: 200 * time.Millisecond})
	if got := b2.fails("Bash", bash("sleep 300")); !strings.Contains(got, "timed out") {
		t.Errorf("default: %q", got)
	}
}

// A cancelled call ends its command and is an abort (P-21, P-35).
func TestBashCancelled(t *testing.T) {
	b := newBench(t, tools.Config{})
	ctx, cancel := context.WithCancel(context.Background())
	fifo := b.path("fifo")
	mkfifo(t, fifo)
	go func() {
		_, _ = os.ReadFile(fifo) // until the command is there
		cancel()
	}()
	r := b.callIn(ctx, b.agent, "Bash", bash("echo x >fifo; sleep 300 & sleep 300"))
	if r.Info().Code != messages.CodeAborted {
		t.Errorf("result: %v %q", r.Info(), r.Content().Text())
	}
}

func mkfifo(t testing.TB, path string) {
	t.Helper()
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
}

// R-2, Z-20
func TestBashEnvironment(t *testing.T) {
	b := newBench(t, tools.Config{
		BaseEnv: []string{"PATH=" + os.Getenv("PATH"), "API_TOKEN=secret", "DSH_X=1", "MARK=1", "LANG=C", "TERM=xterm"},
		Drop:    []string{"MARK"},
		Env:     func(c *pipeline.Call) []string { return []string{"MY_KEY=" + string(c.ID()), "PAGER=less"} },
		Prelude: func(*pipeline.Call) string { return "export FROM_FILE='a b'" },
	})
	got := b.ok("Bash", bash(`echo "$API_TOKEN|$DSH_X|$MARK|$LANG|$TERM|$NO_COLOR|$GIT_PAGER|$PAGER|$MY_KEY|$FROM_FILE|$PWD|${dsh_c-unset}"`))
	if want := "|||C|dumb|1|cat|less|c-1|a b|" + b.dir + "|"; !strings.HasPrefix(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// The directory is kept from command to command within the workspace, for each
// session by itself.
func TestBashDirectory(t *testing.T) {
	var moves []string
	extra, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	b := newBench(t, tools.Config{
		Dirs:       func(*pipeline.Call) []string { return []string{extra} },
		CwdChanged: func(_ *pipeline.Call, old, new string) { moves = append(moves, old+">"+new) },
	})
	b.file("sub/deep/f.txt", "text\n")
	other := &agent{"s-2", b.dir}

	b.ok("Bash", bash("cd sub"))
	if got := b.ok("Bash", bash("pwd; cd deep; exit 0")); got != b.path("sub") {
		t.Errorf("after cd sub: %q", got)
	}
	if got := b.ok("Bash", bash("pwd")); got != b.path("sub/deep") {
		t.Errorf("after cd deep, exit: %q", got)
	}
	if got := b.kit.Cwd(b.agent); got != b.path("sub/deep") {
		t.Errorf("Cwd: %q", got)
	}
	if got := b.ok("Read", in{"file_path": "f.txt"}); !strings.HasPrefix(got, "1\ttext") {
		t.Errorf("a relative path: %q", got)
	}
	if got := b.callIn(context.Background(), other, "Bash", bash("pwd")).Content().Text(); got != b.dir {
		t.Errorf("the other session: %q", got)
	}
	if got := b.fails("Bash", bash("cd ..; false")); got != "Exit code 1" {
		t.Errorf("a failure: %q", got)
	}
	if got := b.ok("Bash", bash("pwd")); got != b.path("sub") {
		t.Errorf("after a failure: %q", got)
	}
	if got := b.ok("Bash", bash("cd "+extra)); got != "(Bash completed with no output)" {
		t.Errorf("cd to another directory of the workspace: %q", got)
	}
	if got := b.ok("Bash", bash("pwd; cd /")); got != extra+"\nShell cwd was reset to "+b.dir {
		t.Errorf("cd out of the workspace: %q", got)
	}
	if got := b.ok("Bash", bash("pwd; mkdir gone; cd gone; rmdir ../gone")); got != b.dir {
		t.Errorf("a directory that is gone at once: %q", got)
	}
	b.ok("Bash", bash("cd sub/deep"))
	if err := os.RemoveAll(b.path("sub")); err != nil {
		t.Fatal(err)
	}
	if got := b.fails("Bash", bash("pwd")); !strings.Contains(got, "working directory") {
		t.Errorf("in a directory that is gone: %q", got)
	}
	if got := b.ok("Bash", bash("pwd")); got != b.dir {
		t.Errorf("after that: %q", got)
	}
	want := []string{
		b.dir + ">" + b.path("sub"), b.path("sub") + ">" + b.path("sub/deep"), b.path("sub/deep") + ">" + b.path("sub"),
		b.path("sub") + ">" + extra, extra + ">" + b.dir, b.dir + ">" + b.path("sub/deep"),
	}
	if strings.Join(moves, "\n") != strings.Join(want, "\n") {
		t.Errorf("moves:\n%s\nwant:\n%s", strings.Join(moves, "\n"), strings.Join(want, "\n"))
	}
}

// the tail is kept, the loss is said, the whole is in a file.
func TestBashLongOutput(t *testing.T) {
	spill := filepath.Join(t.TempDir(), "spill")
	b := newBench(t, tools.Config{OutputLimit: 100, SpillDir: func(*pipeline.Call) string { return spill }})
	r := b.call("Bash", bash(`for i in $(seq 1000); do echo "zeile ü $i"; done`))
	var v tools.BashOutput
	if err := r.Value().Unmarshal(&v); err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(v.Stdout, "... [") || !strings.HasSuffix(v.Stdout, "\nzeile ü 1000") || strings.Contains(v.Stdout, "\ufffd") {
		t.Errorf("stdout: %q", v.Stdout)
	}
	whole := b.content(v.PersistedOutputPath)
	if int64(len(whole)) != v.PersistedOutputSize || strings.Count(whole, "\n") != 1000 {
		t.Errorf("the file has %d bytes of %d", len(whole), v.PersistedOutputSize)
	}
	if text := r.Content().Text(); !strings.HasSuffix(text, "bytes, is in "+v.PersistedOutputPath+"]") {
		t.Errorf("text: %q", text)
	}
}

// What a command leaves running ends with its session, or with the Kit.
func TestBashBackground(t *testing.T) {
	b := newBench(t, tools.Config{Grace: 200 * time.Millisecond})
	other := &agent{"s-2", b.dir}
	if got := b.ok("Bash", bash(`sleep 300 >/dev/null 2>&1 & echo started`)); got != "started" {
		t.Errorf("text: %q", got)
	}
	if got := b.ok("Bash", bash(`sleep 300 & echo started`)); got != "started" {
		t.Errorf("a child with the pipes: %q", got)
	}
	b.callIn(context.Background(), other, "Bash", bash(`sleep 300 >/dev/null 2>&1 &`))
	r := b.kit.End(context.Background(), b.agent.id)
	if r.Ended["processes"] != 2 || !r.Quiet() {
		t.Errorf("end of the session: %+v", r)
	}
	if r := b.kit.End(context.Background(), "unknown"); len(r.Ended) != 0 || !r.Quiet() {
		t.Errorf("end of a session without commands: %+v", r)
	}
	if r := b.kit.Drain(context.Background()); r.Ended["processes"] != 1 || !r.Quiet() {
		t.Errorf("drain: %+v", r)
	}
	if got := b.fails("Bash", bash("true")); !strings.Contains(got, "drained") {
		t.Errorf("a command after the drain: %q", got)
	}
}

// P-3: what only reads may overlap with others.
func TestConcurrent(t *testing.T) {
	b := newBench(t, tools.Config{})
	for call, want := range map[[2]string]bool{
		{"Bash", `{"command":"git status"}`}:                             true,
		{"Bash", `{"command":"touch x"}`}:                                false,
		{"Bash", `{"command":7}`}:                                        false,
		{"Read", `{"file_path":"/x"}`}:                                   true,
		{"Glob", `{"pattern":"*"}`}:                                      true,
		{"Grep", `{"pattern":"x"}`}:                                      true,
		{"Write", `{"file_path":"/x","content":""}`}:                     false,
		{"Edit", `{"file_path":"/x","old_string":"a","new_string":"b"}`}: false,
	} {
		tool, ok := b.pipe.Tools().Lookup(call[0])
		if !ok {
			t.Fatalf("no %s", call[0])
		}
		got := tool.Concurrent != nil && tool.Concurrent(messages.JSON(call[1]))
		if got != want {
			t.Errorf("%s %s: %v", call[0], call[1], got)
		}
	}
}

func BenchmarkBash(bb *testing.B) {
	b := newBench(bb, tools.Config{})
	bb.ReportAllocs()
	for bb.Loop() {
		b.ok("Bash", bash("echo x"))
	}
}

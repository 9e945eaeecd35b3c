package main

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/rogpeppe/go-internal/testscript"

	"github.com/dsh-actor/dsh-actor/internal/proc"
	"github.com/dsh-actor/dsh-actor/internal/proc/proctest"
)

var update = flag.Bool("update", false, "write the golden files")

// TestMain makes the program a command of the scripts, and of tests that look for it
// in PATH. No test may leave a process behind.
func TestMain(m *testing.M) {
	testscript.Main(proctest.Main(m), map[string]func(){
		"dsh-actor": func() { os.Exit(run()) },
	})
}

// TestScripts runs the scripts of testdata/script: each is one behaviour of the
// command line, with what it prints and its exit code.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup: func(env *testscript.Env) error {
			env.Setenv("HOME", env.WorkDir+"/home")
			env.Setenv(proc.DefaultMark, os.Getenv(proc.DefaultMark)) // so that what is left can be found
			return os.Mkdir(env.WorkDir+"/home", 0o700)
		},
		Condition: func(cond string) (bool, error) {
			if cond == "unprivileged" { // permissions of files hold
				return runtime.GOOS != "windows" && os.Geteuid() != 0, nil
			}
			return false, fmt.Errorf("unknown condition %q", cond)
		},
		UpdateScripts: *update,
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exits":     cmdExits,
			"field":     cmdField,
			"normalize": cmdNormalize,
			"lines":     cmdLines,
		},
	})
}

// cmdExits runs dsh-actor and compares its exit code: exits CODE ARGS...
func cmdExits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 1 {
		ts.Fatalf("usage: exits CODE ARGS...")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	got := 0
	if err := ts.Exec("dsh-actor", args[1:]...); err != nil {
		var exit *exec.ExitError
		if !errors.As(err, &exit) {
			ts.Fatalf("dsh-actor: %v", err)
		}
		got = exit.ExitCode()
	}
	if got != want {
		ts.Fatalf("exit code %d, want %d", got, want)
	}
}

// cmdField compares a member of the last JSON line of standard output with JSON text,
// or "absent": field PATH VALUE.
func cmdField(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: field PATH VALUE")
	}
	out := strings.TrimSpace(ts.ReadFile("stdout"))
	line := out[strings.LastIndexByte(out, '\n')+1:]
	got, err := member(jsontext.Value(line), strings.Split(args[0], "."))
	ts.Check(err)
	if got != args[1] {
		ts.Fatalf("%s is %s, want %s, in %s", args[0], got, args[1], line)
	}
}

func member(v jsontext.Value, path []string) (string, error) {
	for _, name := range path {
		if n, err := strconv.Atoi(name); err == nil {
			var list []jsontext.Value
			if err := json.Unmarshal(v, &list); err != nil {
				return "", fmt.Errorf("%s: %w", name, err)
			}
			if n >= len(list) {
				return "absent", nil
			}
			v = list[n]
			continue
		}
		var object map[string]jsontext.Value
		if err := json.Unmarshal(v, &object); err != nil {
			return "", fmt.Errorf("%s: %w", name, err)
		}
		inner, ok := object[name]
		if !ok {
			return "absent", nil
		}
		v = inner
	}
	return string(v), nil
}

// What differs from run to run.
var (
	uuids     = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}`)
	messageID = regexp.MustCompile(`msg_[0-9a-f]{32}_`)
	durations = regexp.MustCompile(`"(duration_ms|duration_api_ms|durationMs)":\d+`)
)

// cmdNormalize copies a file without what differs from run to run: normalize FROM TO.
func cmdNormalize(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: normalize FROM TO")
	}
	text := ts.ReadFile(args[0])
	text = strings.ReplaceAll(text, ts.Getenv("WORK"), "$WORK")
	text = uuids.ReplaceAllString(text, "UUID")
	text = messageID.ReplaceAllString(text, "msg_SESSION_")
	text = durations.ReplaceAllString(text, `"$1":0`)
	text = regexp.MustCompile(`"dsh_actor_version":"[^"]*"`).ReplaceAllString(text, `"dsh_actor_version":"VERSION"`)
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), []byte(text), 0o600))
}

// cmdLines counts the JSON lines of standard output of a type: lines TYPE N.
func cmdLines(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: lines TYPE N")
	}
	n := 0
	for line := range bytes.Lines([]byte(ts.ReadFile("stdout"))) {
		typ, err := member(jsontext.Value(line), []string{"type"})
		ts.Check(err)
		if typ == `"`+args[0]+`"` {
			n++
		}
	}
	if strconv.Itoa(n) != args[1] {
		ts.Fatalf("%d lines of type %s, want %s", n, args[0], args[1])
	}
}

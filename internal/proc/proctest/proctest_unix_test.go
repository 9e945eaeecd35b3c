//go:build unix

package proctest

import (
	"context"
	"fmt"
	"os/exec"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/dsh-actor/dsh-actor/internal/proc"
	"github.com/dsh-actor/dsh-actor/internal/proc/ptable"
)

// recorder is a test that may fail without failing this one.
type recorder struct {
	testing.TB
	errors   []string
	cleanups []func()
}

func (r *recorder) Helper()                   {}
func (r *recorder) Cleanup(f func())          { r.cleanups = append(r.cleanups, f) }
func (r *recorder) Errorf(f string, a ...any) { r.errors = append(r.errors, fmt.Sprintf(f, a...)) }
func (r *recorder) finish() {
	for _, f := range r.cleanups {
		f()
	}
}

func TestVerifyNone(t *testing.T) {
	o := proc.New(proc.Config{})
	shell := func(command string) func() {
		return func() {
			out := o.Run(context.Background(), proc.Spec{Shell: []string{"/bin/sh", "-c"}, Command: command,
				Env: proc.Env{Set: []string{"PATH=/usr/bin:/bin"}}})
			if !out.Exited || out.ExitCode != 0 {
				t.Errorf("%+v", out)
			}
		}
	}
	var reap []*exec.Cmd
	for _, tc := range []struct {
		name  string
		start func()
		left  string // the name of what is left, if anything
		linux bool
	}{
		{name: "nothing", start: func() {}},
		{name: "ended", start: shell("true")},
		{name: "child", left: "sleep", start: func() {
			cmd := exec.Command("sleep", "300")
			if err := cmd.Start(); err != nil {
				t.Error(err)
			}
			reap = append(reap, cmd)
		}},
		{name: "background child that lost its parent", left: "sleep", linux: true,
			start: shell("sleep 300 >/dev/null 2>&1 &")},
		{name: "daemon", left: "sleep", linux: true,
			start: shell("(setsid sleep 300 >/dev/null 2>&1 &)")},
		{name: "daemon that was started without an owner", left: "sleep", linux: true, start: func() {
			if err := exec.Command("/bin/sh", "-c", "(setsid sleep 300 >/dev/null 2>&1 &)").Run(); err != nil {
				t.Error(err)
			}
		}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if tc.linux && runtime.GOOS != "linux" {
				t.Skip("found by its mark on Linux only")
			}
			r := &recorder{TB: t}
			VerifyNone(r)
			tc.start()
			if tc.left != "" {
				await(t, tc.left)
			}
			r.finish()
			switch {
			case tc.left == "" && len(r.errors) > 0:
				t.Errorf("it complains: %q", r.errors)
			case tc.left != "" && (len(r.errors) != 1 || !strings.Contains(r.errors[0], "("+tc.left+")")):
				t.Errorf("it says %q, want one about %s", r.errors, tc.left)
			}
			for _, cmd := range reap {
				_ = cmd.Wait() // it was killed
			}
			reap = nil
			awaitNone(t)
		})
	}
	if r := o.Drain(context.Background(), 0); len(r.Left) > 0 {
		t.Errorf("%+v", r)
	}
}

// await waits until a process of the name is there, which a shell starts in
// the background and execs in its own time.
func await(t *testing.T, name string) {
	t.Helper()
	poll(t, func(list []ptable.Proc) bool { return len(list) == 1 && list[0].Name == name })
}

func awaitNone(t *testing.T) {
	t.Helper()
	poll(t, func(list []ptable.Proc) bool { return len(list) == 0 })
}

func poll(t *testing.T, ok func([]ptable.Proc) bool) {
	t.Helper()
	for deadline := time.Now().Add(10 * time.Second); ; {
		list, err := started()
		if err != nil {
			t.Fatal(err)
		}
		if ok(list) {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("there is %v", list)
		}
		<-time.After(time.Millisecond)
	}
}

type runs func() int

func (f runs) Run() int { return f() }

func TestMainFailsAQuietRun(t *testing.T) {
	if code := Main(runs(func() int { return 0 })).Run(); code != 0 {
		t.Errorf("nothing left, code %d", code)
	}
	var cmd *exec.Cmd
	code := Main(runs(func() int {
		cmd = exec.Command("sleep", "300")
		if err := cmd.Start(); err != nil {
			t.Error(err)
		}
		return 0
	})).Run()
	_ = cmd.Wait()
	if code != 1 {
		t.Errorf("a process left, code %d", code)
	}
	if code := Main(runs(func() int { return 3 })).Run(); code != 3 {
		t.Errorf("code %d of a failed run", code)
	}
}

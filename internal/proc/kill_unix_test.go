//go:build unix

package proc_test

import (
	"bufio"
	"context"
	"errors"
	"os/exec"
	"runtime"
	"syscall"
	"testing"
	"time"

	"github.com/dsh-actor/dsh-actor/internal/proc"
)

// trees are children that make the end of a tree difficult. Each prints "ready"
// when it is as difficult as it gets. The test's cleanup fails if any process
// of them is left.
var trees = []struct {
	name    string
	command string
	// stubborn: SIGTERM is not enough for all of it
	stubborn bool
	// racing: one that is just being started outside of the group may miss
	// SIGTERM
	racing bool
	// linux: needs a program or a way of finding that only Linux has
	linux bool
}{
	{name: "one process", command: `echo ready; exec sleep 300`},
	{name: "children in the group (PAIN 29)", command: `sh -c "sleep 300 & sleep 300" & echo ready; wait`},
	{name: "stopped (PAIN 30)", command: `echo ready; kill -STOP $$; sleep 300`},
	{name: "a stopped child", command: `sleep 300 & kill -STOP $!; echo ready; wait`},
	{name: "TERM is ignored by all", stubborn: true,
		command: `trap "" TERM; sleep 300 & echo ready; while :; do sleep 1; done`},
	{name: "TERM is trapped and outlived, with grandchildren", stubborn: true,
		command: `trap : TERM; sh -c 'trap "" TERM; sleep 300 & echo ready; sleep 300' & while :; do sleep 0.1; done`},
	{name: "the leader dies, a member of the group ignores TERM without pipes (Q-12)", stubborn: true,
		command: `(trap "" TERM; echo ready; exec sleep 300 >/dev/null 2>&1 </dev/null) & exec sleep 300`},
	{name: "a group of its own in the session", command: `set -m; sleep 300 & echo ready; wait`},
	{name: "setsid", linux: true, command: `setsid sleep 300 & echo ready; wait`},
	{name: "setsid, TERM ignored, without pipes (Q-12)", linux: true, stubborn: true,
		command: `setsid sh -c 'trap "" TERM; echo ready; exec sleep 300 >/dev/null 2>&1 </dev/null' & wait`},
	{name: "setsid twice, with children", linux: true,
		command: `setsid sh -c 'setsid sh -c "sleep 300 & echo ready; sleep 300" & sleep 300' & wait`},
	// The substitution ends when the daemon has closed its output.
	{name: "a daemon with another parent", linux: true,
		command: `x=$( (setsid sh -c 'exec sleep 300 >/dev/null 2>&1 </dev/null' &) ); echo ready; exec sleep 300`},
	{name: "a daemon with another parent, TERM ignored", linux: true, stubborn: true,
		command: `x=$( (setsid sh -c 'trap "" TERM; exec sleep 300 >/dev/null 2>&1 </dev/null' &) ); echo ready; exec sleep 300`},
	{name: "escapees are started all the time", linux: true, racing: true,
		command: `setsid sh -c 'while :; do setsid sleep 300 & sleep 0.02; n=x$n; [ $n = xxx ] && echo ready; done' & wait`},
}

func skipUnless(t *testing.T, linux bool) {
	t.Helper()
	if linux && runtime.GOOS != "linux" {
		t.Skip("Linux only")
	}
	if _, err := exec.LookPath("setsid"); linux && err != nil {
		t.Skip("no setsid program here")
	}
}

// startReady starts a command and returns when it has printed "ready".
func startReady(t testing.TB, ctx context.Context, o *proc.Owner, spec proc.Spec) *proc.Process {
	t.Helper()
	p, ready := startPrinting(t, ctx, o, spec)
	awaitReady(t, p, ready)
	return p
}

// startPrinting starts a command; ready is told when it has printed something.
func startPrinting(t testing.TB, ctx context.Context, o *proc.Owner, spec proc.Spec) (p *proc.Process, ready chan struct{}) {
	t.Helper()
	ready = make(chan struct{}, 1)
	spec.Stdout.Tee = writerFunc(func(b []byte) (int, error) {
		select {
		case ready <- struct{}{}:
		default:
		}
		return len(b), nil
	})
	p, err := o.Start(ctx, spec)
	if err != nil {
		t.Fatal(err)
	}
	return p, ready
}

func awaitReady(t testing.TB, p *proc.Process, ready chan struct{}) {
	t.Helper()
	select {
	case <-ready:
	case <-p.Done():
		out := p.Wait()
		t.Fatalf("it ended before it was ready: %s, stderr %q", facts(out), out.Stderr.Data)
	}
}

// Z-9: a cancelled run takes its whole tree with it, with SIGTERM where that is
// enough, and returns when the tree is gone.
func TestCancelEndsTheTree(t *testing.T) {
	for _, tc := range trees {
		t.Run(tc.name, func(t *testing.T) {
			skipUnless(t, tc.linux)
			o := owner(t)
			ctx, cancel := context.WithCancelCause(context.Background())
			why := errors.New("user pressed a key")
			spec := sh(tc.command)
			if tc.stubborn || tc.racing {
				spec.Grace = 300 * time.Millisecond
			}
			p := startReady(t, ctx, o, spec)
			began := time.Now()
			cancel(why)
			out := p.Wait()
			if !out.Cancelled || out.Cause != why || out.TimedOut || out.Exited && out.ExitCode != 0 && !tc.stubborn {
				t.Errorf("%s, cause %v", facts(out), out.Cause)
			}
			if len(out.Left) > 0 || len(out.Survivors) > 0 {
				t.Errorf("left %v, survivors %v", out.Left, out.Survivors)
			}
			if out.Killed != tc.stubborn && !tc.racing {
				t.Errorf("SIGKILL was sent: %v, grace %v, took %v", out.Killed, spec.Grace, time.Since(began))
			}
			if took := time.Since(began); took > spec.Grace+slack(t) || tc.stubborn && took < spec.Grace {
				t.Errorf("the end took %v with a grace of %v", took, spec.Grace)
			}
		})
	}
}

// The same without SIGTERM (what Codex does).
func TestKillWithoutGrace(t *testing.T) {
	for _, tc := range trees {
		t.Run(tc.name, func(t *testing.T) {
			skipUnless(t, tc.linux)
			o := owner(t)
			spec := sh(tc.command)
			spec.Grace = 0
			p := startReady(t, context.Background(), o, spec)
			began := time.Now()
			p.Kill(nil)
			out := p.Wait()
			if !out.Cancelled || out.TimedOut || out.Cause != proc.ErrKilled || out.Signal != syscall.SIGKILL || !out.Killed || len(out.Left) > 0 {
				t.Errorf("%s, cause %v", facts(out), out.Cause)
			}
			if took := time.Since(began); took > slack(t) {
				t.Errorf("took %v", took)
			}
		})
	}
}

// PAIN 29, 30: the timeout takes the tree, also of a child that never ran.
func TestTimeout(t *testing.T) {
	for _, command := range []string{`sh -c "sleep 300 & sleep 300"`, `kill -STOP $$`} {
		for _, grace := range []time.Duration{0, 10 * time.Second} {
			o := owner(t)
			spec := sh(command)
			spec.Grace, spec.Timeout = grace, 300*time.Millisecond
			out := o.Run(context.Background(), spec)
			want := syscall.SIGKILL
			if grace > 0 {
				want = syscall.SIGTERM
			}
			if !out.TimedOut || out.Cancelled || out.Cause != nil || out.Signal != want || out.Killed != (grace == 0) {
				t.Errorf("%s with grace %v: %s, cause %v", command, grace, facts(out), out.Cause)
			}
			if out.Took < spec.Timeout || out.Took > spec.Timeout+slack(t) {
				t.Errorf("%s with grace %v: took %v", command, grace, out.Took)
			}
		}
	}
}

// What a process does on SIGTERM is its own affair until the grace is over:
// its cleanup, which starts processes, is not disturbed.
func TestGraceIsForCleanup(t *testing.T) {
	o := owner(t)
	p := startReady(t, context.Background(), o,
		sh(`trap 'sh -c "sleep 0.3; echo cleaned"; exit 7' TERM; sh -c "echo ready; exec sleep 300" & wait`))
	p.Kill(nil)
	out := p.Wait()
	if !out.Exited || out.ExitCode != 7 || !out.Cancelled || out.Cause != proc.ErrKilled || out.Killed {
		t.Errorf("%s, cause %v", facts(out), out.Cause)
	}
	if string(out.Stdout.Data) != "ready\ncleaned\n" {
		t.Errorf("stdout %q", out.Stdout.Data)
	}
}

// the first cause counts, and a run that is over is beyond all of them.
func TestFirstCauseCounts(t *testing.T) {
	o := owner(t)
	first, second := errors.New("first"), errors.New("second")

	ctx, cancel := context.WithCancelCause(context.Background())
	spec := sh(`trap "" TERM; echo ready; while :; do sleep 0.05; done`)
	spec.Grace, spec.Timeout = 300*time.Millisecond, 500*time.Millisecond
	p := startReady(t, ctx, o, spec)
	p.Kill(first) // the timeout passes while it is being ended
	p.Kill(second)
	cancel(second)
	if out := p.Wait(); !out.Cancelled || out.TimedOut || out.Cause != first {
		t.Errorf("killed, then timed out: %s, cause %v", facts(out), out.Cause)
	}

	spec.Timeout = 100 * time.Millisecond
	ctx, cancel = context.WithCancelCause(context.Background())
	defer cancel(nil)
	p = startReady(t, context.Background(), o, spec)
	<-time.After(150 * time.Millisecond) // into the grace
	p.Kill(second)
	if out := p.Wait(); out.Cancelled || !out.TimedOut || out.Cause != nil {
		t.Errorf("timed out, then killed: %s, cause %v", facts(out), out.Cause)
	}

	p, err := o.Start(ctx, sh("exit 3"))
	if err != nil {
		t.Fatal(err)
	}
	<-p.Done()
	p.Kill(first)
	cancel(second)
	wantExit(t, p.Wait(), 3)
}

// A deadline of the caller's own is a cancellation, not the run's timeout.
func TestContextDeadline(t *testing.T) {
	o := owner(t)
	ctx, cancel := context.WithTimeout(context.Background(), 100*time.Millisecond)
	defer cancel()
	out := o.Run(ctx, sh("sleep 300"))
	if !out.Cancelled || out.TimedOut || !errors.Is(out.Cause, context.DeadlineExceeded) || out.Signal != syscall.SIGTERM {
		t.Errorf("%s, cause %v", facts(out), out.Cause)
	}
}

// Output that came before the end is in the outcome.
func TestOutputBeforeTheEndIsKept(t *testing.T) {
	o := owner(t)
	spec := sh(`echo out; echo err >&2; sleep 300`)
	spec.Timeout = 300 * time.Millisecond
	out := o.Run(context.Background(), spec)
	if !out.TimedOut || string(out.Stdout.Data) != "out\n" || string(out.Stderr.Data) != "err\n" {
		t.Errorf("%s: %q, %q", facts(out), out.Stdout.Data, out.Stderr.Data)
	}
}

// A child that never reads is ended although its input is still being written.
func TestCancelWhileStdinIsWritten(t *testing.T) {
	o := owner(t)
	spec := sh(`echo ready; sleep 300`)
	spec.Stdin = make([]byte, 1<<20)
	p := startReady(t, context.Background(), o, spec)
	p.Kill(nil)
	out := p.Wait()
	if !out.Cancelled || out.StdinWritten <= 0 || out.StdinWritten >= 1<<20 {
		t.Errorf("%s, %d bytes written", facts(out), out.StdinWritten)
	}
	// The same with a pipe that the caller writes to.
	spec.Stdin, spec.StdinPipe = nil, true
	p = startReady(t, context.Background(), o, spec)
	wrote := make(chan error, 1)
	go func() {
		_, err := p.Stdin().Write(make([]byte, 1<<20))
		wrote <- err
	}()
	p.Kill(nil)
	p.Wait()
	if err := <-wrote; err == nil {
		t.Error("a write to a killed process succeeded")
	}
}

// A child that is killed while nobody reads its handed out pipe.
func TestKillWithUnreadPipe(t *testing.T) {
	o := owner(t)
	spec := sh(`while :; do echo yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy; done`)
	spec.Stdout.Pipe = true
	p, err := o.Start(context.Background(), spec)
	if err != nil {
		t.Fatal(err)
	}
	r := bufio.NewReader(p.Stdout())
	if _, err := r.ReadString('\n'); err != nil {
		t.Fatal(err)
	}
	p.Kill(nil)
	if out := p.Wait(); !out.Cancelled || out.PipesHeld {
		t.Errorf("%s", facts(out))
	}
	p.Stdout().Close()
}

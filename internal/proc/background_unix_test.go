//go:build unix

package proc_test

import (
	"context"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/dsh-actor/dsh-actor/internal/proc"
	"github.com/dsh-actor/dsh-actor/internal/proc/ptable"
)

// PAIN 28, R-7, Z-9: a background child that holds the pipes delays the run by
// the pipe wait only, is left alone, is recorded, and stays owned.
func TestBackgroundChildHoldsPipes(t *testing.T) {
	o := owner(t)
	spec := sh(`sleep 300 & echo done; exit 5`)
	spec.PipeWait = 200 * time.Millisecond
	out := o.Run(context.Background(), spec)
	wantExit(t, out, 5)
	if !out.PipesHeld || string(out.Stdout.Data) != "done\n" {
		t.Errorf("%s, stdout %q", facts(out), out.Stdout.Data)
	}
	if out.Took < spec.PipeWait || out.Took > spec.PipeWait+slack(t) || out.Ran > out.Took-spec.PipeWait+50*time.Millisecond {
		t.Errorf("took %v, ran %v", out.Took, out.Ran)
	}
	wantSurvivor(t, out, "sleep")
	if n := o.Owned(); n.Trees != 1 || n.Runs != 0 {
		t.Errorf("owned: %+v", n)
	}
	r := o.Drain(context.Background(), time.Second)
	if r.Runs != 0 || r.Processes != 1 || r.Killed != 0 || len(r.Left) != 0 {
		t.Errorf("drain: %+v", r)
	}
	if ptable.Running(out.Survivors[0].ID) {
		t.Error("it is alive after the drain")
	}
	if n := o.Owned(); n != (proc.Owned{}) {
		t.Errorf("owned after the drain: %+v", n)
	}
}

func wantSurvivor(t testing.TB, out proc.Outcome, name string) {
	t.Helper()
	if len(out.Survivors) != 1 || out.Survivors[0].Name != name || out.Survivors[0].PID == out.PID {
		t.Fatalf("survivors: %v", out.Survivors)
	}
	if !ptable.Running(out.Survivors[0].ID) {
		t.Fatal("the survivor does not live")
	}
}

func TestBackgroundChildWithoutPipes(t *testing.T) {
	o := owner(t)
	out := o.Run(context.Background(), sh(`sleep 300 >/dev/null 2>&1 </dev/null & echo done`))
	wantExit(t, out, 0)
	if out.PipesHeld || out.Took > 5*time.Second {
		t.Errorf("%s", facts(out))
	}
	wantSurvivor(t, out, "sleep")
}

// PipeWait of zero takes what is there and no more.
func TestNoPipeWait(t *testing.T) {
	o := owner(t)
	spec := sh(`head -c 50000 /dev/zero; sleep 300 & exit 0`)
	spec.PipeWait = 0
	out := o.Run(context.Background(), spec)
	wantExit(t, out, 0)
	if !out.PipesHeld || out.Stdout.Total != 50000 || out.Took > 5*time.Second {
		t.Errorf("%s, %d bytes", facts(out), out.Stdout.Total)
	}
	// Pipes that nobody holds are read to their end.
	spec = sh(`head -c 50000 /dev/zero`)
	spec.PipeWait = 0
	for range 20 {
		out := o.Run(context.Background(), spec)
		if out.PipesHeld || out.Stdout.Total != 50000 || len(out.Survivors) > 0 {
			t.Fatalf("%s, %d bytes", facts(out), out.Stdout.Total)
		}
	}
}

// A negative pipe wait waits for the end of the pipes, and what comes until
// then counts (what Codex does).
func TestPipeWaitUntilTheEnd(t *testing.T) {
	o := owner(t)
	spec := sh(`(sleep 0.3; echo late) & echo early`)
	spec.PipeWait = -1
	out := o.Run(context.Background(), spec)
	wantExit(t, out, 0)
	if out.PipesHeld || string(out.Stdout.Data) != "early\nlate\n" || out.Survivors != nil {
		t.Errorf("%s, stdout %q, survivors %v", facts(out), out.Stdout.Data, out.Survivors)
	}

	// The timeout still applies, and that the child had exited is a fact
	// beside it.
	spec = sh(`sleep 300 & echo early; exit 3`)
	spec.PipeWait, spec.Timeout = -1, 300*time.Millisecond
	out = o.Run(context.Background(), spec)
	if !out.TimedOut || !out.Exited || out.ExitCode != 3 || !out.PipesHeld || len(out.Survivors) > 0 {
		t.Errorf("%s", facts(out))
	}
}

// A child that exits in time has not timed out, however long its pipes are
// waited for.
func TestTimeoutEndsWithTheExit(t *testing.T) {
	o := owner(t)
	spec := sh(`sleep 300 & exit 0`)
	spec.Timeout, spec.PipeWait = 500*time.Millisecond, 900*time.Millisecond
	out := o.Run(context.Background(), spec)
	wantExit(t, out, 0)
	if out.Took < spec.PipeWait {
		t.Errorf("took %v", out.Took)
	}
}

// A cancellation while pipes are waited for ends the survivors.
func TestCancelWhilePipesAreHeld(t *testing.T) {
	o := owner(t)
	p := startReady(t, context.Background(), o, sh(`sleep 300 & echo ready; exit 3`))
	// The leader's exit is what starts the wait.
	for ptable.Running(ptable.ID{PID: p.PID(), Start: start(p.PID())}) {
		<-time.After(time.Millisecond)
	}
	p.Kill(nil)
	out := p.Wait()
	if !out.Cancelled || !out.Exited || out.ExitCode != 3 || len(out.Survivors) > 0 {
		t.Errorf("%s, survivors %v", facts(out), out.Survivors)
	}
	if out.Took > 10*time.Second {
		t.Errorf("took %v", out.Took)
	}
}

func start(pid int) uint64 {
	p, _ := ptable.Now(pid)
	return p.Start
}

// Left alone means that writing to the pipes does not hurt.
func TestSurvivorMayWrite(t *testing.T) {
	o := owner(t)
	dir := t.TempDir()
	goOn, wrote := filepath.Join(dir, "go"), filepath.Join(dir, "wrote")
	for _, f := range []string{goOn, wrote} {
		if err := syscall.Mkfifo(f, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	spec := sh(`(read x <go; head -c 300000 /dev/zero; echo yes >wrote) & exit 0`)
	spec.Dir, spec.PipeWait = dir, 0
	out := o.Run(context.Background(), spec)
	wantExit(t, out, 0)
	if !out.PipesHeld || out.Stdout.Total != 0 {
		t.Fatalf("%s, %d bytes", facts(out), out.Stdout.Total)
	}
	if err := os.WriteFile(goOn, []byte("x\n"), 0); err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(wrote); string(got) != "yes\n" {
		t.Errorf("it wrote %q, %v", got, err)
	}
}

func TestBackgroundEnd(t *testing.T) {
	for _, command := range []string{
		`sleep 300 & echo done`,
		`sleep 300 >/dev/null 2>&1 & echo done`,
		`x=$( (trap "" TERM; exec sleep 300 >/dev/null) & ); echo done`,
	} {
		o := owner(t)
		spec := sh(command)
		spec.Background, spec.PipeWait, spec.Grace = proc.BackgroundEnd, 0, 200*time.Millisecond
		out := o.Run(context.Background(), spec)
		wantExit(t, out, 0)
		if len(out.Survivors) != 1 || ptable.Running(out.Survivors[0].ID) || len(out.Left) > 0 {
			t.Errorf("%s: survivors %v, left %v", command, out.Survivors, out.Left)
		}
		if n := o.Owned(); n != (proc.Owned{}) {
			t.Errorf("%s: owned: %+v", command, n)
		}
	}
}

// What is to be kept is not touched by a drain, in the group or out of it.
func TestBackgroundKeep(t *testing.T) {
	skipUnless(t, true)
	o := owner(t)
	spec := sh(`sleep 300 & sleep 300 >/dev/null 2>&1 & setsid sleep 300 >/dev/null 2>&1 & setsid sleep 300 & echo done`)
	spec.Background, spec.PipeWait = proc.BackgroundKeep, 0
	out := o.Run(context.Background(), spec)
	wantExit(t, out, 0)
	if len(out.Survivors) < 2 {
		t.Fatalf("survivors: %v", out.Survivors)
	}
	r := o.Drain(context.Background(), 0)
	if r.Processes != 0 || len(r.Left) != 0 {
		t.Errorf("drain: %+v", r)
	}
	for _, m := range out.Survivors {
		if !ptable.Running(m.ID) {
			t.Errorf("%v does not live", m)
		}
	}
	// Those that left the session are found by the test binary's own mark, and
	// may take a moment to become what they are.
	var all []proc.Member
	for deadline := time.Now().Add(10 * time.Second); len(all) < 4 && time.Now().Before(deadline); {
		all = nil
		tab, err := ptable.Read()
		if err != nil {
			t.Fatal(err)
		}
		ours := strconv.Itoa(os.Getpid()) + "-"
		for pid, mark := range tab.Marks(proc.DefaultMark) {
			if p, _ := tab.Lookup(pid); p.Name == "sleep" && strings.Contains(mark, ours) {
				all = append(all, proc.Member{ID: p.ID})
			}
		}
	}
	if len(all) != 4 {
		t.Errorf("%d of 4 live", len(all))
	}
	for _, m := range all {
		_ = syscall.Kill(m.PID, syscall.SIGKILL)
	}
	awaitNone(t, all)
}

// awaitNone waits for the end of processes that are no children of ours.
func awaitNone(t testing.TB, list []proc.Member) {
	t.Helper()
	deadline := time.Now().Add(10 * time.Second)
	for _, m := range list {
		for ptable.Running(m.ID) {
			if time.Now().After(deadline) {
				t.Fatalf("%v does not end", m)
			}
			<-time.After(time.Millisecond)
		}
	}
}

// A tree that ends by itself is not owned for ever.
func TestEndedTreesAreForgotten(t *testing.T) {
	o := owner(t)
	var last []proc.Member
	for i := range 120 {
		out := o.Run(context.Background(), sh(`sleep 0.2 >/dev/null 2>&1 </dev/null & exit 0`))
		wantExit(t, out, 0)
		last = append(last, out.Survivors...)
		if i%20 == 19 {
			awaitNone(t, last)
			last = nil
		}
	}
	if n := o.Owned(); n.Trees > 60 {
		t.Errorf("owned: %+v", n)
	}
}

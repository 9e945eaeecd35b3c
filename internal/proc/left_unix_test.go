//go:build unix

package proc

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"syscall"
	"testing"
	"time"
)

// A process that cannot be ended is reported, does not keep the run, and stays
// owned, so that another drain tries again. No time at all to wait for the end
// stands for what no signal ends.
func TestWhatCannotBeEndedIsLeft(t *testing.T) {
	for _, drain := range []bool{false, true} {
		o := New(Config{})
		o.shared.killWait = -1
		p, err := o.Start(context.Background(), Spec{Argv: []string{"/bin/sleep", "300"}})
		if err != nil {
			t.Fatal(err)
		}
		if drain {
			r := o.Drain(context.Background(), 0)
			if len(r.Left) != 1 || r.Left[0].PID != p.PID() || r.Processes != 0 || r.Killed != 0 || r.Runs != 1 {
				t.Errorf("drain: %+v", r)
			}
		} else {
			p.Kill(nil)
		}
		out := p.Wait()
		if len(out.Left) != 1 || out.Left[0].PID != p.PID() || out.Exited || out.Signal != 0 || !out.Cancelled || out.WaitErr != nil {
			t.Errorf("outcome: %+v", out)
		}
		if n := o.Owned(); n.Trees != 1 || n.Runs != 0 {
			t.Errorf("owned: %+v", n)
		}
		o.shared.killWait = 10 * time.Second
		if r := o.Drain(context.Background(), 0); len(r.Left) != 0 || r.Processes != 1 || r.Killed != 1 {
			t.Errorf("second drain: %+v", r)
		}
		<-p.tree.exited
		if n := o.Owned(); n != (Owned{}) {
			t.Errorf("owned after the second drain: %+v", n)
		}
	}
}

// If somebody else takes the child's status, that is said; it is not success.
func TestStatusTakenByOthers(t *testing.T) {
	signal.Ignore(syscall.SIGCHLD) // the system reaps in our place
	defer func() {                 // Reset would leave it ignored
		c := make(chan os.Signal, 1)
		signal.Notify(c, syscall.SIGCHLD)
		signal.Stop(c)
	}()
	o := New(Config{})
	out := o.Run(context.Background(), Spec{Argv: []string{"/bin/sh", "-c", "echo x; exit 3"}})
	if !out.Started || out.Exited || out.Signal != 0 || !errors.Is(out.WaitErr, syscall.ECHILD) || string(out.Stdout.Data) != "x\n" {
		t.Errorf("outcome: %+v", out)
	}
	o.Drain(context.Background(), 0)
}

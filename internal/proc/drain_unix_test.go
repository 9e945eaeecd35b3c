//go:build unix

package proc_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/dsh-actor/dsh-actor/internal/proc"
)

// Z-9: a drain ends the runs, what earlier runs left behind, and the daemons
// that no run knows of, and nothing can be started afterwards.
func TestDrain(t *testing.T) {
	skipUnless(t, true)
	o := owner(t)
	left := sh(`sleep 300 >/dev/null 2>&1 & exit 0`)
	wantExit(t, o.Run(context.Background(), left), 0)
	daemon := sh(`(setsid sh -c 'exec sleep 300 >/dev/null 2>&1 </dev/null' &); exit 0`)
	out := o.Run(context.Background(), daemon)
	wantExit(t, out, 0)
	if len(out.Survivors) > 0 {
		t.Logf("the daemon was still in the group: %v", out.Survivors)
	}
	live := startReady(t, context.Background(), o, sh(`echo ready; exec sleep 300`))

	r := o.Drain(context.Background(), 5*time.Second)
	if r.Runs != 1 || r.Processes != 3 || r.Killed != 0 || len(r.Left) != 0 || r.Took > 5*time.Second {
		t.Errorf("drain: %+v", r)
	}
	if out := live.Wait(); !out.Cancelled || out.Cause != proc.ErrDrained {
		t.Errorf("the run: %s, cause %v", facts(out), out.Cause)
	}
	if out := o.Run(context.Background(), sh("true")); out.Started || !out.Cancelled || out.Cause != proc.ErrDrained {
		t.Errorf("a run after the drain: %s", facts(out))
	}
	if _, err := o.Sub().Start(context.Background(), sh("true")); !errors.Is(err, proc.ErrDrained) {
		t.Errorf("a run of a sub-owner after the drain: %v", err)
	}
	if r := o.Drain(context.Background(), time.Second); r.Runs+r.Processes+len(r.Left) != 0 {
		t.Errorf("a second drain: %+v", r)
	}
}

// Every difficult tree at once, many times over: all gone within the grace and
// two seconds.
func TestDrainOf300(t *testing.T) {
	skipUnless(t, true)
	o := owner(t)
	n := 300
	if testing.Short() {
		n = 60
	}
	procs, ready := make([]*proc.Process, n), make([]chan struct{}, n)
	for i := range n {
		// Not the one that starts processes without end: 21 of it are a load
		// that the machine would be measured by.
		tc := trees[i%(len(trees)-1)]
		procs[i], ready[i] = startPrinting(t, context.Background(), o, sh(tc.command))
	}
	for i, p := range procs {
		awaitReady(t, p, ready[i])
	}
	const grace = time.Second
	began := time.Now()
	r := o.Drain(context.Background(), grace)
	took := time.Since(began)
	t.Logf("%d runs, %d processes, %d killed, took %v", r.Runs, r.Processes, r.Killed, took)
	if r.Runs != n || len(r.Left) > 0 || r.Processes < n || r.Killed == 0 {
		t.Errorf("drain: %+v", r)
	}
	if took > grace+slack(t) {
		t.Errorf("took %v", took)
	}
	for _, p := range procs {
		select {
		case <-p.Done():
		default:
			t.Fatal("a run is not over after the drain")
		}
		if out := p.Wait(); out.Cause != proc.ErrDrained {
			t.Errorf("%s, cause %v", facts(out), out.Cause)
		}
	}
	if n := zombies(t); n > 0 {
		t.Errorf("%d zombies", n)
	}
}

// When the context of a drain is done, the grace is over.
func TestDrainInHaste(t *testing.T) {
	o := owner(t)
	p := startReady(t, context.Background(), o, sh(trees[4].command))
	ctx, cancel := context.WithTimeout(context.Background(), 200*time.Millisecond)
	defer cancel()
	r := o.Drain(ctx, time.Hour)
	if r.Runs != 1 || r.Killed == 0 || len(r.Left) > 0 || r.Took > 10*time.Second {
		t.Errorf("drain: %+v", r)
	}
	p.Wait()
}

// A drain is not held up by the long grace of a run that is being ended.
func TestDrainOvertakesARunsGrace(t *testing.T) {
	o := owner(t)
	spec := sh(trees[4].command)
	spec.Grace = time.Hour
	p := startReady(t, context.Background(), o, spec)
	p.Kill(nil)
	r := o.Drain(context.Background(), 200*time.Millisecond)
	if r.Runs != 0 || r.Killed == 0 || r.Took > 10*time.Second {
		t.Errorf("drain: %+v", r)
	}
	if out := p.Wait(); out.Cause != proc.ErrKilled || !out.Cancelled {
		t.Errorf("%s, cause %v", facts(out), out.Cause)
	}
}

// Owners nest: a sub-owner's drain is its own affair, its parent's is both's.
func TestDrainOfSubOwners(t *testing.T) {
	o := owner(t)
	a, b := o.Sub(), o.Sub()
	command := sh(`echo ready; sleep 300`)
	inA := startReady(t, context.Background(), a, command)
	inB := startReady(t, context.Background(), b, command)
	inO := startReady(t, context.Background(), o, command)
	if n := o.Owned(); n.Runs != 3 {
		t.Errorf("owned: %+v", n)
	}
	if r := a.Drain(context.Background(), time.Second); r.Runs != 1 {
		t.Errorf("drain of a: %+v", r)
	}
	<-inA.Done()
	select {
	case <-inB.Done():
		t.Error("the drain of a ended b")
	case <-inO.Done():
		t.Error("the drain of a ended its parent")
	default:
	}
	if r := o.Drain(context.Background(), time.Second); r.Runs != 2 || r.Processes < 2 {
		t.Errorf("drain of o: %+v", r)
	}
	<-inB.Done()
	<-inO.Done()
}

// Runs that are started while the owner is drained, by several at once, are
// either refused or ended.
func TestDrainRacesStarts(t *testing.T) {
	for range 10 {
		o := owner(t)
		var wg sync.WaitGroup
		ready := make(chan struct{}, 1000)
		for i := range 8 {
			sub := o
			if i%2 == 0 {
				sub = o.Sub()
			}
			wg.Go(func() {
				for {
					p, err := sub.Start(context.Background(), sh(`sleep 300 & exec sleep 300`))
					if err != nil {
						if !errors.Is(err, proc.ErrDrained) {
							t.Error(err)
						}
						return
					}
					ready <- struct{}{}
					wg.Go(func() {
						if out := p.Wait(); out.Cause != proc.ErrDrained || len(out.Left) > 0 {
							t.Errorf("%s, cause %v", facts(out), out.Cause)
						}
					})
				}
			})
		}
		for range 20 {
			<-ready
		}
		for range 2 {
			wg.Go(func() { o.Drain(context.Background(), time.Second) })
		}
		o.Drain(context.Background(), time.Second)
		wg.Wait()
		if n := o.Owned(); n != (proc.Owned{}) {
			t.Errorf("owned: %+v", n)
		}
	}
}

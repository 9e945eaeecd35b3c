//go:build unix

package proc_test

import (
	"context"
	"os"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/dsh-actor/dsh-actor/internal/proc"
	"github.com/dsh-actor/dsh-actor/internal/proc/ptable"
)

// allocatedBytes is how much memory f allocates in all.
func allocatedBytes(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// slack is how much longer than it must something may take: two seconds, on a
// machine that has time for us. On one that is so busy that it takes long to run
// nothing at all, it is more in proportion.
func slack(t testing.TB) time.Duration {
	t.Helper()
	const usual = 5 * time.Millisecond
	o := proc.New(proc.Config{})
	defer o.Drain(context.Background(), 0)
	took := make([]time.Duration, 9)
	for i := range took {
		took[i] = o.Run(context.Background(), sh("true")).Took
	}
	slices.Sort(took)
	return time.Duration(2 * float64(time.Second) * max(1, float64(took[len(took)/2])/float64(usual)))
}

// openFiles counts the descriptors of this process, or is 0 where they cannot
// be counted.
func openFiles(t testing.TB) int {
	t.Helper()
	if runtime.GOOS != "linux" {
		return 0
	}
	d, err := os.Open("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	names, err := d.Readdirnames(-1)
	if err != nil {
		t.Fatal(err)
	}
	return len(names)
}

// zombies counts our children that were not reaped.
func zombies(t testing.TB) (n int) {
	t.Helper()
	tab, err := ptable.Read()
	if err != nil {
		t.Fatal(err)
	}
	for p := range tab.All() {
		if p.Dead && p.PPID == tab.Self().PID {
			n++
		}
	}
	return n
}

// PAIN 40: after many runs, some of them killed by a signal, there is no
// zombie, no file and no goroutine more than before.
func TestManyRunsLeaveNothing(t *testing.T) {
	o := owner(t)
	runs := 1000
	if testing.Short() {
		runs = 100
	}
	commands := []string{"true", "kill -9 $$", "echo x; exit 2", "kill -TERM $$", "/no/such/program"}
	o.Run(context.Background(), sh("true")) // the poller's own files
	files, routines := openFiles(t), runtime.NumGoroutine()
	for i := range runs {
		spec := sh(commands[i%len(commands)])
		if i%2 == 0 {
			spec.Stdin = make([]byte, 100_000)
		}
		if out := o.Run(context.Background(), spec); !out.Started || out.PipesHeld {
			t.Fatalf("run %d: %s", i, facts(out))
		}
	}
	if n := zombies(t); n != 0 {
		t.Errorf("%d zombies", n)
	}
	if n := openFiles(t); n > files {
		t.Errorf("%d files, %d before", n, files)
	}
	// The reaper of the last run may not have returned yet.
	if n := runtime.NumGoroutine(); n > routines+3 {
		t.Errorf("%d goroutines, %d before", n, routines)
	}
	if n := o.Owned(); n.Runs != 0 || n.Trees != 0 {
		t.Errorf("owned: %+v", n)
	}
}

package proc

import (
	"os"
	"sync"
	"time"
)

// tree is a child and everything that it started, for as long as any of it is
// owned.
type tree struct {
	pid  int    // of the leader, its group and its session; 0 for strays
	mark string // what its processes have in their environment; may be empty
	keep bool   // BackgroundKeep: let go of it, do not end it

	exited chan struct{} // closed when the leader was reaped
	status status        // valid then

	mu     sync.Mutex
	reaped bool                  // the leader's process id may be somebody else's
	files  map[*os.File]struct{} // pipes that are being read

	readers sync.WaitGroup
	leader  // the system's handle on it
}

// ending is what became of a tree that was to be ended.
type ending struct {
	found  int      // processes that were there
	killed int      // of these, how many were sent SIGKILL
	left   []Member // of these, the ones that are still there
}

func (e *ending) holds(pid int) bool {
	for _, m := range e.left {
		if m.PID == pid {
			return true
		}
	}
	return false
}

// hold records a pipe that a goroutine reads until letGo.
func (t *tree) hold(f *os.File) {
	t.readers.Add(1)
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.files == nil {
		t.files = make(map[*os.File]struct{}, 2)
	}
	t.files[f] = struct{}{}
}

func (t *tree) letGo(f *os.File) {
	f.Close()
	t.mu.Lock()
	delete(t.files, f)
	t.mu.Unlock()
	t.readers.Done()
}

// reading reports whether any pipe is still being read.
func (t *tree) reading() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.files) > 0
}

// drop closes the tree's pipes, waits for their readers, and gives back what
// the system holds for the tree.
func (t *tree) drop() {
	t.mu.Lock()
	for f := range t.files {
		f.Close()
	}
	t.mu.Unlock()
	t.readers.Wait()
	t.leader.close()
}

// status is how the leader ended.
type status struct {
	at  time.Time
	cpu time.Duration
	exitStatus
}

func (s *status) report(o *Outcome, began time.Time) {
	o.Ran = s.at.Sub(began)
	o.CPU = s.cpu
	s.exitStatus.report(o)
}

// noDeadline takes a deadline back.
var noDeadline time.Time

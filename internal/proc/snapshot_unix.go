//go:build unix

package proc

import (
	"sync"
	"time"

	"github.com/dsh-actor/dsh-actor/internal/proc/ptable"
)

// shared is what a family of owners has in common.
type shared struct {
	markName string
	killWait time.Duration
	tables   snapshots
}

// snapshots gives readings of the process table, each of which began after it
// was asked for. Those who ask while one is under way share the next, so that
// any number of runs that end at once costs few readings.
type snapshots struct {
	reading sync.Mutex // held by the one that reads
	mu      sync.Mutex
	next    *snapshot // asked for and not begun
}

type snapshot struct {
	done  chan struct{}
	table *ptable.Table
	err   error
}

func (s *snapshots) take() (*ptable.Table, error) {
	s.mu.Lock()
	snap, first := s.next, false
	if snap == nil {
		snap, first = &snapshot{done: make(chan struct{})}, true
		s.next = snap
	}
	s.mu.Unlock()
	if !first {
		<-snap.done
		return snap.table, snap.err
	}
	s.reading.Lock()
	defer s.reading.Unlock()
	s.mu.Lock()
	s.next = nil // from here on it may miss what is asked for
	s.mu.Unlock()
	snap.table, snap.err = ptable.Read()
	close(snap.done)
	return snap.table, snap.err
}

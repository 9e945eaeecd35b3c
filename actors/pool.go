package actors

import (
	"container/list"
	"context"
	"sync"
)

// slots is a pool of equal places, given out in the order of asking. A nil pool
// has no bound.
type slots struct {
	mu      sync.Mutex
	free    int
	waiting list.List // of chan struct{}
}

func newSlots(n int) *slots {
	if n <= 0 {
		return nil
	}
	return &slots{free: n}
}

// acquire takes a place, waiting for one until ctx ends.
func (s *slots) acquire(ctx context.Context) error {
	if s == nil {
		return nil
	}
	s.mu.Lock()
	if s.free > 0 && s.waiting.Len() == 0 {
		s.free--
		s.mu.Unlock()
		return nil
	}
	turn := make(chan struct{})
	place := s.waiting.PushBack(turn)
	s.mu.Unlock()
	select {
	case <-turn:
		return nil
	case <-ctx.Done():
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	select {
	case <-turn: // given and given up at the same time
		s.releaseLocked()
	default:
		s.waiting.Remove(place)
	}
	return context.Cause(ctx)
}

// release gives a place back, to whoever has waited longest.
func (s *slots) release() {
	if s == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.releaseLocked()
}

func (s *slots) releaseLocked() {
	if first := s.waiting.Front(); first != nil {
		close(s.waiting.Remove(first).(chan struct{}))
		return
	}
	s.free++
}

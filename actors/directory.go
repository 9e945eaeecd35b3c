package actors

import (
	"fmt"
	"hash/maphash"
	"sync"
	"sync/atomic"

	"github.com/dsh-actor/dsh-actor/messages"
)

// directory finds the activation of a session id. It is sharded, because every
// verb looks a session up.
type directory struct {
	seed   maphash.Seed
	shards [64]shard
	minted atomic.Uint64
}

type shard struct {
	mu    sync.RWMutex
	cores map[messages.SessionID]*core // nil value: reserved
}

func newDirectory() *directory {
	d := &directory{seed: maphash.MakeSeed()}
	for i := range d.shards {
		d.shards[i].cores = map[messages.SessionID]*core{}
	}
	return d
}

func (d *directory) shard(id messages.SessionID) *shard {
	return &d.shards[maphash.String(d.seed, string(id))%uint64(len(d.shards))]
}

// get returns the activation, or nil.
func (d *directory) get(id messages.SessionID) *core {
	s := d.shard(id)
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.cores[id]
}

// reserve takes an id for a session that is being made. It is false if the id is in
// use.
func (d *directory) reserve(id messages.SessionID) bool {
	s := d.shard(id)
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, taken := s.cores[id]; taken {
		return false
	}
	s.cores[id] = nil
	return true
}

// mint reserves the next free id of the form session-n (V-2).
func (d *directory) mint() messages.SessionID {
	for {
		id := messages.SessionID(fmt.Sprintf("session-%d", d.minted.Add(1)))
		if d.reserve(id) {
			return id
		}
	}
}

// put enters an activation under its reserved id, or replaces an older one.
func (d *directory) put(c *core) {
	s := d.shard(c.id)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.cores[c.id] = c
}

// release frees a reserved id.
func (d *directory) release(id messages.SessionID) {
	s := d.shard(id)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.cores[id] == nil {
		delete(s.cores, id)
	}
}

// remove takes an activation out, unless a newer one has its place.
func (d *directory) remove(c *core) {
	s := d.shard(c.id)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.cores[c.id] == c {
		delete(s.cores, c.id)
	}
}

// all returns every activation.
func (d *directory) all() []*core {
	var out []*core
	for i := range d.shards {
		s := &d.shards[i]
		s.mu.RLock()
		for _, c := range s.cores {
			if c != nil {
				out = append(out, c)
			}
		}
		s.mu.RUnlock()
	}
	return out
}

// size is the number of activations and reservations.
func (d *directory) size() int {
	n := 0
	for i := range d.shards {
		d.shards[i].mu.RLock()
		n += len(d.shards[i].cores)
		d.shards[i].mu.RUnlock()
	}
	return n
}

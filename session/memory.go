package session

import (
	"context"
	"fmt"
	"hash/maphash"
	"iter"
	"slices"
	"strings"
	"sync"

	"github.com/dsh-actor/dsh-actor/messages"
)

// MemoryStore is a Store in memory: what it promises to survive is the end of a
// session's owner, not that of the process. Events are kept as they are, without
// a copy of what they hold, because they never change.
type MemoryStore struct{ memory }

// NewMemoryStore returns an empty store.
func NewMemoryStore() *MemoryStore { return &MemoryStore{newMemory(true)} }

// DiscardStore is a [MemoryStore] that forgets events: it keeps headers, epochs,
// sequence numbers, inboxes and idempotency keys. It is for benchmarks, and for
// hosts that want no log. Reading what it forgot yields a [*GapError].
type DiscardStore struct{ memory }

// NewDiscardStore returns an empty store.
func NewDiscardStore() *DiscardStore { return &DiscardStore{newMemory(false)} }

var (
	_ Store = (*MemoryStore)(nil)
	_ Store = (*DiscardStore)(nil)
)

// shardCount is a power of two well above the number of cores, so that
// sessions of different owners rarely wait for each other.
const shardCount = 64

// memory finds sessions by id. A shard's lock guards its map only; each session
// has its own lock, which is never taken before a shard's is released.
type memory struct {
	keep   bool // events
	seed   maphash.Seed
	shards *[shardCount]shard
}

type shard struct {
	mu       sync.RWMutex
	sessions map[messages.SessionID]*stored
	_        [96]byte // keeps the locks of two shards off one pair of cache lines
}

// stored is one session.
type stored struct {
	mu     sync.Mutex
	header Header
	epoch  messages.Epoch
	next   int64
	events []messages.Event // only grows: a prefix may be read without the lock
	inbox  []messages.InboxItem
	keys   map[string]messages.MessageID
}

func newMemory(keep bool) memory {
	m := memory{keep: keep, seed: maphash.MakeSeed(), shards: new([shardCount]shard)}
	for i := range m.shards {
		m.shards[i].sessions = map[messages.SessionID]*stored{}
	}
	return m
}

func (m *memory) shard(id messages.SessionID) *shard {
	return &m.shards[maphash.String(m.seed, string(id))%shardCount]
}

// lock returns the session, locked.
func (m *memory) lock(ctx context.Context, id messages.SessionID) (*stored, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	sh := m.shard(id)
	sh.mu.RLock()
	s := sh.sessions[id]
	sh.mu.RUnlock()
	if s == nil {
		return nil, ErrNotFound
	}
	// The session may be deleted now. Then this call takes effect before that, as
	// far as anybody can tell.
	s.mu.Lock()
	return s, nil
}

// Commit implements [Store].
func (m *memory) Commit(ctx context.Context, b Batch) error {
	if err := m.commit(ctx, &b); err != nil {
		return fmt.Errorf("commit to session %s: %w", b.ID, err)
	}
	return nil
}

func (m *memory) commit(ctx context.Context, b *Batch) error {
	if b.Create != nil {
		return m.create(ctx, b)
	}
	s, err := m.lock(ctx, b.ID)
	if err != nil {
		return err
	}
	defer s.mu.Unlock()
	return s.apply(b, m.keep)
}

func (m *memory) create(ctx context.Context, b *Batch) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := b.Create.Validate(); err != nil {
		return err
	}
	if b.Create.ID != b.ID {
		return fmt.Errorf("create session: the header is of %s", b.Create.ID)
	}
	sh := m.shard(b.ID)
	sh.mu.Lock()
	defer sh.mu.Unlock()
	if _, ok := sh.sessions[b.ID]; ok {
		return ErrExists
	}
	s := &stored{header: b.Create.clone(), epoch: b.Epoch}
	if err := s.apply(b, m.keep); err != nil {
		return err
	}
	sh.sessions[b.ID] = s
	return nil
}

// apply checks the whole batch, then makes its changes.
func (s *stored) apply(b *Batch, keep bool) error {
	if b.Epoch != s.epoch {
		return fmt.Errorf("%w: epoch %d is not %d", ErrFenced, b.Epoch, s.epoch)
	}
	if b.ExpectSeq != s.next {
		return fmt.Errorf("%w: it expects seq %d and the log has %d events", ErrSequence, b.ExpectSeq, s.next)
	}
	for i := range b.Events {
		if want := s.next + int64(i); b.Events[i].Seq != want {
			return fmt.Errorf("%w: event of seq %d where %d must follow", ErrSequence, b.Events[i].Seq, want)
		}
	}
	inbox, err := s.changedInbox(b)
	if err != nil {
		return err
	}
	s.next += int64(len(b.Events))
	if keep {
		s.events = append(s.events, b.Events...)
	}
	s.inbox = inbox
	for i := range b.Add {
		if key := b.Add[i].Key; key != "" {
			if s.keys == nil {
				s.keys = map[string]messages.MessageID{}
			}
			s.keys[key] = b.Add[i].ID
		}
	}
	return nil
}

// changedInbox returns the inbox as the batch makes it; the session is not
// changed.
func (s *stored) changedInbox(b *Batch) ([]messages.InboxItem, error) {
	if len(b.Add)+len(b.Claim)+len(b.Drop) == 0 {
		return s.inbox, nil
	}
	for i := range b.Add {
		if err := s.checkNew(b.Add[:i], &b.Add[i]); err != nil {
			return nil, err
		}
	}
	// The old slice is never written to behind its length by two batches: it is
	// replaced under the lock, and nobody else has it.
	inbox := append(s.inbox, b.Add...)
	if len(b.Claim)+len(b.Drop) == 0 {
		return inbox, nil
	}
	taken := make([]bool, len(inbox))
	at := 0 // prompts leave in order, mostly: look where the last one was
	for _, ids := range [2][]messages.MessageID{b.Claim, b.Drop} {
		for _, id := range ids {
			if at = findQueued(inbox, taken, id, at); at < 0 {
				return nil, fmt.Errorf("%w: %s", ErrNotQueued, id)
			}
			taken[at] = true
		}
	}
	var left []messages.InboxItem
	for i := range inbox {
		if !taken[i] {
			left = append(left, inbox[i])
		}
	}
	return left, nil
}

// findQueued returns the index of a prompt that was not taken yet, looking from
// index start on and around, or -1.
func findQueued(inbox []messages.InboxItem, taken []bool, id messages.MessageID, start int) int {
	for n := range inbox {
		if i := (start + n) % len(inbox); inbox[i].ID == id && !taken[i] {
			return i
		}
	}
	return -1
}

// checkNew reports whether a prompt may join the inbox after those before it in
// its batch.
func (s *stored) checkNew(before []messages.InboxItem, item *messages.InboxItem) error {
	if item.Key != "" {
		if id, used := s.keys[item.Key]; used {
			return &DuplicateError{Key: item.Key, Message: id}
		}
		for i := range before {
			if before[i].Key == item.Key {
				return &DuplicateError{Key: item.Key, Message: before[i].ID}
			}
		}
	}
	same := func(q messages.InboxItem) bool { return q.ID == item.ID }
	if slices.ContainsFunc(s.inbox, same) || slices.ContainsFunc(before, same) {
		return fmt.Errorf("prompt %s is in the inbox already", item.ID)
	}
	return nil
}

// Acquire implements [Store].
func (m *memory) Acquire(ctx context.Context, id messages.SessionID) (Acquired, error) {
	s, err := m.lock(ctx, id)
	if err != nil {
		return Acquired{}, fmt.Errorf("acquire session %s: %w", id, err)
	}
	defer s.mu.Unlock()
	s.epoch++
	return Acquired{Header: s.header.clone(), Epoch: s.epoch, NextSeq: s.next, Inbox: slices.Clone(s.inbox)}, nil
}

// Read implements [Store].
func (m *memory) Read(ctx context.Context, id messages.SessionID, from, to int64) iter.Seq2[messages.Event, error] {
	return func(yield func(messages.Event, error) bool) {
		events, err := m.snapshot(ctx, id, from, to)
		if err == nil {
			for i := range events {
				if err = ctx.Err(); err != nil {
					break
				}
				if !yield(events[i], nil) {
					return
				}
			}
		}
		if err != nil {
			yield(messages.Event{}, fmt.Errorf("read session %s: %w", id, err))
		}
	}
}

// snapshot returns a range of the stored events as of now.
func (m *memory) snapshot(ctx context.Context, id messages.SessionID, from, to int64) ([]messages.Event, error) {
	s, err := m.lock(ctx, id)
	if err != nil {
		return nil, err
	}
	defer s.mu.Unlock()
	if to < 0 {
		to = s.next
	}
	to = min(to, s.next)
	from = min(max(from, 0), to)
	switch {
	case from == to:
		return nil, nil
	case !m.keep:
		return nil, &GapError{ID: id, From: from, To: to}
	}
	return s.events[from:to:to], nil
}

// Stat implements [Store].
func (m *memory) Stat(ctx context.Context, id messages.SessionID) (Info, error) {
	s, err := m.lock(ctx, id)
	if err != nil {
		return Info{}, fmt.Errorf("describe session %s: %w", id, err)
	}
	defer s.mu.Unlock()
	return s.info(), nil
}

func (s *stored) info() Info {
	return Info{Header: s.header.clone(), Epoch: s.epoch, NextSeq: s.next, Pending: len(s.inbox)}
}

// List implements [Store].
func (m *memory) List(ctx context.Context, q ListQuery) iter.Seq2[Info, error] {
	return func(yield func(Info, error) bool) {
		left := q.Limit
		for _, id := range m.ids(q.After) {
			s, err := m.lock(ctx, id)
			switch {
			case ctx.Err() != nil:
				yield(Info{}, fmt.Errorf("list sessions: %w", ctx.Err()))
				return
			case err != nil: // deleted meanwhile
				continue
			}
			info := s.info()
			s.mu.Unlock()
			if !yield(info, nil) {
				return
			}
			if left--; left == 0 {
				return
			}
		}
	}
}

// ids returns the ids after the given one, sorted.
func (m *memory) ids(after messages.SessionID) []messages.SessionID {
	var ids []messages.SessionID
	for i := range m.shards {
		sh := &m.shards[i]
		sh.mu.RLock()
		for id := range sh.sessions {
			if id > after {
				ids = append(ids, id)
			}
		}
		sh.mu.RUnlock()
	}
	slices.SortFunc(ids, func(a, b messages.SessionID) int { return strings.Compare(string(a), string(b)) })
	return ids
}

// Delete implements [Store].
func (m *memory) Delete(ctx context.Context, id messages.SessionID) error {
	if err := m.delete(ctx, id); err != nil {
		return fmt.Errorf("delete session %s: %w", id, err)
	}
	return nil
}

func (m *memory) delete(ctx context.Context, id messages.SessionID) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	sh := m.shard(id)
	sh.mu.Lock()
	defer sh.mu.Unlock()
	if _, ok := sh.sessions[id]; !ok {
		return ErrNotFound
	}
	delete(sh.sessions, id)
	return nil
}

// Close implements [Store]. There is nothing to release.
func (m *memory) Close() error { return nil }

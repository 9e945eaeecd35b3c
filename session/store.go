package session

import (
	"context"
	"errors"
	"fmt"
	"iter"

	"github.com/dsh-actor/dsh-actor/messages"
)

// Header describes a session (E-13). It is frozen and not part of the log.
type Header struct {
	Version         int                `json:"version"` // 0
	ID              messages.SessionID `json:"id"`
	CreatedAt       int64              `json:"createdAt"` // ms since the Unix epoch
	Cwd             string             `json:"cwd,omitzero"`
	ParentSession   messages.SessionID `json:"parentSession,omitzero"`
	SeedLength      int64              `json:"seedLength,omitzero"` // events copied from the parent
	DelegationDepth int                `json:"delegationDepth,omitzero"`
	// Labels are the host's own, such as a model or a workspace; the runtime
	// keeps them and looks at none.
	Labels map[string]string `json:"labels,omitzero"`
}

// Batch is one atomic change of a stored session. Either all of it takes
// effect, durably as the store promises, or nothing does. A store keeps none of
// the batch's slices and maps: the caller may reuse them.
type Batch struct {
	ID messages.SessionID
	// Epoch is the writer's. It must be the stored one: an older owner is fenced
	// off, and nobody has a newer one.
	Epoch messages.Epoch
	// Create, if set, makes the session: it must not exist, and Epoch is its
	// first (K-2: header and first events in one step). The header's id is ID.
	Create *Header
	// ExpectSeq is the sequence number of the first event; it must continue the
	// stored log exactly, and so must the events' own numbers. It is checked even
	// if Events is empty.
	ExpectSeq int64
	Events    []messages.Event
	// Add puts prompts at the end of the inbox, in order. No two prompts in the
	// inbox have the same id.
	Add []messages.InboxItem
	// Claim and Drop take prompts out of the inbox, after Add, so that one batch
	// can accept a prompt and claim it. A claim shares its turn/start's batch
	// (Z-36). A prompt that is not in the inbox makes the batch fail.
	Claim []messages.MessageID
	Drop  []messages.MessageID
}

// Acquired is what a new owner learns of a session.
type Acquired struct {
	Header  Header
	Epoch   messages.Epoch // the new owner's
	NextSeq int64
	Inbox   []messages.InboxItem // in order
}

// Info describes a stored session without owning it.
type Info struct {
	Header  Header
	Epoch   messages.Epoch
	NextSeq int64
	Pending int // prompts in the inbox
}

// ListQuery selects sessions, ordered by id.
type ListQuery struct {
	After messages.SessionID // exclusive
	Limit int                // 0: all
}

// Store keeps sessions. Implementations are safe for concurrent use; calls for
// different sessions may share a transaction.
//
// Fencing: each owner of a session has an epoch. Acquire takes a new one, and
// from then on a Commit with an older epoch fails with [ErrFenced] and changes
// nothing. That holds in every store, also between two owners of one process.
//
// What a store returns is the caller's: changing a returned slice or a header's
// labels changes nothing that is stored.
type Store interface {
	// Commit applies the batch. When it returns nil, the batch survives what the
	// store promises to survive. Errors, checked in this order: ErrExists (a
	// Create for a known id) or ErrNotFound; ErrFenced; ErrSequence;
	// *DuplicateError (an added prompt's key was used before in this session,
	// also by a prompt that has left the inbox since); ErrNotQueued. After one of
	// them nothing of the batch is stored. Any other error says that the store was
	// unavailable; a store that is reached over a connection cannot always tell
	// whether it still committed, whole or not at all. Sending a batch with events
	// again then gets ErrSequence if it had been stored, and Stat tells too.
	Commit(ctx context.Context, b Batch) error
	// Acquire makes the caller the session's only writer: it takes a new epoch,
	// higher than all before, and returns what is stored as of then. Error:
	// ErrNotFound.
	Acquire(ctx context.Context, id messages.SessionID) (Acquired, error)
	// Read yields stored events from sequence number from (below 0: from 0) up
	// to, not including, to (to < 0: all), in order. It sees committed batches
	// only: with to < 0, what it yields ends where a batch ended. An error ends
	// it: ErrNotFound, or a *GapError where the store does not keep events. The
	// consumer may stop early, and may call the store while it reads.
	Read(ctx context.Context, id messages.SessionID, from, to int64) iter.Seq2[messages.Event, error]
	// Stat describes a session without acquiring it. Error: ErrNotFound.
	Stat(ctx context.Context, id messages.SessionID) (Info, error)
	// List yields sessions in the order of their ids, compared byte by byte. A
	// session that is made or deleted meanwhile may or may not be among them;
	// every other one is there once.
	List(ctx context.Context, q ListQuery) iter.Seq2[Info, error]
	// Delete removes a session, its log, its inbox and its idempotency keys. Its
	// owner learns of it by ErrNotFound. Error: ErrNotFound.
	Delete(ctx context.Context, id messages.SessionID) error
	// Close releases what the store holds. No call may be under way.
	Close() error
}

// Errors of a Store. They are matched with errors.Is.
var (
	// ErrNotFound: no session of that id is stored.
	ErrNotFound = errors.New("session not found")
	// ErrExists: a session of that id is stored already.
	ErrExists = errors.New("session already exists")
	// ErrFenced: a newer owner has acquired the session.
	ErrFenced = errors.New("session is owned by a newer epoch")
	// ErrSequence: the batch does not continue the stored log.
	ErrSequence = errors.New("batch does not continue the stored log")
	// ErrNotQueued: a prompt to claim or drop is not in the inbox.
	ErrNotQueued = errors.New("prompt is not in the inbox")
)

// GapError says that a store does not keep the events of a range.
type GapError struct {
	ID       messages.SessionID
	From, To int64 // not including To
}

// Error names the session and the range.
func (e *GapError) Error() string {
	return fmt.Sprintf("events %d to %d of session %s are not kept", e.From, e.To-1, e.ID)
}

// DuplicateError says that a prompt with the same idempotency key was accepted
// before.
type DuplicateError struct {
	Key     string
	Message messages.MessageID // the prompt that has the key
}

// Error names the key and the message.
func (e *DuplicateError) Error() string {
	return fmt.Sprintf("idempotency key %q was used for message %s", e.Key, e.Message)
}

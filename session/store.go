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
// effect, durably as the store promises, or nothing does.
type Batch struct {
	ID    messages.SessionID
	Epoch messages.Epoch // the writer's; an older one than the stored is refused
	// Create, if set, makes the session: it must not exist, and Epoch is its
	// first (K-2: header and first events in one step).
	Create *Header
	// ExpectSeq is the sequence number of the first event; it must continue the
	// stored log exactly. It is checked even if Events is empty.
	ExpectSeq int64
	Events    []messages.Event
	// Add puts prompts at the end of the inbox; Claim and Drop take prompts out:
	// a claim shares its turn/start's batch (Z-36).
	Add   []messages.InboxItem
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
type Store interface {
	// Commit applies the batch. When it returns nil, the batch survives what the
	// store promises to survive. Errors: ErrFenced, ErrSequence, ErrExists (a
	// Create for a known id), ErrNotFound, *DuplicateError (an added prompt's key
	// was used before), or whatever made the store unavailable. After an error
	// nothing of the batch is stored.
	Commit(ctx context.Context, b Batch) error
	// Acquire makes the caller the session's only writer.
	Acquire(ctx context.Context, id messages.SessionID) (Acquired, error)
	// Read yields stored events from sequence number from up to, not including,
	// to (to < 0: all), in order. It sees committed batches only.
	Read(ctx context.Context, id messages.SessionID, from, to int64) iter.Seq2[messages.Event, error]
	// Stat describes a session without acquiring it.
	Stat(ctx context.Context, id messages.SessionID) (Info, error)
	// List yields sessions in the order of their ids.
	List(ctx context.Context, q ListQuery) iter.Seq2[Info, error]
	// Delete removes a session, its log and its inbox.
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
)

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

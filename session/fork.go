package session

import (
	"context"
	"errors"
	"fmt"

	"github.com/dsh-actor/dsh-actor/messages"
)

// WholeLog is the boundary of a fork that copies the whole log.
const WholeLog int64 = -1

// ForkRequest says what to fork.
type ForkRequest struct {
	Parent messages.SessionID
	Child  messages.SessionID
	// Boundary is the sequence number of the turn/end that the child's log ends
	// with, or [WholeLog].
	Boundary int64
	// CreatedAt is the child's creation time, in ms since the Unix epoch.
	CreatedAt int64
	// Epoch is the child's first; 0 counts as 1.
	Epoch messages.Epoch
	// Labels are the child's. Nil: the parent's.
	Labels map[string]string
}

// Fork makes a session whose log begins as a copy of another one's (E-12). It
// reads what the store has of the parent, which may be live, and writes the
// child in one batch: it exists whole or not at all. It returns the child's
// header.
//
// The prefix ends exactly at a turn/end. The whole log may have records after
// its last turn/end (Z-19); they are copied with it.
//
// Errors with a code: SESSION_ALREADY_EXISTS (checked first), SESSION_NOT_FOUND,
// OPEN_TURN (the whole log was asked for and its last turn is open),
// INVALID_BOUNDARY (no turn ends there).
func Fork(ctx context.Context, store Store, req ForkRequest) (Header, error) {
	switch _, err := store.Stat(ctx, req.Child); {
	case err == nil:
		return Header{}, forkExists(req)
	case !errors.Is(err, ErrNotFound):
		return Header{}, fmt.Errorf("fork session %s: %w", req.Parent, err)
	}
	parent, err := store.Stat(ctx, req.Parent)
	switch {
	case errors.Is(err, ErrNotFound):
		return Header{}, forkNotFound(req)
	case err != nil:
		return Header{}, fmt.Errorf("fork session %s: %w", req.Parent, err)
	}
	if req.Boundary < WholeLog || req.Boundary >= parent.NextSeq {
		return Header{}, invalidBoundary(req, "the log has %d events", parent.NextSeq)
	}
	events, err := forkPrefix(ctx, store, req)
	if err != nil {
		return Header{}, err
	}
	header := Header{
		ID: req.Child, CreatedAt: req.CreatedAt, Cwd: parent.Header.Cwd, ParentSession: req.Parent,
		SeedLength: int64(len(events)), DelegationDepth: parent.Header.DelegationDepth, Labels: req.Labels,
	}
	if req.Labels == nil {
		header.Labels = parent.Header.Labels
	}
	header = header.clone()
	err = store.Commit(ctx, Batch{ID: req.Child, Epoch: max(req.Epoch, 1), Create: &header, Events: events})
	switch {
	case errors.Is(err, ErrExists):
		return Header{}, forkExists(req)
	case err != nil:
		return Header{}, fmt.Errorf("fork session %s as %s: %w", req.Parent, req.Child, err)
	}
	return header, nil
}

// forkPrefix returns the parent's events up to the boundary, which must be one.
func forkPrefix(ctx context.Context, store Store, req ForkRequest) ([]messages.Event, error) {
	to := int64(-1)
	if req.Boundary != WholeLog {
		to = req.Boundary + 1
	}
	var events []messages.Event
	open, ended := 0, false // the open turn; whether any turn ended
	for e, err := range store.Read(ctx, req.Parent, 0, to) {
		switch {
		case errors.Is(err, ErrNotFound): // deleted meanwhile
			return nil, forkNotFound(req)
		case err != nil:
			return nil, fmt.Errorf("fork session %s: %w", req.Parent, err)
		}
		switch d := e.Data.(type) {
		case messages.TurnStart:
			open = d.Turn
		case messages.TurnEnd:
			open, ended = 0, true
		}
		events = append(events, e)
	}
	if req.Boundary == WholeLog {
		switch {
		case open != 0:
			return nil, messages.Errorf(messages.CodeOpenTurn, "fork session %s: turn %d is open", req.Parent, open)
		case !ended:
			return nil, invalidBoundary(req, "it has no turn that ended")
		}
		return events, nil
	}
	if len(events) == 0 || events[len(events)-1].Seq != req.Boundary {
		return nil, invalidBoundary(req, "the log has no such event")
	}
	last := events[len(events)-1]
	if _, ok := last.Data.(messages.TurnEnd); !ok {
		return nil, invalidBoundary(req, "it is a %s", last.Type())
	}
	return events, nil
}

func forkNotFound(req ForkRequest) error {
	return messages.Errorf(messages.CodeSessionNotFound, "fork session %s: no such session", req.Parent)
}

func forkExists(req ForkRequest) error {
	return messages.Errorf(messages.CodeSessionAlreadyExists, "fork session %s: session %s already exists",
		req.Parent, req.Child)
}

func invalidBoundary(req ForkRequest, format string, args ...any) error {
	at := "the end of the log"
	if req.Boundary != WholeLog {
		at = fmt.Sprintf("event %d", req.Boundary)
	}
	return messages.Errorf(messages.CodeInvalidBoundary, "fork session %s: %s is not the end of a turn: %s",
		req.Parent, at, fmt.Sprintf(format, args...))
}

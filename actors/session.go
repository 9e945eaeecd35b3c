package actors

import (
	"context"

	"github.com/dsh-actor/dsh-actor/messages"
	"github.com/dsh-actor/dsh-actor/pipeline"
	"github.com/dsh-actor/dsh-actor/session"
)

// Session is the handle of one session: an id and a runtime. Its verbs go through
// [Runtime.Deliver] by id, so that a handle stays good when the session is rebuilt.
// It is safe for concurrent use and may be copied by pointer freely.
type Session struct {
	rt   *Runtime
	id   messages.SessionID
	core *core // the activation that was live when the handle was made
}

// ID returns the session's id.
func (s *Session) ID() messages.SessionID { return s.id }

// PromptOption adjusts a prompt.
type PromptOption func(*messages.Prompt)

// WithSource names who sends the prompt; the default is the user (V-5).
func WithSource(src messages.Source) PromptOption {
	return func(p *messages.Prompt) { p.Source = src }
}

// WithContexts attaches contexts; agent/prompt-submit decides what becomes of them.
func WithContexts(contexts ...messages.Context) PromptOption {
	return func(p *messages.Prompt) { p.Contexts = messages.ListOf(contexts...) }
}

// WithMeta attaches metadata to the prompt's user/message.
func WithMeta(meta messages.JSON) PromptOption {
	return func(p *messages.Prompt) { p.Meta = meta }
}

// WithIdempotencyKey makes a repeated prompt one prompt.
func WithIdempotencyKey(key string) PromptOption {
	return func(p *messages.Prompt) { p.IdempotencyKey = key }
}

// Followup queues a prompt and wakes the agent: one turn of its own. When it
// returns, the prompt is durable (Z-36).
func (s *Session) Followup(ctx context.Context, content messages.Content, opts ...PromptOption) (messages.Accepted, error) {
	return s.deliverPrompt(ctx, messages.Followup, content, opts)
}

// Queue queues a prompt without waking the agent: it runs before the next waking
// one.
func (s *Session) Queue(ctx context.Context, content messages.Content, opts ...PromptOption) (messages.Accepted, error) {
	return s.deliverPrompt(ctx, messages.Queue, content, opts)
}

// Steer adds input to the running turn: it joins before the next step. While the
// agent is not running it is a Followup.
func (s *Session) Steer(ctx context.Context, content messages.Content, opts ...PromptOption) (messages.Accepted, error) {
	return s.deliverPrompt(ctx, messages.Steer, content, opts)
}

func (s *Session) deliverPrompt(ctx context.Context, d messages.Delivery, content messages.Content, opts []PromptOption) (messages.Accepted, error) {
	p := messages.Prompt{VerbHeader: messages.VerbHeader{Session: s.id}, Delivery: d, Content: content}
	for _, o := range opts {
		o(&p)
	}
	return s.rt.Deliver(ctx, p)
}

// Inject adds context without asking the model. The answer has the sequence
// number, or -1 if the context waits for the batch that runs.
func (s *Session) Inject(ctx context.Context, c messages.Context) (messages.Accepted, error) {
	return s.rt.Deliver(ctx, messages.Inject{VerbHeader: messages.VerbHeader{Session: s.id}, Context: c})
}

// CancelOption adjusts a Cancel.
type CancelOption func(*messages.Cancel)

// KeepInbox leaves queued prompts and steering alone.
func KeepInbox() CancelOption { return func(v *messages.Cancel) { v.KeepInbox = true } }

// CausedByParent says that the session's delegator cancels.
func CausedByParent() CancelOption {
	return func(v *messages.Cancel) { v.Cause = messages.CancelParent }
}

// Cancel aborts the open turn and drops what is queued. It does not wait for
// the turn to end; WhenIdle does. With nothing to cancel it does nothing.
func (s *Session) Cancel(ctx context.Context, opts ...CancelOption) error {
	v := messages.Cancel{VerbHeader: messages.VerbHeader{Session: s.id}}
	for _, o := range opts {
		o(&v)
	}
	_, err := s.rt.Deliver(ctx, v)
	return err
}

// WhenIdle returns when the session is at rest: no turn, no waking prompt.
// After disposal it returns when the last turn has ended. Called from inside the
// session's own listeners or tools it returns ErrWouldDeadlock.
func (s *Session) WhenIdle(ctx context.Context) error {
	for {
		c := s.activation()
		if inside(ctx, c) {
			return wouldDeadlock("WhenIdle", s.id)
		}
		wait, ended := c.idleOrWait()
		if wait == nil {
			return nil
		}
		select {
		case <-wait:
			if ended {
				return nil
			}
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// idleOrWait returns nil if the session is at rest, else what to wait for.
func (c *core) idleOrWait() (wait <-chan struct{}, ended bool) {
	c.lock()
	defer c.unlock()
	switch {
	case c.phase == phaseBroken && c.closing == nil:
		return nil, true
	case c.closing != nil:
		return c.closing.turnDone, true
	case c.settledLocked():
		return nil, false
	}
	w := make(chan struct{})
	c.idle = append(c.idle, w)
	return w, false
}

// Close ends the session for good: its inbox is discarded, its turn cancelled as
// disposed, agent/session-end told, its events flushed. When it returns,
// nothing of the session runs except what the report names; the stored log stays.
// At the end of ctx the session is sealed. Closing again waits for, and reports, the
// same end.
func (s *Session) Close(ctx context.Context) (messages.Report, error) {
	return s.activation().close(ctx, false, "close")
}

// Suspend ends the activation and keeps the inbox: Resume brings the session back.
// It is otherwise as Close.
func (s *Session) Suspend(ctx context.Context) (messages.Report, error) {
	return s.activation().close(ctx, true, "suspend")
}

// activation returns the current activation of the session, or the last one that
// the handle knew.
func (s *Session) activation() *core {
	if c := s.rt.dir.get(s.id); c != nil {
		return c
	}
	return s.core
}

// Status says what the agent does now (V-14).
func (s *Session) Status() messages.Status {
	c := s.activation()
	c.lock()
	defer c.unlock()
	return c.statusLocked()
}

// Header describes the session.
func (s *Session) Header() session.Header { return s.activation().log.Header() }

// NextSeq is the sequence number that the next event will get.
func (s *Session) NextSeq() int64 {
	c := s.activation()
	c.lock()
	defer c.unlock()
	return c.log.NextSeq()
}

// History returns the derived history as of now: what the model would read (E-6).
func (s *Session) History() messages.List[messages.Message] {
	c := s.activation()
	c.lock()
	defer c.unlock()
	history, _ := c.log.History()
	return history
}

// Agent returns the session as listeners and tools see it.
func (s *Session) Agent() pipeline.Agent { return s.activation() }

// Flush returns when everything appended so far is in the store.
func (s *Session) Flush(context.Context) error { return s.activation().flush() }

// cancelEvent is the event of agent/cancel-requested.
func cancelEvent(c *core, turn int, cause messages.CancelCause) *pipeline.CancelRequested {
	return &pipeline.CancelRequested{Agent: c, Turn: turn, Cause: cause}
}

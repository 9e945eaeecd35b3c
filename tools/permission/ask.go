package permission

import (
	"context"
	"fmt"

	"github.com/dsh-actor/dsh-actor/messages"
	"github.com/dsh-actor/dsh-actor/pipeline"
)

// Question is what a person is asked about a call.
type Question struct {
	Approval  messages.ApprovalID
	Session   messages.SessionID
	Call      messages.CallID
	Tool      string
	Arguments messages.JSON
	// Summary says on one line what the call would do. It has no control characters,
	// whatever the model wrote, and at most [MaxSummary] code points.
	Summary string
	// Reason says why it is asked. Origin says who asks.
	Reason string
	Origin messages.AskOrigin
	// Suggestions are what "always" may add for the session, the first one if the
	// answer gives none. There are none if nothing that could be added would answer
	// the next such question, as with a hook's.
	Suggestions []Update
}

// AnswerKind is what a person answered.
type AnswerKind string

// Answers.
const (
	AnswerOnce      AnswerKind = "once"
	AnswerSession   AnswerKind = "session" // always, for this session
	AnswerNo        AnswerKind = "no"
	AnswerCancelled AnswerKind = "cancelled"
)

// Answer is a person's answer.
type Answer struct {
	Kind AnswerKind
	// Reason is of AnswerNo: the model reads it in place of the default text.
	Reason string
	// Update is of AnswerSession: what to add. Nil is the first suggestion.
	Update *Update
}

// Asker puts a question to a person and waits for the answer. It must return when
// ctx is done. It may be called for several sessions at once. An error counts as
// no answer: the call is denied (P-9).
type Asker func(ctx context.Context, q Question) (Answer, error)

// answer is the listener of the approval seam. It asks only if no listener inside
// has an answer, wherever in the order it stands.
func (p *Policy) answer(ctx context.Context, req *pipeline.ApprovalRequest, next pipeline.Next[messages.ApprovalAnswer]) (messages.ApprovalAnswer, error) {
	given, err := next(ctx)
	if err != nil {
		return given, err
	}
	asker := p.base.Load().config.Asker
	if _, unavailable := given.(messages.ApprovalUnavailable); !unavailable || asker == nil {
		return given, nil
	}
	q := p.question(req)
	a, err := asker(ctx, q)
	if err != nil {
		return nil, fmt.Errorf("ask for permission: %w", err)
	}
	switch a.Kind {
	case AnswerOnce:
		return messages.ApprovalOnce{}, nil
	case AnswerSession:
		if err := p.grant(q, a.Update); err != nil {
			return nil, err
		}
		return messages.ApprovalOnce{}, nil
	case AnswerNo:
		return messages.ApprovalRejected{Reason: a.Reason}, nil
	case AnswerCancelled:
		return messages.ApprovalCancelled{}, nil
	}
	return nil, fmt.Errorf("ask for permission: unknown answer %q", a.Kind)
}

// grant adds for the session what the person said is always allowed.
func (p *Policy) grant(q Question, u *Update) error {
	if u == nil {
		if len(q.Suggestions) == 0 {
			return nil // nothing that could be added; once, then
		}
		u = &q.Suggestions[0]
	}
	return p.apply(q.Session, *u, q.Origin == messages.AskByRule)
}

func (p *Policy) question(req *pipeline.ApprovalRequest) Question {
	call := req.Call
	v, s := p.judge(call)
	q := Question{
		Approval: req.ID, Call: call.ID(), Tool: call.Name(), Arguments: call.Arguments(), Summary: s.summary(),
		Reason: req.Reason, Origin: req.Origin, Suggestions: v.suggest(s, req.Origin),
	}
	if a := call.Agent(); a != nil {
		q.Session = a.ID()
	}
	return q
}

// Suggestions returns what "always" may add for a call about which origin asks:
// the narrowest that helps first.
func (p *Policy) Suggestions(r Request, origin messages.AskOrigin) []Update {
	v := p.view(r.Session)
	return v.suggest(p.subject(v, r.Tool, r.Arguments, r.Cwd, r.Dir), origin)
}

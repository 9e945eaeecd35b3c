package pipeline

import (
	"context"
	"fmt"

	"github.com/dsh-actor/dsh-actor/messages"
)

// Approval policies of a session (P-9).
const (
	PolicyAsk   = "ask"
	PolicyNever = "never"
)

// ask resolves a ToolAsk through the approval seam (P-9, P-11, Z-50). It reports
// whether the call goes on to the guards.
func (x *Execution) ask(ctx context.Context, d messages.ToolAsk) (goOn bool) {
	name := x.call.name
	switch {
	case x.pipeline.seams.Approval.Empty():
		return x.deny(orDefault(d.Reason, fmt.Sprintf("tool %q requires approval (not yet supported)", name)))
	case x.call.agent == nil:
		return x.deny(fmt.Sprintf("tool %q requires approval, but the call has no agent to route it through", name))
	}
	answer, err := x.approve(ctx, d)
	if err != nil {
		return x.fail(err)
	}
	switch a := answer.(type) {
	case messages.ApprovalOnce:
		return true
	case messages.ApprovalRejected:
		return x.deny(orDefault(a.Reason, fmt.Sprintf("the user rejected tool %q", name)))
	case messages.ApprovalCancelled:
		if ctx.Err() != nil {
			x.result = abortedBeforeDispatch(messages.List[messages.Context]{})
			return false
		}
		return x.deny(fmt.Sprintf("approval for tool %q was cancelled", name))
	default:
		return x.deny(orDefault(d.Reason, fmt.Sprintf("tool %q requires approval, but no approval channel is available", name)))
	}
}

// approve records the question, asks, and records the answer. An answerer that
// fails or answers out of the vocabulary counts as unavailable.
func (x *Execution) approve(ctx context.Context, d messages.ToolAsk) (messages.ApprovalAnswer, error) {
	agent := x.call.agent
	if agent.ApprovalPolicy() == PolicyNever {
		return messages.ApprovalRejected{}, nil
	}
	if ctx.Err() != nil {
		return messages.ApprovalCancelled{}, nil
	}
	req := &ApprovalRequest{
		ID: x.pipeline.root.newApprovalID(), Call: &x.call, Reason: d.Reason, Origin: d.Origin,
	}
	if req.Origin == "" {
		req.Origin = messages.AskByListener
	}
	err := agent.Record(ctx, messages.ApprovalAsked{
		ID: req.ID, ToolName: x.call.name, CallID: x.call.id, Reason: messages.ValidUTF8(d.Reason),
	})
	if err != nil {
		return nil, fmt.Errorf("record approval request: %w", err)
	}
	answer := x.answer(ctx, req)
	err = agent.Record(ctx, messages.ApprovalDecided{ID: req.ID, Outcome: messages.ApprovalOutcome(answer)})
	if err != nil {
		return nil, fmt.Errorf("record approval answer: %w", err)
	}
	return answer, nil
}

// answer runs the approval seam. While it waits for a person the turn lends its
// place in the pool of running turns (DESIGN 3, rule 10).
func (x *Execution) answer(ctx context.Context, req *ApprovalRequest) messages.ApprovalAnswer {
	resume := func(context.Context) error { return nil }
	if y, ok := x.call.agent.(Yielder); ok {
		resume = y.Yield(ctx, "permission")
	}
	answer, err := x.pipeline.seams.Approval.Run(ctx, req, unavailable)
	if resume(ctx) != nil || ctx.Err() != nil {
		if _, allowed := answer.(messages.ApprovalOnce); allowed || err != nil {
			return messages.ApprovalCancelled{}
		}
	}
	if err != nil {
		return messages.ApprovalUnavailable{}
	}
	return answer
}

func unavailable(context.Context, *ApprovalRequest) (messages.ApprovalAnswer, error) {
	return messages.ApprovalUnavailable{}, nil
}

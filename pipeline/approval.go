package pipeline

import (
	"context"
	"fmt"

	"github.com/dsh-actor/dsh-actor/messages"
	"github.com/dsh-actor/dsh-actor/otel"
)

// Approval policies of a session (P-9).
const (
	PolicyAsk   = "ask"
	PolicyNever = "never"
)

// ask resolves a ToolAsk through the approval seam (P-9, P-11, Z-50). It leaves
// the result undecided if the call goes on to the guards.
func (x *Execution) ask(ctx context.Context, d messages.ToolAsk) {
	tool := `tool "` + x.call.name + `"`
	switch {
	case x.pipeline.seams.Approval.Empty():
		x.deny(orDefault(d.Reason, tool+" requires approval (not yet supported)"))
		return
	case x.call.agent == nil:
		x.deny(tool + " requires approval, but the call has no agent to route it through")
		return
	}
	answer, err := x.approve(ctx, d)
	if err != nil {
		x.fail(err)
		return
	}
	switch a := answer.(type) {
	case messages.ApprovalOnce:
	case messages.ApprovalRejected:
		x.deny(orDefault(a.Reason, "the user rejected "+tool))
	case messages.ApprovalCancelled:
		if ctx.Err() != nil {
			x.result = abortedBeforeDispatch(noContexts) // P-11
			return
		}
		x.deny("approval for " + tool + " was cancelled")
	default:
		x.deny(orDefault(d.Reason, tool+" requires approval, but no approval channel is available"))
	}
}

// approve records the question, asks, and records the answer. An aborted signal
// is cancelled, and the policy "never" rejects, without asking.
func (x *Execution) approve(ctx context.Context, d messages.ToolAsk) (messages.ApprovalAnswer, error) {
	agent := x.call.agent
	switch {
	case ctx.Err() != nil:
		return messages.ApprovalCancelled{}, nil
	case agent.ApprovalPolicy() == PolicyNever:
		return messages.ApprovalRejected{}, nil
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
// place in the pool of running turns (DESIGN 3, rule 10). An answerer that fails
// or answers out of the vocabulary counts as unavailable, unless it failed because
// the call was cancelled.
func (x *Execution) answer(ctx context.Context, req *ApprovalRequest) messages.ApprovalAnswer {
	resume := x.yield(ctx)
	// A place that cannot be taken again is no reason to forget the answer: it is
	// refused only when ctx ends, and that is looked at after the guards (P-11).
	defer func() { _ = resume(ctx) }()
	answer, err := x.waitForAnswer(ctx, req)
	switch {
	case err == nil:
		return answer
	case ctx.Err() != nil:
		return messages.ApprovalCancelled{}
	default:
		return messages.ApprovalUnavailable{}
	}
}

func (x *Execution) waitForAnswer(ctx context.Context, req *ApprovalRequest) (answer messages.ApprovalAnswer, err error) {
	seam := &x.pipeline.seams.Approval
	if t := x.pipeline.root.config.Tracer; t != nil {
		var span otel.WaitSpan
		ctx, span = t.StartWait(ctx, otel.WaitPermission)
		err = errGoexit // stands if an answerer ends the goroutine
		defer func() { span.End(otel.Ending{Err: err}) }()
	}
	return seam.Run(ctx, req, unavailable)
}

func (x *Execution) yield(ctx context.Context) (resume func(context.Context) error) {
	if y, ok := x.call.agent.(Yielder); ok {
		return y.Yield(ctx, "permission")
	}
	return func(context.Context) error { return nil }
}

func unavailable(context.Context, *ApprovalRequest) (messages.ApprovalAnswer, error) {
	return messages.ApprovalUnavailable{}, nil
}

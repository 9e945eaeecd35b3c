package pipeline

import (
	"context"

	"github.com/dsh-actor/dsh-actor/messages"
	"github.com/dsh-actor/dsh-actor/otel"
)

// Policy runs pre-execute, approval and guards (P-8 to P-12) and reports whether
// the call is to be dispatched.
func (x *Execution) Policy(ctx context.Context) (dispatch bool) {
	if x.result != nil {
		return false
	}
	x.guarded("tools/pre-execute", (*Execution).policy, ctx)
	return x.result == nil
}

// policy leaves the result undecided if the call may go on.
func (x *Execution) policy(ctx context.Context) {
	decision, err := x.pipeline.seams.PreExecute.Run(ctx, &x.call, allowCall)
	if err != nil {
		x.fail(err)
		return
	}
	switch d := decision.(type) {
	case messages.ToolDeny:
		x.deny(orDefault(d.Reason, messages.DefaultDenyReason))
	case messages.ToolAsk:
		x.ask(ctx, d)
	}
	if x.result != nil {
		return
	}
	switch reason, deny, err := x.pipeline.checkGuards(&x.call); {
	case err != nil:
		x.fail(err)
	case deny:
		x.deny(reason)
	case ctx.Err() != nil:
		x.result = abortedBeforeDispatch(noContexts) // P-11
	default:
		x.decided(otel.DecisionAllow)
	}
}

func allowCall(context.Context, *Call) (messages.PreToolDecision, error) {
	return messages.ToolAllow{}, nil
}

// deny makes a denial the result; post-execute sees it (P-12).
func (x *Execution) deny(reason string) {
	x.decided(otel.DecisionDeny)
	x.result = denied(messages.ValidUTF8(reason))
}

func orDefault(s, def string) string {
	if s == "" {
		return def
	}
	return s
}

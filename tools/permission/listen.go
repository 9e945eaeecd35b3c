package permission

import (
	"context"

	"github.com/dsh-actor/dsh-actor/messages"
	"github.com/dsh-actor/dsh-actor/pipeline"
)

// Target is where a policy is installed: a runtime's pipeline, or a session's.
type Target interface {
	Seams() *pipeline.Seams
	Guard(fn pipeline.Guard, opts ...pipeline.Option) (lift func())
}

// Names of the listeners, for spans and reports.
const (
	AskListener  = "permission:ask-rules"
	ModeListener = "permission:mode"
	DenyGuard    = "permission:deny-rules"
	Answerer     = "permission:answer"
)

// Install makes a policy and installs it. See [Policy.Install].
func Install(t Target, cfg Config) (remove func(), err error) {
	p, err := New(cfg)
	if err != nil {
		return nil, err
	}
	return p.Install(t), nil
}

// Install registers the policy and returns what removes it.
//
// Ask rules are the outermost listener of tools/pre-execute, deny rules a guard,
// the mode the innermost listener. A bridge stands between: its allow pre-approves
// against the mode, but neither against ask rules nor against deny rules (Z-35).
// That order is the order of registration, so install the policy after the
// bridges. A listener that is registered later is inside the mode: what it denies
// or asks still holds, and only its allow does not pre-approve. After mounting
// another bridge, install again and then remove the earlier installation; the other
// way round would leave a moment without rules.
func (p *Policy) Install(t Target) (remove func()) {
	s := t.Seams()
	removes := []func(){
		t.Guard(p.guard, pipeline.Named(DenyGuard)),
		s.PreExecute.Use(p.askRules, pipeline.Named(AskListener), pipeline.Prepend()),
		s.PreExecute.Use(p.modes, pipeline.Named(ModeListener)),
		s.SessionEnd.Use(p.sessionEnd, pipeline.Named("permission:session-end")),
		s.Approval.Use(p.answer, pipeline.Named(Answerer)),
	}
	return func() {
		for _, r := range removes {
			r()
		}
	}
}

// judge prepares the decision on a call.
func (p *Policy) judge(call *pipeline.Call) (view, *subject) {
	var id messages.SessionID
	cwd, dir := "", ""
	if a := call.Agent(); a != nil {
		id, cwd = a.ID(), a.Cwd()
	}
	v := p.view(id)
	if of := v.base.config.Cwd; of != nil {
		dir = of(call)
	}
	return v, p.subject(v, call.Name(), call.Arguments(), cwd, dir)
}

// guard holds the deny rules, whatever the listeners decided (P-10).
func (p *Policy) guard(call *pipeline.Call) (reason string, deny bool) {
	v, s := p.judge(call)
	verdict, denied := v.denied(s)
	return verdict.Reason, denied
}

// askRules turns an allow into an ask, and an ask that a deny rule would make
// pointless into a denial, so that nobody is asked in vain.
func (p *Policy) askRules(ctx context.Context, call *pipeline.Call, next pipeline.Next[messages.PreToolDecision]) (messages.PreToolDecision, error) {
	decision, err := next(ctx)
	if err != nil {
		return decision, err
	}
	switch decision.(type) {
	case messages.ToolAllow:
		v, s := p.judge(call)
		verdict, ok := v.asked(s)
		switch {
		case !ok:
		case verdict.Behavior == Deny:
			return messages.ToolDeny{Reason: verdict.Reason}, nil
		default:
			// A deny rule would make the question pointless too.
			if denied, ok := v.denied(s); ok {
				return messages.ToolDeny{Reason: denied.Reason}, nil
			}
			return messages.ToolAsk{Reason: verdict.Reason, Origin: messages.AskByRule}, nil
		}
	case messages.ToolAsk:
		v, s := p.judge(call)
		if verdict, denied := v.denied(s); denied {
			return messages.ToolDeny{Reason: verdict.Reason}, nil
		}
	}
	return decision, nil
}

// modes decides where nothing outside did. What listeners inside deny or ask
// stands, unless the mode is stricter.
func (p *Policy) modes(ctx context.Context, call *pipeline.Call, next pipeline.Next[messages.PreToolDecision]) (messages.PreToolDecision, error) {
	decision, err := next(ctx)
	if err != nil {
		return decision, err
	}
	if _, denied := decision.(messages.ToolDeny); denied {
		return decision, nil
	}
	v, s := p.judge(call)
	switch verdict := v.byMode(s); verdict.Behavior {
	case Deny:
		return messages.ToolDeny{Reason: verdict.Reason}, nil
	case Ask:
		if _, asked := decision.(messages.ToolAsk); !asked {
			return messages.ToolAsk{Reason: verdict.Reason, Origin: messages.AskByMode}, nil
		}
	}
	return decision, nil
}

func (p *Policy) sessionEnd(_ context.Context, e *pipeline.SessionEnd) error {
	if e.Agent != nil {
		p.Forget(e.Agent.ID())
	}
	return nil
}

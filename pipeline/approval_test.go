package pipeline_test

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/dsh-actor/dsh-actor/messages"
	"github.com/dsh-actor/dsh-actor/pipeline"
)

func answer(a messages.ApprovalAnswer, err error) pipeline.Handler[*pipeline.ApprovalRequest, messages.ApprovalAnswer] {
	return func(context.Context, *pipeline.ApprovalRequest, nextAnswer) (messages.ApprovalAnswer, error) {
		return a, err
	}
}

// P-9, Z-50: how an ask is resolved, what the model reads, what the log gets, and
// which phases follow.
func TestAskResolution(t *testing.T) {
	asked := messages.ApprovalAsked{ID: "ask-1", ToolName: "T", CallID: "c"}
	askedWhy := asked
	askedWhy.Reason = "why"
	decided := func(outcome string) messages.EventData {
		return messages.ApprovalDecided{ID: "ask-1", Outcome: outcome}
	}
	deniedPath := []string{"pre", "post", "result"}
	allowedPath := []string{"pre", "guard", "execute", "body", "post", "result"}
	ok := outcome{Text: "1", Value: "1"}
	tests := []struct {
		name     string
		reason   string
		noAgent  bool
		policy   string
		fails    error // of the agent's record
		answerer pipeline.Handler[*pipeline.ApprovalRequest, messages.ApprovalAnswer]
		want     outcome
		path     []string
		log      []messages.EventData
	}{
		{name: "no approval service", want: failure(`tool "T" requires approval (not yet supported)`), path: deniedPath},
		{name: "no approval service, with a reason", reason: "why", want: failure("why"), path: deniedPath},
		{
			name: "service-absent is tested before agent-absent", noAgent: true,
			want: failure(`tool "T" requires approval (not yet supported)`), path: deniedPath,
		},
		{
			name: "no agent", noAgent: true, reason: "why", answerer: answer(messages.ApprovalOnce{}, nil),
			want: failure(`tool "T" requires approval, but the call has no agent to route it through`), path: deniedPath,
		},
		{
			name: "allowed once", reason: "why", answerer: answer(messages.ApprovalOnce{}, nil),
			want: ok, path: allowedPath, log: []messages.EventData{askedWhy, decided("allowed-once")},
		},
		{
			name: "rejected", reason: "why", answerer: answer(messages.ApprovalRejected{}, nil),
			want: failure(`the user rejected tool "T"`), path: deniedPath,
			log: []messages.EventData{askedWhy, decided("rejected")},
		},
		{
			name: "rejected with a reason", answerer: answer(messages.ApprovalRejected{Reason: "not today"}, nil), // Z-50
			want: failure("not today"), path: deniedPath,
			log: []messages.EventData{asked, decided("rejected")},
		},
		{
			name: "cancelled", reason: "why", answerer: answer(messages.ApprovalCancelled{}, nil),
			want: failure(`approval for tool "T" was cancelled`), path: deniedPath,
			log: []messages.EventData{askedWhy, decided("cancelled")},
		},
		{
			name: "nobody answers",
			answerer: func(ctx context.Context, _ *pipeline.ApprovalRequest, next nextAnswer) (messages.ApprovalAnswer, error) {
				return next(ctx)
			},
			want: failure(`tool "T" requires approval, but no approval channel is available`), path: deniedPath,
			log: []messages.EventData{asked, decided("unavailable")},
		},
		{
			name: "unavailable, with a reason", reason: "why", answerer: answer(messages.ApprovalUnavailable{}, nil), // Z-50
			want: failure("why"), path: deniedPath,
			log: []messages.EventData{askedWhy, decided("unavailable")},
		},
		{
			name: "answerer fails", answerer: answer(messages.ApprovalOnce{}, errBoom),
			want: failure(`tool "T" requires approval, but no approval channel is available`), path: deniedPath,
			log: []messages.EventData{asked, decided("unavailable")},
		},
		{
			name: "answerer panics",
			answerer: func(context.Context, *pipeline.ApprovalRequest, nextAnswer) (messages.ApprovalAnswer, error) {
				panic("ouch")
			},
			want: failure(`tool "T" requires approval, but no approval channel is available`), path: deniedPath,
			log: []messages.EventData{asked, decided("unavailable")},
		},
		{
			name: "answer out of the vocabulary", answerer: answer(&messages.ApprovalOnce{}, nil),
			want: failure(`tool "T" requires approval, but no approval channel is available`), path: deniedPath,
			log: []messages.EventData{asked, decided("unavailable")},
		},
		{
			name: "no answer", answerer: answer(nil, nil),
			want: failure(`tool "T" requires approval, but no approval channel is available`), path: deniedPath,
			log: []messages.EventData{asked, decided("unavailable")},
		},
		{
			name: "policy never rejects without asking", policy: pipeline.PolicyNever,
			answerer: answer(messages.ApprovalOnce{}, nil),
			want:     failure(`the user rejected tool "T"`), path: deniedPath,
		},
		{
			name: "outside an open turn the record fails, finally", fails: errBoom,
			answerer: answer(messages.ApprovalOnce{}, nil),
			want:     failure("record approval request: boom"), path: []string{"pre", "result"}, // P-14: no post-execute
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var j journal
			p := newPipeline(t, rawTool("T", func(context.Context, *pipeline.Invocation) (messages.JSON, error) {
				j.add("body")
				return "1", nil
			}))
			j.observe(p)
			p.Seams().PreExecute.Use(pre(messages.ToolAsk{Reason: tt.reason}, nil))
			if tt.answerer != nil {
				p.Seams().Approval.Use(tt.answerer)
			}
			agent := &fakeAgent{policy: tt.policy, recordErr: tt.fails}
			in := pipeline.Input{ID: "c", Name: "T", Agent: agent}
			if tt.noAgent {
				in.Agent = nil
			}
			outcomeOf(p.Execute(t.Context(), in)).expect(t, tt.want)
			j.expect(t, tt.path...)
			if diff := cmp.Diff(tt.log, agent.events()); diff != "" {
				t.Errorf("log (-want +got):\n%s", diff)
			}
		})
	}
}

// P-9: the approval answer cannot be recorded: the call does not run.
func TestApprovalAnswerMustBeRecorded(t *testing.T) {
	agent := &fakeAgent{}
	p := newPipeline(t, rawTool("T", constant("1")))
	p.Seams().PreExecute.Use(pre(messages.ToolAsk{}, nil))
	p.Seams().Approval.Use(func(context.Context, *pipeline.ApprovalRequest, nextAnswer) (messages.ApprovalAnswer, error) {
		agent.mu.Lock()
		defer agent.mu.Unlock()
		agent.recordErr = errBoom
		return messages.ApprovalOnce{}, nil
	})
	outcomeOf(p.Execute(t.Context(), pipeline.Input{Name: "T", Agent: agent})).expect(t, failure("record approval answer: boom"))
}

// Z-50: what an answerer is told. PAIN 14: it judges the very bytes that run.
func TestApprovalRequest(t *testing.T) {
	const args = `{"n": 1.0, "z":-0}`
	var ran messages.JSON
	p := pipeline.New(pipeline.Config{NewApprovalID: func() messages.ApprovalID { return "minted" }})
	register(t, p, rawTool("T", func(_ context.Context, inv *pipeline.Invocation) (messages.JSON, error) {
		ran = inv.Call().Arguments()
		return "1", nil
	}))
	for _, origin := range []messages.AskOrigin{"", messages.AskByMode, messages.AskByRule, messages.AskByHook} {
		remove := p.Seams().PreExecute.Use(pre(messages.ToolAsk{Reason: "why", Origin: origin}, nil))
		var got pipeline.ApprovalRequest
		removeAnswer := p.Seams().Approval.Use(func(_ context.Context, req *pipeline.ApprovalRequest, _ nextAnswer) (messages.ApprovalAnswer, error) {
			got = *req
			return messages.ApprovalOnce{}, nil
		})
		p.Execute(t.Context(), pipeline.Input{ID: "c", Name: "T", Arguments: args, Agent: &fakeAgent{}})
		if origin == "" {
			origin = messages.AskByListener
		}
		if got.ID != "minted" || got.Reason != "why" || got.Origin != origin || got.Call.ID() != "c" || got.Call.Arguments() != args || ran != args {
			t.Errorf("request %+v for %s, ran %s", got, got.Call.Arguments(), ran)
		}
		remove()
		removeAnswer()
	}
}

// P-11: what settles after the caller's signal was aborted.
func TestAskAfterCancellation(t *testing.T) {
	tests := []struct {
		name   string
		answer messages.ApprovalAnswer
		err    error
		guard  pipeline.Guard
		want   outcome
		path   []string
		word   string
	}{
		{
			name: "cancelled", answer: messages.ApprovalCancelled{},
			want: abortedBefore(), path: []string{"pre", "post", "result"}, word: "cancelled",
		},
		{
			name: "the answerer fails with the signal", err: context.Canceled,
			want: abortedBefore(), path: []string{"pre", "post", "result"}, word: "cancelled",
		},
		{
			name: "a deny stays a deny", answer: messages.ApprovalRejected{Reason: "no"},
			want: failure("no"), path: []string{"pre", "post", "result"}, word: "rejected",
		},
		{
			name: "an allow is guarded, then aborted", answer: messages.ApprovalOnce{},
			want: abortedBefore(), path: []string{"pre", "guard", "post", "result"}, word: "allowed-once",
		},
		{
			name: "an allow that a guard denies", answer: messages.ApprovalOnce{}, guard: denying("guarded"),
			want: failure("guarded"), path: []string{"pre", "guard", "post", "result"}, word: "allowed-once",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var j journal
			p := newPipeline(t, rawTool("T", constant("1")))
			j.observe(p)
			if tt.guard != nil {
				p.Guard(tt.guard)
			}
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			p.Seams().PreExecute.Use(pre(messages.ToolAsk{}, nil))
			p.Seams().Approval.Use(func(context.Context, *pipeline.ApprovalRequest, nextAnswer) (messages.ApprovalAnswer, error) {
				cancel()
				return tt.answer, tt.err
			})
			agent := &fakeAgent{}
			outcomeOf(p.Execute(ctx, pipeline.Input{Name: "T", Agent: agent})).expect(t, tt.want)
			j.expect(t, tt.path...)
			want := []messages.EventData{
				messages.ApprovalAsked{ID: "ask-1", ToolName: "T"},
				messages.ApprovalDecided{ID: "ask-1", Outcome: tt.word},
			}
			if diff := cmp.Diff(want, agent.events()); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// P-9: a signal that was aborted before the question is cancelled without asking;
// P-11: a deny that settles after cancellation stays a deny.
func TestCancelledBeforeAsk(t *testing.T) {
	for _, policy := range []string{pipeline.PolicyAsk, pipeline.PolicyNever} {
		p := newPipeline(t, rawTool("T", constant("1")))
		ctx, cancel := context.WithCancel(t.Context())
		defer func() { cancel() }()
		var decision messages.PreToolDecision = messages.ToolAsk{}
		p.Seams().PreExecute.Use(func(context.Context, *pipeline.Call, nextPre) (messages.PreToolDecision, error) {
			cancel()
			return decision, nil
		})
		p.Seams().Approval.Use(func(context.Context, *pipeline.ApprovalRequest, nextAnswer) (messages.ApprovalAnswer, error) {
			t.Error("asked")
			return messages.ApprovalOnce{}, nil
		})
		agent := &fakeAgent{policy: policy}
		outcomeOf(p.Execute(ctx, pipeline.Input{Name: "T", Agent: agent})).expect(t, abortedBefore())
		if events := agent.events(); len(events) > 0 {
			t.Errorf("recorded %v", events)
		}
		ctx, again := context.WithCancel(t.Context())
		defer again()
		cancel, decision = again, messages.ToolDeny{}
		outcomeOf(p.Execute(ctx, pipeline.Input{Name: "T", Agent: agent})).expect(t, failure("denied by policy")) // Z-1
	}
}

// yieldingAgent lends its turn's place.
type yieldingAgent struct {
	fakeAgent
	j *journal
}

func (a *yieldingAgent) Yield(_ context.Context, why string) func(context.Context) error {
	a.j.add("yield " + why)
	return func(ctx context.Context) error {
		a.j.add("resume")
		return ctx.Err()
	}
}

// DESIGN 3, rule 10: the place is lent while a person is asked, and taken again
// however the asking ends.
func TestApprovalYields(t *testing.T) {
	for _, how := range []string{"answers", "fails", "panics", "exits", "cancels"} {
		t.Run(how, func(t *testing.T) {
			var j journal
			p := newPipeline(t, rawTool("T", constant("1")))
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			p.Seams().PreExecute.Use(pre(messages.ToolAsk{}, nil))
			p.Seams().Approval.Use(func(context.Context, *pipeline.ApprovalRequest, nextAnswer) (messages.ApprovalAnswer, error) {
				j.add("asked")
				switch how {
				case "fails":
					return nil, errBoom
				case "panics":
					panic("ouch")
				case "exits":
					goexit()
				case "cancels":
					cancel()
				}
				return messages.ApprovalOnce{}, nil
			})
			inGoroutine(func() { p.Execute(ctx, pipeline.Input{Name: "T", Agent: &yieldingAgent{j: &j}}) })
			j.expect(t, "yield permission", "asked", "resume")
		})
	}
}

// PAIN 15: a denial is exactly one result, in the model's words.
func TestDenialIsOneResult(t *testing.T) {
	var j journal
	p := newPipeline(t, rawTool("T", constant("1")))
	j.observe(p)
	p.Seams().PreExecute.Use(pre(messages.ToolDeny{Reason: "not \xff here"}, nil))
	r := p.Execute(t.Context(), pipeline.Input{Name: "T"})
	outcomeOf(r).expect(t, failure("not \ufffd here")) // Z-7
	j.expect(t, "pre", "post", "result")
}

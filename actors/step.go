package actors

import (
	"context"
	"errors"
	"fmt"

	"github.com/dsh-actor/dsh-actor/messages"
	"github.com/dsh-actor/dsh-actor/model"
	"github.com/dsh-actor/dsh-actor/otel"
	"github.com/dsh-actor/dsh-actor/pipeline"
	"github.com/dsh-actor/dsh-actor/session"
)

// oneStep is one model request and its tool batch (T-4). A reason with a kind ends
// the turn. completed is what the turn ends with if it ends by itself: a step that
// hit the token limit changes it for good (T-9).
func (t *turn) oneStep(completed *messages.EndReason) (messages.EndReason, error) {
	none := messages.EndReason{}
	if limit := t.core.agent.MaxStepsPerPrompt; limit > 0 && t.requests >= limit {
		return messages.EndReason{Kind: messages.EndMaxSteps, Limit: limit}, nil
	}
	t.step++
	span := t.startStepTrace()
	calls := t.calls
	end, err := t.insideStep(completed)
	span.End(otel.StepEnd{ToolCalls: t.calls - calls, Ending: otel.Ending{Err: err}})
	t.in = t.ctx
	var failed *requestFailure
	switch {
	case errors.As(err, &failed) && !t.interrupted():
		return none, t.recover(failed)
	case err != nil || end.ends():
		return end.reason, err
	}
	return t.continuation(end, *completed)
}

// stepEnd is what came of a step: a reason that ends the turn, or what
// agent/turn-continuation is asked about.
type stepEnd struct {
	reason  messages.EndReason
	content messages.Content
	calls   int
	goOn    bool
}

func (e stepEnd) ends() bool { return e.reason.Kind != "" }

// insideStep is a step up to its step/end.
func (t *turn) insideStep(completed *messages.EndReason) (stepEnd, error) {
	none := stepEnd{}
	if _, err := t.drainSteering(); err != nil {
		return none, err
	}
	if err := t.composePrefix(); err != nil {
		return none, err
	}
	if reason, err := t.preStep(); err != nil || reason.Kind != "" {
		return stepEnd{reason: reason}, err
	}
	answer, err := t.ask()
	if err != nil {
		return none, err
	}
	t.retried = nil
	if answer.Finish.Kind == messages.FinishMaxTokens {
		*completed = messages.EndReason{Kind: messages.EndMaxTokens}
	}
	return t.afterAnswer(answer.Content)
}

// afterAnswer runs the batch and closes the step.
func (t *turn) afterAnswer(content messages.Content) (stepEnd, error) {
	calls := content.ToolCalls()
	t.calls += len(calls)
	concluded, err := t.runBatch(calls)
	if err != nil {
		return stepEnd{}, err
	}
	steered, err := t.drainSteering()
	if err != nil && !t.interrupted() {
		return stepEnd{}, err
	}
	t.at(atPostStep)
	err = t.seams().PostStep.Run(t.in, &pipeline.Step{Agent: t, Turn: t.number, Step: t.step})
	switch {
	case t.interrupted():
		return stepEnd{}, errInterrupted
	case err != nil:
		return stepEnd{}, err
	}
	_, err = t.core.appendOne(&t.writer, session.LogOnly(messages.StepEnd{Turn: t.number, Step: t.step}))
	return stepEnd{content: content, calls: len(calls), goOn: len(calls) > 0 && !concluded || steered}, err
}

// continuation asks agent/turn-continuation and agent/turn-stop (T-11, T-12, S-6,
// S-7).
func (t *turn) continuation(end stepEnd, completed messages.EndReason) (messages.EndReason, error) {
	none := messages.EndReason{}
	event := &pipeline.Continuation{
		Agent: t, Turn: t.number, Step: t.step, Default: messages.TurnStop{},
		SteeringPending: t.steeringPending(), ToolCalls: end.calls, Message: end.content,
	}
	goOn := end.goOn
	if goOn {
		event.Default = messages.TurnContinue{}
	}
	t.at(atContinuation)
	decision, err := t.seams().TurnContinuation.Run(t.ctx, event, defaultContinuation)
	switch {
	case t.interrupted():
		return none, errInterrupted
	case err != nil:
		return none, err
	}
	switch d := decision.(type) {
	case messages.TurnContinue:
		goOn = true
		if !d.Reason.IsZero() {
			t.steer(d)
		}
	case messages.TurnStop:
		goOn = false
	default:
		return none, fmt.Errorf("agent/turn-continuation: decision of an unknown kind %T", decision)
	}
	goOn = t.steeringPending() || goOn
	return t.turnStop(event, goOn, completed)
}

func defaultContinuation(_ context.Context, c *pipeline.Continuation) (messages.ContinuationDecision, error) {
	return c.Default, nil
}

// turnStop asks agent/turn-stop what was folded: a step is to follow, or not.
func (t *turn) turnStop(asked *pipeline.Continuation, goOn bool, completed messages.EndReason) (messages.EndReason, error) {
	event := *asked
	event.SteeringPending = t.steeringPending()
	event.Default = messages.TurnStop{}
	if goOn {
		event.Default = messages.TurnContinue{}
	}
	t.at(atTurnStop)
	verdict, err := t.seams().TurnStop.Run(t.ctx, &event)
	switch {
	case t.interrupted():
		return messages.EndReason{}, errInterrupted
	case err != nil:
		return messages.EndReason{}, err
	}
	switch v := verdict.(type) {
	case messages.Halt:
		t.discardSteering()
		at := messages.HaltAtStop
		if event.ToolCalls > 0 {
			at = messages.HaltAtTool
		}
		return messages.EndReason{Kind: messages.EndHalted, Reason: messages.ValidUTF8(v.Reason), At: at}, nil
	case messages.Stop:
		t.discardSteering()
		return completed, nil
	}
	if goOn {
		return messages.EndReason{}, nil
	}
	return completed, nil
}

// preStep runs agent/pre-step; it may halt the run (Z-21).
func (t *turn) preStep() (messages.EndReason, error) {
	t.at(atPreStep)
	verdict, err := t.seams().PreStep.Run(t.in, &pipeline.Step{Agent: t, Turn: t.number, Step: t.step})
	switch {
	case t.interrupted():
		return messages.EndReason{}, errInterrupted
	case err != nil:
		return messages.EndReason{}, err
	}
	switch v := verdict.(type) {
	case messages.Halt:
		at := messages.HaltAtPrompt
		if t.step > 1 {
			at = messages.HaltAtTool
		}
		t.discardSteering()
		return messages.EndReason{Kind: messages.EndHalted, Reason: messages.ValidUTF8(v.Reason), At: at}, nil
	case nil:
		return messages.EndReason{}, nil
	default:
		return messages.EndReason{}, fmt.Errorf("agent/pre-step: a listener may halt, not %T", verdict)
	}
}

// composePrefix runs agent/session-prefix once per activation (S-5); an
// interrupted one is composed again.
func (t *turn) composePrefix() error {
	c := t.core
	if c.prefix != nil {
		return nil
	}
	t.at(atPrefix)
	prefix, err := t.seams().SessionPrefix.Run(t.in, &pipeline.SessionPrefix{Agent: t}, noPrefix)
	switch {
	case t.interrupted():
		return errInterrupted
	case err != nil:
		return err
	}
	c.prefix = prefix
	return nil
}

// emptyPrefix is shared by all sessions without a prefix; it is never changed.
var emptyPrefix = &messages.List[messages.Message]{}

func noPrefix(context.Context, *pipeline.SessionPrefix) (*messages.List[messages.Message], error) {
	return emptyPrefix, nil
}

// requestFailure is a failed model request (T-10).
type requestFailure struct{ failure messages.Failure }

func (e *requestFailure) Error() string { return e.failure.Message }

// ask sends one model request and logs its stream and answer (T-4 to T-8).
func (t *turn) ask() (messages.Assembled, error) {
	var none messages.Assembled
	req, err := t.openStep()
	if err != nil {
		return none, err
	}
	adapter, ok := t.core.rt.cfg.Models.Lookup(req.Header.Config.Provider)
	if !ok {
		return none, messages.Errorf(messages.CodeInvalidInput, "no model adapter for provider %q", req.Header.Config.Provider)
	}
	t.at(atStore)
	if err := t.core.flush(); err != nil {
		return none, err // no request whose record is not durable (K-6)
	}
	t.requests++
	t.at(atModel)
	chunks, got, err := t.exchange(adapter, req)
	if err != nil {
		return none, err
	}
	return t.answer(got, chunks, req.Header.Config)
}

// exchange is the model request itself, under its span.
func (t *turn) exchange(adapter model.Model, req model.Request) (chunks []int64, got messages.Assembled, err error) {
	ctx, span := t.startChat(adapter, &req.Header)
	asm, chunks, err := t.stream(ctx, adapter, req, &span)
	switch {
	case t.interrupted():
		err = errInterrupted
	case err == nil:
		got, err = finished(asm)
	}
	t.usage = t.usage.Add(got.Usage)
	end := otel.ChatEnd{Usage: got.Usage, Finish: got.Finish, Cancelled: t.interrupted()}
	var failed *requestFailure
	if errors.As(err, &failed) {
		end.Failure = failed.failure
	}
	span.End(end)
	return chunks, got, err
}

// finished assembles a stream that has ended. A finish that is a failure is one.
func finished(asm *messages.Assembler) (messages.Assembled, error) {
	got, err := asm.Result()
	if err != nil {
		return got, &requestFailure{messages.Failure{Message: err.Error(), Code: messages.CodeUnknown}}
	}
	if !got.Finish.Failed() {
		return got, nil
	}
	f := got.Finish.Failure
	if f.IsZero() {
		f = messages.Failure{Message: "the model's stream ended with " + got.Finish.Kind, Code: messages.CodeUnknown}
	}
	return got, &requestFailure{f}
}

// openStep snapshots the history, opens the step and logs the request header if it
// is owed (T-5, T-6).
func (t *turn) openStep() (model.Request, error) {
	c := t.core
	req := model.Request{Session: c.id, Turn: t.number, Step: t.step, Attempt: len(t.retried)}
	if err := t.startStep(&req); err != nil {
		return req, err
	}
	config, err := t.requestConfig()
	if err != nil {
		return req, err
	}
	req.Header = messages.RequestHeader{
		Config: config, System: c.agent.System, Tools: c.pipe.Tools().Specs(), MessagePrefix: *c.prefix,
	}
	return req, t.logHeader(&req.Header)
}

func (t *turn) startStep(req *model.Request) error {
	c := t.core
	c.lock()
	defer c.unlock()
	history, ok := c.log.History()
	if !ok {
		return errors.New("the session's history is not in memory")
	}
	req.History = history
	_, err := c.appendLocked(&t.writer, session.LogOnly(messages.StepStart{Turn: t.number, Step: t.step}))
	return err
}

// requestConfig runs agent/request (S-5). A replacement is sticky for the
// activation.
func (t *turn) requestConfig() (messages.RequestConfig, error) {
	c := t.core
	seed := c.agent.Request
	if c.config != nil {
		seed = *c.config
	}
	if seam := &t.seams().Request; !seam.Empty() {
		t.at(atRequest)
		got, err := seam.Run(t.in, &pipeline.Request{Agent: t, Turn: t.number, Step: t.step, Config: seed}, sameConfig)
		switch {
		case t.interrupted():
			return seed, errInterrupted
		case err != nil:
			return seed, err
		}
		if !sameRequestConfig(*got, seed) {
			kept := *got
			c.config = &kept
		}
		seed = *got
	}
	if seed.Provider == "" || seed.Model == "" {
		return seed, fmt.Errorf("agent %q has no provider/model: set AgentOptions.provider and AgentOptions.model or supply both via the agent/request waterfall", c.id)
	}
	return seed, nil
}

func sameConfig(_ context.Context, r *pipeline.Request) (*messages.RequestConfig, error) {
	return &r.Config, nil
}

// logHeader logs the header with the first request of an activation and whenever
// it has changed (T-6).
func (t *turn) logHeader(h *messages.RequestHeader) error {
	c := t.core
	if c.header != nil && sameHeader(c.header, h) {
		return nil
	}
	reason := messages.HeaderChange
	if c.header == nil {
		reason = messages.HeaderInitial
		if c.hasHeader() {
			reason = messages.HeaderResume
		}
	}
	if err := t.append(session.LogOnly(messages.RequestHeaderEvent{Header: *h, Reason: reason})); err != nil {
		return err
	}
	c.header = c.rt.internHeader(c.agent, h)
	return nil
}

func (c *core) hasHeader() bool {
	c.lock()
	defer c.unlock()
	return c.log.HeaderLogged()
}

// stream logs each chunk before it is assembled (T-4).
func (t *turn) stream(ctx context.Context, adapter model.Model, req model.Request, span *otel.ChatSpan) (asm *messages.Assembler, chunks []int64, err error) {
	defer func() {
		if v := recover(); v != nil { // an adapter's panic is a failed request
			err = &requestFailure{messages.Failure{Message: messages.PanicText(v), Code: messages.CodeUnknown}}
		}
	}()
	asm = &messages.Assembler{}
	for chunk, err := range adapter.Stream(ctx, req) {
		if err != nil {
			return asm, chunks, &requestFailure{failureOf(err)}
		}
		if t.interrupted() {
			return asm, chunks, errInterrupted
		}
		seq, err := t.core.appendOne(&t.writer, session.LogOnly(messages.AssistantChunk{
			Turn: t.number, Step: t.step, Chunk: chunk,
		}))
		if err != nil {
			return asm, chunks, err
		}
		span.Chunk()
		chunks = append(chunks, seq)
		asm.Add(chunk)
	}
	return asm, chunks, nil
}

// failureOf is what an adapter's error says (V-9).
func failureOf(err error) messages.Failure {
	var f messages.Failure
	if errors.As(err, &f) {
		if f.Code == "" {
			f.Code = messages.CodeUnknown
		}
		return f
	}
	f = messages.Failure{Message: messages.ErrorChain(err), Code: messages.CodeOf(err)}
	if f.Code == "" {
		f.Code = messages.CodeUnknown
	}
	return f
}

// answer runs agent/step-result and logs the answer, also an empty one: it is the
// anchor that the request completed (T-8, T-9).
func (t *turn) answer(got messages.Assembled, chunks []int64, config messages.RequestConfig) (messages.Assembled, error) {
	if got.Finish.Kind == messages.FinishMaxTokens {
		got.Content = got.Content.WithoutToolCalls()
	}
	message := messages.AssistantMessage{
		Turn: t.number, Step: t.step, Content: got.Content, Usage: got.Usage,
		Provenance: messages.Provenance{Provider: config.Provider, Model: config.Model, ReplayState: got.ReplayState},
	}
	seamErr := t.stepResult(&message, got.Finish)
	if seamErr != nil {
		message.Content = messages.EmptyContent()
		message.Provenance.ReplayState = ""
	} else if got.Finish.Kind == messages.FinishMaxTokens {
		message.Content = message.Content.WithoutToolCalls()
	}
	got.Content = message.Content
	if _, err := t.core.appendOne(&t.writer, session.Answer(message, messages.FrozenList(chunks))); err != nil {
		return got, err
	}
	return got, seamErr
}

// stepResult lets agent/step-result rewrite the answer. Rewritten content drops
// the replay state (T-8).
func (t *turn) stepResult(m *messages.AssistantMessage, finish messages.FinishReason) error {
	seam := &t.seams().StepResult
	if seam.Empty() {
		return nil
	}
	t.at(atStepResult)
	event := &pipeline.StepResult{
		Agent: t, Turn: t.number, Step: t.step, Finish: finish,
		Message: messages.Message{Role: messages.RoleAssistant, Content: m.Content, Provenance: m.Provenance},
	}
	out, err := seam.Run(t.in, event, keepAnswer)
	switch {
	case t.interrupted():
		return errInterrupted
	case err != nil:
		return err
	}
	if out != &event.Message {
		m.Content = out.Content
		if m.Content.IsZero() {
			m.Content = messages.EmptyContent()
		}
		m.Provenance.ReplayState = ""
	}
	return nil
}

func keepAnswer(_ context.Context, s *pipeline.StepResult) (*messages.Message, error) {
	return &s.Message, nil
}

// recover ends the step of a failed request and asks agent/request-error whether
// to try again in a new step (T-10).
func (t *turn) recover(failed *requestFailure) error {
	if err := t.append(session.LogOnly(messages.StepEnd{Turn: t.number, Step: t.step})); err != nil {
		return err
	}
	event := &pipeline.RequestError{
		Agent: t, Turn: t.number, Step: t.step, Failure: failed.failure,
		Retried: messages.ListOf(t.retried...),
	}
	t.at(atRequestError)
	decision, err := t.seams().RequestError.Run(t.ctx, event, failRequest)
	if t.interrupted() {
		return errInterrupted
	}
	if err != nil {
		t.core.rt.cfg.Logger.Warn("agent/request-error failed", "session", t.core.id, "turn", t.number, "error", err)
		return failed
	}
	if _, retry := decision.(messages.RequestRetry); !retry {
		return failed
	}
	t.retried = append(t.retried, failed.failure)
	return nil
}

func failRequest(context.Context, *pipeline.RequestError) (messages.RequestErrorDecision, error) {
	return messages.RequestFail{}, nil
}

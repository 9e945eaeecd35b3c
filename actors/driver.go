package actors

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"time"

	"github.com/dsh-actor/dsh-actor/messages"
	"github.com/dsh-actor/dsh-actor/pipeline"
	"github.com/dsh-actor/dsh-actor/session"
)

// drive is the driver: the goroutine that runs one turn as straight-line code
// (T-4). However it ends, also by a panic of ours or by a listener that ends the
// goroutine, the turn is ended in the log and its actor is told.
func (t *turn) drive() {
	defer t.driveOver()
	returned := false
	defer func() {
		if !returned {
			t.abandoned(recover(), debug.Stack())
		}
	}()
	defer t.giveSlotBack()
	if t.begin() {
		t.finish(t.run())
	}
	returned = true
}

func (t *turn) driveOver() {
	t.core.rt.root.Send(t.pid, driverOver{})
	t.ending.end()
}

// begin waits for a place among the running turns and for the session-start
// listeners (Z-22), and claims a prompt. Without a prompt there is no turn.
func (t *turn) begin() bool {
	if err := t.takeSlot(t.ctx); err != nil {
		return false
	}
	t.awaitStart()
	return t.claim()
}

// awaitStart gives session-start listeners a moment before the first turn.
func (t *turn) awaitStart() {
	c := t.core
	c.lock()
	started := c.started
	c.started = nil
	c.unlock()
	if started == nil || c.rt.cfg.StartGrace < 0 {
		return
	}
	timer := time.NewTimer(c.rt.cfg.StartGrace)
	defer timer.Stop()
	select {
	case <-started:
	case <-timer.C:
	case <-t.ctx.Done():
	}
}

// claim takes exactly one prompt and opens its turn (T-1, T-2). The prompt leaves
// the store's inbox in the batch that stores turn/start (Z-36); if the store does
// not take it, the prompt stays queued and no turn was.
func (t *turn) claim() bool {
	c := t.core
	c.storeMu.Lock()
	defer c.storeMu.Unlock()
	if err := c.flushStoring(); err != nil {
		c.claimFailed(t, err)
		return false
	}
	b, ok := c.reserve(t)
	if !ok {
		return false
	}
	if err := c.store(b); err != nil {
		c.claimFailed(t, err)
		return false
	}
	c.claimed(t, b)
	t.startTrace()
	return true
}

// reserve installs the turn's authority and makes the batch that opens it.
func (c *core) reserve(t *turn) (session.Batch, bool) {
	c.lock()
	defer c.unlock()
	if c.phase != phaseOpen || c.sealed != nil {
		return session.Batch{}, false
	}
	item, ok := c.inbox.claim()
	if !ok {
		return session.Batch{}, false
	}
	t.item, t.number, t.claiming = item, c.log.LastTurn()+1, true
	c.turn = t
	c.setStatusLocked(messages.StatusRunning)
	b := c.batchLocked()
	if item.Enqueued != 0 {
		b.Claim = []messages.MessageID{item.ID}
	}
	b.Events = []messages.Event{{Seq: c.log.NextSeq(), Time: c.now(), Data: t.start()}}
	return b, true
}

func (t *turn) start() messages.TurnStart {
	return messages.TurnStart{Turn: t.number, Trigger: messages.TurnTrigger{
		Kind: messages.TriggerMessage, Source: t.item.Source,
	}}
}

// claimed opens the turn in the log, as it was stored.
func (c *core) claimed(t *turn, b session.Batch) {
	c.lock()
	defer c.unlock()
	t.claiming, t.open = false, true
	if c.rt.observed() {
		c.noteLocked(messages.InboxDequeued{Item: t.item})
	}
	e, err := c.log.Append(b.Events[0].Time, session.LogOnly(b.Events[0].Data))
	if err != nil {
		panic(fmt.Errorf("turn/start was stored and does not fit the log: %w", err))
	}
	c.publish(e)
	for _, ctx := range t.early {
		t.commitOrPanic(contextEntry(ctx))
	}
	t.early = nil
}

func (t *turn) commitOrPanic(entries ...session.Entry) {
	if _, err := t.core.commit(entries...); err != nil {
		panic(err)
	}
}

// claimFailed puts the prompt back and keeps the session from trying again at
// once.
func (c *core) claimFailed(t *turn, err error) {
	c.lock()
	early := t.early
	t.early = nil
	if t.claiming {
		t.claiming, t.retired = false, true
		c.turn = nil
		c.inbox.unclaim(t.item)
	}
	c.errorLocked(0, 0, err)
	c.blockLocked()
	c.unlock()
	for _, ctx := range early { // the turn that they were to join is not
		if _, _, err := c.injectNow(ctx); err != nil {
			c.rt.cfg.Logger.Warn("context lost", "session", c.id, "error", err)
		}
	}
}

// errInterrupted ends a turn's code after it was cancelled or superseded; what it
// is called is decided by finish.
var errInterrupted = errors.New("turn interrupted")

// run is the turn between turn/start and its end.
func (t *turn) run() messages.EndReason {
	if t.interrupted() {
		return messages.EndReason{Kind: messages.EndAborted}
	}
	end, err := t.submit()
	if err != nil {
		return t.failure(err)
	}
	if end.Kind != "" {
		return end
	}
	completed := messages.EndReason{Kind: messages.EndCompleted}
	for {
		next, err := t.oneStep(&completed)
		switch {
		case err != nil:
			return t.failure(err)
		case next.Kind != "":
			return next
		}
	}
}

// failure classifies an error that no interruption explains (V-11).
func (t *turn) failure(err error) messages.EndReason {
	var failed messages.Failure
	var request *requestFailure
	if errors.As(err, &request) {
		failed = request.failure
		return messages.EndReason{Kind: messages.EndError, Step: t.step, Failure: failed}
	}
	r := messages.EndReason{Kind: messages.EndError, Step: t.step, Message: messages.ErrorChain(err)}
	var coded *messages.Error
	if errors.As(err, &coded) {
		r.Code = coded.Code
	}
	if r.Message == "" {
		r.Message = "unknown error"
	}
	return r
}

// submit runs agent/prompt-submit and records the prompt or its refusal (S-3,
// T-3).
func (t *turn) submit() (messages.EndReason, error) {
	event := &pipeline.PromptSubmit{
		Agent: t, Turn: t.number, Message: t.item.ID, Content: t.item.Content,
		Source: t.item.Source, Contexts: t.item.Contexts, Meta: t.item.Meta,
	}
	t.at(atPromptSubmit)
	decision, err := t.seams().PromptSubmit.Run(t.ctx, event, allowPrompt)
	switch {
	case t.interrupted():
		return messages.EndReason{}, errInterrupted
	case err != nil:
		return messages.EndReason{}, err
	}
	switch d := decision.(type) {
	case messages.PromptAllow:
		content := d.Content
		if content.IsZero() {
			content = t.item.Content
		}
		return messages.EndReason{}, t.append(promptEntries(content, d.Contexts, func(content messages.Content, env messages.PromptEnvelope) messages.EventData {
			return messages.UserMessage{Content: content, Source: t.item.Source, Envelope: env, Meta: t.item.Meta}
		})...)
	case messages.PromptBlock:
		reason := messages.ValidUTF8(d.Reason)
		if reason == "" {
			reason = messages.DefaultDenyReason
		}
		err := t.append(session.LogOnly(messages.PromptBlocked{
			Content: t.item.Content, Source: t.item.Source, Reason: reason,
		}))
		return messages.EndReason{Kind: messages.EndRejected, Reason: reason}, err
	default:
		return messages.EndReason{}, fmt.Errorf("agent/prompt-submit: decision of an unknown kind %T", decision)
	}
}

func allowPrompt(_ context.Context, p *pipeline.PromptSubmit) (messages.PromptDecision, error) {
	return messages.PromptAllow{Contexts: p.Contexts}, nil
}

// promptEntries makes the entries of a prompt or of steering: prompt-prefix
// contexts are baked into its content, separate ones follow it (T-3, T-13).
func promptEntries(content messages.Content, contexts messages.List[messages.Context], message func(messages.Content, messages.PromptEnvelope) messages.EventData) []session.Entry {
	var separate []session.Entry
	var prefix []messages.Block
	var names []messages.PrefixContext
	for ctx := range contexts.Values() {
		if ctx.Placement != messages.PlacementPromptPrefix {
			separate = append(separate, contextEntry(ctx))
			continue
		}
		for b := range ctx.Content.Blocks() {
			prefix = append(prefix, b)
		}
		names = append(names, messages.PrefixContext{Source: ctx.Source, Meta: ctx.Meta})
	}
	env := messages.PromptEnvelope{}
	if len(names) > 0 {
		env = messages.PromptEnvelope{DisplayContent: content, PrefixContexts: messages.FrozenList(names)}
		prefix = append(prefix, messages.TextBlock{Text: "\n\n## My request:\n"})
		for b := range content.Blocks() {
			prefix = append(prefix, b)
		}
		content = messages.NewContent(prefix...)
	}
	return append([]session.Entry{session.Add(message(content, env))}, separate...)
}

// append commits entries of the turn.
func (t *turn) append(entries ...session.Entry) error {
	_, err := t.core.append(&t.writer, entries...)
	return err
}

func (t *turn) seams() *pipeline.Seams { return t.core.pipe.Seams() }

// finish ends the turn: how it ended is decided in the critical section that
// retires its authority and appends turn/end (T-17, Z-46, DESIGN 3, rule 5). Then
// the store is flushed (T-14).
func (t *turn) finish(outcome messages.EndReason) {
	c := t.core
	reason, ended := t.end(outcome)
	if !ended {
		return // sealed meanwhile
	}
	defer t.endTrace(reason)
	if err := c.flush(); err != nil {
		c.lock()
		c.errorLocked(t.number, t.step, err)
		c.unlock()
		return
	}
	c.forgetStored()
}

func (t *turn) end(outcome messages.EndReason) (reason messages.EndReason, ended bool) {
	c := t.core
	c.lock()
	defer c.unlock()
	if t.retired || t.writer.revoked || c.sealed != nil {
		return outcome, false
	}
	reason = t.reasonLocked(outcome)
	t.retired, t.open = true, false
	t.commitOrPanic(t.closersLocked(reason)...)
	t.writer.revoked = true
	if reason.Kind == messages.EndError {
		c.errorLocked(t.number, t.step, errors.New(reasonText(reason)))
	}
	c.fails = 0
	return reason, true
}

// reasonLocked decides how the turn ended: closing, else the first cancel, else
// the outcome.
func (t *turn) reasonLocked(outcome messages.EndReason) messages.EndReason {
	switch {
	case t.core.phase == phaseClosing || t.cause == messages.CancelDisposed:
		return messages.EndReason{Kind: messages.EndDisposed}
	case t.cause != "":
		return messages.EndReason{Kind: messages.EndAborted}
	default:
		return outcome
	}
}

func reasonText(r messages.EndReason) string {
	if r.Failure.IsZero() {
		return r.Message
	}
	return r.Failure.Message
}

// closersLocked ends what is open of the turn: results of calls that have none,
// contexts that were accepted (T-23), the step, the turn.
func (t *turn) closersLocked(reason messages.EndReason) []session.Entry {
	entries := session.Closers(t.core.log, reason)
	if len(t.fifo) == 0 {
		return entries
	}
	at := len(entries) - 1
	if _, open := t.core.log.OpenStep(); open {
		at--
	}
	out := append([]session.Entry(nil), entries[:at]...)
	for _, ctx := range t.fifo {
		out = append(out, contextEntry(ctx))
	}
	t.fifo, t.batch = nil, nil
	return append(out, entries[at:]...)
}

// abandoned ends a turn whose driver did not return: a panic of ours, or a
// listener that ended the goroutine.
func (t *turn) abandoned(panicked any, stack []byte) {
	text := "the turn's goroutine was ended by runtime.Goexit in " + t.here().String()
	if panicked != nil {
		text = "internal error: " + messages.PanicText(panicked)
		t.core.rt.cfg.Logger.Error("turn failed", "session", t.core.id, "turn", t.number,
			"panic", messages.PanicText(panicked), "stack", string(stack))
	}
	t.core.sealTurn(t, messages.EndReason{
		Kind: messages.EndError, Step: t.step, Message: text, Code: messages.CodeUnknown,
	})
}

// takeSlot takes a place among the running turns.
func (t *turn) takeSlot(ctx context.Context) error {
	if err := t.core.rt.turnSlots.acquire(ctx); err != nil {
		return err
	}
	t.core.lock()
	defer t.core.unlock()
	t.slot = true
	return nil
}

func (t *turn) giveSlotBack() {
	t.core.lock()
	held := t.slot && t.yields == 0
	t.slot = false
	t.core.unlock()
	if held {
		t.core.rt.turnSlots.release()
	}
}

// place is where a driver is, for reports about code that does not end.
type place uint32

const (
	atRuntime place = iota
	atPromptSubmit
	atPrefix
	atPreStep
	atRequest
	atModel
	atStepResult
	atRequestError
	atPreExecute
	atPostExecute
	atPostStep
	atContinuation
	atTurnStop
	atStore
)

// String names the seam.
func (p place) String() string {
	return [...]string{
		"the runtime", "agent/prompt-submit", "agent/session-prefix", "agent/pre-step", "agent/request",
		"the model", "agent/step-result", "agent/request-error", "tools/pre-execute", "tools/post-execute",
		"agent/post-step", "agent/turn-continuation", "agent/turn-stop",
		"the store",
	}[p]
}

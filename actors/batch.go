package actors

import (
	"github.com/dsh-actor/dsh-actor/messages"
	"github.com/dsh-actor/dsh-actor/pipeline"
	"github.com/dsh-actor/dsh-actor/session"
)

// runBatch runs the tool calls of one answer (C-1 to C-7). Policy, settling and
// results keep model order; only dispatches overlap. Started calls are always
// awaited and settled, whatever fails (Z-13); on interruption the rest get
// synthetic pairs. concluded reports that a body asked to conclude the turn.
func (t *turn) runBatch(blocks []messages.ToolCallBlock) (concluded bool, err error) {
	if len(blocks) == 0 {
		return false, nil
	}
	b := &batch{turn: t, blocks: blocks, calls: make([]call, len(blocks)), done: make(chan int, len(blocks))}
	t.openBatch(b)
	defer b.release()
	err = b.run()
	if drainErr := t.closeBatch(); err == nil {
		err = drainErr
	}
	return b.concluded, err
}

// release gives the batch's actors back. It waits for every started body: after an
// ordinary end there is none, but a listener may have ended the driver's goroutine
// in the middle of the batch.
func (b *batch) release() {
	if !b.spawned {
		return
	}
	for i := range b.calls[:b.next] {
		if k := &b.calls[i]; k.started && !k.settled {
			b.turn.cancel(errInterrupted)
			<-k.done()
		}
	}
	b.turn.core.rt.root.Send(b.turn.pid, callsOver{b.calls})
}

// openBatch makes injected context wait in the FIFO (T-21).
func (t *turn) openBatch(b *batch) {
	t.core.lock()
	defer t.core.unlock()
	t.batch = b
}

// closeBatch appends the FIFO in order of arrival and lets contexts through again,
// in one critical section: nothing is lost between the two.
func (t *turn) closeBatch() error {
	c := t.core
	c.lock()
	defer c.unlock()
	if len(t.fifo) == 0 {
		t.batch = nil
		return c.mayWrite(&t.writer)
	}
	entries := make([]session.Entry, len(t.fifo))
	for i, ctx := range t.fifo {
		entries[i] = contextEntry(ctx)
	}
	t.fifo, t.batch = nil, nil
	_, err := c.appendLocked(&t.writer, entries...)
	return err
}

// batch is the scheduler of one answer's calls. It belongs to the driver's
// goroutine.
type batch struct {
	turn      *turn
	blocks    []messages.ToolCallBlock
	calls     []call   // same index as blocks; settled in order
	done      chan int // indexes of calls whose goroutine has ended
	next      int      // the first that is not started
	head      int      // the first that is not settled
	exclusive bool     // the call in flight runs alone
	concluded bool
	spawned   bool
	launch    []*call // passed policy; to be spawned together
}

func (b *batch) run() error {
	for b.head < len(b.blocks) {
		for b.mayStart() {
			if err := b.start(); err != nil {
				b.launchAll()
				return b.drain(err)
			}
		}
		b.launchAll()
		if b.head == b.next { // interrupted with nothing in flight
			return b.skipRest()
		}
		b.await(&b.calls[b.head])
		if err := b.settle(); err != nil {
			return b.drain(err)
		}
	}
	return nil
}

// mayStart applies C-1 and C-3: an exclusive call is a group of one, and the
// classification is asked again before every start.
func (b *batch) mayStart() bool {
	if b.next == len(b.blocks) || b.turn.interrupted() {
		return false
	}
	inFlight := b.next - b.head
	if inFlight > 0 && (b.exclusive || inFlight >= b.turn.core.rt.cfg.MaxParallelToolCalls) {
		return false
	}
	block := b.blocks[b.next]
	exclusive := !b.turn.core.pipe.Concurrent(block.Name, block.Arguments)
	if exclusive && inFlight > 0 {
		return false
	}
	b.exclusive = exclusive
	return true
}

// start logs the call, runs policy in order, and launches dispatch without
// waiting for it (C-2).
func (b *batch) start() error {
	t, block := b.turn, b.blocks[b.next]
	seq, err := t.core.appendOne(&t.writer, session.LogOnly(toolCall(t, block)))
	if err != nil {
		return err
	}
	k := &b.calls[b.next]
	k.turn, k.index, k.seq, k.block, k.out = t, b.next, seq, block, b.done
	b.next++
	k.exec = t.core.pipe.Begin(t.in, pipeline.Input{
		ID: block.ID, Name: block.Name, Arguments: block.Arguments,
		Agent: t, Turn: t.number, Step: t.step,
	})
	t.at(atPreExecute)
	dispatch := k.exec.Policy(t.in)
	t.at(atRuntime)
	if !dispatch {
		k.settled = true
		return nil
	}
	b.launch = append(b.launch, k)
	if !t.seams().PreExecute.Empty() {
		b.launchAll() // the next call's policy may take its time
	}
	return nil
}

// launchAll spawns the actors of the calls that passed policy.
func (b *batch) launchAll() {
	if len(b.launch) == 0 {
		return
	}
	b.spawned = true
	b.turn.noteStarted(b.launch)
	b.turn.core.rt.root.Send(b.turn.pid, spawnCalls{b.launch})
	b.launch = nil
}

func toolCall(t *turn, block messages.ToolCallBlock) messages.ToolCall {
	return messages.ToolCall{
		Turn: t.number, Step: t.step, CallID: block.ID, Name: block.Name, Arguments: block.Arguments,
	}
}

// await waits until the call's goroutine has ended.
func (b *batch) await(k *call) {
	b.turn.at(atRuntime)
	for !k.settled {
		i := <-b.done
		b.calls[i].settled = true
	}
}

// settle runs the ordered phases after dispatch and logs the result; its contexts
// enter the FIFO (C-4, T-22).
func (b *batch) settle() error {
	t, k := b.turn, &b.calls[b.head]
	t.at(atPostExecute)
	r := k.exec.Settle(t.in)
	b.concluded = b.concluded || k.exec.Concluded()
	b.head++
	return t.logResult(k, r)
}

// logResult appends tool/result and takes the result's contexts, in one critical
// section.
func (t *turn) logResult(k *call, r *messages.Result) error {
	c := t.core
	c.lock()
	defer c.unlock()
	if _, err := c.appendOneLocked(&t.writer, resultEntry(t, k, r)); err != nil {
		return err
	}
	for ctx := range r.Contexts().Values() {
		t.fifo = append(t.fifo, ctx)
	}
	return nil
}

// resultEntry is what the log keeps of a result (P-30).
func resultEntry(t *turn, k *call, r *messages.Result) session.Entry {
	return session.Add(messages.ToolResult{
		Turn: t.number, Step: t.step, CallID: k.block.ID,
		Content: r.Content(), IsError: r.IsError(), Error: r.Info(), Meta: r.Meta(),
	}, k.seq)
}

// drain awaits and settles every started call after a failure of our own (Z-13),
// as far as the log still takes results, and returns the failure.
func (b *batch) drain(cause error) error {
	for b.head < b.next {
		b.await(&b.calls[b.head])
		if b.settle() != nil {
			continue // the turn was sealed: results have nowhere to go
		}
	}
	return cause
}

// skipRest gives every call that was not started a synthetic, adjacent pair: no
// pipeline, no notification (C-6).
func (b *batch) skipRest() error {
	t := b.turn
	result := pipeline.AbortedBeforeDispatch()
	for ; b.next < len(b.blocks); b.next++ {
		if err := t.appendPair(b.blocks[b.next], result); err != nil {
			return err
		}
	}
	b.head = b.next
	return nil
}

func (t *turn) appendPair(block messages.ToolCallBlock, r *messages.Result) error {
	c := t.core
	c.lock()
	defer c.unlock()
	k := &call{block: block, seq: c.log.NextSeq()}
	_, err := c.appendLocked(&t.writer, session.LogOnly(toolCall(t, block)), resultEntry(t, k, r))
	return err
}

// noteStarted marks calls as handed over, so that a report can name their bodies.
func (t *turn) noteStarted(calls []*call) {
	t.core.lock()
	defer t.core.unlock()
	for _, k := range calls {
		k.started = true
	}
}

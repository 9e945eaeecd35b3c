package scripted

import (
	"context"
	"regexp"
	"slices"
	"strconv"
	"time"

	"github.com/dsh-actor/dsh-actor/messages"
	"github.com/dsh-actor/dsh-actor/model"
)

// answer is an [Answer] made ready. It is never written to after prepare, and
// its chunks are shared by all requests that need nothing filled in.
type answer struct {
	number int
	match  *regexp.Regexp // nil without one
	repeat int
	delay  time.Duration
	pace   time.Duration
	hang   bool

	fault      error // a messages.Failure, or nil
	faultTimes int
	faultAfter int

	parts  parts
	chunks []messages.Chunk // the whole stream; call ids may be missing
	minted []mintedID       // where, in the order of the calls
}

// mintedID says that a chunk needs the id of the n-th call, from 1.
type mintedID struct{ chunk, call int }

// noMark is the number of an answer that is in no script.
const noMark = -1

// prepare makes a checked answer ready; number is its place in the script.
func prepare(a Answer, number int) *answer {
	out := &answer{
		number: number, repeat: max(a.Repeat, 1), delay: a.Delay, pace: a.Pace, hang: a.Hang,
		faultTimes: a.Error.Times, faultAfter: a.Error.After,
	}
	if a.Match != "" {
		out.match = regexp.MustCompile(a.Match)
	}
	if a.Error != (Fault{}) {
		f := a.Error.Failure
		f.Message = messages.ValidUTF8(f.Message)
		if f.Code == "" {
			f.Code = messages.CodeUnknown
		}
		out.fault = f
	}
	out.parts = partsOf(a, number)
	out.chunks, out.minted = out.parts.chunks()
	return out
}

// stream returns the chunks that the answer has for the request, when it is
// given for the run-th time in a row.
func (a *answer) stream(req model.Request, run int) []messages.Chunk {
	chunks, minted := a.chunks, a.minted
	if a.parts.templated {
		filled := a.parts.fill(req.History)
		chunks, minted = filled.chunks()
	}
	if len(minted) == 0 && run == 1 {
		return chunks
	}
	out := slices.Clone(chunks)
	mintIDs(out, minted, req.Turn, req.Step)
	if last := len(out) - 1; run > 1 && last >= 0 {
		if finish, ok := out[last].(messages.FinishChunk); ok {
			finish.ReplayState = markOf(a.number, run)
			out[last] = finish
		}
	}
	return out
}

// mintIDs fills in the ids that are missing in chunks. The ids of an answer are
// parts of one string, so that minting allocates once.
func mintIDs(chunks []messages.Chunk, minted []mintedID, turn, step int) {
	var space, one [128]byte
	ids := space[:0]
	for i, m := range minted {
		if i == 0 || minted[i-1].call != m.call {
			ids = appendID(ids, turn, step, m.call)
		}
	}
	rest := messages.CallID(ids)
	var id messages.CallID
	for i, m := range minted {
		if i == 0 || minted[i-1].call != m.call {
			n := len(appendID(one[:0], turn, step, m.call))
			id, rest = rest[:n], rest[n:]
		}
		switch c := chunks[m.chunk].(type) {
		case messages.ToolCallDelta:
			c.ID = id
			chunks[m.chunk] = c
		case messages.BlockEnd:
			block := c.Block.(messages.ToolCallBlock)
			block.ID = id
			chunks[m.chunk] = messages.BlockEnd{Index: c.Index, Block: block}
		}
	}
}

// appendID appends the id of a call.
func appendID(b []byte, turn, step, call int) []byte {
	b = append(b, "call-"...)
	b = append(strconv.AppendInt(b, int64(turn), 10), '-')
	b = append(strconv.AppendInt(b, int64(step), 10), '-')
	return strconv.AppendInt(b, int64(call), 10)
}

// play yields the chunks as the answer says. It returns when the answer has
// ended, the consumer has stopped or ctx is done; nothing is left behind.
func (a *answer) play(ctx context.Context, chunks []messages.Chunk, attempt int, yield func(messages.Chunk, error) bool) {
	fails := a.fault != nil && (a.faultTimes == 0 || attempt < a.faultTimes)
	if fails {
		// Never the finish: what finished did not fail.
		chunks = chunks[:min(a.faultAfter, max(len(chunks)-1, 0))]
	}
	wait := a.delay
	for _, c := range chunks {
		if err := pause(ctx, wait); err != nil {
			yield(nil, err)
			return
		}
		if !yield(c, nil) {
			return
		}
		wait = a.pace
	}
	switch {
	case fails:
		err := pause(ctx, wait)
		if err == nil {
			err = a.fault
		}
		yield(nil, err)
	case a.hang:
		<-ctx.Done()
		yield(nil, context.Cause(ctx))
	}
}

// pause waits for d, or for the end of ctx and then returns its cause. A
// context that is already done is noticed also when there is nothing to wait
// for.
func pause(ctx context.Context, d time.Duration) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if d <= 0 {
		return nil
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

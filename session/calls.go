package session

import (
	"slices"

	"github.com/dsh-actor/dsh-actor/messages"
)

// call is one tool call of the open step.
type call struct {
	id         messages.CallID
	seq        int64 // of its tool/call; -1 before it was recorded
	advertised bool  // an assistant/message has a block for it
	settled    bool  // it has its tool/result
}

// calls are the tool calls of the open step in transcript order. Models repeat
// ids, so an id stands for the first call that fits, never for all of them.
//
// Calls are recorded and settled nearly in order. The two cursors skip what is
// done, so that a step of n calls costs about n comparisons and not n squared.
type calls struct {
	list       []call
	unrecorded int  // all before are recorded or settled
	unsettled  int  // all before are settled
	shared     bool // another value has the same list: copy it before writing
}

func (c *calls) own() {
	if c.shared {
		c.list, c.shared = slices.Clone(c.list), false
	}
}

// advertise adds the calls that an answer asks for. An answer that replaces
// another one adds only the ids that are new.
func (c *calls) advertise(content messages.Content, replaces bool) {
	for i := range content.Len() {
		b, ok := content.At(i).(messages.ToolCallBlock)
		if !ok || replaces && c.find(0, b.ID, anyState) >= 0 {
			continue
		}
		c.own()
		if c.list == nil {
			c.list = make([]call, 0, content.Len()-i)
		}
		c.list = append(c.list, call{id: b.ID, seq: -1, advertised: true})
	}
}

// record notes the tool/call of an id.
func (c *calls) record(id messages.CallID, seq int64) {
	c.own()
	if i := c.find(c.unrecorded, id, notStarted); i >= 0 {
		c.list[i].seq = seq
	} else {
		c.list = append(c.list, call{id: id, seq: seq})
	}
	for c.unrecorded < len(c.list) && !notStarted(&c.list[c.unrecorded]) {
		c.unrecorded++
	}
}

// settle notes that call i has its result.
func (c *calls) settle(i int) {
	c.own()
	c.list[i].settled = true
	for c.unsettled < len(c.list) && c.list[c.unsettled].settled {
		c.unsettled++
	}
}

// forResult returns the call that a tool/result answers, or -1. The sources
// decide between recorded calls of one id. A result that says "not started"
// answers a call that was not recorded, if there is one.
func (c *calls) forResult(id messages.CallID, sources messages.List[int64], wasNotStarted bool) int {
	if wasNotStarted {
		if i := c.find(c.unsettled, id, notStarted); i >= 0 {
			return i
		}
	}
	for _, seq := range sources.All() {
		for i := c.unsettled; i < len(c.list); i++ {
			if k := &c.list[i]; k.seq == seq && k.id == id && started(k) {
				return i
			}
		}
	}
	return c.find(c.unsettled, id, started)
}

// knows reports whether the step has a call of the id, whatever its state.
func (c *calls) knows(id messages.CallID) bool { return c.find(0, id, anyState) >= 0 }

func anyState(*call) bool     { return true }
func notStarted(k *call) bool { return k.seq < 0 && !k.settled }
func started(k *call) bool    { return k.seq >= 0 && !k.settled }

func (c *calls) find(from int, id messages.CallID, state func(*call) bool) int {
	for i := from; i < len(c.list); i++ {
		if k := &c.list[i]; k.id == id && state(k) {
			return i
		}
	}
	return -1
}

// clear forgets the calls of a step that ended.
func (c *calls) clear() {
	if c.shared {
		*c = calls{}
		return
	}
	*c = calls{list: c.list[:0]}
}

// PendingCall is a tool call of the open step without a result.
type PendingCall struct {
	ID messages.CallID
	// Seq is the sequence number of the tool/call, or -1 if it was not recorded.
	Seq int64
}

// pending returns the advertised calls without result, in transcript order.
func (c *calls) pending() []PendingCall {
	var out []PendingCall
	for i := c.unsettled; i < len(c.list); i++ {
		if k := &c.list[i]; k.advertised && !k.settled {
			out = append(out, PendingCall{k.id, k.seq})
		}
	}
	return out
}

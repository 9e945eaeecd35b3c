package actors

import (
	"github.com/dsh-actor/dsh-actor/messages"
)

// sealTurn ends a turn whose goroutines do not (DESIGN 3, rule 7): its writer is
// revoked, the log is closed in one batch, and what still runs is handed to the
// runtime's leftovers. What those goroutines do later is refused. It does nothing
// if the turn has ended already.
func (c *core) sealTurn(t *turn, reason messages.EndReason) {
	c.lock()
	defer c.unlock()
	c.sealTurnLocked(t, reason)
}

func (c *core) sealTurnLocked(t *turn, reason messages.EndReason) {
	if t.sealed {
		return
	}
	t.sealed = true
	t.cancelLocked(messages.CancelDisposed)
	t.leaveLocked()
	if !t.retired {
		t.retired = true
		if t.open && c.sealed == nil {
			t.open = false
			t.commitOrPanic(t.closersLocked(reason)...)
			if reason.Kind == messages.EndError {
				c.errorLocked(t.number, reason.Step, &messages.Error{Code: reason.Code, Message: reason.Message})
			}
		}
	}
	t.writer.revoked = true
}

// leave hands the turn's running goroutines to the runtime's leftovers. A
// driver that only waits for bodies ends with them and is not named itself.
func (t *turn) leaveLocked() {
	rt, bodies := t.core.rt, 0
	if t.batch != nil {
		for i := range t.batch.calls {
			k := &t.batch.calls[i]
			if !k.started || k.ended() {
				continue
			}
			bodies++
			rt.leftovers.add(messages.Leftover{
				Kind: "tool", Name: t.batch.blocks[i].Name, Session: t.core.id,
				Turn: t.number, CallID: t.batch.blocks[i].ID,
			}, k.done())
		}
	}
	here := t.here()
	if t.ended() || bodies > 0 && here == atRuntime {
		return
	}
	rt.leftovers.add(messages.Leftover{
		Kind: "listener", Name: here.String(), Session: t.core.id, Turn: t.number,
	}, t.done())
}

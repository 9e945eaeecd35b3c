package pipeline

import (
	"sync/atomic"

	"github.com/dsh-actor/dsh-actor/messages"
)

// Call is the identity of one tool execution. It is fixed before policy begins
// and reachable only through accessors, so that the log, listeners, hooks and
// the tool body agree on what ran (P-4, P-6).
type Call struct {
	id        messages.CallID
	token     messages.CallToken
	parent    messages.CallToken
	parentID  messages.CallID
	name      string
	arguments messages.JSON
	agent     Agent
	exec      *Execution
	turn      int32
	step      int32
	invoked   atomic.Bool
	failed    atomic.Bool
}

// init fixes what the caller said; the arguments follow.
func (c *Call) init(x *Execution, in Input) {
	c.exec = x
	c.id, c.name, c.agent = in.ID, in.Name, in.Agent
	c.turn, c.step = int32(in.Turn), int32(in.Step)
	c.token = messages.CallToken(x.pipeline.root.tokens.Add(1))
	c.parent, c.parentID = in.parent, in.parentID
}

// ID returns the model's id of the call, as logged (P-30).
func (c *Call) ID() messages.CallID { return c.id }

// Token returns the execution's own identity.
func (c *Call) Token() messages.CallToken { return c.token }

// Parent returns the token of the call that made this one, or 0 (P-32).
func (c *Call) Parent() messages.CallToken { return c.parent }

// ParentID returns the call id of the call that made this one, or "".
func (c *Call) ParentID() messages.CallID { return c.parentID }

// Name returns the tool's name as the model gave it.
func (c *Call) Name() string { return c.name }

// Arguments returns the exact JSON text that every listener, hook and the body
// read (Z-11). Model text that is not JSON is here as a JSON string; it is
// absent if the text was refused (P-6).
func (c *Call) Arguments() messages.JSON { return c.arguments }

// Agent returns the session that the call belongs to, or nil.
func (c *Call) Agent() Agent { return c.agent }

// Turn returns the turn of the call, or 0.
func (c *Call) Turn() int { return int(c.turn) }

// Step returns the step of the call, or 0.
func (c *Call) Step() int { return int(c.step) }

// BodyInvoked reports whether the tool's body was entered (Z-4, P-35). A tool made
// with [Define] is not entered for arguments that it refuses (P-16).
func (c *Call) BodyInvoked() bool { return c.invoked.Load() }

// BodyFailed reports whether the last run of the body that has ended did not
// succeed: it failed, timed out, was aborted or returned an invalid value.
func (c *Call) BodyFailed() bool { return c.failed.Load() }

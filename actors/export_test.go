package actors

import "github.com/asynkron/protoactor-go/actor"

// CrashActor makes the session's actor panic in its Receive, as a bug of ours
// would.
func (s *Session) CrashActor() {
	c := s.activation()
	pid := c.pid
	c.rt.root.Send(pid, turnOver{}) // while idle: a report of no turn
	c.rt.root.Send(pid, (*actor.Terminated)(nil)) // during a turn
}

// PanicUnderLock makes the session's core panic while its lock is held.
func (s *Session) PanicUnderLock() {
	defer func() { _ = recover() }()
	c := s.activation()
	c.lock()
	defer c.unlock()
	panic("bug under the lock")
}

// Broken reports whether the session's current activation has failed.
func (s *Session) Broken() bool { return s.activation().broken() }

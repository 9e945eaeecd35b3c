package actors

import (
	"runtime/debug"
	"sync"

	"github.com/asynkron/protoactor-go/actor"
)

// mailbox is a lean mailbox: one mutex and two queues. An idle one holds no queue
// memory, which matters because there is one per warm session. System messages
// overtake user messages, as the library requires.
//
// It has no goroutine: who posts to an idle mailbox processes it, and who posts to
// a busy one leaves the message to the goroutine that is there. That is safe
// because no Receive of this package blocks, sends while it holds a lock, or runs
// foreign code; it saves a goroutine and its wake-up for every message of a turn.
// Nobody may post while holding a session's mu.
type mailbox struct {
	mu        sync.Mutex
	system    queue
	user      queue
	scheduled bool
	suspended bool
	invoker   actor.MessageInvoker
}

// queue is a FIFO whose first message needs no allocation.
type queue struct {
	first any
	rest  []any
}

func (q *queue) push(m any) {
	if q.first == nil {
		q.first = m
		return
	}
	q.rest = append(q.rest, m)
}

func (q *queue) pop() any {
	m := q.first
	if len(q.rest) == 0 {
		q.first, q.rest = nil, nil
		return m
	}
	q.first, q.rest[0] = q.rest[0], nil
	q.rest = q.rest[1:]
	return m
}

// PostUserMessage implements actor.Mailbox.
func (m *mailbox) PostUserMessage(message any) { m.post(&m.user, message) }

// PostSystemMessage implements actor.Mailbox.
func (m *mailbox) PostSystemMessage(message any) { m.post(&m.system, message) }

func (m *mailbox) post(q *queue, message any) {
	m.mu.Lock()
	q.push(message)
	start := !m.scheduled && m.readyLocked()
	m.scheduled = m.scheduled || start
	m.mu.Unlock()
	if start {
		m.process()
	}
}

func (m *mailbox) readyLocked() bool {
	return m.system.first != nil || m.user.first != nil && !m.suspended
}

// RegisterHandlers implements actor.Mailbox. There is nothing to dispatch.
func (m *mailbox) RegisterHandlers(invoker actor.MessageInvoker, _ actor.Dispatcher) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.invoker = invoker
}

// Start implements actor.Mailbox.
func (m *mailbox) Start() {}

// UserMessageCount implements actor.Mailbox.
func (m *mailbox) UserMessageCount() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.user.first == nil {
		return 0
	}
	return 1 + len(m.user.rest)
}

// process runs until the mailbox is empty. A panic of the actor is escalated to
// its supervisor and processing goes on with what the supervisor says.
func (m *mailbox) process() {
	for !m.burst() {
	}
}

// burst processes messages and reports whether the mailbox is empty; a panic ends
// the burst early.
func (m *mailbox) burst() (empty bool) {
	var current any
	returned := false
	defer func() {
		if returned {
			return
		}
		reason := recover()
		if reason == nil { // runtime.Goexit: this goroutine ends, another goes on
			reason = &receiveExit{debug.Stack()}
			defer func() { go m.process() }()
		}
		m.invoker.EscalateFailure(reason, current)
	}()
	for {
		message, isSystem := m.take()
		current = message
		switch {
		case message == nil:
			returned = true
			return true
		case isSystem:
			m.invoker.InvokeSystemMessage(message)
		default:
			m.invoker.InvokeUserMessage(message)
		}
	}
}

// take returns the next message, or nil after it has marked the mailbox as not
// scheduled.
func (m *mailbox) take() (message any, isSystem bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for m.system.first != nil {
		switch message := m.system.pop(); message.(type) {
		case *actor.SuspendMailbox:
			m.suspended = true
		case *actor.ResumeMailbox:
			m.suspended = false
		default:
			return message, true
		}
	}
	if m.user.first == nil || m.suspended {
		m.scheduled = false
		return nil, false
	}
	return m.user.pop(), false
}

// receiveExit is the failure of an actor whose Receive ended its goroutine.
type receiveExit struct{ stack []byte }

func (e *receiveExit) Error() string { return "the actor's goroutine was ended by runtime.Goexit" }

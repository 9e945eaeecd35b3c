package messages

// Notification is a live event of a session. Notifications are delivered after
// the fact, in order, on one lane per session (Z-23); they are not durable.
type Notification interface{ notification() }

type (
	// SessionCreated says that a session was published.
	SessionCreated struct{ Source SessionStartSource }
	// AgentCreated follows SessionCreated.
	AgentCreated struct{}
	// SessionStarted says that agent/session-start was dispatched (S-2).
	SessionStarted struct{ Source SessionStartSource }
	// InboxEnqueued says that a prompt was accepted.
	InboxEnqueued struct{ Item InboxItem }
	// InboxDequeued says that a prompt was claimed: its one terminal event
	//
	InboxDequeued struct{ Item InboxItem }
	// InboxDiscarded says that prompts were dropped: their one terminal event,
	// queued ones first, then steering.
	InboxDiscarded struct{ Items List[InboxItem] }
	// StatusChanged says what the agent does now (V-14).
	StatusChanged struct{ Status Status }
	// EventAppended carries a committed event.
	EventAppended struct{ Event Event }
	// Flushed says that the store holds all events up to and including Seq.
	Flushed struct{ Seq int64 }
	// CancelRequested says that the open turn was cancelled.
	CancelRequested struct{ Cause CancelCause }
	// AgentError says that a turn or a flush failed (T-14, T-18).
	AgentError struct {
		Turn, Step int
		Message    string
		Code       Code
	}
	// AgentDisposed and SessionDisposed end a session's notifications.
	AgentDisposed struct{}
	// SessionDisposed is the last notification of a session.
	SessionDisposed struct{}
)

func (SessionCreated) notification()  {}
func (AgentCreated) notification()    {}
func (SessionStarted) notification()  {}
func (InboxEnqueued) notification()   {}
func (InboxDequeued) notification()   {}
func (InboxDiscarded) notification()  {}
func (StatusChanged) notification()   {}
func (EventAppended) notification()   {}
func (Flushed) notification()         {}
func (CancelRequested) notification() {}
func (AgentError) notification()      {}
func (AgentDisposed) notification()   {}
func (SessionDisposed) notification() {}

package actors

import (
	"fmt"
	"sync"
	"testing"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/dsh-actor/dsh-actor/messages"
	"github.com/dsh-actor/dsh-actor/session"
)

// BenchmarkEngineFloor is what a turn of BenchmarkTurn costs without any policy:
// the same spawns, messages, goroutines and appends, and nothing else. A turn is
// measured against it.
func BenchmarkEngineFloor(b *testing.B) {
	for _, n := range []int{1, 100} {
		b.Run(fmt.Sprintf("sessions=%d", n), func(b *testing.B) {
			sys := newSystem(quiet())
			defer sys.Shutdown()
			nursery := newNursery()
			sessions := make([]*floorSession, n)
			for i := range sessions {
				s := &floorSession{nursery: nursery, sys: sys, done: make(chan struct{}, 1)}
				s.log = session.New(session.Config{Header: session.Header{ID: "s"}})
				s.pid = nursery.spawn(sys.Root, s)
				sessions[i] = s
			}
			b.ReportAllocs()
			b.ResetTimer()
			var wg sync.WaitGroup
			for i, s := range sessions {
				turns := b.N / n
				if i < b.N%n {
					turns++
				}
				wg.Go(func() {
					for range turns {
						sys.Root.Send(s.pid, wakeUp{})
						<-s.done
					}
				})
			}
			wg.Wait()
			b.StopTimer()
			for _, s := range sessions {
				sys.Root.Stop(s.pid)
			}
		})
	}
}

type floorSession struct {
	box     mailbox
	nursery *nursery
	sys     *actor.ActorSystem
	pid     *actor.PID
	mu      sync.Mutex
	log     *session.Log
	turns   int
	done    chan struct{}
}

func (s *floorSession) mailbox() *mailbox { return &s.box }

func (s *floorSession) Receive(c actor.Context) {
	switch m := c.Message().(type) {
	case wakeUp:
		s.nursery.spawn(c, &floorTurn{session: s})
	case *floorTurn:
		c.Stop(m.pid)
		s.done <- struct{}{}
	case *actor.Terminated:
		forgetStopped(c)
	}
}

func (s *floorSession) append(e session.Entry) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, err := s.log.Append(1, e); err != nil {
		panic(err)
	}
}

type floorTurn struct {
	box     mailbox
	session *floorSession
	pid     *actor.PID
	calls   int
	driven  bool
}

func (t *floorTurn) mailbox() *mailbox { return &t.box }

func (t *floorTurn) Receive(c actor.Context) {
	switch m := c.Message().(type) {
	case *actor.Started:
		t.pid = c.Self()
		go t.drive()
	case []*floorCall:
		for _, k := range m {
			t.calls++
			t.session.nursery.spawn(c, k)
		}
	case []floorCall:
		for i := range m {
			c.Stop(m[i].pid)
		}
	case *actor.Terminated:
		forgetStopped(c)
		t.calls--
		t.report(c)
	case driverOver:
		t.driven = true
		t.report(c)
	}
}

func (t *floorTurn) report(c actor.Context) {
	if t.driven && t.calls == 0 {
		c.Send(c.Parent(), t)
	}
}

type floorCall struct {
	box mailbox
	pid *actor.PID
	out chan struct{}
}

func (k *floorCall) mailbox() *mailbox { return &k.box }

func (k *floorCall) Receive(c actor.Context) {
	if _, ok := c.Message().(*actor.Started); ok {
		k.pid = c.Self()
		go func() { k.out <- struct{}{} }()
	}
}

// drive appends 33 events and runs four calls.
func (t *floorTurn) drive() {
	s := t.session
	s.turns++
	turn := s.turns
	s.append(session.LogOnly(messages.TurnStart{Turn: turn, Trigger: messages.TurnTrigger{Kind: "message", Source: messages.UserSource()}}))
	s.append(session.Add(messages.UserMessage{Content: floorText, Source: messages.UserSource()}))
	s.append(session.LogOnly(messages.StepStart{Turn: turn, Step: 1}))
	for range 10 {
		s.append(session.LogOnly(messages.AssistantChunk{Turn: turn, Step: 1, Chunk: floorChunk}))
	}
	s.append(session.Answer(messages.AssistantMessage{Turn: turn, Step: 1, Content: floorCalls}, messages.List[int64]{}))
	out := make(chan struct{}, 4)
	calls := make([]floorCall, 4)
	launch := make([]*floorCall, 4)
	for i := range calls {
		calls[i].out = out
		launch[i] = &calls[i]
		s.append(session.LogOnly(messages.ToolCall{Turn: turn, Step: 1, CallID: floorIDs[i], Name: "Noop", Arguments: "{}"}))
	}
	s.sys.Root.Send(t.pid, launch)
	for i := range calls {
		<-out
		s.append(session.Add(messages.ToolResult{Turn: turn, Step: 1, CallID: floorIDs[i], Content: floorText}))
	}
	s.sys.Root.Send(t.pid, calls)
	s.append(session.LogOnly(messages.StepEnd{Turn: turn, Step: 1}))
	s.append(session.LogOnly(messages.StepStart{Turn: turn, Step: 2}))
	for range 6 {
		s.append(session.LogOnly(messages.AssistantChunk{Turn: turn, Step: 2, Chunk: floorChunk}))
	}
	s.append(session.Answer(messages.AssistantMessage{Turn: turn, Step: 2, Content: floorText}, messages.List[int64]{}))
	s.append(session.LogOnly(messages.StepEnd{Turn: turn, Step: 2}))
	s.append(session.LogOnly(messages.TurnEnd{Turn: turn, Reason: messages.EndReason{Kind: messages.EndCompleted}}))
	s.mu.Lock()
	s.log.Trim(s.log.NextSeq())
	s.mu.Unlock()
	s.sys.Root.Send(t.pid, driverOver{})
}

var (
	floorText  = messages.Text("ok")
	floorChunk = messages.TextDelta{Text: "x"}
	floorIDs   = [4]messages.CallID{"c1", "c2", "c3", "c4"}
	floorCalls = messages.NewContent(
		messages.ToolCallBlock{ID: "c1", Name: "Noop", Arguments: "{}"}, messages.ToolCallBlock{ID: "c2", Name: "Noop", Arguments: "{}"},
		messages.ToolCallBlock{ID: "c3", Name: "Noop", Arguments: "{}"}, messages.ToolCallBlock{ID: "c4", Name: "Noop", Arguments: "{}"},
	)
)

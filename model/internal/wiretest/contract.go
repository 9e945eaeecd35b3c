package wiretest

import (
	"testing"

	"github.com/dsh-actor/dsh-actor/messages"
	"github.com/dsh-actor/dsh-actor/model"
	"github.com/dsh-actor/dsh-actor/model/modeltest"
)

// Adapter is a model that keeps connections.
type Adapter interface {
	model.Model
	Close()
}

// Contract is how an adapter is put through the contract suite.
type Contract struct {
	New func(t *testing.T, baseURL string) Adapter
	// Text and Calls are streams of events that answer so. Stalled is the
	// beginning of one, with a delta.
	Text, Calls, Stalled string
	Failing              Reply
	Failure              messages.Failure
}

// Run runs the adapter through the contract suite, over a server on the loopback.
func (c Contract) Run(t *testing.T) {
	setup := func(r Reply) func(*testing.T) modeltest.Case {
		return func(t *testing.T) modeltest.Case {
			s := Serve(t, Always(r))
			m := c.New(t, s.URL)
			return modeltest.Case{
				Model: m, Request: Ask("hello"), Waiting: s.Waiting,
				Settle: func() {
					m.Close()
					s.Close() // returns when all its connections have ended
				},
			}
		}
	}
	modeltest.Run(t, modeltest.Suite{
		Text:    setup(Stream(c.Text)),
		Calls:   setup(Stream(c.Calls)),
		Silent:  setup(Reply{Silent: true, After: Hang}),
		Stalled: setup(Reply{Parts: []string{c.Stalled}, After: Hang}),
		Failing: setup(c.Failing),
		Failure: c.Failure,
	})
}

// Ask is a request with one prompt.
func Ask(prompt string) model.Request {
	return model.Request{
		Header:  messages.RequestHeader{Config: messages.RequestConfig{Provider: "p", Model: "m"}},
		History: messages.ListOf(messages.Message{Role: messages.RoleUser, Content: messages.Text(prompt)}),
		Session: "s", Turn: 1, Step: 1,
	}
}

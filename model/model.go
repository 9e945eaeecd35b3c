package model

import (
	"context"
	"iter"

	"github.com/dsh-actor/dsh-actor/messages"
)

// Request is one model request. It is a value of frozen parts: an adapter can
// keep it, and cannot change what the session derived (T-5).
type Request struct {
	// Header holds configuration, system prompt, tools and the message prefix.
	Header messages.RequestHeader
	// History is the derived history as of just before step/start.
	History messages.List[messages.Message]

	// Session, Turn and Step say what the request is for.
	Session messages.SessionID
	Turn    int
	Step    int
	// Attempt is 0 for the first try and counts the failures that were retried
	// in a row before this request.
	Attempt int
}

// Messages returns the prefix followed by the history: what the model reads.
func (r Request) Messages() messages.List[messages.Message] {
	return r.Header.MessagePrefix.Concat(r.History)
}

// Model is an adapter to one provider. Implementations are safe for concurrent
// use by any number of sessions.
type Model interface {
	// Stream sends the request and yields chunks until the stream ends (V-6). An
	// error ends the stream; if it is or wraps a messages.Failure, the failure is
	// reported as it is, otherwise as one of code UNKNOWN. A stream that ends
	// without a finish chunk counts as finished "stop" (V-7).
	//
	// When ctx is done, Stream stops as soon as it can and yields context.Cause.
	// When the consumer stops early, the request is abandoned. In both cases
	// nothing of the request is left running when Stream returns.
	Stream(ctx context.Context, req Request) iter.Seq2[messages.Chunk, error]
}

// Models finds the adapter of a provider name.
type Models interface {
	// Lookup returns the adapter, or false if the provider is not known.
	Lookup(provider string) (Model, bool)
}

// Map is a fixed set of adapters by provider name.
type Map map[string]Model

// Lookup returns the adapter of the provider.
func (m Map) Lookup(provider string) (Model, bool) {
	found, ok := m[provider]
	return found, ok
}

// Single answers every provider name with one adapter.
func Single(m Model) Models { return single{m} }

type single struct{ m Model }

func (s single) Lookup(string) (Model, bool) { return s.m, s.m != nil }

// Place says where an adapter's requests go, for traces.
type Place struct {
	InProcess bool   // no network is involved
	Address   string // host name of the endpoint
	Port      int
}

// Placed is implemented by adapters that know their [Place].
type Placed interface{ Place() Place }

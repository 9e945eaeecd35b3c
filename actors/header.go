package actors

import (
	"sync"

	"github.com/dsh-actor/dsh-actor/messages"
)

// sameHeader compares what two requests send besides history (T-6). Strings and
// lists that were shared compare without being read.
func sameHeader(a, b *messages.RequestHeader) bool {
	return sameRequestConfig(a.Config, b.Config) && a.System == b.System &&
		sameTools(a.Tools, b.Tools) && samePrefix(a.MessagePrefix, b.MessagePrefix)
}

func sameRequestConfig(a, b messages.RequestConfig) bool {
	if a.Provider != b.Provider || a.Model != b.Model || a.Temperature != b.Temperature ||
		a.MaxTokens != b.MaxTokens || a.Stop.Len() != b.Stop.Len() {
		return false
	}
	for i, s := range a.Stop.All() {
		if s != b.Stop.At(i) {
			return false
		}
	}
	return true
}

func sameTools(a, b messages.List[messages.ToolSpec]) bool {
	if a.Len() != b.Len() {
		return false
	}
	for i, s := range a.All() {
		if s != b.At(i) {
			return false
		}
	}
	return true
}

// samePrefix compares message prefixes. A prefix is composed once per activation
// and then shared, so the encoding is only reached when one was composed anew.
func samePrefix(a, b messages.List[messages.Message]) bool {
	if a.Len() != b.Len() {
		return false
	}
	if a.Len() == 0 {
		return true
	}
	x, errX := messages.MarshalJSON(a)
	y, errY := messages.MarshalJSON(b)
	return errX == nil && errY == nil && x == y
}

// headers keeps the last header of each agent definition, so that thousands of
// sessions of one agent share one.
type headers struct {
	mu   sync.Mutex
	last map[headerKey]*sharedHeader
}

// maxHeaders bounds what the sharing itself keeps alive.
const maxHeaders = 256

type headerKey struct {
	agent  *Agent
	reason messages.HeaderReason
}

// sharedHeader is a header and the event that logs it. It is frozen.
type sharedHeader struct {
	header messages.RequestHeader
	event  messages.EventData
}

// internHeader returns h, shared where possible.
func (rt *Runtime) internHeader(agent *Agent, h *messages.RequestHeader, reason messages.HeaderReason) *sharedHeader {
	key := headerKey{agent, reason}
	rt.headers.mu.Lock()
	defer rt.headers.mu.Unlock()
	if last := rt.headers.last[key]; last != nil && sameHeader(&last.header, h) {
		return last
	}
	if len(rt.headers.last) >= maxHeaders { // a host that makes an agent for each session
		clear(rt.headers.last)
	}
	shared := &sharedHeader{*h, messages.RequestHeaderEvent{Header: *h, Reason: reason}}
	rt.headers.last[key] = shared
	return shared
}

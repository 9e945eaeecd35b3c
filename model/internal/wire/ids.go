package wire

import (
	"strconv"
	"strings"

	"github.com/dsh-actor/dsh-actor/messages"
)

// CallIDs gives the calls of a history the ids that a provider accepts: some
// characters and a length only, and no id twice, while models repeat ids, other
// providers use other characters, and a session may have changed its provider.
// An id that is fine is kept. What a call is given depends on what precedes it
// alone, so that a longer history begins as the shorter one did.
type CallIDs struct {
	max   int
	used  map[string]int             // what was given, with the last suffix tried
	given map[messages.CallID]string // the latest call of an id
}

// NewCallIDs returns ids of at most longest characters.
func NewCallIDs(longest int) *CallIDs {
	return &CallIDs{max: longest, used: map[string]int{}, given: map[messages.CallID]string{}}
}

// Call returns the id to send for a call.
func (c *CallIDs) Call(id messages.CallID) string {
	base := c.clean(id)
	wire := base
	for c.used[wire] > 0 {
		c.used[base]++
		suffix := "_" + strconv.Itoa(c.used[base])
		wire = base[:min(len(base), c.max-len(suffix))] + suffix
	}
	c.used[wire] = 1
	c.given[id] = wire
	return wire
}

// Result returns the id to send for the result of a call: that of the latest
// call with the id.
func (c *CallIDs) Result(id messages.CallID) string {
	if wire, ok := c.given[id]; ok {
		return wire
	}
	return c.clean(id)
}

func (c *CallIDs) clean(id messages.CallID) string {
	if id == "" {
		return "call"
	}
	s := strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '_', r == '-':
			return r
		}
		return '_'
	}, string(id))
	return s[:min(len(s), c.max)]
}

package anthropic

import (
	"github.com/go-json-experiment/json"

	"github.com/dsh-actor/dsh-actor/messages"
)

// replay is the replay state of an answer: what a message needs to go back
// unchanged and the vocabulary has no place for. An answer that needs nothing has
// none.
type replay struct {
	// Version tells our state from that of other adapters.
	Version int `json:"anthropic"`
	// Reasoning has one entry for each reasoning block, in order. Order, and not an
	// index of the content, because the runtime may take calls out (T-9).
	Reasoning []thinking `json:"reasoning,omitzero"`

	own bool // the state was ours and fits the content
}

// thinking is what goes with one reasoning block: the signature of its text, or
// the whole thinking in a form that only the API reads.
type thinking struct {
	Signature string `json:"signature,omitzero"`
	Redacted  string `json:"redacted,omitzero"`
}

const replayVersion = 1

// encode returns the state, or nothing if there is nothing to keep. Others says
// that the answer has blocks of types that only the API knows.
func (r replay) encode(others bool) messages.JSON {
	if len(r.Reasoning) == 0 && !others {
		return ""
	}
	r.Version = replayVersion
	b, err := json.Marshal(r)
	if err != nil {
		return "" // strings only: it cannot fail
	}
	return messages.JSON(b)
}

// parseReplay reads the state of an answer with the content. State of another
// kind, or that does not fit, is none: then no reasoning is sent.
func parseReplay(state messages.JSON, content messages.Content) replay {
	var r replay
	if state == "" || state.Unmarshal(&r) != nil || r.Version != replayVersion {
		return replay{}
	}
	blocks := 0
	for b := range content.Blocks() {
		if _, ok := b.(messages.ReasoningBlock); ok {
			blocks++
		}
	}
	if blocks != len(r.Reasoning) {
		return replay{}
	}
	r.own = true
	return r
}

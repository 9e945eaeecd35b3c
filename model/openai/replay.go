package openai

import (
	"github.com/go-json-experiment/json"

	"github.com/dsh-actor/dsh-actor/messages"
)

// replay is the replay state of an answer: what a message needs to go back
// unchanged and the vocabulary has no place for. An answer that needs nothing has
// none.
type replay struct {
	// Version tells our state from that of other adapters, API the two protocols
	// apart.
	Version int `json:"openai"`
	API     API `json:"api"`
	// Reasoning has one entry for each reasoning block, in order, and Phases one
	// for each text block, if any has a phase. Order, and not an index of the
	// content, because the runtime may take calls out (T-9). Responses only.
	Reasoning []reasoning `json:"reasoning,omitzero"`
	Phases    []string    `json:"phases,omitzero"`
	// Field is the member that reasoning came in. Chat Completions only.
	Field string `json:"field,omitzero"`
}

// reasoning is what goes with one reasoning block: the item as it came, but for
// members that say how the answer went.
type reasoning struct {
	ID        string        `json:"id,omitzero"`
	Summary   messages.JSON `json:"summary,omitzero"`
	Content   messages.JSON `json:"content,omitzero"`
	Encrypted string        `json:"encrypted_content,omitzero"`
}

const replayVersion = 1

// encode returns the state.
func (r replay) encode(api API) messages.JSON {
	r.Version, r.API = replayVersion, api
	b, err := json.Marshal(r)
	if err != nil {
		return "" // strings and checked JSON: it cannot fail
	}
	return messages.JSON(b)
}

// parseReplay reads the state of an assistant message that the provider wrote
// through the API. State of another kind, or that does not fit the content, is
// none.
func parseReplay(m messages.Message, provider string, api API) (r replay, ok bool) {
	state := m.Provenance.ReplayState
	if m.Role != messages.RoleAssistant || state == "" || m.Provenance.Provider != provider {
		return replay{}, false
	}
	if state.Unmarshal(&r) != nil || r.Version != replayVersion || r.API != api {
		return replay{}, false
	}
	blocks, texts := 0, 0
	for b := range m.Content.Blocks() {
		switch b.(type) {
		case messages.ReasoningBlock:
			blocks++
		case messages.TextBlock:
			texts++
		}
	}
	if api == Responses && blocks != len(r.Reasoning) || len(r.Phases) > 0 && texts != len(r.Phases) {
		return replay{}, false
	}
	return r, true
}

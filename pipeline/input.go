package pipeline

import (
	"errors"

	"github.com/dsh-actor/dsh-actor/messages"
	"github.com/dsh-actor/dsh-actor/pipeline/internal/flat"
)

// Input is what a caller says of a call (P-4).
type Input struct {
	ID   messages.CallID
	Name string
	// Arguments is the model's text. Text that is not JSON is passed on as a JSON
	// string, empty text as {} (Z-11).
	Arguments string
	// Agent is the session that the call works for; nil for none.
	Agent      Agent
	Turn, Step int

	parent   messages.CallToken
	parentID messages.CallID
}

// normalizeArguments makes the JSON text of model text (Z-11, T-20). It fails
// for JSON that cannot be kept without loss (P-6).
func normalizeArguments(text string) (messages.JSON, error) {
	if text == "" {
		return "{}", nil
	}
	j := messages.JSON(text)
	if flat.Lossless(j.Bytes()) {
		return j, nil
	}
	err := messages.CheckJSON(j)
	switch {
	case err == nil:
		return j, nil
	case errors.Is(err, messages.ErrNotLossless):
		return "", err
	default:
		return messages.QuoteJSON(text), nil
	}
}

package pipeline

import (
	"errors"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/dsh-actor/dsh-actor/messages"
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
	err := messages.CheckJSON(j)
	switch {
	case err == nil:
		return j, nil
	case errors.Is(err, messages.ErrNotLossless), isTooDeep(err):
		return "", err
	default:
		return messages.QuoteJSON(text), nil
	}
}

// isTooDeep reports whether the decoder gave up on text because it nests deeper
// than the decoder goes, so that nobody knows whether it is JSON further inside.
// The decoder has no other name for that than its text.
func isTooDeep(err error) bool {
	var syntax *jsontext.SyntacticError
	return errors.As(err, &syntax) && syntax.Err != nil && syntax.Err.Error() == "exceeded max depth"
}

package retry

import "github.com/dsh-actor/dsh-actor/messages"

// Retry is the payload of llm/retry: a failed model request is going to be sent
// again. Turn and Step are those of the request that failed. Attempt counts the
// retries in a row from 1; DelayMS is how long is waited before it.
type Retry struct {
	Turn       int              `json:"turn"`
	Step       int              `json:"step"`
	Attempt    int              `json:"attempt"`
	MaxRetries int              `json:"maxRetries"`
	DelayMS    int64            `json:"delayMs"`
	Failure    messages.Failure `json:"failure"`
}

// EventType returns "llm/retry".
func (Retry) EventType() string { return "llm/retry" }

// EventTypes returns what the host's registry must know. An llm/retry event lies
// in the turn and outside any step: the failed step has ended (T-10), the next
// one has not begun.
func EventTypes() []messages.EventType {
	return []messages.EventType{
		messages.Define[Retry](messages.InTurn, "A failed model request is going to be sent again."),
	}
}

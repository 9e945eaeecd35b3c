package openai

import "github.com/dsh-actor/dsh-actor/messages"

// usage has the counts of both APIs: their members do not collide.
type usage struct {
	Input         int64 `json:"input_tokens"`
	Output        int64 `json:"output_tokens"`
	InputDetails  input `json:"input_tokens_details"`
	OutputDetails struct {
		Reasoning int64 `json:"reasoning_tokens"`
	} `json:"output_tokens_details"`

	Prompt            int64 `json:"prompt_tokens"`
	Completion        int64 `json:"completion_tokens"`
	PromptDetails     input `json:"prompt_tokens_details"`
	CompletionDetails struct {
		Reasoning int64 `json:"reasoning_tokens"`
	} `json:"completion_tokens_details"`
	CacheHit int64 `json:"prompt_cache_hit_tokens"` // DeepSeek
}

type input struct {
	Cached     int64 `json:"cached_tokens"`
	CacheWrite int64 `json:"cache_write_tokens"`
}

// disjoint returns the counts of V-9. The providers count cached tokens as input
// and reasoning as output. A part that is larger than its whole was counted
// beside it, as some servers do.
func (u usage) disjoint() messages.Usage {
	out := messages.Usage{
		InputTokens:      max(u.Input, u.Prompt, 0),
		OutputTokens:     max(u.Output, u.Completion, 0),
		CacheReadTokens:  max(u.InputDetails.Cached, u.PromptDetails.Cached, u.CacheHit, 0),
		CacheWriteTokens: max(u.InputDetails.CacheWrite, u.PromptDetails.CacheWrite, 0),
		ReasoningTokens:  max(u.OutputDetails.Reasoning, u.CompletionDetails.Reasoning, 0),
	}
	if cached := out.CacheReadTokens + out.CacheWriteTokens; cached <= out.InputTokens {
		out.InputTokens -= cached
	}
	if out.ReasoningTokens <= out.OutputTokens {
		out.OutputTokens -= out.ReasoningTokens
	}
	return out
}

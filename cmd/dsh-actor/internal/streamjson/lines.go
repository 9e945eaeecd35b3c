package streamjson

import (
	"github.com/dsh-actor/dsh-actor/messages"
)

// Init is what the first line says about the session.
type Init struct {
	Cwd            string
	Model          string
	Provider       string
	Tools          []string
	PermissionMode string
	// APIKeySource names the environment variable that the key came from, "none"
	// if there is none.
	APIKeySource string
	Version      string
}

// The lines. Members are in the order in which the real program writes them.
type (
	initLine struct {
		Type           string             `json:"type"`
		Subtype        string             `json:"subtype"`
		Cwd            string             `json:"cwd"`
		SessionID      messages.SessionID `json:"session_id"`
		Tools          []string           `json:"tools"`
		MCPServers     []any              `json:"mcp_servers"`
		Model          string             `json:"model"`
		PermissionMode string             `json:"permissionMode"`
		SlashCommands  []any              `json:"slash_commands"`
		APIKeySource   string             `json:"apiKeySource"`
		Version        string             `json:"dsh_actor_version"`
		OutputStyle    string             `json:"output_style"`
		Agents         []any              `json:"agents"`
		Skills         []any              `json:"skills"`
		Plugins        []any              `json:"plugins"`
		UUID           string             `json:"uuid"`
		Own            initOwn            `json:"dsh"`
	}
	initOwn struct {
		Provider string `json:"provider"`
	}
	retryLine struct {
		Type       string             `json:"type"`
		Subtype    string             `json:"subtype"`
		Attempt    int                `json:"attempt"`
		MaxRetries int                `json:"max_retries"`
		DelayMS    int64              `json:"retry_delay_ms"`
		Status     *int               `json:"error_status"` // null without one
		Error      messages.Code      `json:"error"`
		SessionID  messages.SessionID `json:"session_id"`
		UUID       string             `json:"uuid"`
		Own        retryOwn           `json:"dsh"`
	}
	retryOwn struct {
		Message string `json:"message"`
	}
	assistantLine struct {
		Type      string             `json:"type"`
		Message   assistantMessage   `json:"message"`
		Parent    *string            `json:"parent_tool_use_id"`
		SessionID messages.SessionID `json:"session_id"`
		UUID      string             `json:"uuid"`
	}
	assistantMessage struct {
		ID           string  `json:"id"`
		Type         string  `json:"type"`
		Role         string  `json:"role"`
		Model        string  `json:"model"`
		Content      []any   `json:"content"`
		StopReason   *string `json:"stop_reason"`
		StopSequence *string `json:"stop_sequence"`
		Usage        usage   `json:"usage"`
	}
	userLine struct {
		Type      string             `json:"type"`
		Message   userMessage        `json:"message"`
		Parent    *string            `json:"parent_tool_use_id"`
		SessionID messages.SessionID `json:"session_id"`
		UUID      string             `json:"uuid"`
		Synthetic bool               `json:"isSynthetic,omitzero"`
		Replay    bool               `json:"isReplay,omitzero"`
		Result    messages.JSON      `json:"tool_use_result,omitzero"`
	}
	userMessage struct {
		Role    string `json:"role"`
		Content any    `json:"content"`
	}
	usage struct {
		InputTokens   int64 `json:"input_tokens"`
		CacheCreation int64 `json:"cache_creation_input_tokens"`
		CacheRead     int64 `json:"cache_read_input_tokens"`
		OutputTokens  int64 `json:"output_tokens"`
	}
	modelUsage struct {
		InputTokens   int64 `json:"inputTokens"`
		OutputTokens  int64 `json:"outputTokens"`
		CacheRead     int64 `json:"cacheReadInputTokens"`
		CacheCreation int64 `json:"cacheCreationInputTokens"`
	}
	resultLine struct {
		Type           string                `json:"type"`
		Subtype        string                `json:"subtype"`
		IsError        bool                  `json:"is_error"`
		DurationMS     int64                 `json:"duration_ms"`
		DurationAPIMS  int64                 `json:"duration_api_ms"`
		NumTurns       int                   `json:"num_turns"`
		Result         *string               `json:"result,omitzero"`
		StopReason     string                `json:"stop_reason,omitzero"`
		TerminalReason string                `json:"terminal_reason,omitzero"`
		SessionID      messages.SessionID    `json:"session_id"`
		Usage          usage                 `json:"usage"`
		ModelUsage     map[string]modelUsage `json:"modelUsage"`
		Denials        []Denial              `json:"permission_denials"`
		Errors         []string              `json:"errors,omitzero"`
		UUID           string                `json:"uuid"`
		Own            resultOwn             `json:"dsh"`
	}
	resultOwn struct {
		Turn      int                `json:"turn,omitzero"`
		End       messages.EndReason `json:"end,omitzero"`
		ToolCalls int                `json:"tool_calls"`
		Requests  int                `json:"model_requests"`
	}
)

// Denial is one call that policy refused.
type Denial struct {
	ToolName  string          `json:"tool_name"`
	ToolUseID messages.CallID `json:"tool_use_id"`
	ToolInput messages.JSON   `json:"tool_input"`
}

// usageOf translates counts, which are disjoint here (V-9), into those of the
// Messages API, where thinking is part of the output.
func usageOf(u messages.Usage) usage {
	return usage{
		InputTokens: u.InputTokens, CacheCreation: u.CacheWriteTokens, CacheRead: u.CacheReadTokens,
		OutputTokens: u.OutputTokens + u.ReasoningTokens,
	}
}

func modelUsageOf(byModel map[string]messages.Usage) map[string]modelUsage {
	out := make(map[string]modelUsage, len(byModel))
	for name, u := range byModel {
		out[name] = modelUsage{
			InputTokens: u.InputTokens, OutputTokens: u.OutputTokens + u.ReasoningTokens,
			CacheRead: u.CacheReadTokens, CacheCreation: u.CacheWriteTokens,
		}
	}
	return out
}

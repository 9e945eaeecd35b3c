package scripted

import (
	"strings"

	"github.com/dsh-actor/dsh-actor/messages"
)

// Placeholders; see the package documentation.
const (
	lastToolResult = "{{lastToolResult}}"
	promptText     = "{{prompt}}"
)

// maxValue is the most bytes that a placeholder stands for: an answer that
// quotes a result that quotes an answer must not grow without bound.
const maxValue = 64 << 10

func hasTemplate(s string) bool {
	return strings.Contains(s, lastToolResult) || strings.Contains(s, promptText)
}

// fill returns the parts with the placeholders replaced by what the history has.
func (p parts) fill(h messages.List[messages.Message]) parts {
	result, prompt := clip(resultText(h)), clip(promptOf(h))
	plain := strings.NewReplacer(lastToolResult, result, promptText, prompt)
	p.reasoning, p.text = plain.Replace(p.reasoning), plain.Replace(p.text)

	// In JSON a placeholder can only be inside a string.
	quoted := strings.NewReplacer(lastToolResult, insideString(result), promptText, insideString(prompt))
	calls := make([]call, len(p.calls))
	for i, c := range p.calls {
		if !c.raw {
			c.arguments = quoted.Replace(c.arguments)
		}
		calls[i] = c
	}
	p.calls = calls
	return p
}

// insideString returns s as it is written between the quotes of a JSON string.
func insideString(s string) string {
	quoted := string(messages.QuoteJSON(s))
	return quoted[1 : len(quoted)-1]
}

func clip(s string) string {
	if len(s) <= maxValue {
		return s
	}
	return strings.ToValidUTF8(s[:maxValue], "")
}

// resultText returns the text of the latest tool result.
func resultText(h messages.List[messages.Message]) string {
	for i := h.Len() - 1; i >= 0; i-- {
		content := h.At(i).Content
		for j := content.Len() - 1; j >= 0; j-- {
			if r, ok := content.At(j).(messages.ToolResultBlock); ok {
				return strings.TrimRight(r.Content.Text(), "\r\n")
			}
		}
	}
	return ""
}

// promptOf returns the texts of the user messages since the last answer without
// tool calls. The history does not say which of them a person wrote and which
// were added as context, so it is all of them.
func promptOf(h messages.List[messages.Message]) string {
	start := 0
	for i := h.Len() - 1; i >= 0; i-- {
		if m := h.At(i); m.Role == messages.RoleAssistant && len(m.Content.ToolCalls()) == 0 {
			start = i + 1
			break
		}
	}
	var lines []string
	for i := start; i < h.Len(); i++ {
		if m := h.At(i); m.Role == messages.RoleUser {
			if text := m.Content.Text(); text != "" {
				lines = append(lines, text)
			}
		}
	}
	return strings.Join(lines, "\n")
}

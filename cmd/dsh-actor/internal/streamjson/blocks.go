package streamjson

import (
	"github.com/dsh-actor/dsh-actor/messages"
)

// Blocks as the Messages API writes them.
type (
	textBlock struct {
		Type string `json:"type"`
		Text string `json:"text"`
	}
	thinkingBlock struct {
		Type      string `json:"type"`
		Thinking  string `json:"thinking"`
		Signature string `json:"signature"`
	}
	toolUseBlock struct {
		Type  string          `json:"type"`
		ID    messages.CallID `json:"id"`
		Name  string          `json:"name"`
		Input messages.JSON   `json:"input"`
	}
	toolResultBlock struct {
		Type      string          `json:"type"`
		ToolUseID messages.CallID `json:"tool_use_id"`
		Content   any             `json:"content"`
		IsError   bool            `json:"is_error,omitzero"`
	}
	imageBlock struct {
		Type   string      `json:"type"`
		Source imageSource `json:"source"`
	}
	imageSource struct {
		Type      string `json:"type"`
		MediaType string `json:"media_type"`
		Data      string `json:"data"`
	}
)

// blocksOf translates content. Blocks of a type that this build does not know are
// passed on as they are.
func blocksOf(c messages.Content) []any {
	out := make([]any, 0, c.Len())
	for b := range c.Blocks() {
		out = append(out, blockOf(b))
	}
	return out
}

func blockOf(b messages.Block) any {
	switch b := b.(type) {
	case messages.TextBlock:
		return textBlock{"text", b.Text}
	case messages.ReasoningBlock:
		return thinkingBlock{Type: "thinking", Thinking: b.Text}
	case messages.ToolCallBlock:
		return toolUseBlock{"tool_use", b.ID, b.Name, Input(b.Arguments)}
	case messages.ToolResultBlock:
		return toolResultBlock{"tool_result", b.ToolCallID, plainOrBlocks(b.Content), b.IsError}
	case messages.ImageBlock:
		return imageBlock{"image", imageSource{"base64", b.MediaType, b.Data}}
	case messages.OtherBlock:
		return b.Raw
	default:
		return textBlock{"text", "[" + b.BlockType() + " content]"}
	}
}

// plainOrBlocks is content as the real program writes it: a string if it is one
// text, a list of blocks otherwise.
func plainOrBlocks(c messages.Content) any {
	if c.Len() == 1 {
		if t, ok := c.At(0).(messages.TextBlock); ok {
			return t.Text
		}
	}
	return blocksOf(c)
}

// Input is a call's argument text as a value: {} if there is none, the text as a
// JSON string if it is not JSON (Z-11).
func Input(arguments string) messages.JSON {
	switch {
	case arguments == "":
		return "{}"
	case messages.CheckJSON(messages.JSON(arguments)) != nil:
		return messages.QuoteJSON(messages.ValidUTF8(arguments))
	default:
		return messages.JSON(arguments)
	}
}

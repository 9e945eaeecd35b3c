package mcp

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/dsh-actor/dsh-actor/messages"
)

// block is a piece of content on the wire.
type block struct {
	Type     string `json:"type"`
	Text     string `json:"text"`
	Data     string `json:"data"`
	MIMEType string `json:"mimeType"`
	URI      string `json:"uri"`
	Name     string `json:"name"`
	Resource struct {
		URI      string `json:"uri"`
		MIMEType string `json:"mimeType"`
		Text     string `json:"text"`
		Blob     string `json:"blob"`
	} `json:"resource"`
}

// valueOf is the canonical value of an answer: its content. An answer that has
// only structured content has that as text.
func valueOf(r *sdk.CallToolResult) (messages.JSON, error) {
	if len(r.Content) == 0 && r.StructuredContent != nil {
		text, err := messages.MarshalJSON(r.StructuredContent)
		if err != nil {
			return "", fmt.Errorf("structured content of the answer: %w", err)
		}
		return messages.MarshalJSON([]map[string]string{{"type": "text", "text": string(text)}})
	}
	blocks := make([]messages.JSON, len(r.Content))
	for i, c := range r.Content {
		data, err := c.MarshalJSON()
		if err != nil {
			return "", fmt.Errorf("content of the answer: %w", err)
		}
		blocks[i] = messages.JSON(data)
	}
	return messages.MarshalJSON(blocks)
}

// maxText is how many code points of one text a model is shown.
const maxText = 100_000

// render makes what the model reads of a canonical value.
func render(_, value messages.JSON) (messages.Content, error) {
	var blocks []block
	if err := value.Unmarshal(&blocks); err != nil {
		return messages.Content{}, fmt.Errorf("content of an MCP tool: %w", err)
	}
	out := make([]messages.Block, 0, len(blocks))
	for _, b := range blocks {
		out = append(out, b.model())
	}
	if len(out) == 0 {
		return messages.Text("(the tool answered with no content)"), nil
	}
	return messages.NewContent(out...), nil
}

func (b *block) model() messages.Block {
	switch b.Type {
	case "text":
		return messages.TextBlock{Text: cut(b.Text)}
	case "image":
		return messages.ImageBlock{MediaType: b.MIMEType, Data: b.Data}
	case "resource":
		if b.Resource.Text != "" || b.Resource.Blob == "" {
			return messages.TextBlock{Text: cut(b.Resource.Text)}
		}
		return messages.TextBlock{Text: fmt.Sprintf("[resource %s of type %s]", b.Resource.URI, b.Resource.MIMEType)}
	case "resource_link":
		return messages.TextBlock{Text: fmt.Sprintf("[link to resource %q: %s]", b.Name, b.URI)}
	}
	return messages.TextBlock{Text: fmt.Sprintf("[%s content of type %s]", b.Type, b.MIMEType)}
}

// cut shortens a text that is too long, between code points (Z-7).
func cut(s string) string {
	if len(s) <= maxText {
		return s
	}
	total := utf8.RuneCountInString(s)
	n := 0
	for i := range s {
		if n == maxText && total > maxText {
			return fmt.Sprintf("%s\n[%d more characters were cut]", s[:i], total-maxText)
		}
		n++
	}
	return s
}

// failure is the error of an answer that is one, with its text as the message.
func failure(value messages.JSON) error {
	c, err := render("", value)
	if err != nil {
		return err
	}
	var texts []string
	for b := range c.Blocks() {
		if t, ok := b.(messages.TextBlock); ok {
			texts = append(texts, t.Text)
		} else {
			texts = append(texts, "["+b.BlockType()+" content]")
		}
	}
	return errors.New(strings.Join(texts, "\n"))
}

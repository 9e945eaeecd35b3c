package messages

import (
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// Block is one piece of content (V-3). The union is open on the wire: a type
// that this build does not know is an [OtherBlock] and survives a round trip.
type Block interface {
	// BlockType is the wire discriminator, such as "text".
	BlockType() string
	block()
}

// Block types on the wire (V-3).
const (
	TypeText       = "text"
	TypeReasoning  = "reasoning"
	TypeToolCall   = "tool-call"
	TypeToolResult = "tool-result"
	TypeImage      = "image"
)

type (
	// TextBlock is text for or from the model.
	TextBlock struct {
		Text string `json:"text"`
	}
	// ReasoningBlock is the model's reasoning text.
	ReasoningBlock struct {
		Text string `json:"text"`
	}
	// ToolCallBlock is one call that the model asked for. Arguments is the
	// model's own text, not necessarily JSON.
	ToolCallBlock struct {
		ID        CallID `json:"id"`
		Name      string `json:"name"`
		Arguments string `json:"arguments"`
	}
	// ToolResultBlock carries a result back to the model.
	ToolResultBlock struct {
		ToolCallID CallID  `json:"toolCallId"`
		Content    Content `json:"content"`
		IsError    bool    `json:"isError,omitzero"`
	}
	// ImageBlock is an image, base64 as the providers take it.
	ImageBlock struct {
		MediaType string `json:"mediaType"`
		Data      string `json:"data"`
	}
	// OtherBlock is a block of a type that this build does not know. Raw is the
	// whole object, discriminator included.
	OtherBlock struct {
		Type string
		Raw  JSON
	}
)

func (TextBlock) BlockType() string       { return TypeText }
func (ReasoningBlock) BlockType() string  { return TypeReasoning }
func (ToolCallBlock) BlockType() string   { return TypeToolCall }
func (ToolResultBlock) BlockType() string { return TypeToolResult }
func (ImageBlock) BlockType() string      { return TypeImage }
func (b OtherBlock) BlockType() string    { return b.Type }

func (TextBlock) block()       {}
func (ReasoningBlock) block()  {}
func (ToolCallBlock) block()   {}
func (ToolResultBlock) block() {}
func (ImageBlock) block()      {}
func (OtherBlock) block()      {}

// Content is an immutable list of blocks. The zero value is "absent"; use
// [EmptyContent] to say "present and empty".
type Content struct{ blocks []Block }

// EmptyContent is content that is present and has no blocks.
func EmptyContent() Content { return Content{[]Block{}} }

// NewContent returns the blocks as content, with their strings made valid
// UTF-8. The slice is copied.
func NewContent(blocks ...Block) Content {
	out := make([]Block, len(blocks))
	for i, b := range blocks {
		out[i] = cleanBlock(b)
	}
	return Content{out}
}

// Text returns content of one text block.
func Text(s string) Content { return Content{[]Block{TextBlock{ValidUTF8(s)}}} }

// Textf is [Text] of a formatted string.
func Textf(format string, args ...any) Content { return Text(fmt.Sprintf(format, args...)) }

// IsZero reports whether the content is absent (not merely empty).
func (c Content) IsZero() bool { return c.blocks == nil }

// Len returns the number of blocks.
func (c Content) Len() int { return len(c.blocks) }

// At returns block i.
func (c Content) At(i int) Block { return c.blocks[i] }

// Blocks iterates over the blocks.
func (c Content) Blocks() iter.Seq[Block] { return slices.Values(c.blocks) }

// Append returns content with blocks added; c is unchanged.
func (c Content) Append(blocks ...Block) Content {
	out := make([]Block, 0, len(c.blocks)+len(blocks))
	out = append(out, c.blocks...)
	for _, b := range blocks {
		out = append(out, cleanBlock(b))
	}
	return Content{out}
}

// Text concatenates the text blocks, without separator.
func (c Content) Text() string {
	if len(c.blocks) == 1 {
		if t, ok := c.blocks[0].(TextBlock); ok {
			return t.Text
		}
	}
	var b strings.Builder
	for _, blk := range c.blocks {
		if t, ok := blk.(TextBlock); ok {
			b.WriteString(t.Text)
		}
	}
	return b.String()
}

// ToolCalls returns the tool-call blocks, in order.
func (c Content) ToolCalls() []ToolCallBlock {
	var out []ToolCallBlock
	for _, b := range c.blocks {
		if t, ok := b.(ToolCallBlock); ok {
			out = append(out, t)
		}
	}
	return out
}

// WithoutToolCalls returns the content with tool-call blocks removed (T-9).
func (c Content) WithoutToolCalls() Content {
	out := make([]Block, 0, len(c.blocks))
	for _, b := range c.blocks {
		if _, ok := b.(ToolCallBlock); !ok {
			out = append(out, b)
		}
	}
	return Content{out}
}

// cleanBlock replaces invalid UTF-8 in the strings of b.
func cleanBlock(b Block) Block {
	switch b := b.(type) {
	case TextBlock:
		if c := ValidUTF8(b.Text); c != b.Text {
			return TextBlock{c}
		}
	case ReasoningBlock:
		if c := ValidUTF8(b.Text); c != b.Text {
			return ReasoningBlock{c}
		}
	case ToolCallBlock:
		c := ToolCallBlock{CallID(ValidUTF8(string(b.ID))), ValidUTF8(b.Name), ValidUTF8(b.Arguments)}
		if c != b {
			return c
		}
	case ToolResultBlock:
		if id := CallID(ValidUTF8(string(b.ToolCallID))); id != b.ToolCallID {
			b.ToolCallID = id
			return b
		}
	case ImageBlock:
		if c := (ImageBlock{ValidUTF8(b.MediaType), ValidUTF8(b.Data)}); c != b {
			return c
		}
	}
	return b // as it came, without making a new interface value of it
}

// appendJSON appends the blocks as an array; absent content is an empty one.
func (c Content) appendJSON(dst []byte) ([]byte, error) {
	dst = append(dst, '[')
	for i, b := range c.blocks {
		if i > 0 {
			dst = append(dst, ',')
		}
		var err error
		if dst, err = appendBlock(dst, b); err != nil {
			return dst, fmt.Errorf("content block %d: %w", i, err)
		}
	}
	return append(dst, ']'), nil
}

// MarshalJSONTo writes the blocks as an array; absent content is an empty one.
func (c Content) MarshalJSONTo(enc *jsontext.Encoder) error { return writeAppended(enc, c) }

// UnmarshalJSONFrom reads an array of blocks. Unknown types are kept.
func (c *Content) UnmarshalJSONFrom(dec *jsontext.Decoder) error { return unmarshalView(dec, c) }

func (c *Content) decodeView(raw JSON) error {
	if raw.Kind() != '[' {
		return errors.New("must be an array of blocks")
	}
	blocks := []Block{}
	for item := range raw.Elements() {
		b, err := decodeBlock(item)
		if err != nil {
			return fmt.Errorf("content block %d: %w", len(blocks), err)
		}
		blocks = append(blocks, b)
	}
	*c = Content{blocks}
	return nil
}

// DecodeContent reads content from JSON text.
func DecodeContent(j JSON) (Content, error) {
	var c Content
	if err := CheckJSON(j); err != nil {
		return c, fmt.Errorf("content: %w", err)
	}
	if err := c.decodeView(j); err != nil {
		return c, fmt.Errorf("content: %w", err)
	}
	return c, nil
}

func appendBlock(dst []byte, b Block) ([]byte, error) {
	switch b := b.(type) {
	case TextBlock:
		dst = appendMember(dst, `{"type":"text","text":`, b.Text)
	case ReasoningBlock:
		dst = appendMember(dst, `{"type":"reasoning","text":`, b.Text)
	case ToolCallBlock:
		dst = appendMember(dst, `{"type":"tool-call","id":`, string(b.ID))
		dst = appendMember(dst, `,"name":`, b.Name)
		dst = appendMember(dst, `,"arguments":`, b.Arguments)
	case ToolResultBlock:
		dst = appendMember(dst, `{"type":"tool-result","toolCallId":`, string(b.ToolCallID))
		var err error
		if dst, err = b.Content.appendJSON(append(dst, `,"content":`...)); err != nil {
			return dst, err
		}
		if b.IsError {
			dst = append(dst, `,"isError":true`...)
		}
	case ImageBlock:
		dst = appendMember(dst, `{"type":"image","mediaType":`, b.MediaType)
		dst = appendMember(dst, `,"data":`, b.Data)
	case OtherBlock:
		if b.Raw.Kind() != '{' { // absent, or made by hand
			return dst, fmt.Errorf("block of type %q has no object", b.Type)
		}
		return appendRaw(dst, b.Raw)
	default:
		return dst, fmt.Errorf("unknown Go type %T", b)
	}
	return append(dst, '}'), nil
}

// decodeBlock reads one block from a view.
func decodeBlock(raw JSON) (Block, error) {
	typ, err := discriminator(raw, "type")
	if err != nil {
		return nil, err
	}
	b, err := decodeKnownBlock(typ, raw)
	if err != nil {
		return nil, fmt.Errorf("type %q: %w", typ, err)
	}
	return b, nil
}

func decodeKnownBlock(typ string, raw JSON) (Block, error) {
	switch typ {
	case TypeText:
		var b TextBlock
		err := decodeFields(raw, "type", []field{{name: "text", into: &b.Text}})
		return b, err
	case TypeReasoning:
		var b ReasoningBlock
		err := decodeFields(raw, "type", []field{{name: "text", into: &b.Text}})
		return b, err
	case TypeToolCall:
		var b ToolCallBlock
		err := decodeFields(raw, "type", []field{
			{name: "id", into: (*string)(&b.ID)}, {name: "name", into: &b.Name}, {name: "arguments", into: &b.Arguments},
		})
		return b, err
	case TypeToolResult:
		var b ToolResultBlock
		err := decodeFields(raw, "type", []field{
			{name: "toolCallId", into: (*string)(&b.ToolCallID)}, {name: "content", into: &b.Content},
			{name: "isError", into: &b.IsError, optional: true},
		})
		return b, err
	case TypeImage:
		var b ImageBlock
		err := decodeFields(raw, "type", []field{{name: "mediaType", into: &b.MediaType}, {name: "data", into: &b.Data}})
		return b, err
	default:
		return OtherBlock{Type: typ, Raw: raw.keep()}, nil
	}
}

package messages

import (
	"bytes"
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
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
		return ToolCallBlock{CallID(ValidUTF8(string(b.ID))), ValidUTF8(b.Name), ValidUTF8(b.Arguments)}
	}
	return b
}

// MarshalJSONTo writes the blocks as an array; absent content is an empty one.
func (c Content) MarshalJSONTo(enc *jsontext.Encoder) error {
	if err := enc.WriteToken(jsontext.BeginArray); err != nil {
		return err
	}
	for _, b := range c.blocks {
		if err := encodeBlock(enc, b); err != nil {
			return err
		}
	}
	return enc.WriteToken(jsontext.EndArray)
}

// UnmarshalJSONFrom reads an array of blocks. Unknown types are kept.
func (c *Content) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	if k := dec.PeekKind(); k != '[' {
		return fmt.Errorf("content must be an array of blocks, not %v", k)
	}
	if _, err := dec.ReadToken(); err != nil {
		return err
	}
	blocks := []Block{}
	for dec.PeekKind() != ']' {
		v, err := dec.ReadValue()
		if err != nil {
			return err
		}
		b, err := decodeBlock(JSON(v))
		if err != nil {
			return err
		}
		blocks = append(blocks, b)
	}
	if _, err := dec.ReadToken(); err != nil {
		return err
	}
	c.blocks = blocks
	return nil
}

// DecodeContent reads content from JSON text.
func DecodeContent(j JSON) (Content, error) {
	var c Content
	err := j.Unmarshal(&c)
	return c, err
}

func encodeBlock(enc *jsontext.Encoder, b Block) error {
	switch b := b.(type) {
	case TextBlock:
		return encodeTagged(enc, TypeText, b)
	case ReasoningBlock:
		return encodeTagged(enc, TypeReasoning, b)
	case ToolCallBlock:
		return encodeTagged(enc, TypeToolCall, b)
	case ToolResultBlock:
		return encodeTagged(enc, TypeToolResult, b)
	case ImageBlock:
		return encodeTagged(enc, TypeImage, b)
	case OtherBlock:
		return enc.WriteValue(b.Raw.Bytes())
	default:
		return fmt.Errorf("content block of unknown Go type %T", b)
	}
}

func decodeBlock(raw JSON) (Block, error) {
	typ, err := discriminator(raw, "type")
	if err != nil {
		return nil, fmt.Errorf("content block: %w", err)
	}
	switch typ {
	case TypeText:
		return asBlock(decodeTagged[TextBlock](raw))
	case TypeReasoning:
		return asBlock(decodeTagged[ReasoningBlock](raw))
	case TypeToolCall:
		return asBlock(decodeTagged[ToolCallBlock](raw))
	case TypeToolResult:
		return asBlock(decodeTagged[ToolResultBlock](raw))
	case TypeImage:
		return asBlock(decodeTagged[ImageBlock](raw))
	default:
		return OtherBlock{Type: typ, Raw: raw}, nil
	}
}

func asBlock[T Block](b T, err error) (Block, error) {
	if err != nil {
		return nil, err
	}
	return b, nil
}

// tagged is the wire form of a union case: the discriminator, then the fields.
type tagged[T any] struct {
	Type string `json:"type"`
	Body T      `json:",embed"`
}

func encodeTagged[T any](enc *jsontext.Encoder, typ string, v T) error {
	return json.MarshalEncode(enc, tagged[T]{typ, v}, marshalOptions)
}

// decodeTagged reads one union case. Members that the case does not declare
// are an error: dropping them would lose what a newer version wrote.
func decodeTagged[T any](raw JSON) (T, error) {
	var v tagged[T]
	err := raw.Unmarshal(&v, json.RejectUnknownMembers(true))
	return v.Body, err
}

// discriminator returns the string member key of the object raw.
func discriminator(raw JSON, key string) (string, error) {
	dec := jsontext.NewDecoder(bytes.NewBuffer(raw.Bytes()))
	tok, err := dec.ReadToken()
	if err != nil {
		return "", err
	}
	if tok.Kind() != '{' {
		return "", fmt.Errorf("want an object, got %v", tok.Kind())
	}
	for dec.PeekKind() == '"' {
		name, err := dec.ReadToken()
		if err != nil {
			return "", err
		}
		if name.String() != key {
			if err := dec.SkipValue(); err != nil {
				return "", err
			}
			continue
		}
		v, err := dec.ReadToken()
		if err != nil {
			return "", err
		}
		if v.Kind() != '"' {
			return "", fmt.Errorf("%q must be a string", key)
		}
		return v.String(), nil
	}
	return "", fmt.Errorf("missing %q", key)
}

package messages

import (
	"errors"
	"fmt"

	"github.com/go-json-experiment/json/jsontext"
)

// Chunk is one piece of a model's stream (V-6).
type Chunk interface {
	// ChunkType is the wire discriminator, such as "text-delta".
	ChunkType() string
	chunk()
}

type (
	// BlockStart announces the block of an index.
	BlockStart struct {
		Index     int    `json:"index"`
		BlockType string `json:"blockType"`
	}
	// TextDelta adds text.
	TextDelta struct {
		Index int    `json:"index"`
		Text  string `json:"text"`
	}
	// ReasoningDelta adds reasoning text.
	ReasoningDelta struct {
		Index int    `json:"index"`
		Text  string `json:"text"`
	}
	// ToolCallDelta adds to a tool call's argument text.
	ToolCallDelta struct {
		Index          int    `json:"index"`
		ID             CallID `json:"id"`
		Name           string `json:"name,omitzero"`
		ArgumentsDelta string `json:"argumentsDelta"`
	}
	// BlockEnd carries the whole block and closes its index.
	BlockEnd struct {
		Index int
		Block Block
	}
	// UsageChunk reports token counts; the last one of a stream wins.
	UsageChunk struct {
		Usage Usage `json:"usage"`
	}
	// FinishChunk ends the stream. ReplayState goes into the provenance.
	FinishChunk struct {
		Reason      FinishReason `json:"reason"`
		ReplayState JSON         `json:"replayState,omitzero"`
	}
)

func (BlockStart) ChunkType() string     { return "block-start" }
func (TextDelta) ChunkType() string      { return "text-delta" }
func (ReasoningDelta) ChunkType() string { return "reasoning-delta" }
func (ToolCallDelta) ChunkType() string  { return "tool-call-delta" }
func (BlockEnd) ChunkType() string       { return "block-end" }
func (UsageChunk) ChunkType() string     { return "usage" }
func (FinishChunk) ChunkType() string    { return "finish" }

func (BlockStart) chunk()     {}
func (TextDelta) chunk()      {}
func (ReasoningDelta) chunk() {}
func (ToolCallDelta) chunk()  {}
func (BlockEnd) chunk()       {}
func (UsageChunk) chunk()     {}
func (FinishChunk) chunk()    {}

// FinishReason says why a stream ended (V-8). Kinds that this build does not
// know count as ordinary success and keep their raw object.
type FinishReason struct {
	Kind    string
	Failure Failure // kinds error and aborted
	raw     JSON
}

// Finish kinds (V-8).
const (
	FinishStop      = "stop"
	FinishToolCalls = "tool-calls"
	FinishMaxTokens = "max-tokens"
	FinishAborted   = "aborted"
	FinishError     = "error"
)

// Failed reports whether the reason is a model-request failure (T-10).
func (r FinishReason) Failed() bool { return r.Kind == FinishError || r.Kind == FinishAborted }

// MarshalJSONTo writes {kind, failure?}, or the object of an unknown kind.
func (r FinishReason) MarshalJSONTo(enc *jsontext.Encoder) error { return writeAppended(enc, r) }

func (r FinishReason) appendJSON(dst []byte) ([]byte, error) {
	if r.raw != "" {
		return appendRaw(dst, r.raw)
	}
	dst = appendMember(dst, `{"kind":`, r.Kind)
	if !r.Failure.IsZero() {
		dst = r.Failure.appendJSON(append(dst, `,"failure":`...))
	}
	return append(dst, '}'), nil
}

// UnmarshalJSONFrom reads a reason of any kind.
func (r *FinishReason) UnmarshalJSONFrom(dec *jsontext.Decoder) error { return unmarshalView(dec, r) }

func (r *FinishReason) decodeView(raw JSON) error {
	kind, err := discriminator(raw, "kind")
	if err != nil {
		return fmt.Errorf("finish reason: %w", err)
	}
	out := FinishReason{Kind: kind}
	err = decodeFields(raw, "kind", []field{{name: "failure", into: &out.Failure, optional: true}})
	switch {
	case err == nil:
		*r = out
	case out.known():
		return fmt.Errorf("finish reason %q: %w", kind, err)
	default:
		*r = FinishReason{Kind: kind, raw: raw.keep()}
	}
	return nil
}

func (r FinishReason) known() bool {
	switch r.Kind {
	case FinishStop, FinishToolCalls, FinishMaxTokens, FinishAborted, FinishError:
		return true
	}
	return false
}

func appendChunk(dst []byte, c Chunk) ([]byte, error) {
	switch c := c.(type) {
	case BlockStart:
		dst = appendInt(dst, `{"type":"block-start","index":`, c.Index)
		dst = appendMember(dst, `,"blockType":`, c.BlockType)
	case TextDelta:
		dst = appendInt(dst, `{"type":"text-delta","index":`, c.Index)
		dst = appendMember(dst, `,"text":`, c.Text)
	case ReasoningDelta:
		dst = appendInt(dst, `{"type":"reasoning-delta","index":`, c.Index)
		dst = appendMember(dst, `,"text":`, c.Text)
	case ToolCallDelta:
		dst = appendInt(dst, `{"type":"tool-call-delta","index":`, c.Index)
		dst = appendMember(dst, `,"id":`, string(c.ID))
		if c.Name != "" {
			dst = appendMember(dst, `,"name":`, c.Name)
		}
		dst = appendMember(dst, `,"argumentsDelta":`, c.ArgumentsDelta)
	case BlockEnd:
		dst = appendInt(dst, `{"type":"block-end","index":`, c.Index)
		return closeObject(appendBlock(append(dst, `,"block":`...), c.Block))
	case UsageChunk:
		dst = c.Usage.appendJSON(append(dst, `{"type":"usage","usage":`...))
	case FinishChunk:
		dst, err := c.Reason.appendJSON(append(dst, `{"type":"finish","reason":`...))
		if err != nil {
			return dst, err
		}
		return closeObject(appendOptional(dst, `,"replayState":`, c.ReplayState))
	default:
		return dst, fmt.Errorf("stream chunk of unknown Go type %T", c)
	}
	return append(dst, '}'), nil
}

// decodeChunk reads one chunk from a view.
func decodeChunk(raw JSON) (Chunk, error) {
	typ, err := discriminator(raw, "type")
	if err != nil {
		return nil, fmt.Errorf("stream chunk: %w", err)
	}
	c, err := decodeChunkOf(typ, raw)
	if err != nil {
		return nil, fmt.Errorf("stream chunk %q: %w", typ, err)
	}
	return c, nil
}

func decodeChunkOf(typ string, raw JSON) (Chunk, error) {
	switch typ {
	case "block-start":
		var c BlockStart
		err := decodeFields(raw, "type", []field{{name: "index", into: &c.Index}, {name: "blockType", into: &c.BlockType}})
		return c, err
	case "text-delta":
		var c TextDelta
		err := decodeFields(raw, "type", []field{{name: "index", into: &c.Index}, {name: "text", into: &c.Text}})
		return c, err
	case "reasoning-delta":
		var c ReasoningDelta
		err := decodeFields(raw, "type", []field{{name: "index", into: &c.Index}, {name: "text", into: &c.Text}})
		return c, err
	case "tool-call-delta":
		var c ToolCallDelta
		err := decodeFields(raw, "type", []field{
			{name: "index", into: &c.Index}, {name: "id", into: (*string)(&c.ID)},
			{name: "name", into: &c.Name, optional: true}, {name: "argumentsDelta", into: &c.ArgumentsDelta},
		})
		return c, err
	case "block-end":
		var (
			c     BlockEnd
			block rawView
		)
		err := decodeFields(raw, "type", []field{{name: "index", into: &c.Index}, {name: "block", into: &block}})
		if err == nil {
			c.Block, err = decodeBlock(JSON(block))
		}
		return c, err
	case "usage":
		var c UsageChunk
		err := decodeFields(raw, "type", []field{{name: "usage", into: &c.Usage}})
		return c, err
	case "finish":
		var c FinishChunk
		err := decodeFields(raw, "type", []field{
			{name: "reason", into: &c.Reason}, {name: "replayState", into: &c.ReplayState, optional: true},
		})
		return c, err
	default:
		return nil, errors.New("unknown type")
	}
}

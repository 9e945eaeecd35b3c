package messages

import (
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
// know count as ordinary success.
type FinishReason struct {
	Kind    string  `json:"kind"`
	Failure Failure `json:"failure,omitzero"`
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

type blockEndWire struct {
	Index int  `json:"index"`
	Block JSON `json:"block"`
}

func encodeChunk(enc *jsontext.Encoder, c Chunk) error {
	switch c := c.(type) {
	case BlockStart:
		return encodeTagged(enc, c.ChunkType(), c)
	case TextDelta:
		return encodeTagged(enc, c.ChunkType(), c)
	case ReasoningDelta:
		return encodeTagged(enc, c.ChunkType(), c)
	case ToolCallDelta:
		return encodeTagged(enc, c.ChunkType(), c)
	case BlockEnd:
		raw, err := MarshalJSON(blockBox{c.Block})
		if err != nil {
			return err
		}
		return encodeTagged(enc, c.ChunkType(), blockEndWire{c.Index, raw})
	case UsageChunk:
		return encodeTagged(enc, c.ChunkType(), c)
	case FinishChunk:
		return encodeTagged(enc, c.ChunkType(), c)
	default:
		return fmt.Errorf("stream chunk of unknown Go type %T", c)
	}
}

func decodeChunk(raw JSON) (Chunk, error) {
	typ, err := discriminator(raw, "type")
	if err != nil {
		return nil, fmt.Errorf("stream chunk: %w", err)
	}
	switch typ {
	case "block-start":
		return asChunk(decodeTagged[BlockStart](raw))
	case "text-delta":
		return asChunk(decodeTagged[TextDelta](raw))
	case "reasoning-delta":
		return asChunk(decodeTagged[ReasoningDelta](raw))
	case "tool-call-delta":
		return asChunk(decodeTagged[ToolCallDelta](raw))
	case "block-end":
		w, err := decodeTagged[blockEndWire](raw)
		if err != nil {
			return nil, err
		}
		b, err := decodeBlock(w.Block)
		return BlockEnd{w.Index, b}, err
	case "usage":
		return asChunk(decodeTagged[UsageChunk](raw))
	case "finish":
		return asChunk(decodeTagged[FinishChunk](raw))
	default:
		return nil, fmt.Errorf("unknown stream chunk type %q", typ)
	}
}

func asChunk[T Chunk](c T, err error) (Chunk, error) {
	if err != nil {
		return nil, err
	}
	return c, nil
}

// blockBox encodes one block.
type blockBox struct{ b Block }

func (x blockBox) MarshalJSONTo(enc *jsontext.Encoder) error { return encodeBlock(enc, x.b) }

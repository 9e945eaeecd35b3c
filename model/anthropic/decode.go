package anthropic

import (
	"fmt"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/dsh-actor/dsh-actor/messages"
	"github.com/dsh-actor/dsh-actor/model"
	"github.com/dsh-actor/dsh-actor/model/internal/wire"
)

// decoder turns the events of one answer into chunks.
type decoder struct {
	blocks []*openBlock
	replay replay
	others bool
	usage  messages.Usage
	stop   string
	ended  bool // the stop reason has come: all content is there
}

// openBlock is a block by its index on the wire.
type openBlock struct {
	index    int
	block    *wire.Block    // nil for a type that only the API knows
	thinking int            // the place in replay.Reasoning, or -1
	raw      jsontext.Value // the start of a block without a wire.Block
	input    strings.Builder
}

// The wire forms. One struct fits all events: their members do not collide.
type (
	event struct {
		Type    string         `json:"type"`
		Index   int            `json:"index"`
		Delta   delta          `json:"delta"`
		Block   jsontext.Value `json:"content_block"`
		Message *wireMessage   `json:"message"`
		Usage   *wireUsage     `json:"usage"`
	}
	delta struct {
		Type        string `json:"type"`
		Text        string `json:"text"`
		PartialJSON string `json:"partial_json"`
		Thinking    string `json:"thinking"`
		Signature   string `json:"signature"`
		StopReason  string `json:"stop_reason"`
	}
	wireMessage struct {
		Type       string           `json:"type"`
		Content    []jsontext.Value `json:"content"`
		StopReason string           `json:"stop_reason"`
		Usage      *wireUsage       `json:"usage"`
	}
	wireBlock struct {
		Text      string         `json:"text"`
		Thinking  string         `json:"thinking"`
		Signature string         `json:"signature"`
		Data      string         `json:"data"`
		ID        string         `json:"id"`
		Name      string         `json:"name"`
		Input     jsontext.Value `json:"input"`
	}
	// wireUsage has pointers because later counts replace earlier ones, if they
	// are there.
	wireUsage struct {
		Input      *int64 `json:"input_tokens"`
		Output     *int64 `json:"output_tokens"`
		CacheRead  *int64 `json:"cache_read_input_tokens"`
		CacheWrite *int64 `json:"cache_creation_input_tokens"`
	}
)

// Event takes one event of the stream. Unknown events are ignored, as the API's
// documentation asks.
func (d *decoder) Event(_, data []byte, out *wire.Out) (done bool, err error) {
	var e event
	if err := wire.Decode(data, &e, "event"); err != nil {
		if typ := wire.EventType(data); typ != "" && !known(typ) {
			return false, nil // the same names, with other values
		}
		return false, err
	}
	switch e.Type {
	case "message_start":
		if e.Message != nil && e.Message.Usage != nil {
			// What was read is paid for even if the answer is cut off.
			d.count(e.Message.Usage)
			out.Chunk(messages.UsageChunk{Usage: d.usage})
		}
	case "content_block_start":
		return false, d.start(e.Index, e.Block, out)
	case "content_block_delta":
		return false, d.delta(&e)
	case "content_block_stop":
		if b := d.find(e.Index); b != nil {
			d.close(b, out)
		}
	case "message_delta":
		if e.Delta.StopReason != "" {
			d.stop, d.ended = e.Delta.StopReason, true
		}
		d.count(e.Usage)
	case "message_stop":
		d.finish(out)
		return true, nil
	case "error":
		return false, wire.ParseError(data).Failure(0)
	}
	return false, nil
}

func known(event string) bool {
	switch event {
	case "message_start", "content_block_start", "content_block_delta", "content_block_stop", "message_delta", "message_stop", "error":
		return true
	}
	return false
}

// start opens the block of an index. A second start of an index is ignored (V-7).
func (d *decoder) start(index int, raw jsontext.Value, out *wire.Out) error {
	if d.find(index) != nil {
		return nil
	}
	typ := blockType(raw)
	open := &openBlock{index: index, thinking: -1}
	switch typ {
	case "text", "thinking", "redacted_thinking", "tool_use":
	default:
		open.raw = raw.Clone()
		d.others = true
		d.blocks = append(d.blocks, open)
		return nil
	}
	var b wireBlock
	if err := wire.Decode(raw, &b, "content block"); err != nil {
		return err
	}
	switch typ {
	case "text":
		open.block = out.Open(messages.TypeText)
		open.block.Delta(b.Text)
	case "thinking", "redacted_thinking":
		open.block = out.Open(messages.TypeReasoning)
		open.block.Delta(b.Thinking)
		open.thinking = len(d.replay.Reasoning)
		d.replay.Reasoning = append(d.replay.Reasoning, thinking{b.Signature, b.Data})
	case "tool_use":
		open.block = out.OpenCall(b.ID, b.Name)
		if text := string(b.Input); wire.IsObject(text) && strings.Trim(text, "{} \t\r\n") != "" {
			open.block.Delta(text) // a server that does not stream it
		}
	}
	d.blocks = append(d.blocks, open)
	return nil
}

func (d *decoder) delta(e *event) error {
	b := d.find(e.Index)
	if b == nil {
		return fmt.Errorf("a delta for block %d, which was not started", e.Index)
	}
	switch e.Delta.Type {
	case "text_delta":
		b.add(e.Delta.Text)
	case "thinking_delta":
		b.add(e.Delta.Thinking)
	case "input_json_delta":
		b.add(e.Delta.PartialJSON)
	case "signature_delta":
		if b.thinking >= 0 {
			d.replay.Reasoning[b.thinking].Signature += e.Delta.Signature
		}
	}
	return nil
}

func (b *openBlock) add(s string) {
	if b.block != nil {
		b.block.Delta(s)
		return
	}
	b.input.WriteString(s)
}

func (d *decoder) close(b *openBlock, out *wire.Out) {
	if b.block != nil {
		b.block.Close()
		return
	}
	if b.raw == nil {
		return
	}
	if input := b.input.String(); wire.IsObject(input) { // of the API's own tools
		b.raw = withInput(b.raw, input)
	}
	out.Other(blockType(b.raw), messages.JSON(b.raw))
	b.raw = nil
}

// withInput returns a block with the input that was streamed for it.
func withInput(raw jsontext.Value, input string) jsontext.Value {
	var members map[string]jsontext.Value
	if json.Unmarshal(raw, &members, wire.Lenient) != nil {
		return raw
	}
	members["input"] = jsontext.Value(input)
	out, err := json.Marshal(members, wire.Lenient, json.Deterministic(true))
	if err != nil {
		return raw
	}
	return out
}

// blockType returns the type of a content block, "" if it has none.
func blockType(raw jsontext.Value) string {
	var head struct {
		Type string `json:"type"`
	}
	if raw.Kind() != '{' || json.Unmarshal(raw, &head, wire.Lenient) != nil {
		return ""
	}
	return head.Type
}

func (d *decoder) find(index int) *openBlock {
	for i := len(d.blocks) - 1; i >= 0; i-- { // mostly the last
		if d.blocks[i].index == index {
			return d.blocks[i]
		}
	}
	return nil
}

// count takes what the usage says.
func (d *decoder) count(u *wireUsage) {
	if u == nil {
		return
	}
	for _, c := range []struct {
		to   *int64
		from *int64
	}{
		{&d.usage.InputTokens, u.Input}, {&d.usage.OutputTokens, u.Output},
		{&d.usage.CacheReadTokens, u.CacheRead}, {&d.usage.CacheWriteTokens, u.CacheWrite},
	} {
		if c.from != nil && *c.from >= 0 {
			*c.to = *c.from
		}
	}
}

// finish closes what is open and hands out usage and finish.
func (d *decoder) finish(out *wire.Out) {
	for _, b := range d.blocks {
		d.close(b, out)
	}
	out.Chunk(messages.UsageChunk{Usage: d.usage})
	out.Chunk(messages.FinishChunk{
		Reason: messages.FinishReason{Kind: finishKind(d.stop, out.Calls())}, ReplayState: d.replay.encode(d.others),
	})
}

// finishKind translates a stop reason (V-8).
func finishKind(stop string, calls int) string {
	switch stop {
	case "end_turn", "stop_sequence":
		return messages.FinishStop
	case "tool_use":
		return messages.FinishToolCalls
	case "max_tokens", "model_context_window_exceeded":
		return messages.FinishMaxTokens
	case "refusal":
		return model.FinishRefusal
	case "pause_turn":
		return model.FinishPauseTurn
	case "":
		if calls > 0 {
			return messages.FinishToolCalls
		}
		return messages.FinishStop
	}
	return strings.ReplaceAll(messages.ValidUTF8(stop), "_", "-")
}

// Whole takes an answer that is one message, from a server that does not stream.
func (d *decoder) Whole(data []byte, out *wire.Out) error {
	var m wireMessage
	if err := wire.Decode(data, &m, "answer"); err != nil {
		return err
	}
	switch m.Type {
	case "message":
	case "error":
		return wire.ParseError(data).Failure(0)
	default:
		return fmt.Errorf("the answer is not a message: %s", wire.Snippet(data))
	}
	for i, raw := range m.Content {
		if err := d.start(i, raw, out); err != nil {
			return err
		}
		d.close(d.find(i), out)
	}
	d.count(m.Usage)
	d.stop = m.StopReason
	d.finish(out)
	return nil
}

// End takes the end of a stream without message_stop. If the stop reason has
// come, nothing is missing.
func (d *decoder) End(out *wire.Out) error {
	if !d.ended {
		return wire.ErrEarlyEnd()
	}
	d.finish(out)
	return nil
}

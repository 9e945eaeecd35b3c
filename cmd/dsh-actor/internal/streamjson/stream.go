package streamjson

import (
	"github.com/dsh-actor/dsh-actor/messages"
)

// The stream events of the Messages API.
type (
	streamLine struct {
		Type      string             `json:"type"`
		Event     any                `json:"event"`
		SessionID messages.SessionID `json:"session_id"`
		Parent    *string            `json:"parent_tool_use_id"`
		UUID      string             `json:"uuid"`
	}
	messageStart struct {
		Type    string           `json:"type"`
		Message assistantMessage `json:"message"`
	}
	blockStart struct {
		Type  string `json:"type"`
		Index int    `json:"index"`
		Block any    `json:"content_block"`
	}
	blockDelta struct {
		Type  string `json:"type"`
		Index int    `json:"index"`
		Delta any    `json:"delta"`
	}
	blockStop struct {
		Type  string `json:"type"`
		Index int    `json:"index"`
	}
	messageDelta struct {
		Type  string    `json:"type"`
		Delta stopDelta `json:"delta"`
		Usage usage     `json:"usage"`
	}
	stopDelta struct {
		StopReason   string  `json:"stop_reason"`
		StopSequence *string `json:"stop_sequence"`
	}
	messageStop struct {
		Type string `json:"type"`
	}
	textDelta struct {
		Type string `json:"type"`
		Text string `json:"text"`
	}
	thinkingDelta struct {
		Type     string `json:"type"`
		Thinking string `json:"thinking"`
	}
	inputDelta struct {
		Type    string `json:"type"`
		Partial string `json:"partial_json"`
	}
)

// stream turns the chunks of one step (V-6) into stream events. Chunks may leave
// out starts and deltas; the events do not.
type stream struct {
	model  string
	begun  bool
	blocks map[int]*streamBlock
	usage  messages.Usage
}

type streamBlock struct {
	started, deltas, stopped bool
}

func (s *stream) events(id string, c messages.Chunk) (events []any) {
	if !s.begun {
		s.begun = true
		s.blocks = map[int]*streamBlock{}
		events = append(events, messageStart{"message_start", assistantMessage{
			ID: id, Type: "message", Role: "assistant", Model: s.model, Content: []any{},
		}})
	}
	switch c := c.(type) {
	case messages.BlockStart:
		return s.start(events, c.Index, emptyBlock(c.BlockType))
	case messages.TextDelta:
		return s.delta(events, c.Index, textBlock{Type: "text"}, textDelta{"text_delta", c.Text})
	case messages.ReasoningDelta:
		return s.delta(events, c.Index, thinkingBlock{Type: "thinking"}, thinkingDelta{"thinking_delta", c.Text})
	case messages.ToolCallDelta:
		start := toolUseBlock{"tool_use", c.ID, c.Name, "{}"}
		return s.delta(events, c.Index, start, inputDelta{"input_json_delta", c.ArgumentsDelta})
	case messages.BlockEnd:
		return s.end(events, c)
	case messages.UsageChunk:
		s.usage = c.Usage
	case messages.FinishChunk:
		return append(events,
			messageDelta{"message_delta", stopDelta{StopReason: stopReason(c.Reason)}, usageOf(s.usage)},
			messageStop{"message_stop"})
	}
	return events
}

// emptyBlock is the block that a content_block_start announces. A tool call is
// announced by its first delta, which knows the tool.
func emptyBlock(blockType string) any {
	switch blockType {
	case messages.TypeText:
		return textBlock{Type: "text"}
	case messages.TypeReasoning:
		return thinkingBlock{Type: "thinking"}
	default:
		return nil
	}
}

func (s *stream) block(index int) *streamBlock {
	b := s.blocks[index]
	if b == nil {
		b = &streamBlock{}
		s.blocks[index] = b
	}
	return b
}

func (s *stream) start(events []any, index int, block any) []any {
	b := s.block(index)
	if b.started || block == nil {
		return events
	}
	b.started = true
	return append(events, blockStart{"content_block_start", index, block})
}

func (s *stream) delta(events []any, index int, block, delta any) []any {
	b := s.block(index)
	if b.stopped {
		return events
	}
	b.deltas = true
	return append(s.start(events, index, block), blockDelta{"content_block_delta", index, delta})
}

// end closes a block. If nothing of it was streamed, it comes as one delta.
func (s *stream) end(events []any, c messages.BlockEnd) []any {
	b := s.block(c.Index)
	if b.stopped {
		return events
	}
	if !b.deltas {
		switch whole := c.Block.(type) {
		case messages.TextBlock:
			events = s.delta(events, c.Index, textBlock{Type: "text"}, textDelta{"text_delta", whole.Text})
		case messages.ReasoningBlock:
			events = s.delta(events, c.Index, thinkingBlock{Type: "thinking"}, thinkingDelta{"thinking_delta", whole.Text})
		case messages.ToolCallBlock:
			start := toolUseBlock{"tool_use", whole.ID, whole.Name, "{}"}
			events = s.delta(events, c.Index, start, inputDelta{"input_json_delta", whole.Arguments})
		default:
			events = s.start(events, c.Index, blockOf(c.Block))
		}
	}
	b.stopped = true
	return append(events, blockStop{"content_block_stop", c.Index})
}

// stopReason translates the reason of a finish chunk (V-8).
func stopReason(r messages.FinishReason) string {
	switch r.Kind {
	case messages.FinishStop:
		return "end_turn"
	case messages.FinishToolCalls:
		return "tool_use"
	case messages.FinishMaxTokens:
		return "max_tokens"
	default:
		return r.Kind
	}
}

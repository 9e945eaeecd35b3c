package modeltest

import (
	"fmt"
	"strings"

	"github.com/dsh-actor/dsh-actor/messages"
)

// CheckChunks reports whether chunks are a whole, well-formed stream (V-6, V-7):
//
//   - deltas and the block-end of an index agree with its block-start and with
//     each other, and nothing follows a block-end on its index;
//   - the deltas of an index, if there are any, add up to its block-end;
//   - a block that is not closed is of a type that deltas can build;
//   - tool calls have a name and an id, and no two of the stream have the same;
//   - token counts are not negative;
//   - a finish, if there is one, has a kind and comes last.
//
// It accepts what V-7 accepts: streams of deltas only, and a missing finish.
func CheckChunks(chunks []messages.Chunk) error {
	s := stream{blocks: map[int]*block{}}
	for i, c := range chunks {
		if s.finished {
			return fmt.Errorf("chunk %d: %T after the finish", i, c)
		}
		if err := s.add(c); err != nil {
			return fmt.Errorf("chunk %d: %w", i, err)
		}
	}
	return s.end()
}

type stream struct {
	blocks   map[int]*block
	order    []int
	finished bool
}

type block struct {
	typ    string
	deltas int
	text   strings.Builder
	id     messages.CallID
	name   string
	closed bool
}

func (s *stream) add(c messages.Chunk) error {
	switch c := c.(type) {
	case nil:
		return fmt.Errorf("nil chunk without an error")
	case messages.BlockStart:
		if c.BlockType == "" {
			return fmt.Errorf("block-start of index %d without a type", c.Index)
		}
		if s.blocks[c.Index] != nil {
			return fmt.Errorf("a second block-start of index %d, or one after its deltas", c.Index)
		}
		_, err := s.open(c.Index, c.BlockType)
		return err
	case messages.TextDelta:
		return s.delta(c.Index, messages.TypeText, c.Text)
	case messages.ReasoningDelta:
		return s.delta(c.Index, messages.TypeReasoning, c.Text)
	case messages.ToolCallDelta:
		if err := s.delta(c.Index, messages.TypeToolCall, c.ArgumentsDelta); err != nil {
			return err
		}
		b := s.blocks[c.Index]
		if c.ID != "" && b.id != "" && c.ID != b.id {
			return fmt.Errorf("index %d changes its id from %q to %q", c.Index, b.id, c.ID)
		}
		if c.Name != "" && b.name != "" && c.Name != b.name {
			return fmt.Errorf("index %d changes its name from %q to %q", c.Index, b.name, c.Name)
		}
		b.id, b.name = first(b.id, c.ID), first(b.name, c.Name)
		return nil
	case messages.BlockEnd:
		return s.close(c)
	case messages.UsageChunk:
		u := c.Usage
		if min(u.InputTokens, u.OutputTokens, u.CacheReadTokens, u.CacheWriteTokens, u.ReasoningTokens) < 0 {
			return fmt.Errorf("negative token count: %+v", u)
		}
		return nil
	case messages.FinishChunk:
		if c.Reason.Kind == "" {
			return fmt.Errorf("finish without a kind")
		}
		if c.Reason.Failed() && c.Reason.Failure.IsZero() {
			return fmt.Errorf("finish %q without its failure", c.Reason.Kind)
		}
		s.finished = true
		return nil
	default:
		return fmt.Errorf("chunk of unknown type %T", c)
	}
}

func first[T ~string](a, b T) T {
	if a != "" {
		return a
	}
	return b
}

// open returns the block of an index, which may be new, and checks its type.
func (s *stream) open(index int, typ string) (*block, error) {
	b := s.blocks[index]
	switch {
	case index < 0:
		return nil, fmt.Errorf("negative index %d", index)
	case b == nil:
		b = &block{typ: typ}
		s.blocks[index] = b
		s.order = append(s.order, index)
	case b.closed:
		return nil, fmt.Errorf("a %s chunk for index %d, which is closed", typ, index)
	case b.typ != typ:
		return nil, fmt.Errorf("a %s chunk for index %d, which is a %s block", typ, index, b.typ)
	}
	return b, nil
}

func (s *stream) delta(index int, typ, text string) error {
	b, err := s.open(index, typ)
	if err != nil {
		return err
	}
	b.deltas++
	b.text.WriteString(text)
	return nil
}

func (s *stream) close(c messages.BlockEnd) error {
	if c.Block == nil {
		return fmt.Errorf("block-end of index %d without a block", c.Index)
	}
	b, err := s.open(c.Index, c.Block.BlockType())
	if err != nil {
		return err
	}
	b.closed = true
	whole := ""
	switch blk := c.Block.(type) {
	case messages.TextBlock:
		whole = blk.Text
	case messages.ReasoningBlock:
		whole = blk.Text
	case messages.ToolCallBlock:
		whole = blk.Arguments
		if b.id != "" && b.id != blk.ID || b.name != "" && b.name != blk.Name {
			return fmt.Errorf("index %d ends as call %q of %q, but its deltas said %q of %q", c.Index, blk.ID, blk.Name, b.id, b.name)
		}
		b.id, b.name = blk.ID, blk.Name
	}
	if b.deltas > 0 && b.text.String() != whole {
		return fmt.Errorf("the deltas of index %d are %q, but its block-end says %q", c.Index, b.text.String(), whole)
	}
	return nil
}

// end checks what only the whole stream shows.
func (s *stream) end() error {
	ids := map[messages.CallID]int{}
	for _, index := range s.order {
		b := s.blocks[index]
		switch b.typ {
		case messages.TypeText, messages.TypeReasoning:
		case messages.TypeToolCall:
			if b.name == "" || b.id == "" {
				return fmt.Errorf("the tool call of index %d has id %q and name %q: it needs both", index, b.id, b.name)
			}
			if other, ok := ids[b.id]; ok {
				return fmt.Errorf("the tool calls of index %d and %d have the same id %q", other, index, b.id)
			}
			ids[b.id] = index
		default:
			if !b.closed {
				return fmt.Errorf("the block of index %d and type %q is not closed", index, b.typ)
			}
		}
	}
	return nil
}

package messages

import (
	"fmt"
	"strconv"
)

// Assembler builds an assistant message from stream chunks (V-7). The zero
// value is ready. It is not safe for concurrent use.
type Assembler struct {
	slots    []slot // in order of first appearance
	usage    Usage
	hasUsage bool
	finish   FinishReason
	replay   JSON
	finished bool
}

type slot struct {
	index int
	typ   string
	done  Block // set by block-end, which is authoritative
	id    CallID
	name  string
	text  []byte
}

// Assembled is the outcome of a stream.
type Assembled struct {
	Content     Content
	Usage       Usage
	HasUsage    bool
	Finish      FinishReason
	ReplayState JSON
}

// Add takes the next chunk. Deltas and block-ends for a closed index, a second
// block-start for a known one, and a block-end without a block are ignored.
func (a *Assembler) Add(c Chunk) {
	switch c := c.(type) {
	case BlockStart:
		a.slot(c.Index, c.BlockType)
	case TextDelta:
		if s := a.slot(c.Index, TypeText); s.done == nil {
			s.text = append(s.text, c.Text...)
		}
	case ReasoningDelta:
		if s := a.slot(c.Index, TypeReasoning); s.done == nil {
			s.text = append(s.text, c.Text...)
		}
	case ToolCallDelta:
		s := a.slot(c.Index, TypeToolCall)
		if s.done != nil {
			return
		}
		if c.ID != "" {
			s.id = c.ID
		}
		if c.Name != "" {
			s.name = c.Name
		}
		s.text = append(s.text, c.ArgumentsDelta...)
	case BlockEnd:
		if c.Block == nil {
			return
		}
		if s := a.slot(c.Index, c.Block.BlockType()); s.done == nil {
			s.done = cleanBlock(c.Block)
		}
	case UsageChunk:
		a.usage, a.hasUsage = c.Usage, true
	case FinishChunk:
		a.finish, a.replay, a.finished = c.Reason, c.ReplayState, true
	}
}

// slot returns the slot of an index. The last one is looked at first: streams
// mostly work on one block at a time.
func (a *Assembler) slot(index int, typ string) *slot {
	for i := len(a.slots) - 1; i >= 0; i-- {
		if a.slots[i].index == index {
			return &a.slots[i]
		}
	}
	a.slots = append(a.slots, slot{index: index, typ: typ})
	return &a.slots[len(a.slots)-1]
}

// Result assembles what was added so far, and changes nothing. Blocks are in
// the order in which their indexes first appeared. A missing finish counts as
// [FinishStop]. It fails for an unclosed block of a type that deltas cannot
// build.
func (a *Assembler) Result() (Assembled, error) {
	out := Assembled{Usage: a.usage, HasUsage: a.hasUsage, Finish: a.finish, ReplayState: a.replay}
	if !a.finished {
		out.Finish = FinishReason{Kind: FinishStop}
	}
	blocks := make([]Block, len(a.slots))
	for i := range a.slots {
		s := &a.slots[i]
		switch {
		case s.done != nil:
			blocks[i] = s.done
		case s.typ == TypeText:
			blocks[i] = TextBlock{ValidUTF8(string(s.text))}
		case s.typ == TypeReasoning:
			blocks[i] = ReasoningBlock{ValidUTF8(string(s.text))}
		case s.typ == TypeToolCall:
			id := s.id
			if id == "" {
				id = CallID("call-" + strconv.Itoa(s.index))
			}
			blocks[i] = cleanBlock(ToolCallBlock{id, s.name, string(s.text)})
		default:
			return out, fmt.Errorf("cannot assemble incomplete block of type %q", s.typ)
		}
	}
	out.Content = Content{blocks}
	return out, nil
}

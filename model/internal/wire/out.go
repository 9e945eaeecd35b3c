package wire

import (
	"context"
	"fmt"
	"strings"

	"github.com/dsh-actor/dsh-actor/messages"
	"github.com/dsh-actor/dsh-actor/model"
)

// Out is where a decoder puts the chunks of one answer. It numbers the blocks,
// keeps what the deltas of a block add up to, and swallows everything after the
// consumer has stopped or the context is done, so that a decoder need not ask.
type Out struct {
	ctx     context.Context
	yield   func(messages.Chunk, error) bool
	stopped bool // the consumer wants no more
	cut     bool // chunks were dropped because the context is done
	blocks  int
	calls   map[messages.CallID]bool
	turn    int
	step    int
}

// NewOut returns an Out for the answer to req.
func NewOut(ctx context.Context, req *model.Request, yield func(messages.Chunk, error) bool) *Out {
	return &Out{ctx: ctx, yield: yield, turn: req.Turn, step: req.Step}
}

// Chunk hands out one chunk.
func (o *Out) Chunk(c messages.Chunk) {
	switch {
	case o.stopped:
	case o.ctx.Err() != nil:
		o.cut = true
	default:
		o.stopped = !o.yield(c, nil)
	}
}

// fail ends the stream with err.
func (o *Out) fail(err error) {
	if !o.stopped {
		o.stopped = true
		o.yield(nil, err)
	}
}

// Block is one block of the answer under way.
type Block struct {
	out    *Out
	index  int
	typ    string
	id     messages.CallID
	name   string
	text   strings.Builder
	closed bool
}

// Open starts a block of type text or reasoning.
func (o *Out) Open(typ string) *Block {
	b := &Block{out: o, index: o.blocks, typ: typ}
	o.blocks++
	o.Chunk(messages.BlockStart{Index: b.index, BlockType: typ})
	return b
}

// OpenCall starts a tool call. An id that is missing, or that an earlier call of
// the answer has, is replaced by one that is unique in the session: results are
// matched by it.
func (o *Out) OpenCall(id, name string) *Block {
	b := o.Open(messages.TypeToolCall)
	b.id, b.name = messages.CallID(messages.ValidUTF8(id)), messages.ValidUTF8(name)
	if o.calls == nil {
		o.calls = map[messages.CallID]bool{}
	}
	for n := len(o.calls) + 1; b.id == "" || o.calls[b.id]; n++ {
		b.id = messages.CallID(fmt.Sprintf("call-%d-%d-%d", o.turn, o.step, n))
	}
	o.calls[b.id] = true
	o.Chunk(messages.ToolCallDelta{Index: b.index, ID: b.id, Name: b.name})
	return b
}

// Calls returns how many tool calls the answer has so far.
func (o *Out) Calls() int { return len(o.calls) }

// Delta adds to the block's text, or to the arguments of a call.
func (b *Block) Delta(s string) {
	if s == "" || b.closed {
		return
	}
	b.text.WriteString(s)
	switch b.typ {
	case messages.TypeReasoning:
		b.out.Chunk(messages.ReasoningDelta{Index: b.index, Text: s})
	case messages.TypeToolCall:
		b.out.Chunk(messages.ToolCallDelta{Index: b.index, ID: b.id, ArgumentsDelta: s})
	default:
		b.out.Chunk(messages.TextDelta{Index: b.index, Text: s})
	}
}

// Empty reports whether nothing was added.
func (b *Block) Empty() bool { return b.text.Len() == 0 }

// Close ends the block, once. A call without any arguments has those of an empty
// object (T-20).
func (b *Block) Close() {
	if b.closed {
		return
	}
	if b.typ == messages.TypeToolCall && b.Empty() {
		b.Delta("{}")
	}
	b.closed = true
	var blk messages.Block
	switch b.typ {
	case messages.TypeReasoning:
		blk = messages.ReasoningBlock{Text: b.text.String()}
	case messages.TypeToolCall:
		blk = messages.ToolCallBlock{ID: b.id, Name: b.name, Arguments: b.text.String()}
	default:
		blk = messages.TextBlock{Text: b.text.String()}
	}
	b.out.Chunk(messages.BlockEnd{Index: b.index, Block: blk})
}

// Other hands out a whole block of a type that the vocabulary does not have. It
// is ignored if raw is not an object.
func (o *Out) Other(typ string, raw messages.JSON) {
	if typ == "" || messages.CheckJSON(raw) != nil || raw.Kind() != '{' {
		return
	}
	b := o.Open(typ)
	b.closed = true
	o.Chunk(messages.BlockEnd{Index: b.index, Block: messages.OtherBlock{Type: typ, Raw: raw}})
}

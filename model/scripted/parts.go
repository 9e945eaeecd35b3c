package scripted

import (
	"github.com/dsh-actor/dsh-actor/messages"
)

// parts is what an answer says, before it is cut into chunks.
type parts struct {
	reasoning string
	text      string
	calls     []call
	// An answer whose text comes to nothing when its templates are replaced
	// still has the block: without content it would leave no message (E-6), and
	// come again.
	hasReasoning, hasText bool

	pieces    int
	usage     messages.Usage
	finish    messages.FinishChunk
	open      bool // the answer hangs: there is neither usage nor finish
	templated bool
}

type call struct {
	id        messages.CallID // "" is minted for each request
	name      string
	arguments string
	raw       bool // no templates
}

func partsOf(a Answer, number int) parts {
	p := parts{
		reasoning: messages.ValidUTF8(a.Reasoning),
		text:      messages.ValidUTF8(a.Text),

		hasReasoning: a.Reasoning != "", hasText: a.Text != "",

		pieces: a.Chunks,
		usage:  a.Usage,
		open:   a.Hang,
	}
	p.templated = hasTemplate(p.reasoning) || hasTemplate(p.text)
	for _, t := range a.Tools {
		arguments, _ := argumentText(t.Input) // checked
		_, raw := t.Input.(Raw)
		p.calls = append(p.calls, call{
			id: messages.CallID(messages.ValidUTF8(string(t.ID))), name: messages.ValidUTF8(t.Name),
			arguments: arguments, raw: raw,
		})
		p.templated = p.templated || !raw && hasTemplate(arguments)
	}
	kind := a.Finish
	switch {
	case kind != "":
	case len(p.calls) > 0:
		kind = messages.FinishToolCalls
	default:
		kind = messages.FinishStop
	}
	p.finish.Reason.Kind = kind
	if number != noMark {
		p.finish.ReplayState = markOf(number, 1)
	}
	return p
}

// chunks returns the whole stream, and where call ids have to be filled in.
func (p *parts) chunks() ([]messages.Chunk, []mintedID) {
	var out []messages.Chunk
	var minted []mintedID
	index := 0
	begin := func(typ string) { out = append(out, messages.BlockStart{Index: index, BlockType: typ}) }
	end := func(b messages.Block) {
		out = append(out, messages.BlockEnd{Index: index, Block: b})
		index++
	}
	if p.hasReasoning {
		begin(messages.TypeReasoning)
		for _, piece := range split(p.reasoning, p.pieces) {
			out = append(out, messages.ReasoningDelta{Index: index, Text: piece})
		}
		end(messages.ReasoningBlock{Text: p.reasoning})
	}
	if p.hasText {
		begin(messages.TypeText)
		for _, piece := range split(p.text, p.pieces) {
			out = append(out, messages.TextDelta{Index: index, Text: piece})
		}
		end(messages.TextBlock{Text: p.text})
	}
	for i, c := range p.calls {
		mint := func() {
			if c.id == "" {
				minted = append(minted, mintedID{chunk: len(out) - 1, call: i + 1})
			}
		}
		begin(messages.TypeToolCall)
		name := c.name // only the first delta has it, as providers do
		for _, piece := range split(c.arguments, p.pieces) {
			out = append(out, messages.ToolCallDelta{Index: index, ID: c.id, Name: name, ArgumentsDelta: piece})
			mint()
			name = ""
		}
		end(messages.ToolCallBlock{ID: c.id, Name: c.name, Arguments: c.arguments})
		mint()
	}
	if p.open {
		return out, minted
	}
	return append(out, messages.UsageChunk{Usage: p.usageOrEstimate()}, p.finish), minted
}

func (p *parts) usageOrEstimate() messages.Usage {
	if p.usage != (messages.Usage{}) {
		return p.usage
	}
	said := len(p.text)
	for _, c := range p.calls {
		said += len(c.name) + len(c.arguments)
	}
	return messages.Usage{
		OutputTokens:    estimateTokens(said),
		ReasoningTokens: estimateTokens(len(p.reasoning)),
	}
}

// estimateTokens counts four bytes as a token, which is about what English text
// and code come to.
func estimateTokens(bytes int) int64 { return int64(bytes+3) / 4 }

package openai

import (
	"fmt"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/dsh-actor/dsh-actor/messages"
	"github.com/dsh-actor/dsh-actor/model"
	"github.com/dsh-actor/dsh-actor/model/internal/wire"
)

// chatDecoder turns the events of one answer of Chat Completions into chunks.
type chatDecoder struct {
	current *wire.Block // text or reasoning under way
	typ     string
	calls   []*chatCall
	replay  replay
	refused bool
	usage   *usage
	finish  string
}

// chatCall is one call by its index on the wire.
type chatCall struct {
	index int
	id    string
	block *wire.Block
}

// The wire forms.
type (
	chatAnswer struct {
		Choices []choice       `json:"choices"`
		Usage   *usage         `json:"usage"`
		Error   jsontext.Value `json:"error"`
	}
	choice struct {
		Index   int     `json:"index"`
		Delta   message `json:"delta"`
		Message message `json:"message"` // of an answer that is not a stream
		Finish  string  `json:"finish_reason"`
	}
	message struct {
		Content          string     `json:"content"`
		Refusal          string     `json:"refusal"`
		ReasoningContent string     `json:"reasoning_content"`
		Reasoning        string     `json:"reasoning"`
		ToolCalls        []toolCall `json:"tool_calls"`
	}
	toolCall struct {
		Index    *int   `json:"index"`
		ID       string `json:"id"`
		Function struct {
			Name      string `json:"name"`
			Arguments string `json:"arguments"`
		} `json:"function"`
	}
)

// Event takes one event of the stream.
func (d *chatDecoder) Event(_, data []byte, out *wire.Out) (done bool, err error) {
	if string(data) == "[DONE]" {
		d.end(out)
		return true, nil
	}
	var a chatAnswer
	if err := wire.Decode(data, &a, "event"); err != nil {
		return false, err
	}
	if k := a.Error.Kind(); k == '{' || k == '"' {
		return false, wire.ParseError(data).Failure(0)
	}
	if a.Usage != nil {
		d.usage = a.Usage
	}
	for i := range a.Choices {
		if c := &a.Choices[i]; c.Index == 0 { // only one was asked for
			d.message(&c.Delta, out)
			if err := d.reason(c.Finish); err != nil {
				return false, err
			}
		}
	}
	return false, nil
}

// message takes what one event adds.
func (d *chatDecoder) message(m *message, out *wire.Out) {
	switch {
	case m.ReasoningContent != "":
		d.replay.Field = "reasoning_content"
		d.text(messages.TypeReasoning, m.ReasoningContent, out)
	case m.Reasoning != "":
		d.replay.Field = "reasoning"
		d.text(messages.TypeReasoning, m.Reasoning, out)
	}
	d.text(messages.TypeText, m.Content, out)
	if m.Refusal != "" {
		d.refused = true
		d.text(messages.TypeText, m.Refusal, out)
	}
	for i := range m.ToolCalls {
		d.call(&m.ToolCalls[i], out)
	}
}

// text adds to the block under way, or begins one of another type.
func (d *chatDecoder) text(typ, s string, out *wire.Out) {
	if s == "" {
		return
	}
	if d.current == nil || d.typ != typ {
		d.closeText()
		d.current, d.typ = out.Open(typ), typ
	}
	d.current.Delta(s)
}

func (d *chatDecoder) closeText() {
	if d.current != nil {
		d.current.Close()
		d.current = nil
	}
}

// call adds to a call, or begins one.
func (d *chatDecoder) call(c *toolCall, out *wire.Out) {
	to := d.called(c)
	if to == nil {
		d.closeText()
		to = &chatCall{index: len(d.calls), id: c.ID, block: out.OpenCall(c.ID, c.Function.Name)}
		if c.Index != nil {
			to.index = *c.Index
		}
		d.calls = append(d.calls, to)
	}
	to.block.Delta(c.Function.Arguments)
}

// called returns the call that a delta belongs to, nil for a new one. The index
// says so; but there are servers that send none, and servers that send 0 for all
// calls, each of them whole.
func (d *chatDecoder) called(c *toolCall) *chatCall {
	for i := len(d.calls) - 1; i >= 0; i-- {
		known := d.calls[i]
		switch {
		case c.Index != nil && known.index != *c.Index:
		case c.ID != "":
			if c.ID == known.id {
				return known
			}
		case c.Index != nil || c.Function.Name == "":
			return known
		}
	}
	return nil
}

// reason takes the finish reason, "" if there is none yet.
func (d *chatDecoder) reason(finish string) error {
	if finish == "insufficient_system_resource" { // DeepSeek gave up
		return messages.Failure{Message: "the provider interrupted the answer: " + finish, Code: messages.CodeOverloaded}
	}
	if finish != "" {
		d.finish = finish
	}
	return nil
}

// end closes what is open and hands out usage and finish.
func (d *chatDecoder) end(out *wire.Out) {
	d.closeText()
	for _, c := range d.calls {
		c.block.Close()
	}
	if d.usage != nil {
		out.Chunk(messages.UsageChunk{Usage: d.usage.disjoint()})
	}
	finish := messages.FinishChunk{Reason: messages.FinishReason{Kind: d.finishKind()}}
	if d.replay.Field != "" {
		finish.ReplayState = d.replay.encode(Chat)
	}
	out.Chunk(finish)
}

func (d *chatDecoder) finishKind() string {
	switch d.finish {
	case "length":
		return messages.FinishMaxTokens
	case "content_filter":
		return model.FinishContentFilter
	case "", "stop", "tool_calls", "function_call":
		switch {
		case len(d.calls) > 0: // some servers say stop
			return messages.FinishToolCalls
		case d.refused:
			return model.FinishRefusal
		}
		return messages.FinishStop
	}
	return strings.ReplaceAll(messages.ValidUTF8(d.finish), "_", "-")
}

// Whole takes an answer that is not a stream.
func (d *chatDecoder) Whole(data []byte, out *wire.Out) error {
	var a chatAnswer
	if err := wire.Decode(data, &a, "answer"); err != nil {
		return err
	}
	switch k := a.Error.Kind(); {
	case k == '{' || k == '"':
		return wire.ParseError(data).Failure(0)
	case len(a.Choices) == 0:
		return fmt.Errorf("the answer has no choices: %s", wire.Snippet(data))
	}
	d.usage = a.Usage
	c := &a.Choices[0]
	d.message(&c.Message, out)
	if err := d.reason(c.Finish); err != nil {
		return err
	}
	d.end(out)
	return nil
}

// End takes the end of a stream without its mark. If the finish reason has come,
// nothing of the answer is missing.
func (d *chatDecoder) End(out *wire.Out) error {
	if d.finish == "" {
		return wire.ErrEarlyEnd()
	}
	d.end(out)
	return nil
}

package openai

import (
	"fmt"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/dsh-actor/dsh-actor/messages"
	"github.com/dsh-actor/dsh-actor/model"
	"github.com/dsh-actor/dsh-actor/model/internal/wire"
)

// responsesDecoder turns the events of one answer of the Responses API into
// chunks.
type responsesDecoder struct {
	items   []*item
	replay  replay
	phased  bool
	refused bool
	others  bool
}

// item is one output item by its index on the wire. It is of one kind, but that
// is for the provider to keep.
type item struct {
	index   int
	call    *wire.Block
	thought *wire.Block
	place   int     // of the thought in replay.Reasoning
	last    int     // the part of the thought that came last
	parts   []*part // of a message
	done    bool
}

// part is one content part of a message.
type part struct {
	index int
	block *wire.Block
	place int // in replay.Phases
}

// The wire forms. One struct fits all events that matter.
type (
	responsesEvent struct {
		Type     string         `json:"type"`
		Output   int            `json:"output_index"`
		Content  int            `json:"content_index"`
		Summary  int            `json:"summary_index"`
		Delta    string         `json:"delta"`
		Item     jsontext.Value `json:"item"`
		Response *response      `json:"response"`
	}
	response struct {
		Object     string           `json:"object"`
		Status     string           `json:"status"`
		Output     []jsontext.Value `json:"output"`
		Usage      *usage           `json:"usage"`
		Error      jsontext.Value   `json:"error"`
		Incomplete struct {
			Reason string `json:"reason"`
		} `json:"incomplete_details"`
	}
	outputItem struct {
		ID        string         `json:"id"`
		CallID    string         `json:"call_id"`
		Name      string         `json:"name"`
		Arguments string         `json:"arguments"`
		Phase     string         `json:"phase"`
		Content   jsontext.Value `json:"content"`
		Summary   jsontext.Value `json:"summary"`
		Encrypted string         `json:"encrypted_content"`
	}
	contentPart struct {
		Type    string `json:"type"`
		Text    string `json:"text"`
		Refusal string `json:"refusal"`
	}
)

// Event takes one event of the stream. Unknown events are ignored.
func (d *responsesDecoder) Event(_, data []byte, out *wire.Out) (done bool, err error) {
	var e responsesEvent
	if err := wire.Decode(data, &e, "event"); err != nil {
		if typ := wire.EventType(data); typ != "" && !knownEvent(typ) {
			return false, nil // the same names, with other values
		}
		return false, err
	}
	switch e.Type {
	case "response.output_text.delta":
		d.part(&e, out).block.Delta(e.Delta)
	case "response.refusal.delta":
		d.refused = true
		d.part(&e, out).block.Delta(e.Delta)
	case "response.function_call_arguments.delta":
		it := d.find(e.Output)
		if it == nil || it.call == nil {
			return false, fmt.Errorf("arguments for item %d, which was not started", e.Output)
		}
		it.call.Delta(e.Delta)
	case "response.reasoning_summary_text.delta":
		d.reason(&e, e.Summary, out)
	case "response.reasoning_text.delta":
		d.reason(&e, e.Content, out)
	case "response.output_item.added":
		return false, d.added(e.Output, e.Item, out)
	case "response.output_item.done":
		return false, d.done(e.Output, e.Item, out)
	case "response.completed", "response.incomplete", "response.failed", "response.cancelled":
		if e.Response == nil {
			return false, fmt.Errorf("%s without a response", e.Type)
		}
		if e.Response.Status == "" {
			e.Response.Status = strings.TrimPrefix(e.Type, "response.")
		}
		return true, d.end(e.Response, out)
	case "error":
		return false, wire.ParseError(data).Failure(0)
	}
	return false, nil
}

func knownEvent(typ string) bool {
	switch typ {
	case "response.output_text.delta", "response.refusal.delta", "response.function_call_arguments.delta",
		"response.reasoning_summary_text.delta", "response.reasoning_text.delta",
		"response.output_item.added", "response.output_item.done",
		"response.completed", "response.incomplete", "response.failed", "response.cancelled", "error":
		return true
	}
	return false
}

func (d *responsesDecoder) find(index int) *item {
	for i := len(d.items) - 1; i >= 0; i-- { // mostly the last
		if d.items[i].index == index {
			return d.items[i]
		}
	}
	return nil
}

func (d *responsesDecoder) open(index int) *item {
	it := d.find(index)
	if it == nil {
		it = &item{index: index}
		d.items = append(d.items, it)
	}
	return it
}

// part returns the part of a message that a delta belongs to.
func (d *responsesDecoder) part(e *responsesEvent, out *wire.Out) *part {
	return d.textPart(d.open(e.Output), e.Content, out)
}

func (d *responsesDecoder) textPart(it *item, index int, out *wire.Out) *part {
	for _, p := range it.parts {
		if p.index == index {
			return p
		}
	}
	p := &part{index: index, block: out.Open(messages.TypeText), place: len(d.replay.Phases)}
	it.parts = append(it.parts, p)
	d.replay.Phases = append(d.replay.Phases, "")
	return p
}

// reason adds to a reasoning item, whose parts are paragraphs of one block.
func (d *responsesDecoder) reason(e *responsesEvent, index int, out *wire.Out) {
	it := d.open(e.Output)
	d.openReasoning(it, out)
	if index != it.last && !it.thought.Empty() {
		it.thought.Delta("\n\n")
	}
	it.last = index
	it.thought.Delta(e.Delta)
}

func (d *responsesDecoder) openReasoning(it *item, out *wire.Out) {
	if it.thought == nil {
		it.thought = out.Open(messages.TypeReasoning)
		it.place = len(d.replay.Reasoning)
		d.replay.Reasoning = append(d.replay.Reasoning, reasoning{})
	}
}

// added opens the item, so that a call's name is known before its arguments.
func (d *responsesDecoder) added(index int, raw jsontext.Value, out *wire.Out) error {
	if d.find(index) != nil {
		return nil
	}
	typ := wire.EventType(raw)
	it := d.open(index)
	switch typ {
	case "reasoning":
		d.openReasoning(it, out)
	case "function_call":
		var item outputItem
		if err := wire.Decode(raw, &item, "output item"); err != nil {
			return err
		}
		it.call = out.OpenCall(item.CallID, item.Name)
	}
	return nil
}

// done closes the item. What its deltas did not say is taken from the item.
func (d *responsesDecoder) done(index int, raw jsontext.Value, out *wire.Out) error {
	it := d.open(index)
	if it.done {
		return nil
	}
	it.done = true
	typ := wire.EventType(raw)
	var wireItem outputItem
	switch typ {
	case "message", "reasoning", "function_call":
		if err := wire.Decode(raw, &wireItem, "output item"); err != nil {
			return err
		}
	}
	switch typ {
	case "message":
		return d.doneMessage(it, &wireItem, out)
	case "reasoning":
		d.openReasoning(it, out)
		if it.thought.Empty() {
			it.thought.Delta(joined(wireItem.Summary, wireItem.Content))
		}
		d.replay.Reasoning[it.place] = reasoning{
			ID: wireItem.ID, Encrypted: wireItem.Encrypted, Summary: list(wireItem.Summary), Content: list(wireItem.Content),
		}
		it.thought.Close()
	case "function_call":
		if it.call == nil {
			it.call = out.OpenCall(wireItem.CallID, wireItem.Name)
		}
		if it.call.Empty() {
			it.call.Delta(wireItem.Arguments)
		}
		it.call.Close()
	default:
		d.others = true
		out.Other(typ, messages.JSON(raw))
	}
	return nil
}

func (d *responsesDecoder) doneMessage(it *item, wireItem *outputItem, out *wire.Out) error {
	var parts []contentPart
	if wireItem.Content != nil {
		if err := wire.Decode(wireItem.Content, &parts, "content of a message"); err != nil {
			return err
		}
	}
	for i, p := range parts {
		text := p.Text
		switch p.Type {
		case "output_text", "text":
		case "refusal":
			text, d.refused = p.Refusal, true
		default:
			continue
		}
		if b := d.textPart(it, i, out).block; b.Empty() {
			b.Delta(text)
		}
	}
	for _, p := range it.parts {
		p.block.Close()
		d.replay.Phases[p.place] = wireItem.Phase
		d.phased = d.phased || wireItem.Phase != ""
	}
	return nil
}

// list returns a JSON array with something in it, or nothing.
func list(v jsontext.Value) messages.JSON {
	if v.Kind() != '[' || strings.Trim(string(v), "[] \t\r\n") == "" || messages.CheckJSON(messages.JSON(v)) != nil {
		return ""
	}
	return messages.JSON(v)
}

// joined returns the texts of the first list that has any, as paragraphs.
func joined(lists ...jsontext.Value) string {
	for _, l := range lists {
		var parts []contentPart
		if l.Kind() != '[' || json.Unmarshal(l, &parts, wire.Lenient) != nil {
			continue
		}
		var texts []string
		for _, p := range parts {
			if p.Text != "" {
				texts = append(texts, p.Text)
			}
		}
		if len(texts) > 0 {
			return strings.Join(texts, "\n\n")
		}
	}
	return ""
}

// end takes the whole response at the end of a stream, or without one.
func (d *responsesDecoder) end(r *response, out *wire.Out) error {
	if r.Status == "failed" || r.Status == "cancelled" || r.Error.Kind() == '{' {
		f := wire.ParseError(r.Error).Failure(0)
		if r.Error.Kind() != '{' {
			f.Message = "the provider reported the response as " + r.Status
		}
		return f
	}
	if len(d.items) == 0 { // a server that does not stream the items
		for i, raw := range r.Output {
			if err := d.done(i, raw, out); err != nil {
				return err
			}
		}
	}
	for _, it := range d.items {
		for _, b := range []*wire.Block{it.thought, it.call} {
			if b != nil {
				b.Close()
			}
		}
		for _, p := range it.parts {
			p.block.Close()
		}
	}
	if r.Usage != nil {
		out.Chunk(messages.UsageChunk{Usage: r.Usage.disjoint()})
	}
	out.Chunk(messages.FinishChunk{Reason: messages.FinishReason{Kind: d.finishKind(r, out)}, ReplayState: d.state()})
	return nil
}

func (d *responsesDecoder) finishKind(r *response, out *wire.Out) string {
	switch reason := r.Incomplete.Reason; {
	case reason == "content_filter":
		return model.FinishContentFilter
	case reason == "max_output_tokens", r.Status == "incomplete":
		return messages.FinishMaxTokens
	case out.Calls() > 0:
		return messages.FinishToolCalls
	case d.refused:
		return model.FinishRefusal
	}
	return messages.FinishStop
}

func (d *responsesDecoder) state() messages.JSON {
	if !d.phased {
		d.replay.Phases = nil
	}
	if len(d.replay.Reasoning) == 0 && !d.phased && !d.others {
		return ""
	}
	return d.replay.encode(Responses)
}

// Whole takes an answer that is one response.
func (d *responsesDecoder) Whole(data []byte, out *wire.Out) error {
	var r response
	if err := wire.Decode(data, &r, "answer"); err != nil {
		return err
	}
	switch {
	case r.Error.Kind() == '{' || r.Error.Kind() == '"':
		return wire.ParseError(data).Failure(0)
	case r.Output == nil:
		return fmt.Errorf("the answer is not a response: %s", wire.Snippet(data))
	}
	return d.end(&r, out)
}

// End takes the end of a stream without a last event.
func (d *responsesDecoder) End(*wire.Out) error { return wire.ErrEarlyEnd() }

package anthropic

import (
	"github.com/dsh-actor/dsh-actor/messages"
	"github.com/dsh-actor/dsh-actor/model"
	"github.com/dsh-actor/dsh-actor/model/internal/wire"
)

// maxCallID is the API's limit on the id of a tool call, as far as it is known.
const maxCallID = 64

// turn is one message of the request: neighbours of one role.
type turn struct {
	role     messages.Role
	messages []message
}

// message is one message of the history with what is needed to send it back.
type message struct {
	messages.Message
	replay replay
	// end is behind the last block that is sent, which is never reasoning: the API
	// refuses a message that ends with it.
	end int
}

// encode returns the body of the request.
func (m *Model) encode(req *model.Request) ([]byte, error) {
	cfg := &req.Header.Config
	system, turns := split(req)
	e := &encoder{Body: wire.NewBody(wire.SizeHint(req)), ids: wire.NewCallIDs(maxCallID), cache: m.cache}
	e.Open('{')
	e.Text("model", cfg.Model)
	maxTokens := cfg.MaxTokens
	if maxTokens <= 0 {
		maxTokens = m.maxTokens
	}
	e.Int("max_tokens", maxTokens)
	if err := e.Temperature(cfg); err != nil {
		return nil, err
	}
	e.Strings("stop_sequences", cfg.Stop)
	e.Bool("stream", true)
	e.Extra(m.extra)
	if err := e.tools(req.Header.Tools); err != nil {
		return nil, err
	}
	e.system(system)
	e.turns(turns)
	e.Close('}')
	return e.Bytes(), nil
}

// split divides the request's messages into the system prompt and the turns.
func split(req *model.Request) (system []string, turns []turn) {
	if text := req.Header.System; !wire.Blank(text) {
		system = append(system, text)
	}
	for msg := range wire.Messages(req) {
		if msg.Role == messages.RoleSystem && len(turns) == 0 {
			if text := msg.Content.Text(); !wire.Blank(text) {
				system = append(system, text)
			}
			continue
		}
		m := message{Message: msg}
		if msg.Role == messages.RoleAssistant && msg.Provenance.Provider == req.Header.Config.Provider {
			m.replay = parseReplay(msg.Provenance.ReplayState, msg.Content)
		}
		if m.end = m.spoken(); m.end == 0 {
			continue
		}
		if n := len(turns); n > 0 && turns[n-1].role == msg.Role {
			turns[n-1].messages = append(turns[n-1].messages, m)
			continue
		}
		turns = append(turns, turn{msg.Role, []message{m}})
	}
	return system, turns
}

// spoken returns the offset behind the last block that is sent.
func (m *message) spoken() int {
	end := 0
	for i := range m.Content.Len() {
		if sendable(m.Role, m.Content.At(i), m.replay.own) {
			end = i + 1
		}
	}
	return end
}

// sendable reports whether a block other than reasoning is sent in a message of
// the role.
func sendable(role messages.Role, b messages.Block, own bool) bool {
	switch b := b.(type) {
	case messages.TextBlock:
		return !wire.Blank(b.Text)
	case messages.ImageBlock:
		return role == messages.RoleUser
	case messages.ToolCallBlock:
		return role == messages.RoleAssistant
	case messages.ToolResultBlock:
		return role == messages.RoleUser
	case messages.OtherBlock:
		return role == messages.RoleUser || role == messages.RoleAssistant && own && wire.IsObject(string(b.Raw))
	}
	return false
}

type encoder struct {
	*wire.Body
	ids   *wire.CallIDs
	cache string
}

// cacheMark writes the mark into the open object, if it is due.
func (e *encoder) cacheMark(due bool) {
	if due && e.cache != "" {
		e.Key("cache_control")
		e.Raw(e.cache)
	}
}

func (e *encoder) tools(tools messages.List[messages.ToolSpec]) error {
	if tools.Len() == 0 {
		return nil
	}
	e.Key("tools")
	e.Open('[')
	for i, t := range tools.All() {
		e.Item()
		e.Open('{')
		e.Text("name", t.Name)
		if t.Description != "" {
			e.Text("description", t.Description)
		}
		schema, err := wire.Schema(t)
		if err != nil {
			return err
		}
		e.Key("input_schema")
		e.Raw(schema)
		e.cacheMark(i == tools.Len()-1)
		e.Close('}')
	}
	e.Close(']')
	return nil
}

func (e *encoder) system(texts []string) {
	if len(texts) == 0 {
		return
	}
	e.Key("system")
	e.Open('[')
	for i, text := range texts {
		e.Item()
		e.text(text, i == len(texts)-1)
	}
	e.Close(']')
}

// text writes a text block.
func (e *encoder) text(text string, mark bool) {
	e.Open('{')
	e.Text("type", "text")
	e.Text("text", text)
	e.cacheMark(mark)
	e.Close('}')
}

func (e *encoder) turns(turns []turn) {
	// The last mark writes the cache of this request; the one before finds what
	// the previous request wrote, however many blocks were added since.
	marks := map[int]bool{}
	for i := len(turns) - 1; i >= 0 && len(marks) < 2; i-- {
		if turns[i].role == messages.RoleUser {
			marks[i] = true
		}
	}
	e.Key("messages")
	e.Open('[')
	for i := range turns {
		e.Item()
		e.Open('{')
		e.Text("role", string(turns[i].role))
		e.Key("content")
		e.Open('[')
		e.turn(&turns[i], marks[i])
		e.Close(']')
		e.Close('}')
	}
	e.Close(']')
}

// turn writes the blocks of one message: results of tools first. The last block
// gets the cache mark.
func (e *encoder) turn(t *turn, mark bool) {
	left := 0
	for _, m := range t.messages {
		for i := range m.end {
			if sendable(t.role, m.Content.At(i), m.replay.own) {
				left++
			}
		}
	}
	for _, results := range []bool{true, false} {
		for _, m := range t.messages {
			reasoning := 0
			for i := range m.end {
				b := m.Content.At(i)
				if _, ok := b.(messages.ToolResultBlock); ok != results {
					continue
				}
				if r, ok := b.(messages.ReasoningBlock); ok {
					e.thinking(m.replay, reasoning, r.Text)
					reasoning++
				} else if sendable(t.role, b, m.replay.own) {
					left--
					e.Item()
					e.block(t.role, b, mark && left == 0)
				}
			}
		}
	}
}

// thinking writes reasoning block n of a message, if it can go back: the API
// takes only what it signed, but that also if the text is empty.
func (e *encoder) thinking(from replay, n int, text string) {
	if n >= len(from.Reasoning) || from.Reasoning[n] == (thinking{}) {
		return
	}
	e.Item()
	e.Open('{')
	if data := from.Reasoning[n].Redacted; data != "" {
		e.Text("type", "redacted_thinking")
		e.Text("data", data)
	} else {
		e.Text("type", "thinking")
		e.Text("thinking", text)
		e.Text("signature", from.Reasoning[n].Signature)
	}
	e.Close('}')
}

func (e *encoder) block(role messages.Role, b messages.Block, mark bool) {
	switch b := b.(type) {
	case messages.TextBlock:
		e.text(b.Text, mark)
	case messages.ImageBlock:
		e.image(b, mark)
	case messages.ToolCallBlock:
		e.Open('{')
		e.Text("type", "tool_use")
		e.Text("id", e.ids.Call(b.ID))
		e.Text("name", b.Name)
		e.Key("input")
		e.input(b.Arguments)
		e.cacheMark(mark)
		e.Close('}')
	case messages.ToolResultBlock:
		e.result(b, mark)
	case messages.OtherBlock:
		if role == messages.RoleAssistant {
			e.Raw(string(b.Raw)) // as it came
			return
		}
		e.text(wire.Said(b), mark)
	}
}

// input writes the arguments of a call as the object that the API wants. Text
// that is none is wrapped, so that the model can see what it wrote.
func (e *encoder) input(arguments string) {
	switch {
	case wire.Blank(arguments):
		e.Raw("{}")
	case wire.IsObject(arguments):
		e.Raw(arguments)
	default:
		e.Open('{')
		e.Text("INVALID_JSON", arguments)
		e.Close('}')
	}
}

func (e *encoder) image(b messages.ImageBlock, mark bool) {
	e.Open('{')
	e.Text("type", "image")
	e.Key("source")
	e.Open('{')
	e.Text("type", "base64")
	e.Text("media_type", b.MediaType)
	e.Text("data", b.Data)
	e.Close('}')
	e.cacheMark(mark)
	e.Close('}')
}

// result writes the result of a call. The API wants an error to say something;
// any other result may be empty.
func (e *encoder) result(b messages.ToolResultBlock, mark bool) {
	var parts []messages.Block
	for inner := range b.Content.Blocks() {
		if t, ok := inner.(messages.TextBlock); !ok || !wire.Blank(t.Text) {
			parts = append(parts, inner)
		}
	}
	if len(parts) == 0 && b.IsError {
		parts = []messages.Block{messages.TextBlock{Text: "Error"}}
	}
	e.Open('{')
	e.Text("type", "tool_result")
	e.Text("tool_use_id", e.ids.Result(b.ToolCallID))
	if len(parts) > 0 {
		e.Key("content")
		e.Open('[')
		for _, inner := range parts {
			e.Item()
			switch inner := inner.(type) {
			case messages.TextBlock:
				e.text(inner.Text, false)
			case messages.ImageBlock:
				e.image(inner, false)
			default:
				e.text(wire.Said(inner), false)
			}
		}
		e.Close(']')
	}
	if b.IsError {
		e.Bool("is_error", true)
	}
	e.cacheMark(mark)
	e.Close('}')
}

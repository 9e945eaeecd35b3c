package openai

import (
	"strings"

	"github.com/dsh-actor/dsh-actor/messages"
	"github.com/dsh-actor/dsh-actor/model"
	"github.com/dsh-actor/dsh-actor/model/internal/wire"
)

// encodeChat returns the body of a request to Chat Completions.
func (m *Model) encodeChat(req *model.Request) ([]byte, error) {
	e := m.newEncoder(req)
	e.Open('{')
	if err := e.head(&req.Header.Config, m.cfg.MaxTokensName); err != nil {
		return nil, err
	}
	e.Strings("stop", req.Header.Config.Stop)
	if !m.extra.Has("stream_options") && !m.cfg.NoUsage {
		e.Key("stream_options")
		e.Raw(`{"include_usage":true}`)
	}
	e.Extra(m.extra)
	if req.Header.Tools.Len() > 0 {
		e.Key("tools")
		e.Open('[')
		for t := range req.Header.Tools.Values() {
			e.Item()
			e.Open('{')
			e.Text("type", "function")
			e.Key("function")
			e.Open('{')
			if err := e.function(t); err != nil {
				return nil, err
			}
			e.Close('}')
			e.Close('}')
		}
		e.Close(']')
	}
	e.Key("messages")
	e.Open('[')
	if text := req.Header.System; !wire.Blank(text) {
		e.simple("system", text)
	}
	c := &chatEncoder{encoder: e}
	for msg := range wire.Messages(req) {
		c.message(msg)
	}
	c.images()
	e.Close(']')
	e.Close('}')
	return e.Bytes(), nil
}

// simple writes a message that is one text.
func (e *encoder) simple(role, text string) {
	e.Item()
	e.Open('{')
	e.Text("role", role)
	e.Text("content", text)
	e.Close('}')
}

// chatEncoder keeps the images of results until all results of the batch are
// written: nothing may come between these.
type chatEncoder struct {
	*encoder
	waiting []messages.Block
}

func (e *chatEncoder) message(msg messages.Message) {
	var parts []messages.Block
	for b := range msg.Content.Blocks() {
		switch b := b.(type) {
		case messages.ToolResultBlock:
			e.result(b)
		case messages.ReasoningBlock, messages.ToolCallBlock:
		default:
			parts = append(parts, b)
		}
	}
	if msg.Role == messages.RoleAssistant {
		e.assistant(msg)
		return
	}
	if plain(parts) && wire.Blank(msg.Content.Text()) {
		return
	}
	e.images()
	e.parts(string(msg.Role), parts)
}

// parts writes a message of text and images: as one string if it is text only,
// which every server takes.
func (e *encoder) parts(role string, parts []messages.Block) {
	if plain(parts) {
		var text strings.Builder
		for _, b := range parts {
			text.WriteString(b.(messages.TextBlock).Text)
		}
		e.simple(role, text.String())
		return
	}
	e.Item()
	e.Open('{')
	e.Text("role", role)
	e.Key("content")
	e.Open('[')
	for _, b := range parts {
		switch b := b.(type) {
		case messages.TextBlock:
			if !wire.Blank(b.Text) {
				e.typed("text", "text", b.Text)
			}
		case messages.ImageBlock:
			e.Item()
			e.Open('{')
			e.Text("type", "image_url")
			e.Key("image_url")
			e.Open('{')
			e.Text("url", dataURL(b))
			e.Close('}')
			e.Close('}')
		default:
			e.typed("text", "text", wire.Said(b))
		}
	}
	e.Close(']')
	e.Close('}')
}

func (e *chatEncoder) result(b messages.ToolResultBlock) {
	var text strings.Builder
	id := e.ids.Result(b.ToolCallID)
	first := true
	for inner := range b.Content.Blocks() {
		switch inner := inner.(type) {
		case messages.TextBlock:
			text.WriteString(inner.Text)
		case messages.ImageBlock:
			if first {
				e.waiting = append(e.waiting, messages.TextBlock{Text: "Images of the result of " + id + ":"})
				first = false
			}
			e.waiting = append(e.waiting, inner)
		default:
			text.WriteString(wire.Said(inner))
		}
	}
	e.Item()
	e.Open('{')
	e.Text("role", "tool")
	e.Text("tool_call_id", id)
	e.Text("content", text.String())
	e.Close('}')
}

// images writes the images that wait.
func (e *chatEncoder) images() {
	if len(e.waiting) > 0 {
		e.parts("user", e.waiting)
		e.waiting = nil
	}
}

// assistant writes an answer. One that was reasoning only is left out: the API
// wants content or calls.
func (e *chatEncoder) assistant(msg messages.Message) {
	text, calls := msg.Content.Text(), msg.Content.ToolCalls()
	if wire.Blank(text) && len(calls) == 0 {
		return
	}
	e.images()
	e.Item()
	e.Open('{')
	e.Text("role", "assistant")
	if wire.Blank(text) {
		e.Key("content")
		e.Raw("null")
	} else {
		e.Text("content", text)
	}
	if state, own := parseReplay(msg, e.provider, Chat); own && state.Field != "" {
		var reasoning strings.Builder
		for b := range msg.Content.Blocks() {
			if r, ok := b.(messages.ReasoningBlock); ok {
				reasoning.WriteString(r.Text)
			}
		}
		e.Text(state.Field, reasoning.String())
	}
	if len(calls) > 0 {
		e.Key("tool_calls")
		e.Open('[')
		for _, c := range calls {
			e.Item()
			e.Open('{')
			e.Text("id", e.ids.Call(c.ID))
			e.Text("type", "function")
			e.Key("function")
			e.Open('{')
			e.Text("name", c.Name)
			e.Text("arguments", arguments(c))
			e.Close('}')
			e.Close('}')
		}
		e.Close(']')
	}
	e.Close('}')
}

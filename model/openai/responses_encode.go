package openai

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"

	"github.com/dsh-actor/dsh-actor/messages"
	"github.com/dsh-actor/dsh-actor/model"
	"github.com/dsh-actor/dsh-actor/model/internal/wire"
)

// encodeResponses returns the body of a request to the Responses API.
func (m *Model) encodeResponses(req *model.Request) ([]byte, error) {
	e := m.newEncoder(req)
	e.Open('{')
	if err := e.head(&req.Header.Config, "max_output_tokens"); err != nil {
		return nil, err
	}
	if req.Header.Config.Stop.Len() > 0 {
		return nil, wire.Invalidf("the Responses API has no stop sequences")
	}
	if !m.extra.Has("store") {
		e.Bool("store", m.cfg.Store)
	}
	if !m.extra.Has("include") && !m.cfg.NoReasoning && !m.cfg.Store {
		e.Key("include")
		e.Raw(`["reasoning.encrypted_content"]`)
	}
	if !m.extra.Has("prompt_cache_key") && req.Session != "" {
		e.Text("prompt_cache_key", cacheKey(req.Session))
	}
	e.Extra(m.extra)
	if text := req.Header.System; !wire.Blank(text) {
		e.Text("instructions", text)
	}
	if req.Header.Tools.Len() > 0 {
		e.Key("tools")
		e.Open('[')
		for t := range req.Header.Tools.Values() {
			e.Item()
			e.Open('{')
			e.Text("type", "function")
			if err := e.function(t); err != nil {
				return nil, err
			}
			e.Bool("strict", false)
			e.Close('}')
		}
		e.Close(']')
	}
	e.Key("input")
	e.Open('[')
	for msg := range wire.Messages(req) {
		e.items(msg)
	}
	e.Close(']')
	e.Close('}')
	return e.Bytes(), nil
}

// cacheKey routes the requests of a session to the same cache without telling
// the provider the session's name.
func cacheKey(id messages.SessionID) string {
	sum := sha256.Sum256([]byte(id))
	return hex.EncodeToString(sum[:16])
}

// items writes one message as input items.
func (e *encoder) items(msg messages.Message) {
	if msg.Role == messages.RoleAssistant {
		e.outputItems(msg)
		return
	}
	role := "user"
	if msg.Role == messages.RoleSystem {
		role = "developer"
	}
	var parts []messages.Block
	for b := range msg.Content.Blocks() {
		switch b := b.(type) {
		case messages.ToolResultBlock: // before what was said beside it
			e.callOutput(b)
		case messages.TextBlock:
			if !wire.Blank(b.Text) {
				parts = append(parts, b)
			}
		case messages.ReasoningBlock, messages.ToolCallBlock:
		default:
			parts = append(parts, b)
		}
	}
	if len(parts) == 0 {
		return
	}
	e.Item()
	e.Open('{')
	e.Text("type", "message")
	e.Text("role", role)
	e.Key("content")
	e.inputParts(parts)
	e.Close('}')
}

func (e *encoder) inputParts(parts []messages.Block) {
	e.Open('[')
	for _, b := range parts {
		switch b := b.(type) {
		case messages.TextBlock:
			e.typed("input_text", "text", b.Text)
		case messages.ImageBlock:
			e.typed("input_image", "image_url", dataURL(b))
		default:
			e.typed("input_text", "text", wire.Said(b))
		}
	}
	e.Close(']')
}

func (e *encoder) callOutput(b messages.ToolResultBlock) {
	e.Item()
	e.Open('{')
	e.Text("type", "function_call_output")
	e.Text("call_id", e.ids.Result(b.ToolCallID))
	if parts := slices.Collect(b.Content.Blocks()); plain(parts) {
		e.Text("output", b.Content.Text())
	} else {
		e.Key("output")
		e.inputParts(parts)
	}
	e.Close('}')
}

// outputItems writes an assistant message as the items it came in. Reasoning is
// written with what follows it; the API refuses an answer that ends with it.
func (e *encoder) outputItems(msg messages.Message) {
	state, own := parseReplay(msg, e.provider, Responses)
	var pending []reasoning
	flush := func() {
		for _, r := range pending {
			e.reasoning(r)
		}
		pending = nil
	}
	reasonings, texts := 0, 0
	for b := range msg.Content.Blocks() {
		switch b := b.(type) {
		case messages.ReasoningBlock:
			if own {
				pending = append(pending, state.Reasoning[reasonings])
			}
			reasonings++
		case messages.TextBlock:
			phase := ""
			if len(state.Phases) > 0 {
				phase = state.Phases[texts]
			}
			texts++
			if !wire.Blank(b.Text) {
				flush()
				e.outputText(b.Text, phase)
			}
		case messages.ToolCallBlock:
			flush()
			e.Item()
			e.Open('{')
			e.Text("type", "function_call")
			e.Text("call_id", e.ids.Call(b.ID))
			e.Text("name", b.Name)
			e.Text("arguments", arguments(b))
			e.Close('}')
		case messages.OtherBlock:
			if own && wire.IsObject(string(b.Raw)) {
				flush()
				e.Item()
				e.Raw(string(b.Raw)) // as it came
			}
		}
	}
}

// reasoning writes a reasoning item, if the provider can make sense of it: by its
// encrypted content, by its open content, or by its id if it keeps the items.
func (e *encoder) reasoning(r reasoning) {
	if r.Encrypted == "" && r.Content == "" && (r.ID == "" || !e.model.cfg.Store) {
		return
	}
	e.Item()
	e.Open('{')
	e.Text("type", "reasoning")
	if r.ID != "" {
		e.Text("id", r.ID)
	}
	e.Key("summary")
	if r.Summary != "" {
		e.Raw(string(r.Summary))
	} else {
		e.Raw("[]")
	}
	if r.Content != "" {
		e.Key("content")
		e.Raw(string(r.Content))
	}
	if r.Encrypted != "" {
		e.Text("encrypted_content", r.Encrypted)
	}
	e.Close('}')
}

func (e *encoder) outputText(text, phase string) {
	e.Item()
	e.Open('{')
	e.Text("type", "message")
	e.Text("role", "assistant")
	if phase != "" {
		e.Text("phase", phase)
	}
	e.Key("content")
	e.Open('[')
	e.typed("output_text", "text", text)
	e.Close(']')
	e.Close('}')
}

package openai

import (
	"github.com/dsh-actor/dsh-actor/messages"
	"github.com/dsh-actor/dsh-actor/model"
	"github.com/dsh-actor/dsh-actor/model/internal/wire"
)

// maxCallID is the longest id of a call that OpenAI takes.
const maxCallID = 64

// encoder writes the body of one request.
type encoder struct {
	*wire.Body
	model    *Model
	ids      *wire.CallIDs
	provider string
}

func (m *Model) newEncoder(req *model.Request) *encoder {
	return &encoder{
		Body: wire.NewBody(wire.SizeHint(req)), model: m, ids: wire.NewCallIDs(maxCallID), provider: req.Header.Config.Provider,
	}
}

// head writes what both APIs have in common.
func (e *encoder) head(cfg *messages.RequestConfig, maxTokensName string) error {
	e.Text("model", cfg.Model)
	e.Bool("stream", true)
	if n := max(cfg.MaxTokens, 0); n > 0 {
		e.Int(maxTokensName, n)
	} else if n := max(e.model.cfg.MaxTokens, 0); n > 0 {
		e.Int(maxTokensName, n)
	}
	return e.Temperature(cfg)
}

// function writes the members of a tool's description. Its schema is not one of
// OpenAI's strict subset.
func (e *encoder) function(t messages.ToolSpec) error {
	e.Text("name", t.Name)
	if t.Description != "" {
		e.Text("description", t.Description)
	}
	schema, err := wire.Schema(t)
	if err != nil {
		return err
	}
	e.Key("parameters")
	e.Raw(schema)
	return nil
}

// typed writes an object with a type and one more string.
func (e *encoder) typed(typ, name, value string) {
	e.Item()
	e.Open('{')
	e.Text("type", typ)
	e.Text(name, value)
	e.Close('}')
}

// arguments returns the arguments of a call as they are sent.
func arguments(c messages.ToolCallBlock) string {
	if wire.Blank(c.Arguments) {
		return "{}"
	}
	return c.Arguments
}

func dataURL(b messages.ImageBlock) string { return "data:" + b.MediaType + ";base64," + b.Data }

// plain reports whether the blocks are text only.
func plain(blocks []messages.Block) bool {
	for _, b := range blocks {
		if _, ok := b.(messages.TextBlock); !ok {
			return false
		}
	}
	return true
}

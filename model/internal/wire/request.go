package wire

import (
	"iter"
	"strings"

	"github.com/dsh-actor/dsh-actor/messages"
	"github.com/dsh-actor/dsh-actor/model"
)

// Messages iterates over what the model reads (T-5), without joining the lists.
func Messages(req *model.Request) iter.Seq[messages.Message] {
	return func(yield func(messages.Message) bool) {
		for _, list := range []messages.List[messages.Message]{req.Header.MessagePrefix, req.History} {
			for msg := range list.Values() {
				if !yield(msg) {
					return
				}
			}
		}
	}
}

// Blank reports whether a text says nothing. Providers refuse such blocks, so
// they are left out.
func Blank(s string) bool { return strings.TrimSpace(s) == "" }

// Said returns the text that stands for a block which a provider has no form for.
func Said(b messages.Block) string { return "[" + b.BlockType() + " content]" }

// Schema returns the JSON schema of a tool's parameters.
func Schema(t messages.ToolSpec) (string, error) {
	switch schema := string(t.Parameters); {
	case schema == "":
		return `{"type":"object","properties":{}}`, nil
	case IsObject(schema):
		return schema, nil
	}
	return "", Invalidf("the parameters of the tool %q must be a JSON object", t.Name)
}

// Temperature writes the member, if the request has it.
func (w *Body) Temperature(cfg *messages.RequestConfig) error {
	switch t := string(cfg.Temperature); {
	case t == "":
		return nil
	case !IsNumber(t):
		return Invalidf("the temperature must be a number, not %s", t)
	default:
		w.Key("temperature")
		w.Raw(t)
		return nil
	}
}

// Strings writes a member with a list of strings, if it has any.
func (w *Body) Strings(name string, values messages.List[string]) {
	if values.Len() == 0 {
		return
	}
	w.Key(name)
	w.Open('[')
	for s := range values.Values() {
		w.Item()
		w.String(s)
	}
	w.Close(']')
}

// SizeHint estimates the length of a request's body, so that building it seldom
// copies.
func SizeHint(req *model.Request) int {
	const perBlock = 128
	n := 1024 + len(req.Header.System)
	for t := range req.Header.Tools.Values() {
		n += perBlock + len(t.Description) + len(t.Parameters)
	}
	for msg := range Messages(req) {
		n += perBlock + len(msg.Provenance.ReplayState)
		for b := range msg.Content.Blocks() {
			n += perBlock + blockSize(b)
		}
	}
	return n + n/16 // escapes
}

func blockSize(b messages.Block) int {
	switch b := b.(type) {
	case messages.TextBlock:
		return len(b.Text)
	case messages.ReasoningBlock:
		return len(b.Text)
	case messages.ToolCallBlock:
		return len(b.Arguments)
	case messages.ImageBlock:
		return len(b.Data)
	case messages.OtherBlock:
		return len(b.Raw)
	case messages.ToolResultBlock:
		n := 0
		for inner := range b.Content.Blocks() {
			n += 64 + blockSize(inner)
		}
		return n
	}
	return 0
}

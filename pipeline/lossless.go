package pipeline

import "github.com/dsh-actor/dsh-actor/messages"

// losslessContent reports whether every block is one that a log can hold
// (P-25): blocks are values, not pointers to them or nothing, and raw blocks are
// JSON objects.
func losslessContent(c messages.Content) bool {
	for i := range c.Len() {
		switch b := c.At(i).(type) {
		case messages.TextBlock, messages.ReasoningBlock, messages.ToolCallBlock, messages.ImageBlock:
		case messages.ToolResultBlock:
			if !losslessContent(b.Content) {
				return false
			}
		case messages.OtherBlock:
			if messages.CheckJSON(b.Raw) != nil || b.Raw.Value().Kind() != '{' {
				return false
			}
		default:
			return false
		}
	}
	return true
}

// losslessContext reports whether a log can hold the context.
func losslessContext(c messages.Context) bool {
	return losslessContent(c.Content) && (c.Meta == "" || messages.CheckJSON(c.Meta) == nil)
}

// losslessResult reports whether a log can hold what it keeps of the result.
func losslessResult(r *messages.Result) bool {
	if !losslessContent(r.Content()) || r.Meta() != "" && messages.CheckJSON(r.Meta()) != nil {
		return false
	}
	contexts := r.Contexts()
	for i := range contexts.Len() {
		if !losslessContext(contexts.At(i)) {
			return false
		}
	}
	return true
}

// losslessContexts returns the contexts that a log can hold.
func losslessContexts(all messages.List[messages.Context]) messages.List[messages.Context] {
	var out []messages.Context
	for c := range all.Values() {
		if losslessContext(c) {
			out = append(out, c)
		}
	}
	return messages.FrozenList(out)
}

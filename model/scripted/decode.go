package scripted

import (
	"strings"
	"time"

	"github.com/dsh-actor/dsh-actor/messages"
)

// file is a scenario file, decoded and not yet checked.
type file struct {
	info    Info
	then    Then
	answers []Answer
	root    *node
	turns   []*node
}

// locate returns where the flaw of an answer, or of the script if that is -1,
// is in the file.
func (f *file) locate(answer int, bad *flaw) position {
	n := f.root
	if answer >= 0 {
		n = f.turns[answer]
	}
	for key := range strings.SplitSeq(bad.key, ".") {
		next := n.member(key)
		if next == nil {
			break
		}
		if n = next; key == "tools" && bad.tool < len(n.items) {
			n = n.items[bad.tool]
		}
	}
	return n.at
}

func decodeFile(root *node) (*file, *ParseError) {
	f := &file{root: root}
	var then string
	bad := object(root, "a script", fields{
		"name":        str(&f.info.Name),
		"description": str(&f.info.Description),
		"prompt":      str(&f.info.Prompt),
		"provider":    str(&f.info.Provider),
		"model":       str(&f.info.Model),
		"then":        str(&then),
		"turns": func(n *node, key string) *ParseError {
			if n.kind != listKind {
				return wrongType(n, key, "a list of answers")
			}
			f.turns = n.items
			for _, item := range n.items {
				a, bad := decodeAnswer(item)
				if bad != nil {
					return bad
				}
				f.answers = append(f.answers, a)
			}
			return nil
		},
	})
	if bad == nil && root.member("turns") == nil {
		bad = errorAt(root.at, "a script needs turns: the list of its answers")
	}
	f.then = Then(then)
	return f, bad
}

func decodeAnswer(n *node) (Answer, *ParseError) {
	var a Answer
	var repeat, chunks int64
	bad := object(n, "an answer", fields{
		"match":     str(&a.Match),
		"reasoning": str(&a.Reasoning),
		"text":      str(&a.Text),
		"finish":    str(&a.Finish),
		"chunks":    count(&chunks, 1, 1<<20),
		"repeat":    count(&repeat, 1, 1<<20),
		"delay":     duration(&a.Delay),
		"pace":      duration(&a.Pace),
		"hang": func(n *node, key string) *ParseError {
			if n.kind != boolKind {
				return wrongType(n, key, "true or false")
			}
			a.Hang = n.text == "true"
			return nil
		},
		"usage": func(n *node, _ string) *ParseError {
			u := &a.Usage
			return object(n, "usage", fields{
				"inputTokens": count(&u.InputTokens, 0, 1<<53), "outputTokens": count(&u.OutputTokens, 0, 1<<53),
				"cacheReadTokens": count(&u.CacheReadTokens, 0, 1<<53), "cacheWriteTokens": count(&u.CacheWriteTokens, 0, 1<<53),
				"reasoningTokens": count(&u.ReasoningTokens, 0, 1<<53),
			})
		},
		"error": func(n *node, _ string) *ParseError {
			var bad *ParseError
			a.Error, bad = decodeFault(n)
			return bad
		},
		"tools": func(n *node, key string) *ParseError {
			if n.kind != listKind {
				return wrongType(n, key, "a list of tool calls")
			}
			for _, item := range n.items {
				t, bad := decodeTool(item)
				if bad != nil {
					return bad
				}
				a.Tools = append(a.Tools, t)
			}
			return nil
		},
	})
	a.Chunks, a.Repeat = int(chunks), int(repeat)
	return a, bad
}

func decodeTool(n *node) (Tool, *ParseError) {
	var t Tool
	var id string
	bad := object(n, "a tool call", fields{
		"name": str(&t.Name),
		"id":   str(&id),
		"input": func(n *node, key string) *ParseError {
			if n.kind != objectKind {
				return wrongType(n, key, "an object")
			}
			t.Input = n.json()
			return nil
		},
		"arguments": func(n *node, key string) *ParseError {
			if n.kind != stringKind {
				return wrongType(n, key, "a string")
			}
			t.Input = Raw(n.text)
			return nil
		},
	})
	t.ID = messages.CallID(id)
	switch {
	case bad != nil:
	case n.member("input") != nil && n.member("arguments") != nil:
		bad = errorAt(n.member("arguments").at, "a tool call has input or arguments, not both")
	case n.member("name") == nil:
		bad = errorAt(n.at, "a tool call needs a name")
	}
	return t, bad
}

func decodeFault(n *node) (Fault, *ParseError) {
	var f Fault
	if n.kind == stringKind {
		return f, str(&f.Failure.Message)(n, "error")
	}
	var code string
	var status, times, after int64
	var wait time.Duration
	bad := object(n, "an error", fields{
		"message":    str(&f.Failure.Message),
		"code":       str(&code),
		"status":     count(&status, 100, 599),
		"retryAfter": duration(&wait),
		"times":      count(&times, 1, 1<<20),
		"after":      count(&after, 0, 1<<20),
	})
	if bad == nil && n.member("message") == nil {
		bad = errorAt(n.at, "an error needs a message")
	}
	f.Failure.Code, f.Failure.Status = messages.Code(code), int(status)
	f.Failure.ProviderRetryAfterMS = wait.Milliseconds()
	f.Times, f.After = int(times), int(after)
	return f, bad
}

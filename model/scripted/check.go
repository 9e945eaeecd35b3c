package scripted

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/dsh-actor/dsh-actor/messages"
)

// flaw says what is wrong with an answer. Key names the part of the answer as a
// file spells it, "" being the answer itself, so that [Parse] can point at it.
type flaw struct {
	key  string
	tool int // index of the tool, for keys below tools
	text string
}

// check returns the first thing that is wrong with the answer, or nil.
func check(a Answer) *flaw {
	bad := func(key, format string, args ...any) *flaw {
		return &flaw{key: key, text: fmt.Sprintf(format, args...)}
	}
	says := a.Text != "" || a.Reasoning != "" || len(a.Tools) > 0
	fails := a.Error != Fault{}
	switch {
	case !says && !fails && !a.Hang:
		return bad("", "an answer needs at least one of text, reasoning, tools, error and hang")
	case a.Chunks < 0:
		return bad("chunks", "chunks must be at least 1")
	case a.Repeat < 0:
		return bad("repeat", "repeat must be at least 1")
	case a.Delay < 0:
		return bad("delay", "delay must not be negative")
	case a.Pace < 0:
		return bad("pace", "pace must not be negative")
	case a.Hang && a.Finish != "":
		return bad("finish", "an answer that hangs has no finish")
	case a.Hang && a.Usage != messages.Usage{}:
		return bad("usage", "an answer that hangs has no usage")
	}
	if a.Match != "" {
		if _, err := regexp.Compile(a.Match); err != nil {
			return bad("match", "match: %v", err)
		}
	}
	for _, n := range []struct {
		name  string
		value int64
	}{
		{"inputTokens", a.Usage.InputTokens}, {"outputTokens", a.Usage.OutputTokens},
		{"cacheReadTokens", a.Usage.CacheReadTokens}, {"cacheWriteTokens", a.Usage.CacheWriteTokens},
		{"reasoningTokens", a.Usage.ReasoningTokens},
	} {
		if n.value < 0 {
			return bad("usage."+n.name, "%s must not be negative", n.name)
		}
	}
	switch a.Finish {
	case "", messages.FinishStop, messages.FinishToolCalls:
	case messages.FinishMaxTokens:
		// The calls of a cut answer are removed (T-9). Nothing would be left of
		// it in the history, and the same answer would come for ever.
		if a.Text == "" && a.Reasoning == "" {
			return bad("finish", "finish max-tokens needs text or reasoning: tool calls of a cut answer are dropped")
		}
	case messages.FinishError, messages.FinishAborted:
		return bad("finish", "finish cannot be %q: give the answer an error", a.Finish)
	default:
		return bad("finish", "unknown finish %q: want stop, tool-calls or max-tokens", a.Finish)
	}
	if fails {
		if f := checkFault(a, says); f != nil {
			return f
		}
	}
	ids := map[messages.CallID]bool{}
	for i, t := range a.Tools {
		if t.Name == "" {
			return &flaw{"tools", i, "a tool call needs a name"}
		}
		if t.ID != "" && ids[t.ID] {
			return &flaw{"tools.id", i, fmt.Sprintf("two calls of one answer have the id %q", t.ID)}
		}
		ids[t.ID] = true
		if _, err := argumentText(t.Input); err != nil {
			return &flaw{"tools.input", i, fmt.Sprintf("input of tool %q: %v", t.Name, err)}
		}
	}
	return nil
}

func checkFault(a Answer, says bool) *flaw {
	f := a.Error
	switch {
	case f.Failure.Message == "":
		return &flaw{key: "error", text: "an error needs a message"}
	case f.Times < 0:
		return &flaw{key: "error.times", text: "times must be at least 1"}
	case f.After < 0:
		return &flaw{key: "error.after", text: "after must not be negative"}
	case f.Failure.Status != 0 && (f.Failure.Status < 100 || f.Failure.Status > 599):
		return &flaw{key: "error.status", text: fmt.Sprintf("status %d is not an HTTP status", f.Failure.Status)}
	case f.Failure.ProviderRetryAfterMS < 0:
		return &flaw{key: "error.retryAfter", text: "retryAfter must not be negative"}
	case f.Times > 0 && !says && !a.Hang:
		return &flaw{key: "error.times", text: "with times the answer needs text, reasoning, tools or hang to go on with"}
	case f.After > 0 && !says:
		return &flaw{key: "error.after", text: "after needs text, reasoning or tools to take chunks from"}
	case f.Times == 0 && f.After == 0 && (says || a.Hang):
		return &flaw{key: "error", text: "every attempt fails, so nothing else of the answer can come: give the error times or after"}
	case f.Times == 0 && a.Hang:
		return &flaw{key: "hang", text: "every attempt fails, so the answer cannot hang: give the error times"}
	}
	return nil
}

// checkOrder returns what is wrong with answers and then taken together.
func checkOrder(answers []Answer, then Then) *flaw {
	switch then {
	case "", ThenStop, ThenRepeatLast:
	case ThenLoop:
		if len(answers) > 0 && answers[0].Match != "" {
			return &flaw{key: "then", text: "then loop needs a first answer without match"}
		}
	default:
		return &flaw{key: "then", text: fmt.Sprintf("unknown then %q: want stop, repeat-last or loop", string(then))}
	}
	if len(answers) == 0 {
		return &flaw{key: "turns", text: "a script needs at least one answer"}
	}
	return nil
}

// argumentText returns the argument text of a tool's input.
func argumentText(input any) (string, error) {
	switch in := input.(type) {
	case nil:
		return "{}", nil
	case Raw:
		return messages.ValidUTF8(string(in)), nil
	case messages.JSON:
		return objectText(in)
	default:
		b, err := json.Marshal(in, json.Deterministic(true), jsontext.AllowInvalidUTF8(true))
		if err != nil {
			return "", err
		}
		return objectText(messages.JSON(b))
	}
}

func objectText(j messages.JSON) (string, error) {
	if err := messages.CheckJSON(j); err != nil {
		return "", err
	}
	if text := strings.TrimLeft(string(j), " \t\r\n"); !strings.HasPrefix(text, "{") {
		return "", fmt.Errorf("want an object, got %.40s", text)
	}
	return string(j), nil
}

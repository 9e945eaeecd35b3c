package pipeline

import (
	"errors"
	"strconv"
	"strings"
	"time"

	"github.com/dsh-actor/dsh-actor/messages"
	"github.com/dsh-actor/dsh-actor/pipeline/schema"
)

// The exact texts of SPEC family P.
const (
	textAborted         = "tool call aborted"
	textAbortedDispatch = "tool call aborted before dispatch"
	textBadArguments    = "tool execution arguments must be losslessly JSON-serializable"
	textBlocked         = "tool result blocked by post-execute policy"
)

var (
	errBadResult     = errors.New("tool result must be losslessly JSON-serializable")
	errBothReplaced  = errors.New("tools/post-execute accept decision cannot replace both value and content")
	errValueOfFailed = errors.New("tools/post-execute cannot replace the value of a failed result")
)

// noContexts is an empty list, for readers.
var noContexts = messages.List[messages.Context]{}

func aborted(contexts messages.List[messages.Context]) *messages.Result {
	return messages.NewFailure(messages.ResultFields{
		Message: textAborted, Contexts: contexts,
		Info: messages.ErrorInfo{Name: "AbortError", Code: messages.CodeAborted},
	})
}

func abortedBeforeDispatch(contexts messages.List[messages.Context]) *messages.Result {
	return messages.NewFailure(messages.ResultFields{
		Message: textAbortedDispatch, Contexts: contexts,
		Info: messages.ErrorInfo{Name: "AbortError", Code: messages.CodeAbortedBeforeDispatch},
	})
}

// AbortedBeforeDispatch is the result of a call that was never dispatched: the
// scheduler's synthetic pairs carry it (C-6).
func AbortedBeforeDispatch() *messages.Result { return abortedBeforeDispatch(noContexts) }

func denied(reason string) *messages.Result {
	return messages.NewFailure(messages.ResultFields{Message: reason})
}

func unknownTool(name string, contexts messages.List[messages.Context]) *messages.Result {
	return messages.NewFailure(messages.ResultFields{
		Message:  messages.ValidUTF8(`unknown tool "` + name + `"`),
		Contexts: contexts,
		Info:     messages.ErrorInfo{Name: "ToolNotFoundError", Code: messages.CodeUnknownTool},
	})
}

func timedOut(limit time.Duration, contexts messages.List[messages.Context]) *messages.Result {
	ms := strconv.FormatFloat(float64(limit)/float64(time.Millisecond), 'f', -1, 64)
	return messages.NewFailure(messages.ResultFields{
		Message:  "tool call timed out after " + ms + "ms",
		Contexts: contexts,
		Info:     messages.ErrorInfo{Name: "ToolTimeoutError", Code: messages.CodeToolTimeout},
	})
}

// failed is the result of an error (P-14, P-17). Only an error with a code has
// an identity.
func failed(err error, contexts messages.List[messages.Context]) *messages.Result {
	return messages.NewFailure(messages.ResultFields{
		Message: messages.ValidUTF8(safeText(err)), Contexts: contexts, Info: identity(err),
	})
}

// InvalidArguments is the error of a body that refuses its arguments (P-16,
// Z-28). Tools made with [Define] return it by themselves; a raw tool that
// validates its own arguments returns it with what it found.
func InvalidArguments(violations string) error {
	return &messages.Error{
		Name: "ToolArgsError", Code: messages.CodeInvalidArgs,
		Message: "invalid arguments: " + violations,
	}
}

// invalidOutput is the failure of a body whose value or projection breaks the
// output contract (P-18).
func invalidOutput(tool, what string) error {
	return &messages.Error{
		Name: "ToolOutputError", Code: messages.CodeInvalidToolOutput,
		Message: `tool "` + tool + `" returned invalid output: ` + what,
	}
}

// checkOutput validates a value against the output schema, nil for any JSON.
func checkOutput(tool string, s *schema.Schema, value messages.JSON) error {
	if s == nil {
		return nil
	}
	if violations := s.Validate(schema.Value, value); len(violations) > 0 {
		return invalidOutput(tool, strings.Join(violations, "; "))
	}
	return nil
}

package pipeline

import (
	"context"
	"errors"
	"fmt"
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
	textBadResult       = "tool result must be losslessly JSON-serializable"
	textBothReplaced    = "tools/post-execute accept decision cannot replace both value and content"
	textValueOfFailed   = "tools/post-execute cannot replace the value of a failed result"
	textBlocked         = "tool result blocked by post-execute policy"
)

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
func AbortedBeforeDispatch() *messages.Result {
	return abortedBeforeDispatch(messages.List[messages.Context]{})
}

func denied(reason string) *messages.Result {
	return messages.NewFailure(messages.ResultFields{
		Message: reason, Content: messages.Text("Error: " + reason),
	})
}

func unknownTool(name string, contexts messages.List[messages.Context]) *messages.Result {
	return messages.NewFailure(messages.ResultFields{
		Message:  fmt.Sprintf("unknown tool %q", name),
		Contexts: contexts,
		Info:     messages.ErrorInfo{Name: "ToolNotFoundError", Code: messages.CodeUnknownTool},
	})
}

func timedOut(limit time.Duration, contexts messages.List[messages.Context]) *messages.Result {
	return messages.NewFailure(messages.ResultFields{
		Message:  fmt.Sprintf("tool call timed out after %dms", limit.Milliseconds()),
		Contexts: contexts,
		Info:     messages.ErrorInfo{Name: "ToolTimeoutError", Code: messages.CodeToolTimeout},
	})
}

// failed is the result of an error (P-14, P-17). Only an error with a code has
// an identity.
func failed(err error, contexts messages.List[messages.Context]) *messages.Result {
	f := messages.ResultFields{Message: messages.ValidUTF8(safeText(err)), Contexts: contexts}
	var coded *messages.Error
	if errors.As(err, &coded) {
		f.Info = messages.ErrorInfo{Name: coded.Name, Code: coded.Code}
	}
	return messages.NewFailure(f)
}

// safeText is err's text, also if its Error method panics.
func safeText(err error) (text string) {
	defer func() {
		if recover() != nil {
			text = "<unprintable thrown value>"
		}
	}()
	return err.Error()
}

func invalidArgs(violations string) error {
	return &messages.Error{
		Name: "ToolArgsError", Code: messages.CodeInvalidArgs,
		Message: "invalid arguments: " + violations,
	}
}

func invalidOutput(format string, args ...any) error {
	return &messages.Error{
		Name: "ToolOutputError", Code: messages.CodeInvalidToolOutput,
		Message: fmt.Sprintf(format, args...),
	}
}

func checkOutput(tool string, s *schema.Schema, value messages.JSON) error {
	if s == nil {
		return nil
	}
	if violations := s.Validate("value", value); len(violations) > 0 {
		return invalidOutput("tool %q returned invalid output: %s", tool, strings.Join(violations, "; "))
	}
	return nil
}

// projectContent runs a render projector and names its failures (P-18).
func projectContent(tool string, render func() (messages.Content, error)) (c messages.Content, err error) {
	defer containProjector(tool, "render", &err)
	if c, err = render(); err != nil {
		return c, invalidOutput("tool %q returned invalid output: output.render failed: %s", tool, safeText(err))
	}
	if c.IsZero() {
		c = messages.EmptyContent()
	}
	return c, nil
}

// projectMeta runs a presentationMeta projector and names its failures (P-18).
func projectMeta(tool string, meta func() (messages.JSON, error)) (m messages.JSON, err error) {
	defer containProjector(tool, "presentationMeta", &err)
	if m, err = meta(); err != nil {
		return "", invalidOutput("tool %q returned invalid output: output.presentationMeta failed: %s", tool, safeText(err))
	}
	if m != "" && messages.CheckJSON(m) != nil {
		return "", invalidOutput("tool %q returned invalid output: output.presentationMeta returned non-lossless JSON", tool)
	}
	return m, nil
}

func containProjector(tool, which string, err *error) {
	if v := recover(); v != nil {
		*err = invalidOutput("tool %q returned invalid output: output.%s failed: %s", tool, which, messages.PanicText(v))
	}
}

// runBody enters foreign tool code: it marks the call as invoked, and a panic
// becomes an error.
func runBody[T any](ctx context.Context, inv *Invocation, tool string, body func(context.Context) (T, error)) (out T, err error) {
	inv.exec.call.invoked.Store(true)
	defer contain(tool, &err)
	return body(ctx)
}

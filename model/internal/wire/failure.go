package wire

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/dsh-actor/dsh-actor/messages"
)

// Lenient are the options to decode what providers send: strings with invalid
// UTF-8 are repaired, of duplicate members the last counts. An answer is not
// refused for that.
var Lenient = json.JoinOptions(jsontext.AllowInvalidUTF8(true), jsontext.AllowDuplicateNames(true))

// Decode reads JSON of a provider into v. The error says what it was.
func Decode(data []byte, v any, what string) error {
	if err := json.Unmarshal(data, v, Lenient); err != nil {
		return fmt.Errorf("malformed %s: %w: %s", what, err, Snippet(data))
	}
	return nil
}

// ErrorDetail is what a provider says about an error. The members of Anthropic,
// OpenAI and the servers that are compatible with them do not collide, so that
// one reading fits all.
type ErrorDetail struct {
	Type      string
	Code      string
	Status    int // some gateways put the status of their own provider here
	Message   string
	RequestID string
}

// ParseError reads an error object: the value of a member "error" or the object
// itself, or a plain string. It returns the zero value for anything else.
func ParseError(raw []byte) ErrorDetail {
	var d ErrorDetail
	var wrapped struct {
		Error     jsontext.Value `json:"error"`
		Detail    jsontext.Value `json:"detail"`
		RequestID jsontext.Value `json:"request_id"`
	}
	opts := Lenient
	if json.Unmarshal(raw, &wrapped, opts) == nil {
		d.RequestID = stringOf(wrapped.RequestID)
		switch {
		case wrapped.Error.Kind() == '{':
			raw = wrapped.Error
		case stringOf(wrapped.Error) != "":
			d.Message = stringOf(wrapped.Error)
			return d
		case stringOf(wrapped.Detail) != "":
			d.Message = stringOf(wrapped.Detail)
			return d
		}
	}
	var inner struct {
		Type    jsontext.Value `json:"type"`
		Code    jsontext.Value `json:"code"`
		Message jsontext.Value `json:"message"`
		Details jsontext.Value `json:"details"`
	}
	if json.Unmarshal(raw, &inner, opts) != nil {
		d.Message = stringOf(raw)
		return d
	}
	d.Type, d.Code, d.Message = stringOf(inner.Type), stringOf(inner.Code), stringOf(inner.Message)
	if inner.Code.Kind() == '0' {
		d.Status, _ = strconv.Atoi(string(inner.Code))
	}
	var details struct {
		ErrorCode jsontext.Value `json:"error_code"`
	}
	if d.Code == "" && json.Unmarshal(inner.Details, &details, opts) == nil {
		d.Code = stringOf(details.ErrorCode)
	}
	return d
}

// EventType returns the member "type" of an event.
func EventType(data []byte) string {
	var head struct {
		Type jsontext.Value `json:"type"`
	}
	if json.Unmarshal(data, &head, Lenient) != nil {
		return ""
	}
	return stringOf(head.Type)
}

// stringOf returns the JSON string v, or "" if it is not one.
func stringOf(v jsontext.Value) string {
	if v.Kind() != '"' {
		return ""
	}
	var s string
	if json.Unmarshal(v, &s, Lenient) != nil {
		return ""
	}
	return s
}

// Failure returns the failure of an answer with an error status, or of an error
// inside a stream, where the status is 0.
func (d ErrorDetail) Failure(status int) messages.Failure {
	if status == 0 && d.Status >= 400 && d.Status <= 599 {
		status = d.Status
	}
	f := messages.Failure{
		Message: clip(d.Message, maxMessage), Code: codeOf(status, d),
		Status: status, RequestID: messages.RequestID(messages.ValidUTF8(d.RequestID)),
	}
	switch {
	case f.Message != "":
	case status != 0:
		f.Message = strings.TrimSpace(fmt.Sprintf("the provider answered %d %s", status, http.StatusText(status)))
	default:
		f.Message = strings.TrimSpace("the provider reported an error " + clip(d.Code+d.Type, maxSnippet))
	}
	return f
}

// Protocolf is the failure of an answer that is not of the provider's protocol.
func Protocolf(format string, args ...any) messages.Failure {
	return messages.Failure{Message: clip(fmt.Sprintf(format, args...), maxMessage), Code: messages.CodeProtocol}
}

// Invalidf is the failure of a request that the adapter cannot express.
func Invalidf(format string, args ...any) messages.Failure {
	return messages.Failure{Message: clip(fmt.Sprintf(format, args...), maxMessage), Code: messages.CodeInvalidRequest}
}

// ErrEarlyEnd is the failure of a stream that ended before the answer did.
func ErrEarlyEnd() messages.Failure {
	return messages.Failure{Message: "the stream ended before the answer did", Code: messages.CodeConnection}
}

// codeOf classifies an error: by a word of the provider that says more than the
// status, then by the status, then by a general word.
func codeOf(status int, d ErrorDetail) messages.Code {
	for _, word := range []string{d.Code, d.Type} {
		if c := codeOfWord(word); c != "" {
			return c
		}
	}
	if c := codeOfStatus(status); c != "" {
		return c
	}
	for _, word := range []string{d.Code, d.Type} {
		if refusal(word) {
			return messages.CodeInvalidRequest
		}
	}
	return messages.CodeServerError
}

// codeOfWord knows the words that are more exact than a status.
func codeOfWord(word string) messages.Code {
	switch word {
	case "rate_limit_error", "rate_limit_exceeded":
		return messages.CodeRateLimited
	case "overloaded_error", "server_is_overloaded", "slow_down":
		return messages.CodeOverloaded
	case "insufficient_quota", "billing_error", "billing_hard_limit_reached", "enforced_spend_limit_reached":
		return messages.CodeQuotaExceeded
	case "authentication_error", "invalid_api_key":
		return messages.CodeAuthentication
	case "permission_error":
		return messages.CodePermission
	case "not_found_error", "model_not_found":
		return messages.CodeNotFound
	case "request_too_large":
		return messages.CodeRequestTooLarge
	case "context_length_exceeded":
		return messages.CodeContextTooLong
	case "conflict_error":
		return messages.CodeConflict
	case "timeout_error":
		return messages.CodeTimeout
	}
	return ""
}

// refusal reports whether a general word blames the request.
func refusal(word string) bool {
	for _, prefix := range []string{"invalid_", "image_", "unsupported_", "empty_image_"} {
		if strings.HasPrefix(word, prefix) {
			return true
		}
	}
	return false
}

func codeOfStatus(status int) messages.Code {
	switch {
	case status == http.StatusUnauthorized:
		return messages.CodeAuthentication
	case status == http.StatusPaymentRequired:
		return messages.CodeQuotaExceeded
	case status == http.StatusForbidden:
		return messages.CodePermission
	case status == http.StatusNotFound:
		return messages.CodeNotFound
	case status == http.StatusRequestTimeout:
		return messages.CodeTimeout
	case status == http.StatusConflict:
		return messages.CodeConflict
	case status == http.StatusRequestEntityTooLarge:
		return messages.CodeRequestTooLarge
	case status == http.StatusTooManyRequests:
		return messages.CodeRateLimited
	case status == http.StatusServiceUnavailable || status == 529:
		return messages.CodeOverloaded
	case status >= 500:
		return messages.CodeServerError
	case status >= 400:
		return messages.CodeInvalidRequest
	case status != 0:
		return messages.CodeProtocol
	}
	return ""
}

var (
	errConnect = errors.New("no connection in time")
	errIdle    = errors.New("silence")
	errDrain   = errors.New("the connection is not worth waiting for")
)

// broken classifies an error of the transport. Ctx is the caller's context, rctx
// the request's, which the watchdog may have ended.
func (c *Client) broken(ctx, rctx context.Context, call *Call, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	var timeout net.Error
	var wrapped *url.Error
	if errors.As(err, &wrapped) {
		err = wrapped.Err // without the method and the URL
	}
	switch cause := context.Cause(rctx); {
	case errors.Is(cause, errConnect):
		return messages.Failure{Message: fmt.Sprintf("no connection to %s within %v", call.URL.Host, c.connect), Code: messages.CodeTimeout}
	case errors.Is(cause, errIdle):
		return messages.Failure{Message: fmt.Sprintf("%s sent nothing for %v", call.URL.Host, c.idle), Code: messages.CodeTimeout}
	case errors.Is(err, errTooLong):
		return Protocolf("an event of %s is longer than %d bytes", call.URL.Host, c.maxEvent)
	case errors.As(err, &timeout) && timeout.Timeout():
		return messages.Failure{Message: clip(fmt.Sprintf("connection to %s: %v", call.URL.Host, err), maxMessage), Code: messages.CodeTimeout}
	}
	return messages.Failure{Message: clip(fmt.Sprintf("connection to %s: %v", call.URL.Host, err), maxMessage), Code: messages.CodeConnection}
}

// retryAfter returns the milliseconds that a provider asks to wait: the header
// retry-after-ms, else retry-after as seconds or as a date. It is 0 if there is
// no such header, or one that makes no sense.
func retryAfter(h http.Header, now time.Time) int64 {
	if ms, ok := decimal(h.Get("Retry-After-Ms")); ok {
		return int64(ms)
	}
	value := h.Get("Retry-After")
	if s, ok := decimal(value); ok {
		return int64(s * 1000)
	}
	if at, err := http.ParseTime(value); err == nil {
		return max(at.Sub(now).Milliseconds(), 0)
	}
	return 0
}

const (
	maxMessage = 2000 // characters of a failure's message
	maxSnippet = 200  // characters of foreign text in a message
)

// Snippet returns the beginning of foreign bytes as one line of text, for a
// message.
func Snippet(b []byte) string {
	b = b[:min(len(b), 8*maxSnippet)]
	return clip(string(bytes.Join(bytes.Fields(b), []byte(" "))), maxSnippet)
}

// clip returns at most n characters of s, as valid UTF-8.
func clip(s string, n int) string {
	if len(s) <= n {
		return messages.ValidUTF8(s)
	}
	for i := range s {
		if n == 0 {
			return messages.ValidUTF8(s[:i]) + "…"
		}
		n--
	}
	return messages.ValidUTF8(s)
}

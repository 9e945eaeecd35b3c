package wire

import (
	"net/http"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/dsh-actor/dsh-actor/messages"
)

// V-9
func TestFailures(t *testing.T) {
	for _, c := range []struct {
		name   string
		status int
		body   string
		want   messages.Failure
	}{
		{"anthropic", 400, `{"type":"error","error":{"type":"invalid_request_error","message":"no"},"request_id":"req_1"}`,
			messages.Failure{Message: "no", Code: messages.CodeInvalidRequest, Status: 400, RequestID: "req_1"}},
		{"anthropic overloaded in a stream", 0, `{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`,
			messages.Failure{Message: "Overloaded", Code: messages.CodeOverloaded}},
		{"anthropic spend limit", 429, `{"type":"error","error":{"type":"rate_limit_error","message":"spent","details":{"error_code":"enforced_spend_limit_reached"}}}`,
			messages.Failure{Message: "spent", Code: messages.CodeQuotaExceeded, Status: 429}},
		{"anthropic gateway timeout", 504, `{"type":"error","error":{"type":"timeout_error","message":"late"}}`,
			messages.Failure{Message: "late", Code: messages.CodeTimeout, Status: 504}},
		{"openai", 401, `{"error":{"message":"bad key","type":"invalid_request_error","param":null,"code":"invalid_api_key"}}`,
			messages.Failure{Message: "bad key", Code: messages.CodeAuthentication, Status: 401}},
		{"openai quota", 429, `{"error":{"message":"pay","type":"insufficient_quota","code":"insufficient_quota"}}`,
			messages.Failure{Message: "pay", Code: messages.CodeQuotaExceeded, Status: 429}},
		{"openai rate", 429, `{"error":{"message":"slow","type":"tokens","code":"rate_limit_exceeded"}}`,
			messages.Failure{Message: "slow", Code: messages.CodeRateLimited, Status: 429}},
		{"openai context", 400, `{"error":{"message":"long","type":"invalid_request_error","code":"context_length_exceeded"}}`,
			messages.Failure{Message: "long", Code: messages.CodeContextTooLong, Status: 400}},
		{"openai error event", 0, `{"type":"error","code":"server_error","message":"oops","param":null,"sequence_number":3}`,
			messages.Failure{Message: "oops", Code: messages.CodeServerError}},
		{"openai image", 0, `{"code":"image_parse_error","message":"bad image"}`,
			messages.Failure{Message: "bad image", Code: messages.CodeInvalidRequest}},
		{"openai prompt", 0, `{"code":"invalid_prompt","message":"bad prompt"}`,
			messages.Failure{Message: "bad prompt", Code: messages.CodeInvalidRequest}},
		{"a gateway's status", 0, `{"error":{"code":502,"message":"upstream"}}`,
			messages.Failure{Message: "upstream", Code: messages.CodeServerError, Status: 502}},
		{"a word nobody knows, in a stream", 0, `{"error":{"type":"new_error","message":"?"}}`,
			messages.Failure{Message: "?", Code: messages.CodeServerError}},
		{"a string", 500, `{"error":"broken"}`, messages.Failure{Message: "broken", Code: messages.CodeServerError, Status: 500}},
		{"a detail", 422, `{"detail":"no such field"}`, messages.Failure{Message: "no such field", Code: messages.CodeInvalidRequest, Status: 422}},
		{"top level", 418, `{"message":"teapot"}`, messages.Failure{Message: "teapot", Code: messages.CodeInvalidRequest, Status: 418}},
		{"JSON string", 500, `"sorry"`, messages.Failure{Message: "sorry", Code: messages.CodeServerError, Status: 500}},
		{"no body", 500, "", messages.Failure{Message: "the provider answered 500 Internal Server Error", Code: messages.CodeServerError, Status: 500}},
		{"unknown status", 599, "<html>", messages.Failure{Message: "the provider answered 599", Code: messages.CodeServerError, Status: 599}},
		{"no message", 0, `{"error":{"type":"x"}}`, messages.Failure{Message: "the provider reported an error x", Code: messages.CodeServerError}},
		{"wrong types", 503, `{"error":{"type":5,"message":[1],"code":{}}}`,
			messages.Failure{Message: "the provider answered 503 Service Unavailable", Code: messages.CodeOverloaded, Status: 503}},
		{"not UTF-8", 400, "{\"error\":{\"message\":\"a\xffb\"}}", messages.Failure{Message: "a\ufffdb", Code: messages.CodeInvalidRequest, Status: 400}},
		{"payment", 402, "", messages.Failure{Message: "the provider answered 402 Payment Required", Code: messages.CodeQuotaExceeded, Status: 402}},
		{"forbidden", 403, `{"error":{"message":"no"}}`, messages.Failure{Message: "no", Code: messages.CodePermission, Status: 403}},
		{"not found", 404, `{"error":{"message":"no"}}`, messages.Failure{Message: "no", Code: messages.CodeNotFound, Status: 404}},
		{"timeout", 408, `{"error":{"message":"no"}}`, messages.Failure{Message: "no", Code: messages.CodeTimeout, Status: 408}},
		{"conflict", 409, `{"error":{"message":"no"}}`, messages.Failure{Message: "no", Code: messages.CodeConflict, Status: 409}},
		{"too large", 413, `{"error":{"message":"no"}}`, messages.Failure{Message: "no", Code: messages.CodeRequestTooLarge, Status: 413}},
		{"overloaded", 529, `{"error":{"message":"no"}}`, messages.Failure{Message: "no", Code: messages.CodeOverloaded, Status: 529}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, ParseError([]byte(c.body)).Failure(c.status)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// Every word that is more exact than a status has its code.
func TestWords(t *testing.T) {
	for word, want := range map[string]messages.Code{
		"rate_limit_error": messages.CodeRateLimited, "server_is_overloaded": messages.CodeOverloaded, "slow_down": messages.CodeOverloaded,
		"billing_error": messages.CodeQuotaExceeded, "billing_hard_limit_reached": messages.CodeQuotaExceeded,
		"authentication_error": messages.CodeAuthentication, "permission_error": messages.CodePermission,
		"not_found_error": messages.CodeNotFound, "model_not_found": messages.CodeNotFound,
		"request_too_large": messages.CodeRequestTooLarge, "conflict_error": messages.CodeConflict,
		"api_error": messages.CodeServerError, "invalid_request_error": messages.CodeInvalidRequest,
	} {
		if got := (ErrorDetail{Type: word}).Failure(0).Code; got != want {
			t.Errorf("%s: %s, want %s", word, got, want)
		}
	}
}

func TestRetryAfter(t *testing.T) {
	now := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		name   string
		header http.Header
		want   int64
	}{
		{"none", http.Header{}, 0},
		{"seconds", http.Header{"Retry-After": {"2"}}, 2000},
		{"fraction", http.Header{"Retry-After": {"1.5"}}, 1500},
		{"space", http.Header{"Retry-After": {" 3 "}}, 3000},
		{"zero", http.Header{"Retry-After": {"0"}}, 0},
		{"milliseconds", http.Header{"Retry-After-Ms": {"250"}}, 250},
		{"both", http.Header{"Retry-After-Ms": {"250"}, "Retry-After": {"9"}}, 250},
		{"bad milliseconds", http.Header{"Retry-After-Ms": {"x"}, "Retry-After": {"9"}}, 9000},
		{"date", http.Header{"Retry-After": {"Mon, 30 Nov 2026 12:00:30 GMT"}}, 30_000},
		{"past date", http.Header{"Retry-After": {"Mon, 30 Nov 2026 11:00:00 GMT"}}, 0},
		{"old date form", http.Header{"Retry-After": {"Monday, 30-Nov-26 12:00:05 GMT"}}, 5000},
		{"negative", http.Header{"Retry-After": {"-1"}}, 0},
		{"absurd", http.Header{"Retry-After": {"1e300"}}, 0},
		{"not a number", http.Header{"Retry-After": {"NaN"}}, 0},
		{"infinite", http.Header{"Retry-After": {"Inf"}}, 0},
		{"nonsense", http.Header{"Retry-After": {"soon"}}, 0},
	} {
		if got := retryAfter(c.header, now); got != c.want {
			t.Errorf("%s: %d, want %d", c.name, got, c.want)
		}
	}
}

func TestClip(t *testing.T) {
	for _, s := range []string{"", "short", strings.Repeat("é", 10), strings.Repeat("é", 11), strings.Repeat("\xff", 30)} {
		got := clip(s, 10)
		if !utf8.ValidString(got) || utf8.RuneCountInString(got) > 11 {
			t.Errorf("%q became %q", s, got)
		}
	}
	if got := Snippet([]byte("  a\n\tb \x00 c")); got != "a b \x00 c" {
		t.Errorf("%q", got)
	}
}

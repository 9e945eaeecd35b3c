package retry

import (
	"net/http"

	"github.com/dsh-actor/dsh-actor/messages"
)

// Retryable reports whether a failure passes by itself. A code of the adapters
// decides; with any other code, which a host's own adapter may use, the status
// does: 408, 409, 429 and 5xx pass.
func Retryable(f messages.Failure) bool {
	switch f.Code {
	case messages.CodeConnection, messages.CodeTimeout, messages.CodeConflict,
		messages.CodeRateLimited, messages.CodeOverloaded, messages.CodeServerError:
		return true
	case messages.CodeQuotaExceeded, messages.CodeAuthentication, messages.CodePermission, messages.CodeNotFound,
		messages.CodeRequestTooLarge, messages.CodeContextTooLong, messages.CodeInvalidRequest, messages.CodeProtocol:
		return false
	}
	switch f.Status {
	case http.StatusRequestTimeout, http.StatusConflict, http.StatusTooManyRequests:
		return true
	}
	return f.Status >= 500 && f.Status <= 599
}

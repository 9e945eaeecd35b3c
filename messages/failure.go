package messages

// Codes of model requests: what a [Failure] says (V-9). All adapters use these
// and no others, so that a listener of agent/request-error decides the same for
// every provider. They are here and not in package model because listeners
// under tools/ read them and do not import model.
//
// Whether a request is worth sending again follows from the code:
//
//	CONNECTION, TIMEOUT, CONFLICT, RATE_LIMITED, OVERLOADED, SERVER_ERROR   yes
//	all others                                                              no
const (
	// CodeConnection: no connection, or it broke before the answer was whole.
	CodeConnection Code = "CONNECTION"
	// CodeTimeout: no connection in time, or silence for longer than the
	// adapter's limit, or the provider gave up waiting (408).
	CodeTimeout Code = "TIMEOUT"
	// CodeConflict: the provider had another request in the way (409).
	CodeConflict Code = "CONFLICT"
	// CodeRateLimited: too many requests or tokens (429).
	CodeRateLimited Code = "RATE_LIMITED"
	// CodeOverloaded: the provider has no capacity for anybody (503, 529).
	CodeOverloaded Code = "OVERLOADED"
	// CodeServerError: the provider failed (5xx, or an error event).
	CodeServerError Code = "SERVER_ERROR"

	// CodeQuotaExceeded: the account's money or spending limit is used up (402,
	// and some 429): waiting does not help.
	CodeQuotaExceeded Code = "QUOTA_EXCEEDED"
	// CodeAuthentication: the key is missing or wrong (401).
	CodeAuthentication Code = "AUTHENTICATION"
	// CodePermission: the key may not do this (403).
	CodePermission Code = "PERMISSION"
	// CodeNotFound: no such model or endpoint (404).
	CodeNotFound Code = "NOT_FOUND"
	// CodeRequestTooLarge: the request has too many bytes (413).
	CodeRequestTooLarge Code = "REQUEST_TOO_LARGE"
	// CodeContextTooLong: the request has more tokens than the model reads.
	CodeContextTooLong Code = "CONTEXT_TOO_LONG"
	// CodeInvalidRequest: the provider refused the request for another reason
	// (other 4xx), or the adapter cannot express it.
	CodeInvalidRequest Code = "INVALID_REQUEST"
	// CodeProtocol: the answer is not of the provider's protocol.
	CodeProtocol Code = "PROTOCOL"
)

// Package anthropic is the adapter to Anthropic's Messages API, and to servers
// that speak it: POST /v1/messages with an answer in server-sent events.
//
//	m, err := anthropic.New(anthropic.FromEnv(os.Getenv))
//
// The client is our own, over net/http. The official Go SDK was weighed: it adds
// 18 MB to a binary where this package adds well under one beside net/http, it
// retries by itself, which is a decision of the agent/request-error seam here
// (Z-18), and its types do not keep what has to go back to the API unread
// (signatures, redacted thinking, members of the future) any better than the
// raw text does.
//
// # What is sent
//
// The header's system prompt and tools, and the prefix and history as
// alternating messages: neighbours of one role are joined, so that contexts of
// plugins become further blocks of the user's message; the results of tools come
// first in it, as the API asks. Blocks of text that are empty are left out, as
// the API refuses them. Messages of role system that come first are added to the
// system prompt; later ones stay where they are, which only newer models accept.
//
// The content of a request is always a prefix of the content of the session's
// next one. Prompt caches and the API's check of thinking blocks depend on it;
// the former are used through up to four cache_control marks: tools, system
// prompt, and the last two user messages. The marks move and are no content.
//
// # What comes back
//
// Thinking is a reasoning block. Its signature, and thinking that the API
// redacted, which is a reasoning block without text, are kept in the replay
// state, and go back unchanged to the provider that wrote them. Reasoning of
// other providers, or of an answer that a plugin rewrote (T-8), is not sent.
//
// Usage follows V-9, which counts as the API does: input tokens are those that
// were neither read from a cache nor written to one. The API does not count
// thinking apart: it is in the output tokens.
//
// Stop reasons: end_turn and stop_sequence are stop, tool_use is tool-calls,
// max_tokens and model_context_window_exceeded are max-tokens; refusal and
// pause_turn become kinds of their own (V-8), as does any other.
//
// Failures have the codes of package messages and follow V-9.
package anthropic

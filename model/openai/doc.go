// Package openai is the adapter to OpenAI's Responses API and, by the base URL,
// to the many servers that speak OpenAI's Chat Completions, DeepSeek among them.
//
//	m, err := openai.New(openai.FromEnv(os.Getenv))      // Responses, OpenAI
//	m, err := openai.New(openai.DeepSeek(os.Getenv))     // Chat Completions, DeepSeek
//	m, err := openai.New(openai.Config{API: openai.Chat, BaseURL: "http://localhost:8000/v1"})
//
// The client is our own, over net/http. The official Go SDK was weighed: it makes
// a binary of 35 MB where this package adds well under one beside net/http, it
// retries by itself, which is a decision of the agent/request-error seam here
// (Z-18), and what DeepSeek and others add (reasoning_content, the counts of
// their caches) would have to be dug out of raw JSON all the same.
//
// # Responses
//
// Requests are stateless: the whole history is sent, store is false, and the
// provider's reasoning goes back as the encrypted text that it gave. With Store
// the provider keeps the items and reasoning goes back by its id. Either way it
// is kept in the replay state, and goes back to the provider that wrote it only.
// The requests of a session carry the same prompt_cache_key, a hash of its id.
//
// Models that do not reason refuse to be asked for encrypted reasoning:
// configure NoReasoning for them.
//
// # Chat Completions
//
// Reasoning that a server sends beside the content (reasoning_content, or
// reasoning) goes back in the member that it came in: DeepSeek and others refuse
// a history with tool calls that lacks it. Images in the results of tools, which
// this API has no place for, follow the results as a user message.
//
// # Both
//
// The content of a request is always a prefix of the content of the session's
// next one, so that the provider's prompt cache works.
//
// Usage follows V-9: the providers count cached tokens as input and reasoning as
// output; here they are taken out, as the counts are disjoint.
//
// A finish that is content_filter becomes a kind of its own (V-8), and so does
// an answer that is a refusal. Failures have the codes of package messages and
// follow V-9.
package openai

package messages

import (
	"fmt"

	"github.com/go-json-experiment/json/jsontext"
)

// Role says who speaks in a [Message].
type Role string

// Roles (V-4).
const (
	RoleSystem    Role = "system"
	RoleUser      Role = "user"
	RoleAssistant Role = "assistant"
)

// Message is one entry of the model's history (V-4).
type Message struct {
	Role       Role       `json:"role"`
	Content    Content    `json:"content"`
	Provenance Provenance `json:"provenance,omitzero"`
}

// Provenance says which model wrote an assistant message. ReplayState is the
// adapter's own opaque state, needed to send the message back unchanged.
type Provenance struct {
	Provider    string `json:"provider"`
	Model       string `json:"model"`
	ReplayState JSON   `json:"replayState,omitzero"`
}

func (p Provenance) appendJSON(dst []byte) ([]byte, error) {
	dst = appendMember(dst, `{"provider":`, p.Provider)
	dst = appendMember(dst, `,"model":`, p.Model)
	return closeObject(appendOptional(dst, `,"replayState":`, p.ReplayState))
}

// Source says who caused a message (V-5). It is an open union on Kind; kinds
// other than [SourceKindUser] and [SourceKindPlugin] keep their raw object.
type Source struct {
	Kind   string
	Plugin string
	raw    JSON
}

// Source kinds (V-5).
const (
	SourceKindUser   = "user"
	SourceKindPlugin = "plugin"
)

// UserSource is the source of what a person typed.
func UserSource() Source { return Source{Kind: SourceKindUser} }

// PluginSource is the source of what the named plugin added.
func PluginSource(plugin string) Source { return Source{Kind: SourceKindPlugin, Plugin: plugin} }

// OtherSource is a source of a plugin's own kind. The object must have a
// string member "kind".
func OtherSource(object JSON) (Source, error) {
	var s Source
	if err := CheckJSON(object); err != nil {
		return s, err
	}
	err := object.Unmarshal(&s)
	return s, err
}

// IsUser reports whether a person is the source.
func (s Source) IsUser() bool { return s.Kind == SourceKindUser }

// IsZero reports whether the source is absent.
func (s Source) IsZero() bool { return s.Kind == "" }

// MarshalJSONTo writes the object of the source's kind.
func (s Source) MarshalJSONTo(enc *jsontext.Encoder) error { return writeAppended(enc, s) }

func (s Source) appendJSON(dst []byte) ([]byte, error) {
	switch {
	case s.raw != "":
		return appendRaw(dst, s.raw)
	case s.Kind == SourceKindUser:
		return append(dst, `{"kind":"user"}`...), nil
	case s.Kind == SourceKindPlugin:
		return append(appendMember(dst, `{"kind":"plugin","plugin":`, s.Plugin), '}'), nil
	}
	return append(appendMember(dst, `{"kind":`, s.Kind), '}'), nil
}

// UnmarshalJSONFrom reads a source of any kind.
func (s *Source) UnmarshalJSONFrom(dec *jsontext.Decoder) error { return unmarshalView(dec, s) }

func (s *Source) decodeView(raw JSON) error {
	kind, err := discriminator(raw, "kind")
	if err != nil {
		return fmt.Errorf("source: %w", err)
	}
	out := Source{Kind: kind}
	switch kind {
	case SourceKindUser:
		err = decodeFields(raw, "kind", nil)
	case SourceKindPlugin:
		err = decodeFields(raw, "kind", []field{{name: "plugin", into: &out.Plugin}})
	default:
		out.raw = rest(raw, "kind")
	}
	if err != nil {
		return fmt.Errorf("source %q: %w", kind, err)
	}
	*s = out
	return nil
}

// Placement says where a prompt's context goes (T-3).
type Placement string

// Placements. The zero value is [PlacementSeparate].
const (
	PlacementSeparate     Placement = ""
	PlacementPromptPrefix Placement = "prompt-prefix"
)

// Context is a model-facing block record that a listener, hook or tool adds
// beside a prompt or a result (reference name HookContext). Placement matters
// for prompts only (T-24).
type Context struct {
	Content   Content   `json:"content"`
	Source    Source    `json:"source"`
	Placement Placement `json:"placement,omitzero"`
	Meta      JSON      `json:"meta,omitzero"`
}

// NewContext is a separate context of one text block by the named plugin.
func NewContext(plugin, text string) Context {
	return Context{Content: Text(text), Source: PluginSource(plugin)}
}

// Usage counts the tokens of one request; the counts are disjoint (V-9).
type Usage struct {
	InputTokens      int64 `json:"inputTokens"`
	OutputTokens     int64 `json:"outputTokens"`
	CacheReadTokens  int64 `json:"cacheReadTokens,omitzero"`
	CacheWriteTokens int64 `json:"cacheWriteTokens,omitzero"`
	ReasoningTokens  int64 `json:"reasoningTokens,omitzero"`
}

func (u Usage) appendJSON(dst []byte) []byte {
	dst = appendInt64(dst, `{"inputTokens":`, u.InputTokens)
	dst = appendInt64(dst, `,"outputTokens":`, u.OutputTokens)
	if u.CacheReadTokens != 0 {
		dst = appendInt64(dst, `,"cacheReadTokens":`, u.CacheReadTokens)
	}
	if u.CacheWriteTokens != 0 {
		dst = appendInt64(dst, `,"cacheWriteTokens":`, u.CacheWriteTokens)
	}
	if u.ReasoningTokens != 0 {
		dst = appendInt64(dst, `,"reasoningTokens":`, u.ReasoningTokens)
	}
	return append(dst, '}')
}

// Add returns the sum of both counts.
func (u Usage) Add(o Usage) Usage {
	return Usage{
		u.InputTokens + o.InputTokens, u.OutputTokens + o.OutputTokens,
		u.CacheReadTokens + o.CacheReadTokens, u.CacheWriteTokens + o.CacheWriteTokens,
		u.ReasoningTokens + o.ReasoningTokens,
	}
}

// Failure is what a model adapter reports about a failed request (V-9). It is
// an error, so that an adapter can return it.
type Failure struct {
	Message              string    `json:"message"`
	Code                 Code      `json:"code"`
	Status               int       `json:"status,omitzero"`
	ProviderRetryAfterMS int64     `json:"providerRetryAfterMs,omitzero"`
	RequestID            RequestID `json:"requestId,omitzero"`
}

// Error returns the message.
func (f Failure) Error() string { return f.Message }

// IsZero reports whether there is no failure.
func (f Failure) IsZero() bool { return f == Failure{} }

func (f Failure) appendJSON(dst []byte) []byte {
	dst = appendMember(dst, `{"message":`, f.Message)
	dst = appendMember(dst, `,"code":`, string(f.Code))
	if f.Status != 0 {
		dst = appendInt(dst, `,"status":`, f.Status)
	}
	if f.ProviderRetryAfterMS != 0 {
		dst = appendInt64(dst, `,"providerRetryAfterMs":`, f.ProviderRetryAfterMS)
	}
	if f.RequestID != "" {
		dst = appendMember(dst, `,"requestId":`, string(f.RequestID))
	}
	return append(dst, '}')
}

// ToolSpec is a tool as the model sees it (P-2).
type ToolSpec struct {
	Name        string `json:"name"`
	Description string `json:"description"`
	Parameters  JSON   `json:"parameters"`
}

// RequestConfig is the model configuration of one request (E-8).
type RequestConfig struct {
	Provider    string       `json:"provider"`
	Model       string       `json:"model"`
	Temperature JSON         `json:"temperature,omitzero"`
	MaxTokens   int64        `json:"maxTokens,omitzero"`
	Stop        List[string] `json:"stop,omitzero"`
}

// RequestHeader is everything of a request that is not history (T-6).
type RequestHeader struct {
	Config        RequestConfig  `json:"config"`
	System        string         `json:"system,omitzero"`
	Tools         List[ToolSpec] `json:"tools,omitzero"`
	MessagePrefix List[Message]  `json:"messagePrefix,omitzero"`
}

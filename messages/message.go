package messages

import (
	"fmt"

	"github.com/go-json-experiment/json"
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
func (s Source) MarshalJSONTo(enc *jsontext.Encoder) error {
	switch {
	case s.raw != "":
		return enc.WriteValue(s.raw.Bytes())
	case s.Kind == SourceKindPlugin:
		return json.MarshalEncode(enc, struct {
			Kind   string `json:"kind"`
			Plugin string `json:"plugin"`
		}{s.Kind, s.Plugin}, marshalOptions)
	default:
		return json.MarshalEncode(enc, struct {
			Kind string `json:"kind"`
		}{s.Kind}, marshalOptions)
	}
}

// UnmarshalJSONFrom reads a source of any kind.
func (s *Source) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	v, err := dec.ReadValue()
	if err != nil {
		return err
	}
	raw := JSON(v)
	kind, err := discriminator(raw, "kind")
	if err != nil {
		return fmt.Errorf("source: %w", err)
	}
	switch kind {
	case SourceKindUser:
		*s = UserSource()
		return raw.Unmarshal(&struct {
			Kind string `json:"kind"`
		}{}, json.RejectUnknownMembers(true))
	case SourceKindPlugin:
		var p struct {
			Kind   string `json:"kind"`
			Plugin string `json:"plugin"`
		}
		if err := raw.Unmarshal(&p, json.RejectUnknownMembers(true)); err != nil {
			return err
		}
		*s = PluginSource(p.Plugin)
		return nil
	default:
		*s = Source{Kind: kind, raw: raw}
		return nil
	}
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

// MarshalJSONTo writes the list as an array.
func (l List[T]) MarshalJSONTo(enc *jsontext.Encoder) error {
	if l.items == nil {
		return json.MarshalEncode(enc, []T{}, marshalOptions)
	}
	return json.MarshalEncode(enc, l.items, marshalOptions)
}

// UnmarshalJSONFrom reads an array.
func (l *List[T]) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	return json.UnmarshalDecode(dec, &l.items)
}

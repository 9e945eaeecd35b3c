package messages

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Events are encoded by hand: every event of every session passes here on its
// way to the store, and reflection over small structs costs several times what
// writing them does. The struct tags of the payloads say the same, are what
// decoding uses, and are compared with this file by a test.

// AppendJSON appends the event's envelope {type, seq, time, data, surfaceOp?,
// sourceEventSeqs?} to dst, as one line without its newline, and returns the
// extended slice. On an error the returned slice is dst as it was given.
//
// It is the fastest way to encode an event and gives the same bytes as
// [MarshalJSON].
func (e Event) AppendJSON(dst []byte) ([]byte, error) {
	if e.Data == nil {
		return dst, errors.New("session event without a payload")
	}
	start := len(dst)
	typ := e.Data.EventType()
	dst = append(dst, `{"type":`...)
	dst = appendString(dst, typ)
	dst = append(dst, `,"seq":`...)
	dst = strconv.AppendInt(dst, e.Seq, 10)
	dst = append(dst, `,"time":`...)
	dst = strconv.AppendInt(dst, e.Time, 10)
	dst = append(dst, `,"data":`...)
	dst, err := appendData(dst, e.Data)
	if err != nil {
		return dst[:start], fmt.Errorf("encode session event %q: %w", typ, err)
	}
	if e.Surface.Kind != SurfaceNone {
		dst = append(dst, `,"surfaceOp":`...)
		dst, _ = e.Surface.appendJSON(dst) // never fails
	}
	if e.HasSources {
		dst = append(dst, `,"sourceEventSeqs":[`...)
		for i, seq := range e.Sources.items {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = strconv.AppendInt(dst, seq, 10)
		}
		dst = append(dst, ']')
	}
	return append(dst, '}'), nil
}

// marshal returns the event as text of its own.
func (e Event) marshal() (JSON, error) {
	b, err := e.AppendJSON(make([]byte, 0, sizeHint(e)))
	if err != nil {
		return "", err
	}
	if cap(b)-len(b) > len(b)/4+64 {
		b = bytes.Clone(b) // do not keep what the estimate wasted
	}
	return bytesAsJSON(b), nil
}

// sizeHint estimates the length of an event's text, so that encoding it takes
// one allocation.
func sizeHint(e Event) int {
	const envelope, perSeq = 192, 8
	n := envelope + perSeq*e.Sources.Len()
	switch d := e.Data.(type) {
	case UserMessage:
		n += contentHint(d.Content) + contentHint(d.Envelope.DisplayContent) + len(d.Meta)
	case SteeringMessage:
		n += contentHint(d.Content) + contentHint(d.Envelope.DisplayContent) + len(d.Meta)
	case PromptBlocked:
		n += contentHint(d.Content) + len(d.Reason)
	case AssistantMessage:
		n += 128 + contentHint(d.Content) + len(d.Provenance.ReplayState)
	case AssistantChunk:
		switch c := d.Chunk.(type) {
		case TextDelta:
			n += len(c.Text)
		case ReasoningDelta:
			n += len(c.Text)
		case ToolCallDelta:
			n += textHint(c.ArgumentsDelta)
		case BlockEnd:
			n += blockHint(c.Block)
		case FinishChunk:
			n += len(c.ReplayState)
		}
	case ToolCall:
		n += textHint(d.Arguments)
	case ToolResult:
		n += contentHint(d.Content) + len(d.Meta)
	case OtherEvent:
		n += len(d.Raw)
	}
	return n
}

func contentHint(c Content) int {
	n := 0
	for _, b := range c.blocks {
		n += blockHint(b)
	}
	return n
}

func blockHint(b Block) int {
	const names = 64
	switch b := b.(type) {
	case TextBlock:
		return names + textHint(b.Text)
	case ReasoningBlock:
		return names + textHint(b.Text)
	case ToolCallBlock:
		return 2*names + textHint(b.Arguments)
	case ToolResultBlock:
		return names + contentHint(b.Content)
	case ImageBlock:
		return names + len(b.Data)
	case OtherBlock:
		return len(b.Raw)
	}
	return names
}

// textHint allows for the escapes that source code needs: line ends, tabs, quotes.
func textHint(s string) int { return len(s) + len(s)/4 }

// MarshalJSONTo writes the envelope as [Event.AppendJSON] does.
func (e Event) MarshalJSONTo(enc *jsontext.Encoder) error {
	b, err := e.AppendJSON(enc.AvailableBuffer())
	if err != nil {
		return err
	}
	return writeRaw(enc, b)
}

// appendData appends a payload.
func appendData(dst []byte, data EventData) ([]byte, error) {
	switch d := data.(type) {
	case TurnStart:
		dst = appendInt(dst, `{"turn":`, d.Turn)
		dst = append(dst, `,"trigger":`...)
		return closeObject(d.Trigger.appendJSON(dst))
	case TurnEnd:
		dst = appendInt(dst, `{"turn":`, d.Turn)
		dst = append(dst, `,"reason":`...)
		return closeObject(d.Reason.appendJSON(dst))
	case StepStart:
		return append(appendTurnStep(dst, d.Turn, d.Step), '}'), nil
	case StepEnd:
		return append(appendTurnStep(dst, d.Turn, d.Step), '}'), nil
	case UserMessage:
		dst = append(dst, '{')
		return appendMessage(dst, d.Content, d.Source, d.Envelope, d.Meta)
	case SteeringMessage:
		dst = append(appendInt(dst, `{"turn":`, d.Turn), ',')
		return appendMessage(dst, d.Content, d.Source, d.Envelope, d.Meta)
	case PromptBlocked:
		dst = append(dst, `{"content":`...)
		dst, err := d.Content.appendJSON(dst)
		if err != nil {
			return dst, err
		}
		dst = append(dst, `,"source":`...)
		dst, err = d.Source.appendJSON(dst)
		return append(appendMember(dst, `,"reason":`, d.Reason), '}'), err
	case AssistantChunk:
		return d.appendJSON(dst)
	case AssistantMessage:
		dst = append(appendTurnStep(dst, d.Turn, d.Step), `,"content":`...)
		dst, err := d.Content.appendJSON(dst)
		if err != nil {
			return dst, err
		}
		dst = append(dst, `,"provenance":`...)
		dst, err = d.Provenance.appendJSON(dst)
		if d.Usage != (Usage{}) {
			dst = d.Usage.appendJSON(append(dst, `,"usage":`...))
		}
		return append(dst, '}'), err
	case ToolCall:
		dst = appendTurnStep(dst, d.Turn, d.Step)
		dst = appendMember(dst, `,"callId":`, string(d.CallID))
		dst = appendMember(dst, `,"name":`, d.Name)
		return append(appendMember(dst, `,"arguments":`, d.Arguments), '}'), nil
	case ToolResult:
		dst = appendTurnStep(dst, d.Turn, d.Step)
		dst = appendMember(dst, `,"callId":`, string(d.CallID))
		dst = append(dst, `,"content":`...)
		dst, err := d.Content.appendJSON(dst)
		if err != nil {
			return dst, err
		}
		dst = strconv.AppendBool(append(dst, `,"isError":`...), d.IsError)
		if !d.Error.IsZero() {
			dst = appendMember(dst, `,"error":{"name":`, d.Error.Name)
			dst = append(appendMember(dst, `,"code":`, string(d.Error.Code)), '}')
		}
		return closeObject(appendOptional(dst, `,"meta":`, d.Meta))
	case ApprovalAsked:
		dst = appendMember(dst, `{"id":`, string(d.ID))
		dst = appendMember(dst, `,"toolName":`, d.ToolName)
		if d.CallID != "" {
			dst = appendMember(dst, `,"callId":`, string(d.CallID))
		}
		if d.Reason != "" {
			dst = appendMember(dst, `,"reason":`, d.Reason)
		}
		return append(dst, '}'), nil
	case ApprovalDecided:
		dst = appendMember(dst, `{"id":`, string(d.ID))
		return append(appendMember(dst, `,"outcome":`, d.Outcome), '}'), nil
	case ApprovalPolicy:
		return append(appendMember(dst, `{"policy":`, d.Policy), '}'), nil
	case OtherEvent:
		return appendRaw(dst, d.Raw)
	default: // request headers are rare, and other packages have their own types
		b, err := json.Marshal(data, marshalOptions)
		return append(dst, b...), err
	}
}

func appendTurnStep(dst []byte, turn, step int) []byte {
	return appendInt(appendInt(dst, `{"turn":`, turn), `,"step":`, step)
}

// appendMessage appends the members that prompts and steering share, and closes
// the object.
func appendMessage(dst []byte, c Content, s Source, e PromptEnvelope, meta JSON) ([]byte, error) {
	dst, err := c.appendJSON(append(dst, `"content":`...))
	if err != nil {
		return dst, err
	}
	dst, err = s.appendJSON(append(dst, `,"source":`...))
	if err != nil {
		return dst, err
	}
	if !e.IsZero() {
		dst, err = e.appendJSON(append(dst, `,"envelope":`...))
		if err != nil {
			return dst, err
		}
	}
	return closeObject(appendOptional(dst, `,"meta":`, meta))
}

// closeObject ends an object whose last member may have failed.
func closeObject(dst []byte, err error) ([]byte, error) {
	return append(dst, '}'), err
}

// appendMember appends punctuation with a name, and a string.
func appendMember(dst []byte, name, value string) []byte {
	return appendString(append(dst, name...), value)
}

// appendInt appends punctuation with a name, and a number.
func appendInt(dst []byte, name string, value int) []byte {
	return appendInt64(dst, name, int64(value))
}

func appendInt64(dst []byte, name string, value int64) []byte {
	return strconv.AppendInt(append(dst, name...), value, 10)
}

// appendOptional appends punctuation with a name, and a value, unless the value
// is absent (E-10).
func appendOptional(dst []byte, name string, value JSON) ([]byte, error) {
	if value == "" {
		return dst, nil
	}
	return appendRaw(append(dst, name...), value)
}

// rawOptions keep the text of a value: its digits, escapes and the order of its
// members. Only white space goes. What is not lossless JSON is refused (Z-11),
// also where invalid UTF-8 in Go strings is replaced.
var rawOptions = json.JoinOptions(jsontext.PreserveRawStrings(true), jsontext.AllowInvalidUTF8(false))

// appendRaw appends JSON text without its white space; absent text is null.
func appendRaw(dst []byte, j JSON) ([]byte, error) {
	if j == "" {
		return append(dst, "null"...), nil
	}
	start := len(dst)
	dst, err := jsontext.AppendFormat(dst, j.Bytes(), rawOptions)
	if err != nil {
		return dst[:start], err
	}
	return dst, nil
}

// writeRaw writes valid JSON text with every character as it is, whatever the
// encoder's own options are.
func writeRaw(enc *jsontext.Encoder, b []byte) error {
	return json.MarshalEncode(enc, jsontext.Value(b), rawOptions)
}

// appender is implemented by values that write their own JSON by hand.
type appender interface {
	appendJSON(dst []byte) ([]byte, error)
}

// writeAppended writes a value of a type that encodes itself by hand.
func writeAppended[T appender](enc *jsontext.Encoder, v T) error {
	b, err := v.appendJSON(enc.AvailableBuffer())
	if err != nil {
		return err
	}
	return writeRaw(enc, b)
}

package messages

import (
	"reflect"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// draw has the generators of this file: any value that the Go types allow, not
// only sensible ones.
type draw struct{ t *rapid.T }

func (d draw) text() string {
	return rapid.OneOf(
		rapid.SampledFrom([]string{"", "a", "\n\t\"\\", "é\u2028\U0001F600", "\xff", "x\xe2\x82", "<&>", "\x00"}),
		rapid.String(),
	).Draw(d.t, "text")
}

func (d draw) num() int       { return rapid.IntRange(-3, 1<<40).Draw(d.t, "num") }
func (d draw) num64() int64   { return rapid.Int64().Draw(d.t, "num64") }
func (d draw) yes() bool      { return rapid.Bool().Draw(d.t, "yes") }
func (d draw) pick(n int) int { return rapid.IntRange(0, n-1).Draw(d.t, "case") }

func (d draw) raw() JSON {
	return rapid.SampledFrom([]JSON{"", "", `null`, `1.50`, `-0`, `1e400`, `"\u0041\/"`, `{"b":[{"a":[]}],"a":12345678901234567890}`, `[]`, nested(512), nestedObjects(512)}).Draw(d.t, "json")
}

func (d draw) object(tag string) JSON {
	return JSON(`{"n":1.0,"` + tag + `":"x/other","s":"\u0061"}`)
}

func (d draw) block() Block {
	switch d.pick(6) {
	case 0:
		return TextBlock{d.text()}
	case 1:
		return ReasoningBlock{d.text()}
	case 2:
		return ToolCallBlock{CallID(d.text()), d.text(), d.text()}
	case 3:
		return ToolResultBlock{CallID(d.text()), d.content(), d.yes()}
	case 4:
		return ImageBlock{d.text(), d.text()}
	}
	return OtherBlock{"x/other", d.object("type")}
}

func (d draw) content() Content {
	c := EmptyContent()
	for range d.pick(4) {
		c = c.Append(d.block())
	}
	return c
}

func (d draw) source() Source {
	switch d.pick(5) {
	case 0:
		return UserSource()
	case 1:
		return PluginSource(d.text())
	case 2:
		return Source{}
	case 3:
		return Source{Kind: d.text()}
	}
	s, err := OtherSource(d.object("kind"))
	if err != nil {
		d.t.Fatal(err)
	}
	return s
}

func (d draw) failure() Failure {
	return Failure{d.text(), Code(d.text()), d.num(), d.num64(), RequestID(d.text())}
}

func (d draw) usage() Usage { return Usage{d.num64(), d.num64(), d.num64(), d.num64(), d.num64()} }

func (d draw) envelope() PromptEnvelope {
	if d.yes() {
		return PromptEnvelope{}
	}
	e := PromptEnvelope{DisplayContent: d.content()}
	for range d.pick(3) {
		e.PrefixContexts = e.PrefixContexts.Append(PrefixContext{d.source(), d.raw()})
	}
	return e
}

func (d draw) chunk() Chunk {
	switch d.pick(7) {
	case 0:
		return BlockStart{d.num(), d.text()}
	case 1:
		return TextDelta{d.num(), d.text()}
	case 2:
		return ReasoningDelta{d.num(), d.text()}
	case 3:
		return ToolCallDelta{d.num(), CallID(d.text()), d.text(), d.text()}
	case 4:
		return BlockEnd{d.num(), d.block()}
	case 5:
		return UsageChunk{d.usage()}
	}
	r := FinishReason{Kind: rapid.SampledFrom([]string{FinishStop, FinishError, FinishAborted, "new", ""}).Draw(d.t, "finish")}
	if d.yes() {
		r.Failure = d.failure()
	}
	return FinishChunk{r, d.raw()}
}

func (d draw) reason() EndReason {
	return EndReason{
		Kind:   rapid.SampledFrom([]EndKind{EndCompleted, EndAborted, EndDisposed, EndMaxTokens, EndRejected, EndInterrupted, EndError, EndHalted, EndMaxSteps, "new", ""}).Draw(d.t, "end"),
		Reason: d.text(), At: HaltPoint(d.text()), Limit: d.num(), Step: d.num(), Message: d.text(), Code: Code(d.text()),
		Failure: rapid.SampledFrom([]Failure{{}, {Message: "m"}, {Code: "c", Status: 500}}).Draw(d.t, "failure"),
	}
}

func (d draw) header() RequestHeader {
	h := RequestHeader{
		Config: RequestConfig{Provider: d.text(), Model: d.text(), Temperature: rapid.SampledFrom([]JSON{"", "0.70"}).Draw(d.t, "temperature"), MaxTokens: d.num64()},
		System: d.text(),
	}
	for range d.pick(3) {
		h.Config.Stop = h.Config.Stop.Append(d.text())
		h.Tools = h.Tools.Append(ToolSpec{d.text(), d.text(), d.raw()})
		h.MessagePrefix = h.MessagePrefix.Append(Message{Role(d.text()), d.content(), Provenance{d.text(), d.text(), d.raw()}})
	}
	return h
}

func (d draw) data() EventData {
	switch d.pick(16) {
	case 0:
		k := rapid.SampledFrom([]string{TriggerMessage, TriggerInjection, "new", ""}).Draw(d.t, "trigger")
		return TurnStart{d.num(), TurnTrigger{Kind: k, Source: d.source()}}
	case 1:
		return TurnEnd{d.num(), d.reason()}
	case 2:
		return StepStart{d.num(), d.num()}
	case 3:
		return StepEnd{d.num(), d.num()}
	case 4:
		return UserMessage{d.content(), d.source(), d.envelope(), d.raw()}
	case 5:
		return SteeringMessage{d.num(), d.content(), d.source(), d.envelope(), d.raw()}
	case 6:
		return PromptBlocked{d.content(), d.source(), d.text()}
	case 7:
		return RequestHeaderEvent{d.header(), HeaderReason(d.text())}
	case 8:
		return AssistantChunk{d.num(), d.num(), d.chunk()}
	case 9:
		return AssistantMessage{d.num(), d.num(), d.content(), Provenance{d.text(), d.text(), d.raw()}, d.usage()}
	case 10:
		return ToolCall{d.num(), d.num(), CallID(d.text()), d.text(), d.text()}
	case 11:
		return ToolResult{d.num(), d.num(), CallID(d.text()), d.content(), d.yes(), ErrorInfo{d.text(), Code(d.text())}, d.raw()}
	case 12:
		return ApprovalAsked{ApprovalID(d.text()), d.text(), CallID(d.text()), d.text()}
	case 13:
		return ApprovalDecided{ApprovalID(d.text()), d.text()}
	case 14:
		return ApprovalPolicy{d.text()}
	}
	return OtherEvent{"x/" + d.text(), d.object("k")}
}

func (d draw) event() Event {
	e := Event{Seq: d.num64(), Time: d.num64(), Data: d.data()}
	switch d.pick(3) {
	case 0:
		e.Surface = AppendOp()
	case 1:
		e.Surface = ReplaceOp(d.num64(), d.num64())
	}
	if e.HasSources = d.yes(); e.HasSources {
		for range d.pick(4) {
			e.Sources = e.Sources.Append(d.num64())
		}
	}
	return e
}

// Whatever can be written can be read, and reads as the same: every value of
// the Go types, with strings made valid (Z-7).
func TestEveryEventSurvives(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		e := draw{t}.event()
		text, err := MarshalJSON(e)
		if err != nil {
			t.Fatal(err)
		}
		if !jsontext.Value(text.Bytes()).IsValid() {
			t.Fatalf("%s is not JSON", text)
		}
		back, err := registry.DecodeEvent(text)
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		again, err := MarshalJSON(back)
		if err != nil || again != text {
			t.Fatalf("%s\ncomes back as\n%s, %v", text, again, err)
		}
		// All ways to encode give the same.
		appended, err := e.AppendJSON([]byte("before "))
		if err != nil || string(appended) != "before "+string(text) {
			t.Fatalf("AppendJSON gives %s, %v; want %s", appended, err, text)
		}
		marshalled, err := json.Marshal(e)
		if err != nil || string(marshalled) != string(text) {
			t.Fatalf("json.Marshal gives %s, %v; want %s", marshalled, err, text)
		}
	})
}

// Strings are quoted as package jsontext does it.
func TestQuotingAgreesWithJsontext(t *testing.T) {
	check := func(t interface{ Fatalf(string, ...any) }, s string) {
		want, _ := jsontext.AppendQuote(nil, s) // the error says that s has invalid UTF-8
		if got := string(QuoteJSON(s)); got != string(want) {
			t.Fatalf("%q is quoted as %s, want %s", s, got, want)
		}
	}
	for b := range 256 {
		check(t, string([]byte{byte(b)}))
		check(t, "a"+string(rune(b))+"b")
	}
	rapid.Check(t, func(t *rapid.T) {
		check(t, string(rapid.SliceOf(rapid.Byte()).Draw(t, "bytes")))
		check(t, draw{t}.text()+draw{t}.text())
	})
}

// The hand-written encoder and decoder agree with what the struct tags say.
func TestPayloadsAgreeWithTheirTags(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		data := draw{t}.data()
		want, err := json.Marshal(data, marshalOptions)
		if err != nil {
			t.Fatal(err)
		}
		got, err := appendData(nil, data)
		if err != nil || string(got) != string(want) {
			t.Fatalf("%T by hand:\n%s, %v; by its tags:\n%s", data, got, err, want)
		}
		byHand, err := registry.DecodeData(data.EventType(), JSON(want))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(byTags(t, data, JSON(want)), byHand, exact); diff != "" {
			t.Fatalf("%s (-by tags +by hand):\n%s", want, diff)
		}
	})
}

// byTags decodes text into the type of sample by reflection.
func byTags(t *rapid.T, sample EventData, text JSON) EventData {
	if other, ok := sample.(OtherEvent); ok {
		other.Raw = text
		return other
	}
	p := reflect.New(reflect.TypeOf(sample))
	if err := unmarshalStrict(text, p.Interface()); err != nil {
		t.Fatal(err)
	}
	return p.Elem().Interface().(EventData)
}

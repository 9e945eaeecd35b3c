package messages

import (
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/google/go-cmp/cmp"
)

// exact compares values with unexported parts, and lists by their items.
var exact = cmp.Exporter(func(reflectType) bool { return true })

// registry knows the core types.
var registry = NewRegistry()

// goldenEvents are events with the exact text that a log has for them.
var goldenEvents = []struct {
	name  string
	event Event
	text  string
}{
	// E-8: every type, with its data keys in the order of the catalogue.
	{"turn/start", Event{Seq: 0, Time: 1700000000000, Data: TurnStart{1, TurnTrigger{Kind: TriggerMessage, Source: UserSource()}}},
		`{"type":"turn/start","seq":0,"time":1700000000000,"data":{"turn":1,"trigger":{"kind":"message","source":{"kind":"user"}}}}`},
	{"turn/end", Event{Seq: 9, Time: 2, Data: TurnEnd{1, EndReason{Kind: EndCompleted}}},
		`{"type":"turn/end","seq":9,"time":2,"data":{"turn":1,"reason":{"kind":"completed"}}}`},
	{"step/start", Event{Seq: 2, Time: 3, Data: StepStart{1, 2}},
		`{"type":"step/start","seq":2,"time":3,"data":{"turn":1,"step":2}}`},
	{"step/end", Event{Seq: 3, Time: -4, Data: StepEnd{1, 2}},
		`{"type":"step/end","seq":3,"time":-4,"data":{"turn":1,"step":2}}`},
	{"user/message", Event{Seq: 1, Time: 5, Data: UserMessage{Content: Text("hi"), Source: UserSource()}, Surface: AppendOp()},
		`{"type":"user/message","seq":1,"time":5,"data":{"content":[{"type":"text","text":"hi"}],"source":{"kind":"user"}},"surfaceOp":"append"}`},
	{"user/message of a plugin, with meta", Event{Seq: 1, Time: 5, Data: UserMessage{Content: EmptyContent(), Source: PluginSource("git"), Meta: `{"n":-0,"big":123456789012345678901234567890}`}, Surface: AppendOp()},
		`{"type":"user/message","seq":1,"time":5,"data":{"content":[],"source":{"kind":"plugin","plugin":"git"},"meta":{"n":-0,"big":123456789012345678901234567890}},"surfaceOp":"append"}`},
	{"user/message with an envelope (E-9)", Event{Seq: 1, Time: 5, Data: UserMessage{
		Content: NewContent(TextBlock{"ctx"}, TextBlock{"hi"}), Source: UserSource(),
		Envelope: PromptEnvelope{Text("hi"), ListOf(PrefixContext{Source: PluginSource("a")}, PrefixContext{Source: PluginSource(""), Meta: `[1]`})},
	}, Surface: AppendOp()},
		`{"type":"user/message","seq":1,"time":5,"data":{"content":[{"type":"text","text":"ctx"},{"type":"text","text":"hi"}],"source":{"kind":"user"},"envelope":{"displayContent":[{"type":"text","text":"hi"}],"prefixContexts":[{"source":{"kind":"plugin","plugin":"a"}},{"source":{"kind":"plugin","plugin":""},"meta":[1]}]}},"surfaceOp":"append"}`},
	{"steering/message", Event{Seq: 4, Time: 6, Data: SteeringMessage{Turn: 1, Content: Text("and"), Source: UserSource()}, Surface: AppendOp()},
		`{"type":"steering/message","seq":4,"time":6,"data":{"turn":1,"content":[{"type":"text","text":"and"}],"source":{"kind":"user"}},"surfaceOp":"append"}`},
	{"steering/message with an envelope and meta", Event{Seq: 4, Time: 6, Data: SteeringMessage{
		Turn: 1, Content: Text("and"), Source: UserSource(),
		Envelope: PromptEnvelope{DisplayContent: EmptyContent()}, Meta: `"m"`,
	}, Surface: AppendOp()},
		`{"type":"steering/message","seq":4,"time":6,"data":{"turn":1,"content":[{"type":"text","text":"and"}],"source":{"kind":"user"},"envelope":{"displayContent":[],"prefixContexts":[]},"meta":"m"},"surfaceOp":"append"}`},
	{"prompt/blocked", Event{Seq: 1, Time: 7, Data: PromptBlocked{Text("rm"), UserSource(), "no <&> \u2028"}},
		`{"type":"prompt/blocked","seq":1,"time":7,"data":{"content":[{"type":"text","text":"rm"}],"source":{"kind":"user"},"reason":"no <&> ` + "\u2028" + `"}}`},
	{"request/header, the least", Event{Seq: 3, Time: 8, Data: RequestHeaderEvent{RequestHeader{Config: RequestConfig{Provider: "p", Model: "m"}}, HeaderInitial}},
		`{"type":"request/header","seq":3,"time":8,"data":{"header":{"config":{"provider":"p","model":"m"}},"reason":"initial"}}`},
	{"request/header, everything", Event{Seq: 3, Time: 8, Data: RequestHeaderEvent{RequestHeader{
		Config:        RequestConfig{Provider: "p", Model: "m", Temperature: "0.70", MaxTokens: 4096, Stop: ListOf("a", "b")},
		System:        "be brief",
		Tools:         ListOf(ToolSpec{Name: "t", Description: "d", Parameters: `{"type":"object"}`}),
		MessagePrefix: ListOf(Message{Role: RoleUser, Content: Text("x")}, Message{Role: RoleAssistant, Content: Text("y"), Provenance: Provenance{"p", "m", `{"s":1}`}}),
	}, HeaderChange}},
		`{"type":"request/header","seq":3,"time":8,"data":{"header":{"config":{"provider":"p","model":"m","temperature":0.70,"maxTokens":4096,"stop":["a","b"]},"system":"be brief","tools":[{"name":"t","description":"d","parameters":{"type":"object"}}],"messagePrefix":[{"role":"user","content":[{"type":"text","text":"x"}]},{"role":"assistant","content":[{"type":"text","text":"y"}],"provenance":{"provider":"p","model":"m","replayState":{"s":1}}}]},"reason":"change"}}`},
	{"assistant/chunk", Event{Seq: 5, Time: 9, Data: AssistantChunk{1, 2, TextDelta{0, "Hel"}}},
		`{"type":"assistant/chunk","seq":5,"time":9,"data":{"turn":1,"step":2,"chunk":{"type":"text-delta","index":0,"text":"Hel"}}}`},
	{"assistant/message", Event{Seq: 6, Time: 10, Data: AssistantMessage{
		Turn: 1, Step: 1, Content: NewContent(ReasoningBlock{"hm"}, TextBlock{"Hello"}, ToolCallBlock{"c1", "Bash", `{"command":"ls"}`}),
		Provenance: Provenance{Provider: "p", Model: "m"}, Usage: Usage{InputTokens: 10, OutputTokens: 2},
	}, Surface: AppendOp(), Sources: ListOf[int64](4, 5), HasSources: true},
		`{"type":"assistant/message","seq":6,"time":10,"data":{"turn":1,"step":1,"content":[{"type":"reasoning","text":"hm"},{"type":"text","text":"Hello"},{"type":"tool-call","id":"c1","name":"Bash","arguments":"{\"command\":\"ls\"}"}],"provenance":{"provider":"p","model":"m"},"usage":{"inputTokens":10,"outputTokens":2}},"surfaceOp":"append","sourceEventSeqs":[4,5]}`},
	{"assistant/message without chunks (E-5)", Event{Seq: 6, Time: 10, Data: AssistantMessage{
		Turn: 1, Step: 1, Content: EmptyContent(), Provenance: Provenance{"p", "m", `null`},
	}, Surface: AppendOp(), HasSources: true},
		`{"type":"assistant/message","seq":6,"time":10,"data":{"turn":1,"step":1,"content":[],"provenance":{"provider":"p","model":"m","replayState":null}},"surfaceOp":"append","sourceEventSeqs":[]}`},
	{"tool/call", Event{Seq: 7, Time: 11, Data: ToolCall{1, 1, "c1", "Bash", "{not json \U0001F600"}},
		`{"type":"tool/call","seq":7,"time":11,"data":{"turn":1,"step":1,"callId":"c1","name":"Bash","arguments":"{not json ` + "\U0001F600" + `"}}`},
	{"tool/result", Event{Seq: 8, Time: 12, Data: ToolResult{Turn: 1, Step: 1, CallID: "c1", Content: Text("ok")}, Surface: AppendOp(), Sources: ListOf[int64](7), HasSources: true},
		`{"type":"tool/result","seq":8,"time":12,"data":{"turn":1,"step":1,"callId":"c1","content":[{"type":"text","text":"ok"}],"isError":false},"surfaceOp":"append","sourceEventSeqs":[7]}`},
	{"tool/result with an error and meta", Event{Seq: 8, Time: 12, Data: ToolResult{
		Turn: 1, Step: 1, CallID: "c1", Content: Text("Error: tool call aborted"), IsError: true,
		Error: ErrorInfo{"AbortError", CodeAborted}, Meta: `{"original":[]}`,
	}, Surface: ReplaceOp(8, 8), Sources: ListOf[int64](8, 7), HasSources: true},
		`{"type":"tool/result","seq":8,"time":12,"data":{"turn":1,"step":1,"callId":"c1","content":[{"type":"text","text":"Error: tool call aborted"}],"isError":true,"error":{"name":"AbortError","code":"ABORTED"},"meta":{"original":[]}},"surfaceOp":{"op":"replace","start":8,"end":8},"sourceEventSeqs":[8,7]}`},
	{"approval/asked", Event{Seq: 1, Time: 13, Data: ApprovalAsked{"a1", "Bash", "c1", "why"}},
		`{"type":"approval/asked","seq":1,"time":13,"data":{"id":"a1","toolName":"Bash","callId":"c1","reason":"why"}}`},
	{"approval/asked, the least", Event{Seq: 1, Time: 13, Data: ApprovalAsked{ID: "a1", ToolName: "Bash"}},
		`{"type":"approval/asked","seq":1,"time":13,"data":{"id":"a1","toolName":"Bash"}}`},
	{"approval/decided", Event{Seq: 1, Time: 14, Data: ApprovalDecided{"a1", "allowed-once"}},
		`{"type":"approval/decided","seq":1,"time":14,"data":{"id":"a1","outcome":"allowed-once"}}`},
	{"approval/policy", Event{Seq: 1, Time: 15, Data: ApprovalPolicy{"never"}},
		`{"type":"approval/policy","seq":1,"time":15,"data":{"policy":"never"}}`},
}

func TestEventGolden(t *testing.T) {
	seen := map[string]bool{}
	for _, c := range goldenEvents {
		t.Run(c.name, func(t *testing.T) {
			seen[c.event.Type()] = true
			text, err := MarshalJSON(c.event)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.text, string(text)); diff != "" {
				t.Errorf("encoding (-want +got):\n%s", diff)
			}
			decoded, err := registry.DecodeEvent(JSON(c.text))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.event, decoded, exact); diff != "" {
				t.Errorf("decoding (-want +got):\n%s", diff)
			}
			// The order of members does not matter, nor white space.
			decoded, err = registry.DecodeEvent(reversed(t, JSON(c.text)))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.event, decoded, exact, sameJSON); diff != "" {
				t.Errorf("decoding the reversed text (-want +got):\n%s", diff)
			}
		})
	}
	for _, typ := range registry.Types() {
		if !seen[typ.Name] {
			t.Errorf("no golden event of type %s", typ.Name)
		}
	}
}

// E-4: exactly four types are surface types.
func TestSurfaceTypes(t *testing.T) {
	var got []string
	for _, typ := range registry.Types() {
		if IsSurfaceType(typ.Name) {
			got = append(got, typ.Name)
		}
	}
	want := []string{"assistant/message", "steering/message", "tool/result", "user/message"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("surface types (-want +got):\n%s", diff)
	}
	if IsSurfaceType("turn/start") || IsSurfaceType("") {
		t.Error("another type is called a surface type")
	}
}

// E-8: where each type may stand.
func TestEnclosures(t *testing.T) {
	want := map[string]Enclosure{
		"turn/start": boundary, "turn/end": boundary, "step/start": boundary, "step/end": boundary,
		"user/message": InTurn, "steering/message": InTurn, "prompt/blocked": InTurn,
		"request/header": InStep, "assistant/chunk": InStep, "assistant/message": InStep,
		"tool/call": InStep, "tool/result": InStep,
		"approval/asked": InTurn, "approval/decided": InTurn, "approval/policy": InTurn,
	}
	got := map[string]Enclosure{}
	for _, typ := range registry.Types() {
		got[typ.Name] = typ.Enclosure
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("enclosures (-want +got):\n%s", diff)
	}
}

// Unknown event types are written back byte for byte: escapes, digits and the
// order of keys included. (White space between tokens is not kept: an event is
// one line.)
func TestUnknownEventIsKept(t *testing.T) {
	for _, data := range []string{
		`{"b":1,"a":[1e400,-0,1.50,"\u00e9\/\ud83d\ude00"],"z":{"t":true}}`,
		`null`, `"\u0041"`, `[]`, `12345678901234567890123456789`, `{"":" sp "}`,
	} {
		text := JSON(`{"type":"x/y","seq":3,"time":4,"data":` + data + `}`)
		e, err := registry.DecodeEvent(text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		want := Event{Seq: 3, Time: 4, Data: OtherEvent{"x/y", JSON(data)}}
		if diff := cmp.Diff(want, e, exact); diff != "" {
			t.Errorf("%s decodes (-want +got):\n%s", text, diff)
		}
		back, err := MarshalJSON(e)
		if err != nil || back != text {
			t.Errorf("%s comes back as %s, %v", text, back, err)
		}
	}
	// A type that this build does not know may use the surface, like any other
	// part of the envelope; the session refuses it (E-4).
	text := JSON(`{"type":"x/y","seq":3,"time":4,"data":{},"surfaceOp":"append","sourceEventSeqs":[1]}`)
	e, err := registry.DecodeEvent(text)
	if err != nil {
		t.Fatal(err)
	}
	if back, err := MarshalJSON(e); err != nil || back != text {
		t.Errorf("%s comes back as %s, %v", text, back, err)
	}
}

// E-14: the envelope is read strictly.
func TestDecodeEventRefuses(t *testing.T) {
	const data = `"data":{"turn":1,"step":1}`
	for _, c := range []struct{ text, why string }{
		{`{"type":"step/start","seq":1,"time":1,` + data + `,"extra":1}`, `"extra": unknown member`},
		{`{"type":"step/start","seq":1,"time":1,` + data + `,"Seq":1}`, `"Seq": unknown member`},
		{`{"seq":1,"time":1,` + data + `}`, "required"},
		{`{"type":"step/start","time":1,` + data + `}`, "required"},
		{`{"type":"step/start","seq":1,` + data + `}`, "required"},
		{`{"type":"step/start","seq":1,"time":1}`, "required"},
		{`{"type":null,"seq":1,"time":1,` + data + `}`, `"type"`},
		{`{"type":"step/start","seq":1.5,"time":1,` + data + `}`, "seq"},
		{`{"type":"step/start","seq":"1","time":1,` + data + `}`, "seq"},
		{`{"type":"step/start","seq":1,"time":1e3,` + data + `}`, "time"},
		{`{"type":"step/start","seq":1,"time":99999999999999999999,` + data + `}`, "time"},
		{`{"type":"step/start","seq":1,"time":1,"data":null}`, "step/start"},
		{`{"type":"step/start","seq":1,"time":1,"data":[]}`, "step/start"},
		{`{"type":"step/start","seq":1,"time":1,"data":{"turn":1}}`, `"step"`},
		{`{"type":"step/start","seq":1,"time":1,"data":{"turn":1,"step":null}}`, `"step"`},
		{`{"type":"step/start","seq":1,"time":1,"data":{"turn":1,"step":1,"more":1}}`, `more`},
		{`{"type":"step/start","seq":1,"time":1,"data":{"turn":1,"step":1,"step":2}}`, "duplicate"},
		{`{"type":"step/start","seq":1,"time":1,"seq":2,` + data + `}`, "duplicate"},
		{`{"type":"x/y","seq":1,"time":1,"data":{"a":1,"a":2}}`, "duplicate"},
		{`{"type":"x/y","seq":1,"time":1,"data":` + strings.Repeat("[", 513) + strings.Repeat("]", 513) + `}`, "nested deeper"},
		{"{\"type\":\"x/y\",\"seq\":1,\"time\":1,\"data\":\"\xff\"}", "UTF-8"},
		// surfaceOp (E-5): "append", or exactly three keys.
		{`{"type":"step/start","seq":1,"time":1,` + data + `,"surfaceOp":"replace"}`, "surfaceOp"},
		{`{"type":"step/start","seq":1,"time":1,` + data + `,"surfaceOp":null}`, "surfaceOp"},
		{`{"type":"step/start","seq":1,"time":1,` + data + `,"surfaceOp":{"op":"append"}}`, "surfaceOp"},
		{`{"type":"step/start","seq":1,"time":1,` + data + `,"surfaceOp":{"op":"replace","start":1}}`, "surfaceOp"},
		{`{"type":"step/start","seq":1,"time":1,` + data + `,"surfaceOp":{"op":"replace","end":1}}`, "surfaceOp"},
		{`{"type":"step/start","seq":1,"time":1,` + data + `,"surfaceOp":{"start":1,"end":1}}`, "surfaceOp"},
		{`{"type":"step/start","seq":1,"time":1,` + data + `,"surfaceOp":{"op":"replace","start":1,"end":1,"x":1}}`, "surfaceOp"},
		{`{"type":"step/start","seq":1,"time":1,` + data + `,"surfaceOp":{"op":"replace","start":1.5,"end":2}}`, "surfaceOp"},
		{`{"type":"step/start","seq":1,"time":1,` + data + `,"sourceEventSeqs":null}`, "sourceEventSeqs"},
		{`{"type":"step/start","seq":1,"time":1,` + data + `,"sourceEventSeqs":[1.5]}`, "sourceEventSeqs"},
		{`{"type":"step/start","seq":1,"time":1,` + data + `,"sourceEventSeqs":{}}`, "sourceEventSeqs"},
		// payloads
		{`{"type":"user/message","seq":1,"time":1,"data":{"source":{"kind":"user"}}}`, `"content"`},
		{`{"type":"user/message","seq":1,"time":1,"data":{"content":[]}}`, `"source"`},
		{`{"type":"user/message","seq":1,"time":1,"data":{"content":null,"source":{"kind":"user"}}}`, `content`},
		{`{"type":"user/message","seq":1,"time":1,"data":{"content":[],"source":{"kind":"user"},"envelope":null}}`, `"envelope"`},
		{`{"type":"assistant/chunk","seq":1,"time":1,"data":{"turn":1,"step":1}}`, `"chunk"`},
		{`{"type":"assistant/chunk","seq":1,"time":1,"data":{"turn":1,"step":1,"chunk":{"type":"text-delta","index":0,"text":"a"},"x":1}}`, `x`},
		{`{"type":"tool/result","seq":1,"time":1,"data":{"turn":1,"step":1,"callId":"c","content":[]}}`, `"isError"`},
		{`{"type":"request/header","seq":1,"time":1,"data":{"header":{"config":{"provider":"p","model":"m","seed":1}},"reason":"initial"}}`, `seed`},
		{`{"type":"request/header","seq":1,"time":1,"data":{"header":{},"reason":"initial"}}`, `missing member "config"`},
		{`{"type":"request/header","seq":1,"time":1,"data":{"header":{"config":{"provider":"p"}},"reason":"initial"}}`, `missing member "model"`},
		{`{"type":"request/header","seq":1,"time":1,"data":{"header":{"config":{"provider":"p","model":"m","stop":[1]}},"reason":"initial"}}`, `item 0`},
		{`{"type":"request/header","seq":1,"time":1,"data":{"header":{"config":{"provider":"p","model":"m"},"tools":null},"reason":"initial"}}`, `"tools"`},
		{`{"type":"request/header","seq":1,"time":1,"data":{"header":{"config":{"provider":"p","model":"m"},"tools":[{"name":"t"}]},"reason":"initial"}}`, `missing member "description"`},
		{`{"type":"user/message","seq":1,"time":1,"data":{"content":[],"source":{"kind":"user"},"envelope":{"displayContent":[]}}}`, `missing member "prefixContexts"`},
		{`{"type":"user/message","seq":1,"time":1,"data":{"content":[],"source":{"kind":"user"},"envelope":{"displayContent":[],"prefixContexts":[{"source":{"kind":"user"},"x":1}]}}}`, `unknown member "x"`},
		{`{"type":"user/message","seq":1,"time":1,"data":{"content":[],"source":{"kind":"user"},"envelope":{"displayContent":[],"prefixContexts":[{}]}}}`, `missing member "source"`},
		{`{"type":"user/message","seq":1,"time":1,"data":{"content":[],"source":{"kind":"user"},"meta":` + string(nested(513)) + `}}`, "nested deeper"},
		{`{"type":"approval/policy","seq":1,"time":1,"data":{"policy":"a` + "\xff" + `"}}`, "UTF-8"},
		{`{} `, "required"},
		{`[]`, "session event"},
		{`null`, "must be an object"},
		{``, "session event"},
	} {
		e, err := registry.DecodeEvent(JSON(c.text))
		if err == nil {
			t.Errorf("%.200s: accepted as %+v", c.text, e)
		} else if !strings.Contains(err.Error(), c.why) {
			t.Errorf("%.200s: error %q does not say %q", c.text, err, c.why)
		}
	}
}

// What is not lossless JSON cannot be written (Z-11), and leaves no trace in the
// buffer.
func TestEncodeRefuses(t *testing.T) {
	for _, bad := range []JSON{`{`, `{"a":1,"a":2}`, "\"\xff\"", `"\ud83d"`, `1 2`} {
		broken := OtherBlock{"x", `{"type":"x","v":` + bad + `}`}
		for _, data := range []EventData{
			OtherEvent{"x/y", bad},
			UserMessage{Content: Text("x"), Source: UserSource(), Meta: bad},
			UserMessage{Content: NewContent(broken), Source: UserSource()},
			UserMessage{Content: Text("x"), Source: Source{Kind: "x", raw: bad}},
			UserMessage{Content: Text("x"), Source: UserSource(), Envelope: PromptEnvelope{DisplayContent: NewContent(broken)}},
			UserMessage{Content: Text("x"), Source: UserSource(), Envelope: PromptEnvelope{PrefixContexts: ListOf(PrefixContext{Meta: bad})}},
			UserMessage{Content: Text("x"), Source: UserSource(), Envelope: PromptEnvelope{PrefixContexts: ListOf(PrefixContext{Source: Source{Kind: "x", raw: bad}})}},
			SteeringMessage{Content: Text("x"), Source: UserSource(), Meta: bad},
			PromptBlocked{Content: NewContent(broken)},
			RequestHeaderEvent{Header: RequestHeader{Config: RequestConfig{Temperature: bad}}},
			AssistantChunk{Chunk: BlockEnd{0, broken}},
			AssistantChunk{Chunk: FinishChunk{ReplayState: bad}},
			AssistantChunk{Chunk: FinishChunk{Reason: FinishReason{Kind: "x", raw: bad}}},
			AssistantMessage{Content: NewContent(broken)},
			AssistantMessage{Provenance: Provenance{ReplayState: bad}},
			ToolResult{Content: NewContent(ToolResultBlock{Content: NewContent(broken)})},
			ToolResult{Meta: bad},
			TurnStart{Trigger: TurnTrigger{Kind: "x", raw: bad}},
			TurnStart{Trigger: TurnTrigger{Source: Source{Kind: "x", raw: bad}}},
			TurnEnd{Reason: EndReason{Kind: "x", raw: bad}},
		} {
			e := Event{Data: data}
			got, err := e.AppendJSON([]byte("before"))
			if err == nil || string(got) != "before" {
				t.Errorf("%#v: appended %q, %v", data, got, err)
			} else if !strings.Contains(err.Error(), data.EventType()) {
				t.Errorf("%#v: the error does not name the type: %v", data, err)
			}
			if text, err := MarshalJSON(e); err == nil || text != "" {
				t.Errorf("%#v encodes as %s, %v", data, text, err)
			}
			if text, err := json.Marshal(e); err == nil {
				t.Errorf("%#v encodes as %s", data, text)
			}
		}
	}
}

func TestEventWithoutPayload(t *testing.T) {
	if text, err := MarshalJSON(Event{Seq: 1}); err == nil {
		t.Errorf("an event without a payload encodes as %s", text)
	}
}

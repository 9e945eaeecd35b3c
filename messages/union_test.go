package messages

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// golden is a value with its exact text, both ways.
type golden[T any] struct {
	value T
	text  string
}

func checkGolden[T any](t *testing.T, cases []golden[T]) {
	t.Helper()
	for _, c := range cases {
		got, err := MarshalJSON(c.value)
		if err != nil || string(got) != c.text {
			t.Errorf("%+v encodes as\n%s, %v; want\n%s", c.value, got, err, c.text)
		}
		for _, text := range []JSON{JSON(c.text), reversed(t, JSON(c.text))} {
			var back T
			if err := text.Unmarshal(&back); err != nil {
				t.Errorf("%s: %v", text, err)
			} else if diff := cmp.Diff(c.value, back, exact, sameJSON); diff != "" {
				t.Errorf("%s decodes (-want +got):\n%s", text, diff)
			}
		}
	}
}

// checkKept checks texts that no value of this build stands for: they come back
// byte for byte.
func checkKept[T any](t *testing.T, texts ...JSON) {
	t.Helper()
	for _, text := range texts {
		var v T
		if err := text.Unmarshal(&v); err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if back, err := MarshalJSON(v); err != nil || back != text {
			t.Errorf("%s comes back as %s, %v", text, back, err)
		}
	}
}

func checkRefused[T any](t *testing.T, texts ...JSON) {
	t.Helper()
	for _, text := range texts {
		var v T
		if err := text.Unmarshal(&v); err == nil {
			t.Errorf("%s: accepted as %+v", text, v)
		}
	}
}

// V-3: the blocks and their keys.
func TestBlockGolden(t *testing.T) {
	checkGolden(t, []golden[Content]{
		{EmptyContent(), `[]`},
		{NewContent(TextBlock{"a\"\\\n\u0001<é\U0001F600"}), `[{"type":"text","text":"a\"\\\n\u0001<é` + "\U0001F600" + `"}]`},
		{NewContent(ReasoningBlock{""}), `[{"type":"reasoning","text":""}]`},
		{NewContent(ToolCallBlock{"c", "n", "{\"a\":1}"}), `[{"type":"tool-call","id":"c","name":"n","arguments":"{\"a\":1}"}]`},
		{NewContent(ToolResultBlock{"c", Text("r"), false}), `[{"type":"tool-result","toolCallId":"c","content":[{"type":"text","text":"r"}]}]`},
		{
			NewContent(ToolResultBlock{"c", NewContent(ToolResultBlock{"d", EmptyContent(), false}), true}),
			`[{"type":"tool-result","toolCallId":"c","content":[{"type":"tool-result","toolCallId":"d","content":[]}],"isError":true}]`,
		},
		{NewContent(ImageBlock{"image/png", "AA=="}), `[{"type":"image","mediaType":"image/png","data":"AA=="}]`},
		{NewContent(TextBlock{"a"}, OtherBlock{"audio", `{"type":"audio","x":[1.50,-0]}`}, TextBlock{"b"}), `[{"type":"text","text":"a"},{"type":"audio","x":[1.50,-0]},{"type":"text","text":"b"}]`},
	})
	checkKept[Content](t, `[{"type":"x"}]`, `[{"a":{"type":"text"},"type":"\u0078","b":1e400}]`, `[{"type":""}]`)
	for _, b := range []Block{TextBlock{}, ReasoningBlock{}, ToolCallBlock{}, ToolResultBlock{}, ImageBlock{}, OtherBlock{Type: "x", Raw: `{"type":"x"}`}} {
		text, err := MarshalJSON(Content{[]Block{b}})
		if want := fmt.Sprintf(`[{"type":"%s"`, b.BlockType()); err != nil || !strings.HasPrefix(string(text), want) {
			t.Errorf("%T encodes as %s, %v", b, text, err)
		}
	}
}

func TestBlockRefused(t *testing.T) {
	checkRefused[Content](t,
		`null`, `{}`, `"text"`, `[null]`, `["text"]`, `[[]]`, `[{}]`, `[{"type":1}]`, `[{"type":null}]`,
		`[{"type":"text"}]`, `[{"type":"text","text":null}]`, `[{"type":"text","text":1}]`, `[{"type":"text","text":"a","x":1}]`,
		`[{"type":"reasoning","text":"a","signature":"s"}]`,
		`[{"type":"tool-call","id":"a","name":"b"}]`, `[{"type":"tool-call","id":"a","name":"b","arguments":{}}]`,
		`[{"type":"tool-result","toolCallId":"a"}]`, `[{"type":"tool-result","toolCallId":"a","content":"x"}]`,
		`[{"type":"tool-result","toolCallId":"a","content":[],"isError":"true"}]`,
		`[{"type":"image","mediaType":"a"}]`,
		`[{"type":"text","text":"a","text":"b"}]`,
	)
	for _, b := range []Block{nil, OtherBlock{Type: "x"}, OtherBlock{"x", `1`}, OtherBlock{"x", `{"type":}`}, OtherBlock{"x", `{"a":1,"a":1}`}} {
		if text, err := MarshalJSON(NewContent(b)); err == nil {
			t.Errorf("%#v encodes as %s", b, text)
		}
	}
	if _, err := DecodeContent(`[{"type":"text","text":"a"},{"type":"text"}]`); err == nil || err.Error() != `content: content block 1: type "text": missing member "text"` {
		t.Errorf("the error does not say where: %v", err)
	}
	if _, err := DecodeContent(`[] []`); err == nil {
		t.Error("two values are content")
	}
}

// V-4.
func TestMessageGolden(t *testing.T) {
	checkGolden(t, []golden[Message]{
		{Message{Role: RoleSystem, Content: Text("s")}, `{"role":"system","content":[{"type":"text","text":"s"}]}`},
		{Message{Role: RoleUser, Content: EmptyContent()}, `{"role":"user","content":[]}`},
		{Message{RoleAssistant, Text("a"), Provenance{"p", "m", `[0.10]`}}, `{"role":"assistant","content":[{"type":"text","text":"a"}],"provenance":{"provider":"p","model":"m","replayState":[0.10]}}`},
	})
}

// V-5.
func TestSourceGolden(t *testing.T) {
	checkGolden(t, []golden[Source]{
		{UserSource(), `{"kind":"user"}`},
		{PluginSource("p"), `{"kind":"plugin","plugin":"p"}`},
		{PluginSource(""), `{"kind":"plugin","plugin":""}`},
		{Source{Kind: "cron"}, `{"kind":"cron"}`},
		{Source{}, `{"kind":""}`},
	})
	checkKept[Source](t, `{"kind":"cron","at":"\u0031","n":1.0}`, `{"at":1,"kind":"cron"}`)
	checkRefused[Source](t, `null`, `"user"`, `{}`, `{"kind":1}`, `{"kind":"user","x":1}`, `{"kind":"plugin"}`, `{"kind":"plugin","plugin":null}`, `{"kind":"plugin","plugin":"a","x":1}`)

	s, err := OtherSource(`{"kind":"cron","at":1}`)
	if err != nil || s.Kind != "cron" || s.IsUser() || s.IsZero() {
		t.Errorf("OtherSource: %+v, %v", s, err)
	}
	for _, bad := range []JSON{``, `1`, `{"at":1}`, `{"kind":"a","kind":"b"}`} {
		if s, err := OtherSource(bad); err == nil {
			t.Errorf("OtherSource(%s) = %+v", bad, s)
		}
	}
	if !UserSource().IsUser() || PluginSource("").IsUser() || (Source{}).IsUser() || !(Source{}).IsZero() || PluginSource("").IsZero() {
		t.Error("IsUser or IsZero is wrong")
	}
}

// V-6.
func TestChunkGolden(t *testing.T) {
	wrap := func(c Chunk, text string) golden[AssistantChunk] {
		return golden[AssistantChunk]{AssistantChunk{1, 2, c}, `{"turn":1,"step":2,"chunk":` + text + `}`}
	}
	checkGolden(t, []golden[AssistantChunk]{
		wrap(BlockStart{0, TypeText}, `{"type":"block-start","index":0,"blockType":"text"}`),
		wrap(TextDelta{-1, "a"}, `{"type":"text-delta","index":-1,"text":"a"}`),
		wrap(ReasoningDelta{2, "\n"}, `{"type":"reasoning-delta","index":2,"text":"\n"}`),
		wrap(ToolCallDelta{3, "c", "n", "{"}, `{"type":"tool-call-delta","index":3,"id":"c","name":"n","argumentsDelta":"{"}`),
		wrap(ToolCallDelta{Index: 3}, `{"type":"tool-call-delta","index":3,"id":"","argumentsDelta":""}`),
		wrap(BlockEnd{4, ToolCallBlock{"c", "n", "{}"}}, `{"type":"block-end","index":4,"block":{"type":"tool-call","id":"c","name":"n","arguments":"{}"}}`),
		wrap(BlockEnd{4, OtherBlock{"x", `{"type":"x","a":1}`}}, `{"type":"block-end","index":4,"block":{"type":"x","a":1}}`),
		wrap(UsageChunk{Usage{1, 2, 3, 4, 5}}, `{"type":"usage","usage":{"inputTokens":1,"outputTokens":2,"cacheReadTokens":3,"cacheWriteTokens":4,"reasoningTokens":5}}`),
		wrap(UsageChunk{}, `{"type":"usage","usage":{"inputTokens":0,"outputTokens":0}}`),
		wrap(FinishChunk{Reason: FinishReason{Kind: FinishStop}}, `{"type":"finish","reason":{"kind":"stop"}}`),
		wrap(FinishChunk{FinishReason{Kind: FinishToolCalls}, `{"id":"r1"}`}, `{"type":"finish","reason":{"kind":"tool-calls"},"replayState":{"id":"r1"}}`),
		wrap(FinishChunk{FinishReason{Kind: FinishMaxTokens}, `null`}, `{"type":"finish","reason":{"kind":"max-tokens"},"replayState":null}`),
	})
	for _, c := range []JSON{
		`null`, `{}`, `{"type":"new"}`, `{"type":"text-delta","index":0}`, `{"type":"text-delta","index":"0","text":""}`,
		`{"type":"text-delta","index":0.5,"text":""}`, `{"type":"text-delta","index":0,"text":"","x":1}`, `{"type":"block-start","index":0}`,
		`{"type":"block-end","index":0}`, `{"type":"block-end","index":0,"block":{}}`, `{"type":"usage"}`, `{"type":"usage","usage":{"inputTokens":1}}`,
		`{"type":"usage","usage":{"inputTokens":1,"outputTokens":1,"total":2}}`, `{"type":"finish"}`, `{"type":"finish","reason":{"kind":"error","failure":{}}}`,
		`{"type":"finish","reason":{"kind":"stop","x":1}}`,
	} {
		checkRefused[AssistantChunk](t, `{"turn":1,"step":2,"chunk":`+c+`}`)
	}
	checkRefused[AssistantChunk](t, `null`, `[]`, `{"turn":1,"step":2}`, `{"step":2,"chunk":{"type":"text-delta","index":0,"text":""}}`)
	if text, err := MarshalJSON(AssistantChunk{}); err == nil {
		t.Errorf("a missing chunk encodes as %s", text)
	}
}

// V-8, V-9. The union is open: an unknown kind is kept and is no failure.
func TestFinishReasonGolden(t *testing.T) {
	failure := Failure{"overloaded", "HTTP_529", 529, 1500, "req_1"}
	checkGolden(t, []golden[FinishReason]{
		{FinishReason{Kind: FinishStop}, `{"kind":"stop"}`},
		{FinishReason{Kind: FinishToolCalls}, `{"kind":"tool-calls"}`},
		{FinishReason{Kind: FinishMaxTokens}, `{"kind":"max-tokens"}`},
		{FinishReason{Kind: FinishAborted, Failure: Failure{Message: "m", Code: CodeAborted}}, `{"kind":"aborted","failure":{"message":"m","code":"ABORTED"}}`},
		{FinishReason{Kind: FinishError, Failure: failure}, `{"kind":"error","failure":{"message":"overloaded","code":"HTTP_529","status":529,"providerRetryAfterMs":1500,"requestId":"req_1"}}`},
		{FinishReason{Kind: "refusal"}, `{"kind":"refusal"}`},
	})
	checkKept[FinishReason](t, `{"kind":"refusal","why":"\u0061"}`, `{"kind":"pause","failure":7}`)
	checkRefused[FinishReason](t, `null`, `"stop"`, `{}`, `{"kind":"stop","x":1}`, `{"kind":"error","failure":null}`, `{"kind":"error","failure":{"message":"m"}}`, `{"kind":"error","failure":{"message":"m","code":"c","x":1}}`)
	for kind, failed := range map[string]bool{
		FinishStop: false, FinishToolCalls: false, FinishMaxTokens: false, FinishAborted: true, FinishError: true, "refusal": false, "": false,
	} {
		if got := (FinishReason{Kind: kind}).Failed(); got != failed {
			t.Errorf("kind %q: Failed() = %v", kind, got)
		}
	}
	if failure.Error() != "overloaded" {
		t.Errorf("Failure.Error() = %q", failure.Error())
	}
}

// V-10. The union is open.
func TestTurnTriggerGolden(t *testing.T) {
	checkGolden(t, []golden[TurnTrigger]{
		{TurnTrigger{Kind: TriggerMessage, Source: UserSource()}, `{"kind":"message","source":{"kind":"user"}}`},
		{TurnTrigger{Kind: TriggerInjection, Source: PluginSource("")}, `{"kind":"injection","source":{"kind":"plugin","plugin":""}}`},
		{TurnTrigger{Kind: "resume", Source: UserSource()}, `{"kind":"resume","source":{"kind":"user"}}`},
		{TurnTrigger{Kind: "timer"}, `{"kind":"timer"}`},
		{TurnTrigger{}, `{"kind":""}`},
	})
	checkKept[TurnTrigger](t, `{"kind":"timer","at":1.50}`, `{"source":7,"kind":"timer"}`)
	checkRefused[TurnTrigger](t, `null`, `"message"`, `{}`, `{"kind":"message","source":null}`, `{"kind":"message","source":{"kind":"user"},"x":1}`, `{"kind":"injection","source":{}}`)
}

// V-11, Z-17, Z-21: exact shapes. The union is open for other kinds only.
func TestEndReasonGolden(t *testing.T) {
	checkGolden(t, []golden[EndReason]{
		{EndReason{Kind: EndCompleted}, `{"kind":"completed"}`},
		{EndReason{Kind: EndAborted}, `{"kind":"aborted"}`},
		{EndReason{Kind: EndDisposed}, `{"kind":"disposed"}`},
		{EndReason{Kind: EndMaxTokens}, `{"kind":"max-tokens"}`},
		{EndReason{Kind: EndInterrupted}, `{"kind":"interrupted"}`},
		{EndReason{Kind: EndRejected, Reason: "no"}, `{"kind":"rejected","reason":"no"}`},
		{EndReason{Kind: EndRejected}, `{"kind":"rejected","reason":""}`},
		{EndReason{Kind: EndHalted, Reason: "stop", At: HaltAtPrompt}, `{"kind":"halted","reason":"stop","at":"prompt"}`},
		{EndReason{Kind: EndHalted, At: HaltAtTool}, `{"kind":"halted","reason":"","at":"tool"}`},
		{EndReason{Kind: EndHalted, At: HaltAtStop}, `{"kind":"halted","reason":"","at":"stop"}`},
		{EndReason{Kind: EndMaxSteps, Limit: 8}, `{"kind":"max-steps","limit":8}`},
		{EndReason{Kind: EndError, Step: 2, Failure: Failure{Message: "m", Code: "C"}}, `{"kind":"error","step":2,"failure":{"message":"m","code":"C"}}`},
		{EndReason{Kind: EndError, Step: 0, Message: "m", Code: CodeUnknown}, `{"kind":"error","step":0,"message":"m","code":"UNKNOWN"}`},
		{EndReason{Kind: EndError, Step: 1, Message: "m"}, `{"kind":"error","step":1,"message":"m"}`},
		{EndReason{Kind: "parked"}, `{"kind":"parked"}`},
	})
	checkKept[EndReason](t, `{"kind":"parked","until":1.50,"s":"\u0041"}`)
	checkRefused[EndReason](t,
		`null`, `"completed"`, `{}`, `{"kind":null}`,
		`{"kind":"completed","x":1}`, `{"kind":"aborted","reason":"user"}`, `{"kind":"aborted","failure":{"message":"m","code":"c"}}`,
		`{"kind":"disposed","x":null}`, `{"kind":"max-tokens","limit":1}`, `{"kind":"interrupted","at":"tool"}`,
		`{"kind":"rejected"}`, `{"kind":"rejected","reason":null}`, `{"kind":"rejected","reason":"a","x":1}`,
		`{"kind":"halted","reason":"a"}`, `{"kind":"halted","at":"tool"}`, `{"kind":"max-steps"}`, `{"kind":"max-steps","limit":"8"}`, `{"kind":"max-steps","limit":1.5}`,
		`{"kind":"error"}`, `{"kind":"error","step":1}`, `{"kind":"error","message":"m"}`,
		`{"kind":"error","step":1,"failure":{"message":"m","code":"c"},"message":"m"}`,
		`{"kind":"error","step":1,"failure":{"message":"m","code":"c"},"code":"c"}`,
		`{"kind":"error","step":1,"message":"m","x":1}`,
		`{"kind":"error","step":1,"failure":{"message":"m","code":"c","x":1}}`,
	)
	// Fields of other kinds are not written.
	noisy := EndReason{Kind: EndAborted, Reason: "r", At: HaltAtTool, Limit: 1, Step: 1, Message: "m", Code: "C", Failure: Failure{Message: "f"}}
	if text, err := MarshalJSON(noisy); err != nil || text != `{"kind":"aborted"}` {
		t.Errorf("%+v encodes as %s, %v", noisy, text, err)
	}
}

// E-9, E-10, P-2 and the values that verbs carry.
func TestOtherGolden(t *testing.T) {
	checkGolden(t, []golden[Context]{
		{NewContext("p", "t"), `{"content":[{"type":"text","text":"t"}],"source":{"kind":"plugin","plugin":"p"}}`},
		{Context{Text("t"), UserSource(), PlacementPromptPrefix, `{}`}, `{"content":[{"type":"text","text":"t"}],"source":{"kind":"user"},"placement":"prompt-prefix","meta":{}}`},
	})
	checkGolden(t, []golden[ToolSpec]{
		{ToolSpec{"n", "d", `{"type":"object"}`}, `{"name":"n","description":"d","parameters":{"type":"object"}}`},
	})
	checkGolden(t, []golden[Prompt]{
		{Prompt{VerbHeader: VerbHeader{Session: "s"}, Delivery: Followup, Content: Text("x")}, `{"session":"s","delivery":"followup","content":[{"type":"text","text":"x"}]}`},
		{
			Prompt{VerbHeader: VerbHeader{Session: "s", IdempotencyKey: "k", TraceParent: "00-1"}, Delivery: Steer, Content: EmptyContent(), Source: PluginSource("p"), Contexts: ListOf(NewContext("q", "c")), Meta: `1`},
			`{"session":"s","idempotencyKey":"k","traceParent":"00-1","delivery":"steer","content":[],"source":{"kind":"plugin","plugin":"p"},"contexts":[{"content":[{"type":"text","text":"c"}],"source":{"kind":"plugin","plugin":"q"}}],"meta":1}`,
		},
	})
	checkGolden(t, []golden[Accepted]{
		{Accepted{Seq: -1, Message: "m"}, `{"message":"m","seq":-1}`},
		{Accepted{Seq: 7, Duplicate: true}, `{"seq":7,"duplicate":true}`},
	})
	checkGolden(t, []golden[InboxItem]{
		{InboxItem{ID: "m", Content: Text("x"), Source: UserSource(), Wake: true, Enqueued: 5}, `{"id":"m","content":[{"type":"text","text":"x"}],"source":{"kind":"user"},"wakeup":true,"enqueued":5}`},
	})
	checkGolden(t, []golden[SurfaceOp]{
		{AppendOp(), `"append"`},
		{ReplaceOp(3, 9), `{"op":"replace","start":3,"end":9}`},
	})
}

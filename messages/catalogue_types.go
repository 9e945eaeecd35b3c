package messages

import "fmt"

// TypeCatalogue describes the types that payloads are made of: unions first,
// then records.
func TypeCatalogue() []TypeDoc {
	return []TypeDoc{
		blockDoc(), sourceDoc(), triggerDoc(), endReasonDoc(), chunkDoc(), finishDoc(),
		recordDoc("RequestHeader", "Everything of a model request that is not history.", sampleHeader(), []FieldDoc{
			{Name: "config", Type: "RequestConfig", Doc: "the model and its parameters"},
			{Name: "system", Type: "string", Optional: true, Doc: "the system prompt"},
			{Name: "tools", Type: "ToolSpec[]", Optional: true, Doc: "the tools that the model may call"},
			{Name: "messagePrefix", Type: "Message[]", Optional: true, Doc: "messages sent before the history"},
		}),
		recordDoc("RequestConfig", "The model configuration of a request.", sampleHeader().Config, []FieldDoc{
			{Name: "provider", Type: "string", Doc: "the provider's name"},
			{Name: "model", Type: "string", Doc: "the model's name at the provider"},
			{Name: "temperature", Type: "JSON", Optional: true, Doc: "a number, with every digit that was configured"},
			{Name: "maxTokens", Type: "integer", Optional: true, Doc: "the most tokens that the answer may have"},
			{Name: "stop", Type: "string[]", Optional: true, Doc: "texts that end the answer"},
		}),
		recordDoc("ToolSpec", "A tool as the model sees it.", sampleHeader().Tools.At(0), []FieldDoc{
			{Name: "name", Type: "string", Doc: "the tool's name"},
			{Name: "description", Type: "string", Doc: "what the tool does, for the model"},
			{Name: "parameters", Type: "JSON", Doc: "the JSON Schema of the arguments"},
		}),
		recordDoc("Message", "One entry of the model's history.", Message{RoleAssistant, Text("Done."), Provenance{Provider: "anthropic", Model: "claude-sonnet-4-5"}}, []FieldDoc{
			{Name: "role", Type: "string", Doc: "system, user or assistant"},
			{Name: "content", Type: "Block[]", Doc: "what was said"},
			{Name: "provenance", Type: "Provenance", Optional: true, Doc: "which model wrote it; assistant messages only"},
		}),
		recordDoc("Provenance", "Which model wrote an assistant message.", Provenance{"anthropic", "claude-sonnet-4-5", `{"id":"msg_1"}`}, []FieldDoc{
			{Name: "provider", Type: "string", Doc: "the provider's name"},
			{Name: "model", Type: "string", Doc: "the model's name at the provider"},
			{Name: "replayState", Type: "JSON", Optional: true, Doc: "what the adapter needs to send the message back unchanged"},
		}),
		recordDoc("Usage", "The tokens of one request; the counts are disjoint.", Usage{1200, 45, 11000, 300, 20}, []FieldDoc{
			{Name: "inputTokens", Type: "integer", Doc: "tokens read, not from a cache"},
			{Name: "outputTokens", Type: "integer", Doc: "tokens written, reasoning aside"},
			{Name: "cacheReadTokens", Type: "integer", Optional: true, Doc: "tokens read from the provider's cache"},
			{Name: "cacheWriteTokens", Type: "integer", Optional: true, Doc: "tokens written to the provider's cache"},
			{Name: "reasoningTokens", Type: "integer", Optional: true, Doc: "tokens of reasoning"},
		}),
		recordDoc("Failure", "Why a model request failed.", Failure{"overloaded", "HTTP_529", 529, 1500, "req_1"}, []FieldDoc{
			{Name: "message", Type: "string", Doc: "what happened, for a person"},
			{Name: "code", Type: "string", Doc: "a stable name of the error"},
			{Name: "status", Type: "integer", Optional: true, Doc: "the HTTP status"},
			{Name: "providerRetryAfterMs", Type: "integer", Optional: true, Doc: "how long the provider asks to wait, in milliseconds"},
			{Name: "requestId", Type: "string", Optional: true, Doc: "the provider's id of the request"},
		}),
		recordDoc("PromptEnvelope", "A prompt before contexts were put in front of it.",
			PromptEnvelope{Text("Fix the failing test."), ListOf(PrefixContext{Source: PluginSource("git")})}, []FieldDoc{
				{Name: "displayContent", Type: "Block[]", Doc: "the prompt as its author wrote it"},
				{Name: "prefixContexts", Type: "PrefixContext[]", Doc: "the contexts, in the order of their blocks"},
			}),
		recordDoc("PrefixContext", "One context that was put in front of a prompt.", PrefixContext{PluginSource("git"), `{"branch":"main"}`}, []FieldDoc{
			{Name: "source", Type: "Source", Doc: "who added it"},
			metaField("what it attached for itself"),
		}),
		recordDoc("ErrorInfo", "The identity of a tool error.", ErrorInfo{"AbortError", CodeAborted}, []FieldDoc{
			{Name: "name", Type: "string", Doc: "the class of the error"},
			{Name: "code", Type: "string", Doc: "a stable name of the error"},
		}),
	}
}

func blockDoc() TypeDoc {
	sample := func(b Block) JSON {
		dst, err := appendBlock(nil, b)
		return sampleJSON(b, bytesAsJSON(dst), err)
	}
	return TypeDoc{Name: "Block", Tag: "type", Open: true, Doc: "One piece of content.", Cases: []CaseDoc{
		{TypeText, "Text for or from the model.", []FieldDoc{
			{Name: "text", Type: "string", Doc: "the text"},
		}, sample(TextBlock{"Fix the failing test."})},
		{TypeReasoning, "The model's reasoning.", []FieldDoc{
			{Name: "text", Type: "string", Doc: "the text"},
		}, sample(ReasoningBlock{"The clock is real."})},
		{TypeToolCall, "A call that the model asks for.", []FieldDoc{
			{Name: "id", Type: "string", Doc: "the model's own id of the call"},
			{Name: "name", Type: "string", Doc: "the tool's name, as the model wrote it"},
			{Name: "arguments", Type: "string", Doc: "the model's own text, not necessarily JSON"},
		}, sample(ToolCallBlock{"call_1", "Bash", `{"command":"ls"}`})},
		{TypeToolResult, "A result, on its way back to the model.", []FieldDoc{
			{Name: "toolCallId", Type: "string", Doc: "the id of the call"},
			{Name: "content", Type: "Block[]", Doc: "what the model reads"},
			{Name: "isError", Type: "boolean", Optional: true, Doc: "true if the call failed"},
		}, sample(ToolResultBlock{"call_1", Text("Error: no such file"), true})},
		{TypeImage, "An image.", []FieldDoc{
			{Name: "mediaType", Type: "string", Doc: "such as image/png"},
			{Name: "data", Type: "string", Doc: "the image in base64"},
		}, sample(ImageBlock{"image/png", "iVBORw0KGgo="})},
	}}
}

func sourceDoc() TypeDoc {
	return TypeDoc{Name: "Source", Tag: "kind", Open: true, Doc: "Who caused a message.", Cases: []CaseDoc{
		{SourceKindUser, "A person.", nil, sampleOf(UserSource())},
		{SourceKindPlugin, "A plugin.", []FieldDoc{
			{Name: "plugin", Type: "string", Doc: "its name"},
		}, sampleOf(PluginSource("git"))},
	}}
}

func triggerDoc() TypeDoc {
	source := []FieldDoc{{Name: "source", Type: "Source", Optional: true, Doc: "who caused it"}}
	return TypeDoc{Name: "TurnTrigger", Tag: "kind", Open: true, Doc: "What opened a turn.", Cases: []CaseDoc{
		{TriggerMessage, "A prompt.", source, sampleOf(TurnTrigger{Kind: TriggerMessage, Source: UserSource()})},
		{TriggerInjection, "Context that was injected while no turn was open.", source, sampleOf(TurnTrigger{Kind: TriggerInjection, Source: PluginSource("git")})},
	}}
}

func endReasonDoc() TypeDoc {
	step := FieldDoc{Name: "step", Type: "integer", Doc: "the step in which it happened, 0 for none"}
	return TypeDoc{Name: "EndReason", Tag: "kind", Open: true, Doc: "How a turn ended. Each kind has exactly these keys.", Cases: []CaseDoc{
		{string(EndCompleted), "The model had nothing more to do.", nil, sampleOf(EndReason{Kind: EndCompleted})},
		{string(EndAborted), "A person or the parent session cancelled it.", nil, sampleOf(EndReason{Kind: EndAborted})},
		{string(EndDisposed), "The session was closed.", nil, sampleOf(EndReason{Kind: EndDisposed})},
		{string(EndMaxTokens), "The answer reached its limit of tokens.", nil, sampleOf(EndReason{Kind: EndMaxTokens})},
		{string(EndRejected), "Policy refused the prompt.", []FieldDoc{
			{Name: "reason", Type: "string", Doc: "why"},
		}, sampleOf(EndReason{Kind: EndRejected, Reason: "not in this repository"})},
		{string(EndInterrupted), "The process died; repair closed the turn.", nil, sampleOf(EndReason{Kind: EndInterrupted})},
		{string(EndHalted), "A listener ended the run without another model request.", []FieldDoc{
			{Name: "reason", Type: "string", Doc: "why"},
			{Name: "at", Type: "string", Doc: "prompt, tool or stop: where"},
		}, sampleOf(EndReason{Kind: EndHalted, Reason: "budget spent", At: HaltAtTool})},
		{string(EndMaxSteps), "The prompt used up its model requests.", []FieldDoc{
			{Name: "limit", Type: "integer", Doc: "how many it had"},
		}, sampleOf(EndReason{Kind: EndMaxSteps, Limit: 20})},
		{string(EndError), "A model request failed.", []FieldDoc{
			step, {Name: "failure", Type: "Failure", Doc: "how"},
		}, sampleOf(EndReason{Kind: EndError, Step: 2, Failure: Failure{Message: "overloaded", Code: "HTTP_529"}})},
		{string(EndError), "Anything else failed.", []FieldDoc{
			step, {Name: "message", Type: "string", Doc: "what happened, with its causes"},
			{Name: "code", Type: "string", Optional: true, Doc: "the code of the error, if it has one"},
		}, sampleOf(EndReason{Kind: EndError, Step: 2, Message: "listener failed: out of memory", Code: CodeUnknown})},
	}}
}

func chunkDoc() TypeDoc {
	sample := func(c Chunk) JSON {
		dst, err := appendChunk(nil, c)
		return sampleJSON(c, bytesAsJSON(dst), err)
	}
	index := FieldDoc{Name: "index", Type: "integer", Doc: "which block of the answer"}
	return TypeDoc{Name: "Chunk", Tag: "type", Doc: "One piece of a model's stream.", Cases: []CaseDoc{
		{BlockStart{}.ChunkType(), "Announces a block.", []FieldDoc{
			index, {Name: "blockType", Type: "string", Doc: "the block's type"},
		}, sample(BlockStart{0, TypeText})},
		{TextDelta{}.ChunkType(), "More text.", []FieldDoc{
			index, {Name: "text", Type: "string", Doc: "the text to add"},
		}, sample(TextDelta{0, "The test "})},
		{ReasoningDelta{}.ChunkType(), "More reasoning.", []FieldDoc{
			index, {Name: "text", Type: "string", Doc: "the text to add"},
		}, sample(ReasoningDelta{0, "The clock "})},
		{ToolCallDelta{}.ChunkType(), "More of a tool call.", []FieldDoc{
			index, {Name: "id", Type: "string", Doc: "the call's id, or \"\" if it is not known yet"},
			{Name: "name", Type: "string", Optional: true, Doc: "the tool's name"},
			{Name: "argumentsDelta", Type: "string", Doc: "the argument text to add"},
		}, sample(ToolCallDelta{1, "call_1", "Bash", `{"comm`})},
		{BlockEnd{}.ChunkType(), "The whole block; closes its index, whatever the deltas said.", []FieldDoc{
			index, {Name: "block", Type: "Block", Doc: "the block"},
		}, sample(BlockEnd{0, TextBlock{"The test needs a clock."}})},
		{UsageChunk{}.ChunkType(), "The tokens so far; the last one counts.", []FieldDoc{
			{Name: "usage", Type: "Usage", Doc: "the counts"},
		}, sample(UsageChunk{Usage{InputTokens: 1200, OutputTokens: 45}})},
		{FinishChunk{}.ChunkType(), "The end of the stream.", []FieldDoc{
			{Name: "reason", Type: "FinishReason", Doc: "why the stream ended"},
			{Name: "replayState", Type: "JSON", Optional: true, Doc: "goes into the message's provenance"},
		}, sample(FinishChunk{FinishReason{Kind: FinishToolCalls}, `{"id":"msg_1"}`})},
	}}
}

func finishDoc() TypeDoc {
	failure := []FieldDoc{{Name: "failure", Type: "Failure", Optional: true, Doc: "how"}}
	failed := Failure{Message: "overloaded", Code: "HTTP_529"}
	return TypeDoc{Name: "FinishReason", Tag: "kind", Open: true, Doc: "Why a stream ended. An unknown kind counts as success.", Cases: []CaseDoc{
		{FinishStop, "The model was done.", nil, sampleOf(FinishReason{Kind: FinishStop})},
		{FinishToolCalls, "The model waits for tools.", nil, sampleOf(FinishReason{Kind: FinishToolCalls})},
		{FinishMaxTokens, "The answer reached its limit of tokens.", nil, sampleOf(FinishReason{Kind: FinishMaxTokens})},
		{FinishAborted, "The request was cancelled.", failure, sampleOf(FinishReason{Kind: FinishAborted, Failure: failed})},
		{FinishError, "The request failed.", failure, sampleOf(FinishReason{Kind: FinishError, Failure: failed})},
	}}
}

// recordDoc describes a type of one form.
func recordDoc(name, doc string, sample any, fields []FieldDoc) TypeDoc {
	return TypeDoc{Name: name, Doc: doc, Cases: []CaseDoc{{Fields: fields, Sample: sampleOf(sample)}}}
}

func sampleOf(v any) JSON {
	j, err := MarshalJSON(v)
	return sampleJSON(v, j, err)
}

// sampleJSON panics if a sample cannot be encoded: the samples are constants.
func sampleJSON(v any, j JSON, err error) JSON {
	if err != nil {
		panic(fmt.Sprintf("messages: sample %T: %v", v, err))
	}
	return j
}

package otel

// Type is the type of an attribute's value.
type Type string

// Types of attribute values.
const (
	String  Type = "string"
	Strings Type = "string[]"
	Int     Type = "int"
	Double  Type = "double"
	Bool    Type = "boolean"
)

// AttributeInfo documents one attribute.
type AttributeInfo struct {
	Key  string
	Type Type
	// On lists the spans, events and metrics that carry it, by base name.
	On  []string
	Doc string
	// Volatile values differ from run to run for the same behaviour: process ids
	// and durations. Golden tests leave them out.
	Volatile bool
}

// SpanInfo documents one span.
type SpanInfo struct {
	// Name is the base name, Variable what follows it in the span name, if
	// anything.
	Name, Variable string
	Kind           string
	// Error says when the status is an error; empty is never.
	Error string
	Doc   string
}

// EventInfo documents one span event.
type EventInfo struct {
	Name string
	On   string
	Doc  string
}

// MetricInfo documents one metric.
type MetricInfo struct {
	Name       string
	Instrument string
	Unit       string
	Doc        string
}

// Spans returns the catalogue of spans, outermost first.
func Spans() []SpanInfo {
	return []SpanInfo{
		{SpanInvokeAgent, "<agent>", "internal", "the turn ended with the kind error", "One turn of a session; the root of its trace."},
		{SpanStep, "", "internal", "", "One step of a turn: a model request and its tool calls."},
		{SpanChat, "<model>", "client; internal for a model in process", "the request failed and was not cancelled", "One model request, attempts of the adapter included."},
		{SpanExecuteTool, "<tool>", "internal", "the tool failed; not when policy denied the call or it was cancelled", "One tool call with all its phases."},
		{SpanToolBody, "", "internal", "the body failed and was not cancelled", "The tool's own code."},
		{SpanSeam, "<seam>", "internal", "", "One run of a seam that has listeners."},
		{SpanListener, "<name>", "internal", "", "One listener of a seam, those inside it included."},
		{SpanHook, "<point>", "client", "the outcome is failed, timed_out, launch_failed, bad_output, signaled or interrupted", "One hook process."},
		{SpanWait, "<what>", "internal", "", "Time in which the work waited for a person or for a slot."},
		{SpanDetached, "<name>", "internal", "", "Work that outlives the span it is linked to; the root of its own trace."},
		{SpanSessionOpen, "", "internal", "", "The opening of a session: load, repair, setup."},
		{SpanDrain, "", "internal", "", "A Close, Drain or Shutdown."},
		{SpanDropped, "", "internal", "", "Not work: the exporter's marker for spans that this trace file lacks."},
	}
}

// Events returns the catalogue of span events.
func Events() []EventInfo {
	return []EventInfo{
		{EventToolDecision, SpanSeam, "What policy decided about a tool call; on the span of tools/pre-execute."},
		{EventRequestAttempt, SpanChat, "An attempt of the adapter that failed and is tried again."},
		{EventLeftover, SpanDrain, "Something that outlived its owner; the first 32."},
	}
}

// Attributes returns the catalogue of attributes.
func Attributes() []AttributeInfo {
	var (
		turn, step, chat, tool     = SpanInvokeAgent, SpanStep, SpanChat, SpanExecuteTool
		seam, listener, body, hook = SpanSeam, SpanListener, SpanToolBody, SpanHook
		wait, detached             = SpanWait, SpanDetached
		open, drain, dropped       = SpanSessionOpen, SpanDrain, SpanDropped
		chatMetrics                = []string{
			MetricInferenceDuration, MetricTimeToFirstChunk, MetricTimePerOutputChunk,
			MetricUsageInput, MetricUsageOutput, MetricUsageCacheRead, MetricUsageCacheWrite, MetricUsageReasoning,
			MetricOperationInput, MetricOperationOutput,
		}
		usageMetrics = []string{MetricUsageInput, MetricUsageOutput, MetricUsageCacheRead, MetricUsageCacheWrite, MetricUsageReasoning}
	)
	on := func(names ...string) []string { return names }
	with := func(list []string, more ...string) []string { return append(more, list...) }
	return []AttributeInfo{
		{Key: KeyOperation, Type: String, On: with(chatMetrics, turn, chat, tool), Doc: "The GenAI operation: invoke_agent, chat or execute_tool."},
		{Key: KeyProvider, Type: String, On: with(chatMetrics, chat), Doc: "The model's provider, such as anthropic or openai."},
		{Key: KeyAgent, Type: String, On: on(turn, tool, MetricTurns, MetricInvokeAgentDuration, MetricInvokeAgentInference, MetricInvokeAgentToolCalls, MetricExecuteToolDuration), Doc: "The agent's name."},
		{Key: KeyConversation, Type: String, On: on(turn, chat, tool, detached, open), Doc: "The session id, under the GenAI name."},
		{Key: KeySessionID, Type: String, On: on(turn, detached, open), Doc: "The session id, under the core name."},
		{Key: KeyRequestModel, Type: String, On: with(chatMetrics, turn, chat, MetricInvokeAgentDuration), Doc: "The model that was asked for; on a turn only if it uses one."},
		{Key: KeyRequestStream, Type: Bool, On: on(chat), Doc: "True if the answer was asked for in chunks."},
		{Key: KeyRequestMaxTokens, Type: Int, On: on(chat), Doc: "The most tokens that the answer may have."},
		{Key: KeyRequestTemp, Type: Double, On: on(chat), Doc: "The sampling temperature."},
		{Key: KeyRequestStop, Type: Strings, On: on(chat), Doc: "The stop sequences."},
		{Key: KeyResponseID, Type: String, On: on(chat), Doc: "The provider's id of the answer."},
		{Key: KeyResponseModel, Type: String, On: with(chatMetrics, chat), Doc: "The model that answered."},
		{Key: KeyFinishReasons, Type: Strings, On: on(chat), Doc: "Why the answer ended: stop, length, tool_call, error, aborted."},
		{Key: KeyTimeToFirstChunk, Type: Double, On: on(chat), Volatile: true, Doc: "Seconds from the request to the first chunk of the answer."},
		{Key: KeyInputTokens, Type: Int, On: on(turn, chat), Doc: "Input tokens, cached ones included."},
		{Key: KeyOutputTokens, Type: Int, On: on(turn, chat), Doc: "Output tokens, reasoning included."},
		{Key: KeyCacheReadTokens, Type: Int, On: on(chat), Doc: "Input tokens that were read from the provider's cache."},
		{Key: KeyCacheWriteTokens, Type: Int, On: on(chat), Doc: "Input tokens that were written to the provider's cache."},
		{Key: KeyReasoningTokens, Type: Int, On: on(chat), Doc: "Output tokens that were reasoning."},
		{Key: KeyTokenModality, Type: String, On: usageMetrics, Doc: "What the tokens are: text for output, unknown for input."},
		{Key: KeyToolName, Type: String, On: on(tool, EventToolDecision, MetricExecuteToolDuration, MetricToolCalls), Doc: "The tool's name; as a metric label _OTHER if no such tool exists."},
		{Key: KeyToolType, Type: String, On: on(tool, MetricExecuteToolDuration), Doc: "function, extension or datastore."},
		{Key: KeyToolCallID, Type: String, On: on(tool, EventToolDecision, EventLeftover), Doc: "The model's id of the call."},
		{Key: KeyToolCallDecision, Type: String, On: on(EventToolDecision), Doc: "allow, deny or require_approval."},
		{Key: KeyMCPMethod, Type: String, On: on(body), Doc: "The MCP method, tools/call."},
		{Key: KeyMCPSession, Type: String, On: on(body), Doc: "The MCP session."},
		{Key: KeyMCPProtocol, Type: String, On: on(body), Doc: "The MCP protocol version."},
		{Key: KeyJSONRPCRequestID, Type: String, On: on(body), Doc: "The JSON-RPC id of the request."},
		{Key: KeyRPCStatusCode, Type: String, On: on(body), Doc: "The JSON-RPC error code, if there was an error."},
		{Key: KeyNetworkTransport, Type: String, On: on(body), Doc: "pipe for stdio, tcp for HTTP."},
		{Key: KeyServerAddress, Type: String, On: with(chatMetrics, chat, body), Doc: "The host that was asked."},
		{Key: KeyServerPort, Type: Int, On: with(chatMetrics, chat, body), Doc: "Its port."},
		{Key: KeyProcessPID, Type: Int, On: on(hook, body, EventLeftover), Volatile: true, Doc: "The process id."},
		{Key: KeyProcessExitCode, Type: Int, On: on(hook, body), Doc: "The exit code, if the process exited."},
		{Key: KeyProcessExecutable, Type: String, On: on(hook, body), Doc: "The base name of the program."},
		{Key: KeyProcessPath, Type: String, On: on(hook, body), Doc: "The program's file."},
		{Key: KeyProcessArgs, Type: Strings, On: on(hook, body), Doc: "The command line; only if asked for, it may carry secrets."},
		{Key: KeySignal, Type: String, On: on(hook, body), Doc: "The signal that ended the process."},
		{Key: KeyErrorType, Type: String, On: on(turn, step, chat, tool, body, seam, listener, hook, wait, detached, open, EventRequestAttempt, MetricInferenceDuration, MetricInvokeAgentDuration, MetricExecuteToolDuration), Doc: "What kind of failure, of low cardinality; absent on success."},

		{Key: KeyTurn, Type: Int, On: on(turn, step), Doc: "The turn's number in its session, from 1."},
		{Key: KeyTurnEnd, Type: String, On: on(turn, MetricTurns), Doc: "The kind of the turn's end, as in turn/end."},
		{Key: KeyHaltAt, Type: String, On: on(turn), Doc: "Where a halted turn was halted: prompt, tool or stop."},
		{Key: KeyTrigger, Type: String, On: on(turn), Doc: "What opened the turn: message or injection."},
		{Key: KeyTriggerSource, Type: String, On: on(turn), Doc: "Who caused it: user, plugin:<name> or a kind of a plugin's own."},
		{Key: KeyQueue, Type: Double, On: on(turn), Volatile: true, Doc: "Milliseconds that the prompt waited for the turn to begin."},
		{Key: KeyStep, Type: Int, On: on(step), Doc: "The step's number in its turn, from 1."},
		{Key: KeySteps, Type: Int, On: on(turn), Doc: "How many steps the turn had."},
		{Key: KeyRequests, Type: Int, On: on(turn), Doc: "How many model requests the turn made."},
		{Key: KeyToolCalls, Type: Int, On: on(turn, step), Doc: "How many tool calls there were."},
		{Key: KeyAttempt, Type: Int, On: on(EventRequestAttempt), Doc: "The attempt that failed, from 1."},
		{Key: KeyRetryWait, Type: Double, On: on(EventRequestAttempt), Volatile: true, Doc: "Milliseconds until the next attempt."},
		{Key: KeyParentCall, Type: String, On: on(tool), Doc: "The id of the call that this one is nested in."},
		{Key: KeyOutcome, Type: String, On: on(step, chat, tool, body, seam, listener, wait, detached, open, drain, MetricToolCalls, MetricSeamDuration, MetricWaitDuration), Doc: "How the work went: ok, failed, timed_out, launch_failed, bad_output, signaled, cancelled, skipped, interrupted."},
		{Key: KeyDecision, Type: String, On: on(tool, seam, listener, MetricSeamDuration), Doc: "What was decided: none, allow, ask, deny, block, stop."},
		{Key: KeyDecisionFrom, Type: String, On: on(EventToolDecision), Doc: "Who decided: a mode, a rule, a hook, a listener, a guard, a person."},
		{Key: KeyReason, Type: String, On: on(turn, seam, listener, EventToolDecision), Doc: "The reason that was given, control bytes escaped, at most 512 code points."},
		{Key: KeyRewritten, Type: Bool, On: on(seam, listener), Doc: "True if the answer differs from what the seam was given."},
		{Key: KeyContinue, Type: Bool, On: on(seam, listener), Doc: "The answer of agent/turn-continuation."},
		{Key: KeyApproval, Type: String, On: on(seam, listener), Doc: "The answer of tools/approval, as in approval/decided."},
		{Key: KeySeam, Type: String, On: on(seam, MetricSeamDuration), Doc: "The seam, such as tools/pre-execute."},
		{Key: KeyListeners, Type: Int, On: on(seam), Doc: "How many listeners the seam had."},
		{Key: KeyListener, Type: String, On: on(listener), Doc: "The listener's name."},
		{Key: KeyWait, Type: String, On: on(wait, MetricWaitDuration), Doc: "What was waited for: permission, turn_slot, hook_slot, tool_slot."},
		{Key: KeyDetached, Type: Bool, On: on(detached), Doc: "True on work that outlives what started it."},
		{Key: KeyDetachedName, Type: String, On: on(detached), Doc: "What the detached work is."},

		{Key: KeyHookPoint, Type: String, On: on(hook, MetricHookRuns, MetricHookDuration), Doc: "The hook point, such as PreToolUse."},
		{Key: KeyHookDialect, Type: String, On: on(hook, MetricHookRuns, MetricHookDuration), Doc: "claude or codex."},
		{Key: KeyHookEvent, Type: String, On: on(hook, listener), Doc: "The event's name on the wire (Claude Code: hook_event)."},
		{Key: KeyHookName, Type: String, On: on(listener), Doc: "The event and its matcher subject (Claude Code: hook_name)."},
		{Key: KeyHookMatcher, Type: String, On: on(hook), Doc: "The matcher as it was configured."},
		{Key: KeyHookSource, Type: String, On: on(hook), Doc: "The file that configured the hook."},
		{Key: KeyHookHandler, Type: String, On: on(hook), Doc: "The handler id, as in hook/invoked and hook/result."},
		{Key: KeyHookDecision, Type: String, On: on(hook, MetricHookRuns), Doc: "What the hook decided: none, allow, ask, deny, block, stop."},
		{Key: KeyHookOutcome, Type: String, On: on(hook, MetricHookRuns), Doc: "How the run went, apart from the decision."},
		{Key: KeyHookReason, Type: String, On: on(hook), Doc: "Why it went so: exit_1, untrusted, limit, disabled, …"},
		{Key: KeyHookQueue, Type: Double, On: on(hook), Volatile: true, Doc: "Milliseconds that the run waited to be admitted."},
		{Key: KeyHookBytesIn, Type: Int, On: on(hook), Doc: "Bytes written to the hook."},
		{Key: KeyHookBytesOut, Type: Int, On: on(hook), Doc: "Bytes of its output that were kept."},
		{Key: KeyHookTruncated, Type: Bool, On: on(hook), Doc: "True if output was cut off."},
		{Key: KeyHookOriginalBytes, Type: Int, On: on(hook), Doc: "Bytes of output before it was cut off."},
		{Key: KeyHookMatched, Type: Int, On: on(listener), Doc: "How many hooks matched (Claude Code: num_hooks)."},
		{Key: KeyHookSuccess, Type: Int, On: on(listener), Doc: "How many succeeded (num_success)."},
		{Key: KeyHookBlocking, Type: Int, On: on(listener), Doc: "How many blocked (num_blocking)."},
		{Key: KeyHookErrors, Type: Int, On: on(listener), Doc: "How many failed without blocking (num_non_blocking_error)."},
		{Key: KeyHookCancelled, Type: Int, On: on(listener), Doc: "How many were cancelled (num_cancelled)."},

		{Key: KeyOpenSource, Type: String, On: on(open), Doc: "How the session came to life: startup or resume."},
		{Key: KeyOpenEpoch, Type: Int, On: on(open), Doc: "The owner epoch of this activation."},
		{Key: KeyOpenEvents, Type: Int, On: on(open), Doc: "The number of events in the log."},
		{Key: KeyOpenRepaired, Type: Bool, On: on(open), Doc: "True if the log ended in an open turn and was repaired."},
		{Key: KeyDrainOwner, Type: String, On: on(drain), Doc: "What was ended."},
		{Key: KeyDrainEnded, Type: Int, On: on(drain), Doc: "How many things were ended."},
		{Key: KeyDrainLeftovers, Type: Int, On: on(drain), Doc: "How many outlived their owner."},
		{Key: KeyDrainDiscarded, Type: Int, On: on(drain), Doc: "How many prompts will not run."},
		{Key: KeyDrainErrors, Type: Int, On: on(drain), Doc: "How many failures were met on the way."},
		{Key: KeyLeftoverKind, Type: String, On: on(EventLeftover), Doc: "listener, tool, run, process or component."},
		{Key: KeyLeftoverName, Type: String, On: on(EventLeftover), Doc: "Its name."},

		{Key: KeyDroppedSpans, Type: Int, On: on(dropped), Doc: "How many spans were lost between the marker's start and end."},
		{Key: KeyDroppedReason, Type: String, On: on(dropped, MetricDropped), Doc: "Why: queue_full, export_failed or shutdown."},
		{Key: KeyUnfinished, Type: Int, On: on(dropped), Doc: "How many spans had not ended when the exporter was shut down."},
	}
}

// Metrics returns the catalogue of metrics.
func Metrics() []MetricInfo {
	const histogram, counter, level = "histogram", "counter", "updowncounter"
	return []MetricInfo{
		{MetricInferenceDuration, histogram, "s", "Duration of a model request; equals the chat span's."},
		{MetricTimeToFirstChunk, histogram, "s", "Time from the request to the first chunk of the answer."},
		{MetricTimePerOutputChunk, histogram, "s", "Time between chunks, after the first."},
		{MetricUsageInput, counter, "{token}", "Input tokens, cached ones included."},
		{MetricUsageOutput, counter, "{token}", "Output tokens, reasoning included."},
		{MetricUsageCacheRead, counter, "{token}", "Input tokens that were read from the provider's cache."},
		{MetricUsageCacheWrite, counter, "{token}", "Input tokens that were written to the provider's cache."},
		{MetricUsageReasoning, counter, "{token}", "Output tokens that were reasoning."},
		{MetricOperationInput, histogram, "{token}", "Input tokens per model request."},
		{MetricOperationOutput, histogram, "{token}", "Output tokens per model request."},
		{MetricInvokeAgentDuration, histogram, "s", "Duration of a turn; equals the invoke_agent span's."},
		{MetricInvokeAgentInference, histogram, "{call}", "Model requests per turn."},
		{MetricInvokeAgentToolCalls, histogram, "{call}", "Tool calls per turn."},
		{MetricExecuteToolDuration, histogram, "s", "Duration of a tool call; equals the execute_tool span's."},
		{MetricTurns, counter, "{turn}", "Turns that ended, by kind of end."},
		{MetricTurnsOpen, level, "{turn}", "Turns that are open."},
		{MetricSessionsWarm, level, "{session}", "Sessions that are in memory."},
		{MetricToolCalls, counter, "{call}", "Tool calls that ended, by outcome."},
		{MetricSeamDuration, histogram, "s", "Duration of a seam's run."},
		{MetricWaitDuration, histogram, "s", "Time spent waiting for a person or a slot."},
		{MetricHookRuns, counter, "{run}", "Hook runs, by decision and outcome."},
		{MetricHookDuration, histogram, "s", "Duration of a hook run."},
		{MetricDropped, counter, "{span}", "Spans that were lost on the way to an exporter, by reason."},
	}
}

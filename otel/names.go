package otel

// Names of the instrumentation. They are promises: dashboards, `trace report`
// and other people's queries hold on to them. The Go semconv packages are not
// used, because the GenAI conventions left them before they were stable; when a
// convention renames something, this file is where it changes.

// ScopeName is the instrumentation scope of all spans and metrics.
const ScopeName = "github.com/dsh-actor/dsh-actor"

// SchemaURL is the schema of the GenAI names that are emitted.
const SchemaURL = "https://opentelemetry.io/schemas/gen-ai/1.42.0"

// Span names. Those that end in a space-separated variable part are prefixes:
// "execute_tool Bash", "dsh.seam tools/pre-execute".
const (
	SpanInvokeAgent = "invoke_agent"
	SpanChat        = "chat"
	SpanExecuteTool = "execute_tool"
	SpanStep        = "dsh.step"
	SpanSeam        = "dsh.seam"
	SpanListener    = "dsh.listener"
	SpanToolBody    = "dsh.tool.body"
	SpanHook        = "dsh.hook"
	SpanWait        = "dsh.wait"
	SpanDetached    = "dsh.detached"
	SpanDrain       = "dsh.drain"
	SpanSessionOpen = "dsh.session.open"
	// SpanDropped is not work: it is the marker that an exporter writes to say
	// how many spans the trace lacks.
	SpanDropped = "dsh.trace.dropped"
)

// Span events.
const (
	EventToolDecision   = "gen_ai.tool.call.decision"
	EventRequestAttempt = "dsh.request.attempt"
	EventLeftover       = "dsh.leftover"
)

// Attribute keys of the GenAI conventions.
const (
	KeyOperation         = "gen_ai.operation.name"
	KeyProvider          = "gen_ai.provider.name"
	KeyAgent             = "gen_ai.agent.name"
	KeyConversation      = "gen_ai.conversation.id"
	KeyRequestModel      = "gen_ai.request.model"
	KeyRequestStream     = "gen_ai.request.stream"
	KeyRequestMaxTokens  = "gen_ai.request.max_tokens"
	KeyRequestTemp       = "gen_ai.request.temperature"
	KeyRequestStop       = "gen_ai.request.stop_sequences"
	KeyResponseID        = "gen_ai.response.id"
	KeyResponseModel     = "gen_ai.response.model"
	KeyFinishReasons     = "gen_ai.response.finish_reasons"
	KeyTimeToFirstChunk  = "gen_ai.response.time_to_first_chunk"
	KeyInputTokens       = "gen_ai.usage.input_tokens"
	KeyOutputTokens      = "gen_ai.usage.output_tokens"
	KeyCacheReadTokens   = "gen_ai.usage.cache_read.input_tokens"
	KeyCacheWriteTokens  = "gen_ai.usage.cache_write.input_tokens"
	KeyReasoningTokens   = "gen_ai.usage.reasoning.output_tokens"
	KeyTokenModality     = "gen_ai.token.modality"
	KeyToolName          = "gen_ai.tool.name"
	KeyToolType          = "gen_ai.tool.type"
	KeyToolCallID        = "gen_ai.tool.call.id"
	KeyToolCallDecision  = "gen_ai.tool.call.decision.outcome"
	KeyMCPMethod         = "mcp.method.name"
	KeyMCPSession        = "mcp.session.id"
	KeyMCPProtocol       = "mcp.protocol.version"
	KeyJSONRPCRequestID  = "jsonrpc.request.id"
	KeyRPCStatusCode     = "rpc.response.status_code"
	KeyNetworkTransport  = "network.transport"
	KeyProcessPID        = "process.pid"
	KeyProcessExitCode   = "process.exit.code"
	KeyProcessExecutable = "process.executable.name"
	KeyProcessPath       = "process.executable.path"
	KeyProcessArgs       = "process.command_args"
	KeyServerAddress     = "server.address"
	KeyServerPort        = "server.port"
	KeySessionID         = "session.id"
	KeyErrorType         = "error.type"
)

// Attribute keys of our own.
const (
	KeyTurn          = "dsh.turn"
	KeyTurnEnd       = "dsh.turn.end"
	KeyHaltAt        = "dsh.halt.at"
	KeyTrigger       = "dsh.trigger"
	KeyTriggerSource = "dsh.trigger.source"
	KeyQueue         = "dsh.queue_ms"
	KeyStep          = "dsh.step"
	KeySteps         = "dsh.steps"
	KeyRequests      = "dsh.requests"
	KeyToolCalls     = "dsh.tool_calls"
	KeyAttempt       = "dsh.attempt"
	KeyRetryWait     = "dsh.retry_ms"
	KeyParentCall    = "dsh.call.parent"
	KeyOutcome       = "dsh.outcome"
	KeyDecision      = "dsh.decision"
	KeyDecisionFrom  = "dsh.decision.source"
	KeyReason        = "dsh.reason"
	KeyRewritten     = "dsh.rewritten"
	KeyContinue      = "dsh.continue"
	KeyApproval      = "dsh.approval"
	KeySeam          = "dsh.seam"
	KeyListeners     = "dsh.seam.listeners"
	KeyListener      = "dsh.listener"
	KeyWait          = "dsh.wait"
	KeyDetached      = "dsh.detached"
	KeyDetachedName  = "dsh.detached.name"
	KeySignal        = "dsh.process.signal"

	KeyHookPoint         = "dsh.hook.point"
	KeyHookDialect       = "dsh.hook.dialect"
	KeyHookEvent         = "dsh.hook.event"
	KeyHookName          = "dsh.hook.name"
	KeyHookMatcher       = "dsh.hook.matcher"
	KeyHookSource        = "dsh.hook.source"
	KeyHookHandler       = "dsh.hook.handler.id"
	KeyHookDecision      = "dsh.hook.decision"
	KeyHookOutcome       = "dsh.hook.outcome"
	KeyHookReason        = "dsh.hook.reason"
	KeyHookQueue         = "dsh.hook.queue_ms"
	KeyHookBytesIn       = "dsh.hook.bytes_in"
	KeyHookBytesOut      = "dsh.hook.bytes_out"
	KeyHookTruncated     = "dsh.hook.truncated"
	KeyHookOriginalBytes = "dsh.hook.original_bytes"
	KeyHookMatched       = "dsh.hook.matched"
	KeyHookSuccess       = "dsh.hook.success.count"
	KeyHookBlocking      = "dsh.hook.blocking.count"
	KeyHookErrors        = "dsh.hook.error.count"
	KeyHookCancelled     = "dsh.hook.cancelled.count"

	KeyOpenSource     = "dsh.session.source"
	KeyOpenEpoch      = "dsh.session.epoch"
	KeyOpenEvents     = "dsh.session.events"
	KeyOpenRepaired   = "dsh.session.repaired"
	KeyDrainOwner     = "dsh.drain.owner"
	KeyDrainEnded     = "dsh.drain.ended"
	KeyDrainLeftovers = "dsh.drain.leftovers"
	KeyDrainDiscarded = "dsh.drain.discarded"
	KeyDrainErrors    = "dsh.drain.errors"
	KeyLeftoverKind   = "dsh.leftover.kind"
	KeyLeftoverName   = "dsh.leftover.name"

	KeyDroppedSpans  = "dsh.trace.dropped.spans"
	KeyDroppedReason = "dsh.trace.dropped.reason"
	KeyUnfinished    = "dsh.trace.unfinished"
)

// Metric names of the GenAI conventions.
const (
	MetricInferenceDuration    = "gen_ai.client.inference.duration"
	MetricTimeToFirstChunk     = "gen_ai.client.inference.time_to_first_chunk"
	MetricTimePerOutputChunk   = "gen_ai.client.inference.time_per_output_chunk"
	MetricUsageInput           = "gen_ai.client.inference.usage.input_tokens"
	MetricUsageOutput          = "gen_ai.client.inference.usage.output_tokens"
	MetricUsageCacheRead       = "gen_ai.client.inference.usage.cache_read.input_tokens"
	MetricUsageCacheWrite      = "gen_ai.client.inference.usage.cache_write.input_tokens"
	MetricUsageReasoning       = "gen_ai.client.inference.usage.reasoning.output_tokens"
	MetricOperationInput       = "gen_ai.client.inference.operation.input_tokens"
	MetricOperationOutput      = "gen_ai.client.inference.operation.output_tokens"
	MetricInvokeAgentDuration  = "gen_ai.invoke_agent.duration"
	MetricInvokeAgentInference = "gen_ai.invoke_agent.inference_calls"
	MetricInvokeAgentToolCalls = "gen_ai.invoke_agent.tool_calls"
	MetricExecuteToolDuration  = "gen_ai.execute_tool.duration"
)

// Metric names of our own.
const (
	MetricTurns        = "dsh.turns"
	MetricTurnsOpen    = "dsh.turns.open"
	MetricSessionsWarm = "dsh.sessions.warm"
	MetricToolCalls    = "dsh.tool.calls"
	MetricSeamDuration = "dsh.seam.duration"
	MetricWaitDuration = "dsh.wait.duration"
	MetricHookRuns     = "dsh.hook.runs"
	MetricHookDuration = "dsh.hook.duration"
	MetricDropped      = "dsh.trace.dropped"
)

// Values of error.type that do not come from an error code or an HTTP status.
const (
	ErrTimeout       = "timeout"
	ErrCanceled      = "context_canceled"
	ErrSpawnFailed   = "spawn_failed"
	ErrInvalidOutput = "invalid_output"
	ErrInterrupted   = "interrupted"
	ErrToolFailed    = "tool_error"
	ErrPanic         = "panic"
	// ErrOther is a failure that has no name of low cardinality; it is also the
	// metric label of names beyond the bound.
	ErrOther = "_OTHER"
)

// Values of gen_ai.operation.name.
const (
	opInvokeAgent = "invoke_agent"
	opChat        = "chat"
	opExecuteTool = "execute_tool"
)

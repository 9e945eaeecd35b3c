// Package otel is the instrumentation of the runtime: the names of its spans,
// attributes and metrics, and the [Tracer] that makes them.
//
// # What it owns
//
//   - The vocabulary, in names.go alone: the GenAI conventions where they exist
//     (invoke_agent, chat, execute_tool, gen_ai.*), mcp.* and process.*, and dsh.*
//     for what no convention covers. [Spans], [Events], [Attributes] and
//     [Metrics] are the catalogue that documentation is generated from.
//   - The meaning of a span's status: an error only for a turn that ended with
//     the kind error (SPEC table R), and for a model request, a tool, a tool's
//     body or a hook that failed (OTEL.md 2). A denial, a block, exit code 2, a
//     cancellation are not errors.
//   - The carriers of trace context: the traceparent of a verb, the environment
//     of a child process.
//
// The exporters are in otel/export (files) and otel/otlp (network), so that a
// host with a provider of its own does not pay for them; a recorder for tests is
// in otel/oteltest.
//
// # Invariants
//
// A nil *Tracer, and a zero span, do nothing: every method costs one nil check
// and allocates nothing, because attributes are built behind the check. Below a
// turn that is not sampled, inner spans are not started at all.
//
// The global providers of OpenTelemetry are neither read nor set.
//
// Metrics are recorded for every turn, sampled or not; their durations equal
// those of the spans. No value without a bound, such as a session id or a tool
// name that a model made up, is a metric label or a part of a span name.
//
// Prompts, arguments, results, answers and error messages are never recorded.
// Of what people and hooks write, the reason of a decision is; it is made valid
// UTF-8, its control bytes are escaped, and it is cut at 512 code points.
//
// # What it refuses to know
//
// How spans leave the process, and when something is worth a span: callers
// decide that, and end what they started.
//
// # The span tree
//
//	invoke_agent <agent>                  one trace per turn; continues the sender's trace if the verb has one
//	├─ dsh.wait turn_slot                 time without a turn slot
//	├─ dsh.seam agent/prompt-submit
//	│  └─ dsh.listener <name>             listeners inside are children of those outside
//	├─ dsh.step
//	│  ├─ dsh.seam agent/pre-step
//	│  ├─ chat <model>                    event dsh.request.attempt per retried attempt
//	│  └─ execute_tool <tool>
//	│     ├─ dsh.seam tools/pre-execute   event gen_ai.tool.call.decision
//	│     │  └─ dsh.listener <bridge>
//	│     │     ├─ dsh.wait hook_slot
//	│     │     └─ dsh.hook <point>       one per hook process
//	│     ├─ dsh.seam tools/approval
//	│     │  └─ dsh.wait permission       time blocked on a person
//	│     ├─ dsh.seam tools/execute
//	│     │  └─ dsh.tool.body
//	│     ├─ dsh.seam tools/post-execute
//	│     └─ dsh.seam tools/result
//	└─ dsh.seam agent/turn-continuation
//
//	dsh.detached <name>                   a trace of its own, linked to the span that started it
//	└─ dsh.hook <point>
//	dsh.session.open                      a trace of its own, or below what opened the session
//	dsh.drain                             likewise; event dsh.leftover per leftover
//
// # Attributes
//
//	gen_ai.operation.name                  string    The GenAI operation: invoke_agent, chat or execute_tool.
//	gen_ai.provider.name                   string    The model's provider, such as anthropic or openai.
//	gen_ai.agent.name                      string    The agent's name.
//	gen_ai.conversation.id                 string    The session id, under the GenAI name.
//	session.id                             string    The session id, under the core name.
//	gen_ai.request.model                   string    The model that was asked for; on a turn only if it uses one.
//	gen_ai.request.stream                  boolean   True if the answer was asked for in chunks.
//	gen_ai.request.max_tokens              int       The most tokens that the answer may have.
//	gen_ai.request.temperature             double    The sampling temperature.
//	gen_ai.request.stop_sequences          string[]  The stop sequences.
//	gen_ai.response.id                     string    The provider's id of the answer.
//	gen_ai.response.model                  string    The model that answered.
//	gen_ai.response.finish_reasons         string[]  Why the answer ended: stop, length, tool_call, error, aborted.
//	gen_ai.response.time_to_first_chunk    double    Seconds from the request to the first chunk of the answer.
//	gen_ai.usage.input_tokens              int       Input tokens, cached ones included.
//	gen_ai.usage.output_tokens             int       Output tokens, reasoning included.
//	gen_ai.usage.cache_read.input_tokens   int       Input tokens that were read from the provider's cache.
//	gen_ai.usage.cache_write.input_tokens  int       Input tokens that were written to the provider's cache.
//	gen_ai.usage.reasoning.output_tokens   int       Output tokens that were reasoning.
//	gen_ai.token.modality                  string    What the tokens are: text for output, unknown for input.
//	gen_ai.tool.name                       string    The tool's name; as a metric label _OTHER if no such tool exists.
//	gen_ai.tool.type                       string    function, extension or datastore.
//	gen_ai.tool.call.id                    string    The model's id of the call.
//	gen_ai.tool.call.decision.outcome      string    allow, deny or require_approval.
//	mcp.method.name                        string    The MCP method, tools/call.
//	mcp.session.id                         string    The MCP session.
//	mcp.protocol.version                   string    The MCP protocol version.
//	jsonrpc.request.id                     string    The JSON-RPC id of the request.
//	rpc.response.status_code               string    The JSON-RPC error code, if there was an error.
//	network.transport                      string    pipe for stdio, tcp for HTTP.
//	server.address                         string    The host that was asked.
//	server.port                            int       Its port.
//	process.pid                            int       The process id.
//	process.exit.code                      int       The exit code, if the process exited.
//	process.executable.name                string    The base name of the program.
//	process.executable.path                string    The program's file.
//	process.command_args                   string[]  The command line; only if asked for, it may carry secrets.
//	dsh.process.signal                     string    The signal that ended the process.
//	error.type                             string    What kind of failure, of low cardinality; absent on success.
//	dsh.turn                               int       The turn's number in its session, from 1.
//	dsh.turn.end                           string    The kind of the turn's end, as in turn/end.
//	dsh.halt.at                            string    Where a halted turn was halted: prompt, tool or stop.
//	dsh.trigger                            string    What opened the turn: message or injection.
//	dsh.trigger.source                     string    Who caused it: user, plugin:<name> or a kind of a plugin's own.
//	dsh.queue_ms                           double    Milliseconds that the prompt waited for the turn to begin.
//	dsh.step                               int       The step's number in its turn, from 1.
//	dsh.steps                              int       How many steps the turn had.
//	dsh.requests                           int       How many model requests the turn made.
//	dsh.tool_calls                         int       How many tool calls there were.
//	dsh.attempt                            int       The attempt that failed, from 1.
//	dsh.retry_ms                           double    Milliseconds until the next attempt.
//	dsh.call.parent                        string    The id of the call that this one is nested in.
//	dsh.outcome                            string    How the work went: ok, failed, timed_out, launch_failed, bad_output, signaled, cancelled, skipped, interrupted.
//	dsh.decision                           string    What was decided: none, allow, ask, deny, block, stop.
//	dsh.decision.source                    string    Who decided: a mode, a rule, a hook, a listener, a guard, a person.
//	dsh.reason                             string    The reason that was given, control bytes escaped, at most 512 code points.
//	dsh.rewritten                          boolean   True if the answer differs from what the seam was given.
//	dsh.continue                           boolean   The answer of agent/turn-continuation.
//	dsh.approval                           string    The answer of tools/approval, as in approval/decided.
//	dsh.seam                               string    The seam, such as tools/pre-execute.
//	dsh.seam.listeners                     int       How many listeners the seam had.
//	dsh.listener                           string    The listener's name.
//	dsh.wait                               string    What was waited for: permission, turn_slot, hook_slot, tool_slot.
//	dsh.detached                           boolean   True on work that outlives what started it.
//	dsh.detached.name                      string    What the detached work is.
//	dsh.hook.point                         string    The hook point, such as PreToolUse.
//	dsh.hook.dialect                       string    claude or codex.
//	dsh.hook.event                         string    The event's name on the wire (Claude Code: hook_event).
//	dsh.hook.name                          string    The event and its matcher subject (Claude Code: hook_name).
//	dsh.hook.matcher                       string    The matcher as it was configured.
//	dsh.hook.source                        string    The file that configured the hook.
//	dsh.hook.handler.id                    string    The handler id, as in hook/invoked and hook/result.
//	dsh.hook.decision                      string    What the hook decided: none, allow, ask, deny, block, stop.
//	dsh.hook.outcome                       string    How the run went, apart from the decision.
//	dsh.hook.reason                        string    Why it went so: exit_1, untrusted, limit, disabled, …
//	dsh.hook.queue_ms                      double    Milliseconds that the run waited to be admitted.
//	dsh.hook.bytes_in                      int       Bytes written to the hook.
//	dsh.hook.bytes_out                     int       Bytes of its output that were kept.
//	dsh.hook.truncated                     boolean   True if output was cut off.
//	dsh.hook.original_bytes                int       Bytes of output before it was cut off.
//	dsh.hook.matched                       int       How many hooks matched (Claude Code: num_hooks).
//	dsh.hook.success.count                 int       How many succeeded (num_success).
//	dsh.hook.blocking.count                int       How many blocked (num_blocking).
//	dsh.hook.error.count                   int       How many failed without blocking (num_non_blocking_error).
//	dsh.hook.cancelled.count               int       How many were cancelled (num_cancelled).
//	dsh.session.source                     string    How the session came to life: startup or resume.
//	dsh.session.epoch                      int       The owner epoch of this activation.
//	dsh.session.events                     int       The number of events in the log.
//	dsh.session.repaired                   boolean   True if the log ended in an open turn and was repaired.
//	dsh.drain.owner                        string    What was ended.
//	dsh.drain.ended                        int       How many things were ended.
//	dsh.drain.leftovers                    int       How many outlived their owner.
//	dsh.drain.discarded                    int       How many prompts will not run.
//	dsh.drain.errors                       int       How many failures were met on the way.
//	dsh.leftover.kind                      string    listener, tool, run, process or component.
//	dsh.leftover.name                      string    Its name.
//	dsh.trace.dropped.spans                int       How many spans were lost between the marker's start and end.
//	dsh.trace.dropped.reason               string    Why: queue_full, export_failed or shutdown.
//	dsh.trace.unfinished                   int       How many spans had not ended when the exporter was shut down.
package otel

package otel

import (
	"context"

	"go.opentelemetry.io/otel/trace"
)

// HookCounts sums up the hooks of one point. It maps one to one to the counts of
// Claude Code's hook spans, so that traces can be compared.
type HookCounts struct {
	// Event is the event, Name the event with its matcher subject, such as
	// PreToolUse:Write.
	Event, Name string
	// Matched hooks ran, or would have.
	Matched, Success, Blocking, Errors, Cancelled int
}

// AnnotateHooks puts the counts on ctx's span, which is that of the bridge's
// listener.
func (t *Tracer) AnnotateHooks(ctx context.Context, in HookCounts) {
	if t == nil {
		return
	}
	t.annotateHooks(ctx, in)
}

func (t *Tracer) annotateHooks(ctx context.Context, in HookCounts) {
	span := trace.SpanFromContext(ctx)
	if !span.IsRecording() {
		return
	}
	a := make(attrs, 0, 7)
	a.str(KeyHookEvent, in.Event)
	a.str(KeyHookName, in.Name)
	a.num(KeyHookMatched, in.Matched)
	a.num(KeyHookSuccess, in.Success)
	a.num(KeyHookBlocking, in.Blocking)
	a.num(KeyHookErrors, in.Errors)
	a.num(KeyHookCancelled, in.Cancelled)
	span.SetAttributes(a...)
}

// AnnotateProcess puts a child process on ctx's span. A tool that executes one
// process describes it so on its body's span; a hook has a span of its own.
func (t *Tracer) AnnotateProcess(ctx context.Context, p Process) {
	if t == nil {
		return
	}
	t.annotateProcess(ctx, p)
}

func (t *Tracer) annotateProcess(ctx context.Context, p Process) {
	span := trace.SpanFromContext(ctx)
	if !span.IsRecording() {
		return
	}
	a := make(attrs, 0, 6)
	a.process(p, t.args)
	span.SetAttributes(a...)
}

// MCPCall describes a tools/call request to an MCP server. It has no span of its
// own, because execute_tool covers it.
type MCPCall struct {
	Method    string // default: tools/call
	Session   string
	Protocol  string
	RequestID string
	// StatusCode is the JSON-RPC error code as text, if there was an error.
	StatusCode string
	// Transport is pipe for stdio, tcp for HTTP.
	Transport     string
	ServerAddress string
	ServerPort    int
}

// AnnotateMCP puts the call on ctx's span, which is that of the tool's body.
func (t *Tracer) AnnotateMCP(ctx context.Context, in MCPCall) {
	if t == nil {
		return
	}
	t.annotateMCP(ctx, in)
}

func (t *Tracer) annotateMCP(ctx context.Context, in MCPCall) {
	span := trace.SpanFromContext(ctx)
	if !span.IsRecording() {
		return
	}
	if in.Method == "" {
		in.Method = "tools/call"
	}
	a := make(attrs, 0, 8)
	a.str(KeyMCPMethod, in.Method)
	a.str(KeyMCPSession, in.Session)
	a.str(KeyMCPProtocol, in.Protocol)
	a.str(KeyJSONRPCRequestID, in.RequestID)
	a.str(KeyRPCStatusCode, in.StatusCode)
	a.str(KeyNetworkTransport, in.Transport)
	a.str(KeyServerAddress, in.ServerAddress)
	a.count(KeyServerPort, in.ServerPort)
	span.SetAttributes(a...)
}

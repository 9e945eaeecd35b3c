package streamjson

import (
	"fmt"
	"io"
	"strings"
	"sync"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/dsh-actor/dsh-actor/cmd/dsh-actor/internal/outcome"
	"github.com/dsh-actor/dsh-actor/messages"
)

// Config makes a Writer.
type Config struct {
	Session messages.SessionID
	// NewUUID mints the uuid of each line.
	NewUUID func() string
	// Partial has the model's stream written as stream_event lines, too.
	Partial bool
}

// Writer writes the lines of one session. It is safe for concurrent use. After a
// write that failed every method returns that error.
type Writer struct {
	cfg Config

	mu   sync.Mutex
	out  io.Writer
	err  error
	stop string // stop_reason of the step's finish chunk
	live stream
}

// NewWriter returns a writer to out.
func NewWriter(out io.Writer, cfg Config) *Writer { return &Writer{cfg: cfg, out: out} }

// Init writes the system/init line.
func (w *Writer) Init(i Init) error {
	tools := i.Tools
	if tools == nil {
		tools = []string{}
	}
	none := []any{}
	return w.write(initLine{
		Type: "system", Subtype: "init", Cwd: i.Cwd, SessionID: w.cfg.Session, Tools: tools, MCPServers: none,
		Model: i.Model, PermissionMode: i.PermissionMode, SlashCommands: none, APIKeySource: i.APIKeySource,
		Version: i.Version, OutputStyle: "default", Agents: none, Skills: none, Plugins: none,
		UUID: w.cfg.NewUUID(), Own: initOwn{Provider: i.Provider},
	})
}

// Chunk takes a piece of the model's stream. It writes nothing unless partial
// messages were asked for.
func (w *Writer) Chunk(c messages.AssistantChunk) error {
	if f, ok := c.Chunk.(messages.FinishChunk); ok {
		w.mu.Lock()
		w.stop = stopReason(f.Reason)
		w.mu.Unlock()
	}
	if !w.cfg.Partial {
		return nil
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, event := range w.live.events(w.messageID(c.Turn, c.Step), c.Chunk) {
		if err := w.writeLocked(streamLine{"stream_event", event, w.cfg.Session, nil, w.cfg.NewUUID()}); err != nil {
			return err
		}
	}
	return nil
}

// StepStart forgets what is known of the last step's stream.
func (w *Writer) StepStart(model string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.stop = ""
	w.live = stream{model: model}
}

// Assistant writes the line of an answer.
func (w *Writer) Assistant(m messages.AssistantMessage) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.writeLocked(assistantLine{
		Type: "assistant", SessionID: w.cfg.Session, UUID: w.cfg.NewUUID(),
		Message: assistantMessage{
			ID: w.messageID(m.Turn, m.Step), Type: "message", Role: "assistant", Model: m.Provenance.Model,
			Content: blocksOf(m.Content), StopReason: w.stopLocked(m.Content), Usage: usageOf(m.Usage),
		},
	})
}

// stopLocked is what the finish chunk said; without one, what the content says.
func (w *Writer) stopLocked(c messages.Content) *string {
	stop := w.stop
	if stop == "" {
		stop = "end_turn"
		if len(c.ToolCalls()) > 0 {
			stop = "tool_use"
		}
	}
	return &stop
}

// messageID is the id that an answer's line and its stream have in common.
func (w *Writer) messageID(turn, step int) string {
	return fmt.Sprintf("msg_%s_%d_%d", strings.ReplaceAll(string(w.cfg.Session), "-", ""), turn, step)
}

// ToolResult writes the user line of a tool's result. Value is what the tool
// returned, absent if that is not known.
func (w *Writer) ToolResult(r messages.ToolResult, value messages.JSON) error {
	return w.write(userLine{
		Type: "user", SessionID: w.cfg.Session, UUID: w.cfg.NewUUID(), Result: value,
		Message: userMessage{"user", []any{toolResultBlock{"tool_result", r.CallID, plainOrBlocks(r.Content), r.IsError}}},
	})
}

// Steering writes the user line of input that joined a running turn.
func (w *Writer) Steering(m messages.SteeringMessage) error {
	return w.write(userLine{
		Type: "user", SessionID: w.cfg.Session, UUID: w.cfg.NewUUID(),
		Synthetic: m.Source.Kind != messages.SourceKindUser,
		Message:   userMessage{"user", blocksOf(m.Content)},
	})
}

// Replay writes the user line of a prompt that was accepted.
func (w *Writer) Replay(content messages.Content) error {
	return w.write(userLine{
		Type: "user", SessionID: w.cfg.Session, UUID: w.cfg.NewUUID(), Replay: true,
		Message: userMessage{"user", plainOrBlocks(content)},
	})
}

// Retry is a failed request that will be sent again.
type Retry struct {
	Attempt    int
	MaxRetries int
	DelayMS    int64
	Failure    messages.Failure
}

// Retry writes the system/api_retry line.
func (w *Writer) Retry(r Retry) error {
	var status *int
	if r.Failure.Status != 0 {
		status = &r.Failure.Status
	}
	return w.write(retryLine{
		Type: "system", Subtype: "api_retry", Attempt: r.Attempt, MaxRetries: r.MaxRetries, DelayMS: r.DelayMS,
		Status: status, Error: r.Failure.Code, SessionID: w.cfg.Session, UUID: w.cfg.NewUUID(), Own: retryOwn{r.Failure.Message},
	})
}

// Result writes the result line of a turn.
func (w *Writer) Result(t *outcome.Turn, r outcome.Result, denials []Denial) error {
	line := resultLine{
		Type: "result", Subtype: r.Subtype, IsError: r.IsError, DurationMS: t.Millis(), DurationAPIMS: t.RequestMillis,
		NumTurns: t.Turns(), StopReason: r.StopReason, TerminalReason: r.TerminalReason, SessionID: w.cfg.Session,
		Usage: usageOf(t.Usage), ModelUsage: modelUsageOf(t.ByModel), Denials: denials, Errors: r.Errors,
		UUID: w.cfg.NewUUID(), Own: resultOwn{t.Number, t.Reason, t.ToolCalls, t.Requests},
	}
	if r.HasText {
		line.Result = &r.Text
	}
	if denials == nil {
		line.Denials = []Denial{}
	}
	return w.write(line)
}

// ControlResponse answers a control line. An empty failure is a success.
func (w *Writer) ControlResponse(requestID, failure string) error {
	response := controlResponse{Subtype: "success", RequestID: requestID}
	if failure != "" {
		response = controlResponse{Subtype: "error", RequestID: requestID, Error: failure}
	}
	return w.write(controlResponseLine{"control_response", response})
}

type (
	controlResponseLine struct {
		Type     string          `json:"type"`
		Response controlResponse `json:"response"`
	}
	controlResponse struct {
		Subtype   string `json:"subtype"`
		RequestID string `json:"request_id"`
		Error     string `json:"error,omitzero"`
	}
)

func (w *Writer) write(line any) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.writeLocked(line)
}

func (w *Writer) writeLocked(line any) error {
	if w.err != nil {
		return w.err
	}
	// U+2028 and U+2029 are escaped: many a reader of lines ends a line at them.
	b, err := json.Marshal(line, json.Deterministic(true), jsontext.AllowInvalidUTF8(true), jsontext.EscapeForJS(true))
	if err == nil {
		_, err = w.out.Write(append(b, '\n'))
	}
	if err != nil {
		w.err = fmt.Errorf("write a line: %w", err)
	}
	return w.err
}

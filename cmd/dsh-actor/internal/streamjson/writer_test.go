package streamjson

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/dsh-actor/dsh-actor/cmd/dsh-actor/internal/outcome"
	"github.com/dsh-actor/dsh-actor/messages"
)

var update = flag.Bool("update", false, "write the golden files")

// golden compares text with a file of testdata.
func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", name, diff)
	}
}

func newWriter(partial bool) (*Writer, *bytes.Buffer) {
	var out bytes.Buffer
	n := 0
	return NewWriter(&out, Config{Session: "11111111-2222-4333-8444-555555555555", Partial: partial, NewUUID: func() string {
		n++
		return fmt.Sprintf("uuid-%d", n)
	}}), &out
}

func must(t *testing.T, errs ...error) {
	t.Helper()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
}

// TestLines is a whole session, line by line.
func TestLines(t *testing.T) {
	w, out := newWriter(false)
	turn := &outcome.Turn{
		Number: 1, Started: 1000, Ended: 3500, Requests: 2, RequestMillis: 1800, Inputs: 2, ToolCalls: 2, Text: "done",
		Reason: messages.EndReason{Kind: messages.EndCompleted},
		Usage:  messages.Usage{InputTokens: 10, OutputTokens: 5, ReasoningTokens: 3, CacheReadTokens: 7, CacheWriteTokens: 2},
		ByModel: map[string]messages.Usage{
			"model-b": {InputTokens: 4, OutputTokens: 1}, "model-a": {InputTokens: 6, OutputTokens: 4, ReasoningTokens: 3},
		},
	}
	content := messages.NewContent(
		messages.ReasoningBlock{Text: "I should <look>"}, messages.TextBlock{Text: "Let me look. \u2028"},
		messages.ToolCallBlock{ID: "c1", Name: "Read", Arguments: `{"file_path": "a.txt", "big": 12345678901234567890}`},
		messages.ToolCallBlock{ID: "c2", Name: "Bash", Arguments: `not json`},
		messages.ToolCallBlock{ID: "c3", Name: "Glob"},
	)
	must(t,
		w.Init(Init{Cwd: "/work", Model: "model-a", Provider: "p", Tools: []string{"Bash", "Read"}, PermissionMode: "default", APIKeySource: "none", Version: "v1"}),
		w.Assistant(messages.AssistantMessage{Turn: 1, Step: 1, Content: content, Provenance: messages.Provenance{Model: "model-a"},
			Usage: messages.Usage{InputTokens: 10, OutputTokens: 5, ReasoningTokens: 3}}),
		w.ToolResult(messages.ToolResult{Turn: 1, Step: 1, CallID: "c1", Content: messages.Text("one\ntwo")}, `{"type":"text"}`),
		w.ToolResult(messages.ToolResult{Turn: 1, Step: 1, CallID: "c2", IsError: true, Content: messages.NewContent(
			messages.TextBlock{Text: "a"}, messages.ImageBlock{MediaType: "image/png", Data: "AAAA"}, messages.OtherBlock{Type: "later", Raw: `{"type":"later","n":1}`},
		)}, ""),
		w.Steering(messages.SteeringMessage{Content: messages.Text("go on"), Source: messages.PluginSource("hooks-claude")}),
		w.Steering(messages.SteeringMessage{Content: messages.Text("wait"), Source: messages.UserSource()}),
		w.Retry(Retry{Attempt: 1, MaxRetries: 4, DelayMS: 2000, Failure: messages.Failure{Status: 429, Code: "RATE_LIMITED", Message: "slow down"}}),
		w.Retry(Retry{Attempt: 2, MaxRetries: 4, DelayMS: 4000, Failure: messages.Failure{Code: "CONNECTION", Message: "refused"}}),
		w.Replay(messages.Text("a prompt")),
		w.ControlResponse("r1", ""),
		w.ControlResponse("r2", "no"),
		w.Result(turn, outcome.Of(turn, outcome.NoCause), []Denial{{ToolName: "Bash", ToolUseID: "c2", ToolInput: `{"command":"rm x"}`}}),
	)
	failed := &outcome.Turn{Number: 2, Reason: messages.EndReason{Kind: messages.EndMaxSteps, Limit: 3}, Requests: 3}
	blocked := &outcome.Turn{Number: 3, Reason: messages.EndReason{Kind: messages.EndRejected, Reason: "no"}}
	silent := &outcome.Turn{Number: 4, Requests: 1, Reason: messages.EndReason{Kind: messages.EndCompleted}}
	must(t,
		w.Result(failed, outcome.Of(failed, outcome.NoCause), nil),
		w.Result(blocked, outcome.Of(blocked, outcome.NoCause), nil),
		w.Result(silent, outcome.Of(silent, outcome.NoCause), nil),
		w.Result(&outcome.Turn{}, outcome.Dropped(outcome.Interrupted), nil),
	)
	golden(t, "lines.jsonl", out.String())
}

// TestStopReason: the finish chunk says it, and without one the content does.
func TestStopReason(t *testing.T) {
	text := messages.AssistantMessage{Content: messages.Text("x")}
	call := messages.AssistantMessage{Content: messages.NewContent(messages.ToolCallBlock{ID: "c", Name: "Read"})}
	for _, tt := range []struct {
		finish  string
		message messages.AssistantMessage
		want    string
	}{
		{"", text, "end_turn"}, {"", call, "tool_use"}, {"stop", text, "end_turn"}, {"tool-calls", call, "tool_use"},
		{"max-tokens", text, "max_tokens"}, {"refusal", text, "refusal"},
	} {
		w, out := newWriter(false)
		w.StepStart("m")
		if tt.finish != "" {
			must(t, w.Chunk(messages.AssistantChunk{Chunk: messages.FinishChunk{Reason: messages.FinishReason{Kind: tt.finish}}}))
		}
		must(t, w.Assistant(tt.message))
		if want := `"stop_reason":"` + tt.want + `"`; !strings.Contains(out.String(), want) {
			t.Errorf("finish %q: %s, want %s", tt.finish, out, want)
		}
	}
}

// TestStream covers chunks that leave things out: a block with deltas only, one with
// an end only, two that overlap, and what comes after an end (V-7).
func TestStream(t *testing.T) {
	w, out := newWriter(true)
	w.StepStart("model-a")
	for _, c := range []messages.Chunk{
		messages.BlockStart{Index: 0, BlockType: "reasoning"},
		messages.ReasoningDelta{Index: 0, Text: "hm"},
		messages.BlockStart{Index: 0, BlockType: "reasoning"},
		messages.TextDelta{Index: 1, Text: "Hel"},
		messages.BlockStart{Index: 2, BlockType: "tool-call"},
		messages.BlockEnd{Index: 0, Block: messages.ReasoningBlock{Text: "hm"}},
		messages.ToolCallDelta{Index: 2, ID: "c1", Name: "Read", ArgumentsDelta: `{"file`},
		messages.TextDelta{Index: 1, Text: "lo"},
		messages.ToolCallDelta{Index: 2, ArgumentsDelta: `_path":"a"}`},
		messages.BlockEnd{Index: 1, Block: messages.TextBlock{Text: "Hello"}},
		messages.TextDelta{Index: 1, Text: "ignored"},
		messages.BlockEnd{Index: 1, Block: messages.TextBlock{Text: "ignored"}},
		messages.BlockEnd{Index: 2, Block: messages.ToolCallBlock{ID: "c1", Name: "Read", Arguments: `{"file_path":"a"}`}},
		messages.BlockEnd{Index: 3, Block: messages.ToolCallBlock{ID: "c2", Name: "Glob", Arguments: `{}`}},
		messages.BlockEnd{Index: 4, Block: messages.TextBlock{Text: "whole"}},
		messages.BlockEnd{Index: 5, Block: messages.ReasoningBlock{Text: "thought"}},
		messages.BlockEnd{Index: 6, Block: messages.ImageBlock{MediaType: "image/png", Data: "AA"}},
		messages.UsageChunk{Usage: messages.Usage{InputTokens: 3, OutputTokens: 4}},
		messages.FinishChunk{Reason: messages.FinishReason{Kind: "tool-calls"}},
	} {
		must(t, w.Chunk(messages.AssistantChunk{Turn: 1, Step: 1, Chunk: c}))
	}
	golden(t, "stream.jsonl", out.String())
}

// TestWholeLines: concurrent callers never tear each other's lines.
func TestWholeLines(t *testing.T) {
	var out writeCounter
	w := NewWriter(&out, Config{Session: "s", NewUUID: func() string { return "u" }})
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 50 {
				if err := w.Replay(messages.Text(strings.Repeat("x", 500))); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	if out.writes != 400 || out.torn > 0 {
		t.Errorf("%d writes, %d of them not one whole line", out.writes, out.torn)
	}
}

type writeCounter struct{ writes, torn int }

func (c *writeCounter) Write(p []byte) (int, error) {
	c.writes++
	if bytes.IndexByte(p, '\n') != len(p)-1 {
		c.torn++
	}
	return len(p), nil
}

// TestBrokenOutput: the first error is kept, and nothing is written after it.
func TestBrokenOutput(t *testing.T) {
	broken := errors.New("broken")
	writes := 0
	w := NewWriter(writerFunc(func([]byte) (int, error) { writes++; return 0, broken }), Config{NewUUID: func() string { return "u" }})
	for range 2 {
		if err := w.Replay(messages.Text("x")); !errors.Is(err, broken) {
			t.Errorf("error %v, want %v", err, broken)
		}
	}
	if writes != 1 {
		t.Errorf("%d writes, want 1", writes)
	}
}

type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }

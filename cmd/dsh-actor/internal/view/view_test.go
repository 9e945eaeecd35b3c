package view

import (
	"bytes"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/dsh-actor/dsh-actor/cmd/dsh-actor/internal/outcome"
	"github.com/dsh-actor/dsh-actor/messages"
)

var update = flag.Bool("update", false, "write the golden files")

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// stage is a view with its output and a clock that stands still.
type stage struct {
	t    *testing.T
	view *View
	out  bytes.Buffer
	now  time.Time
	time int64
}

func newStage(t *testing.T, cfg Config) *stage {
	t.Helper()
	s := &stage{t: t, now: time.Unix(1000, 0), time: 1000}
	cfg.Now = func() time.Time { return s.now }
	s.view = New(&s.out, cfg)
	t.Cleanup(func() { _ = s.view.Close() })
	return s
}

// play shows events, 10 ms apart.
func (s *stage) play(data ...messages.EventData) {
	s.t.Helper()
	for _, d := range data {
		s.time += 10
		if err := s.view.Event(messages.Event{Time: s.time, Data: d}, false); err != nil {
			s.t.Fatal(err)
		}
	}
}

func (s *stage) close() string {
	s.t.Helper()
	if err := s.view.Close(); err != nil {
		s.t.Fatal(err)
	}
	return s.out.String()
}

func textDelta(i int, s string) messages.AssistantChunk {
	return messages.AssistantChunk{Chunk: messages.TextDelta{Index: i, Text: s}}
}

func textEnd(i int, s string) messages.AssistantChunk {
	return messages.AssistantChunk{Chunk: messages.BlockEnd{Index: i, Block: messages.TextBlock{Text: s}}}
}

func thought(i int, s string) messages.AssistantChunk {
	return messages.AssistantChunk{Chunk: messages.ReasoningDelta{Index: i, Text: s}}
}

func toolCall(id, name, arguments string) messages.ToolCall {
	return messages.ToolCall{CallID: messages.CallID(id), Name: name, Arguments: arguments}
}

func toolResult(id, text string) messages.ToolResult {
	return messages.ToolResult{CallID: messages.CallID(id), Content: messages.Text(text)}
}

func toolFailed(id, text string) messages.ToolResult {
	return messages.ToolResult{CallID: messages.CallID(id), Content: messages.Text("Error: " + text), IsError: true}
}

func (s *stage) golden(name, got string) {
	s.t.Helper()
	got = strings.NewReplacer("\x1b", "␛", "\r", "␍").Replace(got)
	path := filepath.Join("testdata", name+".txt")
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			s.t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		s.t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		s.t.Errorf("%s (-want +got):\n%s", name, diff)
	}
}

// session plays one session with everything that a view can show.
func (s *stage) session() {
	s.play(
		messages.TurnStart{Turn: 1}, messages.UserMessage{},
		messages.StepStart{Step: 1},
		thought(0, "I should look\nfirst."),
		messages.AssistantChunk{Chunk: messages.BlockEnd{Index: 0, Block: messages.ReasoningBlock{Text: "I should look\nfirst."}}},
		textDelta(1, "\nLet me "), textDelta(1, "look."), textEnd(1, "\nLet me look."),
		messages.AssistantMessage{Content: messages.Text("Let me look.")},
		toolCall("c1", "Read", `{"file_path":"a.txt"}`),
		toolCall("c2", "Bash", `{"command":"sh test.sh\necho done","timeout":1000}`),
		toolResult("c1", "one\ntwo\n"),
		toolFailed("c2", "Exit code 1\nFAILED: x"),
		toolCall("c3", "mcp__srv__do", `{"n": 1}`),
		toolResult("c3", ""),
		messages.SteeringMessage{Content: messages.Text("and hurry\nup")},
		messages.StepEnd{},
		messages.StepStart{Step: 2},
		textEnd(0, "It came in one piece."),
		messages.AssistantMessage{Content: messages.Text("It came in one piece.")},
		toolCall("c4", "Write", `{"file_path":"/etc/passwd","content":"x"}`),
	)
	_ = s.view.Event(messages.Event{Time: s.time + 5, Data: toolFailed("c4", "not in the workspace")}, true)
	s.play(
		toolCall("c5", "Glob", `{"pattern":"**/*.go","path":"src"}`),
		messages.ToolResult{CallID: "c5", IsError: true, Error: messages.ErrorInfo{Name: "AbortError", Code: messages.CodeAborted}},
		messages.StepEnd{},
	)
	_ = s.view.Retry(1, 4, 2500*time.Millisecond, messages.Failure{Status: 429, Message: "slow down\nplease"})
	s.play(
		messages.StepStart{Step: 3},
		messages.AssistantMessage{Content: messages.Text("A plugin wrote this.")},
		messages.StepEnd{},
		messages.TurnEnd{Turn: 1, Reason: messages.EndReason{Kind: messages.EndCompleted}},
	)
	turn := &outcome.Turn{
		Number: 1, Started: 1000, Ended: 13_400, Requests: 3, ToolCalls: 5, Reason: messages.EndReason{Kind: messages.EndCompleted},
		Usage: messages.Usage{InputTokens: 100, CacheReadTokens: 20, OutputTokens: 30, ReasoningTokens: 7},
	}
	_ = s.view.Result(turn, outcome.Of(turn, outcome.NoCause))
}

func TestSession(t *testing.T) {
	for name, cfg := range map[string]Config{
		"plain": {}, "verbose": {Verbose: true}, "color": {Color: true}, "narrow": {Width: func() int { return 40 }},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStage(t, cfg)
			s.session()
			s.golden(name, s.close())
		})
	}
}

// TestSpinner: what the spinner says, that it is erased before anything that stays,
// and that nothing of it is left.
func TestSpinner(t *testing.T) {
	s := newStage(t, Config{Animate: true})
	s.session()
	raw := s.close()
	for _, want := range []string{
		"⠋ thinking", "⠋ Read a.txt", "⠋ 2 tools: Read, Bash", "⠋ waiting to ask again in 3s",
	} {
		if !strings.Contains(frame(raw), want) {
			t.Errorf("the spinner never said %q: %q", want, raw)
		}
	}
	p := newStage(t, Config{})
	p.session()
	if diff := cmp.Diff(p.close(), settle(t, raw)); diff != "" {
		t.Errorf("what stays differs from a view without a spinner (-without +with):\n%s", diff)
	}
}

// frame makes all frames of the spinner one.
func frame(s string) string {
	for _, f := range frames {
		s = strings.ReplaceAll(s, f, frames[0])
	}
	return s
}

// settle is what is left on the screen: "\r\x1b[K" takes the line back that it is in.
func settle(t *testing.T, raw string) string {
	t.Helper()
	var lines []string
	for _, line := range strings.SplitAfter(raw, "\n") {
		if i := strings.LastIndex(line, "\r\x1b[K"); i >= 0 {
			line = line[i+len("\r\x1b[K"):]
		}
		lines = append(lines, line)
	}
	out := strings.Join(lines, "")
	if strings.ContainsAny(out, "\r\x1b") {
		t.Errorf("escapes are left: %q", out)
	}
	return out
}

// TestSpinnerTurns waits for the goroutine that draws it.
func TestSpinnerTurns(t *testing.T) {
	w := &watched{want: frames[3], seen: make(chan struct{})}
	v := New(w, Config{Animate: true})
	if err := v.Event(messages.Event{Data: messages.StepStart{}}, false); err != nil {
		t.Fatal(err)
	}
	<-w.seen
	if err := v.Close(); err != nil {
		t.Fatal(err)
	}
	if err := v.Close(); err != nil {
		t.Errorf("closed again: %v", err)
	}
}

// watched closes seen when want is written.
type watched struct {
	once sync.Once
	want string
	seen chan struct{}
}

func (w *watched) Write(p []byte) (int, error) {
	if strings.Contains(string(p), w.want) {
		w.once.Do(func() { close(w.seen) })
	}
	return len(p), nil
}

// TestClock: seconds of waiting, and the time until a retry.
func TestClock(t *testing.T) {
	s := newStage(t, Config{Animate: true})
	s.play(messages.StepStart{})
	s.now = s.now.Add(3 * time.Second)
	s.view.mu.Lock()
	s.view.drawLocked()
	s.view.mu.Unlock()
	_ = s.view.Retry(1, 2, 90*time.Second, messages.Failure{Message: "x"})
	s.now = s.now.Add(20 * time.Second)
	s.view.mu.Lock()
	s.view.drawLocked()
	s.view.mu.Unlock()
	out := frame(s.close())
	for _, want := range []string{"⠋ thinking 3s", "in 1m30s", "in 1m10s"} {
		if !strings.Contains(out, want) {
			t.Errorf("%q is missing in %q", want, out)
		}
	}
}

// TestAsk: the question comes after everything that led to it; nothing is drawn while
// it is open; a person's time is not the tool's.
func TestAsk(t *testing.T) {
	s := newStage(t, Config{Animate: true})
	s.play(messages.StepStart{}, textDelta(0, "I must write."), toolCall("c1", "Write", `{"file_path":"x"}`))
	asked := s.view.Asked("a1")
	select {
	case <-asked:
		t.Fatal("asked before the question was shown")
	default:
	}
	s.play(messages.ApprovalAsked{ID: "a1", CallID: "c1"})
	<-asked
	resume := s.view.Pause()
	before := s.out.Len()
	s.view.mu.Lock()
	s.view.frame++
	s.view.drawLocked()
	s.view.mu.Unlock()
	if s.out.Len() != before {
		t.Errorf("drawn while paused: %q", s.out.String()[before:])
	}
	resume()
	resume() // again does nothing
	s.time += 60_000
	s.play(messages.ApprovalDecided{ID: "a1", Outcome: "allowed-once"}, toolResult("c1", "ok"), messages.StepEnd{})
	if got := settle(t, s.close()); !strings.Contains(got, "✓ Write x  10ms\n") {
		t.Errorf("%q", got)
	}
	if len(s.view.asked) != 0 {
		t.Errorf("%d questions are kept", len(s.view.asked))
	}
}

// TestEndings covers the last line for every way to end (table R).
func TestEndings(t *testing.T) {
	for _, tt := range []struct {
		reason messages.EndReason
		want   string
	}{
		{messages.EndReason{Kind: messages.EndCompleted}, "✓ done"},
		{messages.EndReason{Kind: messages.EndMaxTokens}, "✓ the answer reached the token limit"},
		{messages.EndReason{Kind: messages.EndRejected, Reason: "no\nway"}, "⊘ the prompt was blocked: no …"},
		{messages.EndReason{Kind: messages.EndHalted, Reason: "enough", At: messages.HaltAtStop}, "⊘ stopped by a hook: enough"},
		{messages.EndReason{Kind: messages.EndMaxSteps, Limit: 2}, "✗ reached the maximum number of turns (2)"},
		{messages.EndReason{Kind: messages.EndError, Failure: messages.Failure{Status: 500, Message: "oops"}}, "✗ API Error: 500 oops"},
		{messages.EndReason{Kind: messages.EndError, Message: "a listener failed"}, "✗ a listener failed"},
		{messages.EndReason{Kind: messages.EndAborted}, "– cancelled"},
		{messages.EndReason{Kind: messages.EndDisposed}, "✗ the session was closed before the turn had ended"},
		{messages.EndReason{}, "– cancelled"},
	} {
		s := newStage(t, Config{})
		turn := &outcome.Turn{Reason: tt.reason}
		r := outcome.Of(turn, outcome.NoCause)
		if tt.reason.Kind == "" {
			r = outcome.Dropped(outcome.Interrupted)
		}
		_ = s.view.Result(turn, r)
		if got, _, _ := strings.Cut(s.close(), "  "); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.reason.Kind, got, tt.want)
		}
	}
}

// TestInterrupted: text that ended in the middle of a line gets its line end.
func TestInterrupted(t *testing.T) {
	s := newStage(t, Config{})
	s.play(messages.StepStart{}, textDelta(0, "I was just ab"), messages.StepEnd{})
	if err := s.view.Line("a warning"); err != nil {
		t.Fatal(err)
	}
	if got := s.close(); got != "I was just ab\na warning\n" {
		t.Errorf("%q", got)
	}
}

func TestBrokenTerminal(t *testing.T) {
	broken := errors.New("broken")
	v := New(writerFunc(func([]byte) (int, error) { return 0, broken }), Config{})
	for range 2 {
		if err := v.Line("x"); !errors.Is(err, broken) {
			t.Errorf("error %v, want %v", err, broken)
		}
	}
	if err := v.Close(); !errors.Is(err, broken) {
		t.Errorf("close: error %v, want %v", err, broken)
	}
}

type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }

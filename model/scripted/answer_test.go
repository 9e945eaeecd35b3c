package scripted

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/dsh-actor/dsh-actor/messages"
	"github.com/dsh-actor/dsh-actor/model"
)

func stops(kind string, answer int) messages.FinishChunk {
	return messages.FinishChunk{Reason: messages.FinishReason{Kind: kind}, ReplayState: markOf(answer, 1)}
}

var plainFinish = cmpopts.EquateComparable(messages.FinishReason{})

// V-6, V-8
func TestChunkSequence(t *testing.T) {
	usage := messages.Usage{InputTokens: 1, OutputTokens: 2, CacheReadTokens: 3, CacheWriteTokens: 4, ReasoningTokens: 5}
	for _, c := range []struct {
		name   string
		answer Answer
		want   []messages.Chunk
	}{
		{"text", Text("Hello."), []messages.Chunk{
			messages.BlockStart{Index: 0, BlockType: "text"},
			messages.TextDelta{Index: 0, Text: "Hello."},
			messages.BlockEnd{Index: 0, Block: messages.TextBlock{Text: "Hello."}},
			messages.UsageChunk{Usage: messages.Usage{OutputTokens: 2}},
			stops(messages.FinishStop, 0),
		}},
		{"all parts", Answer{
			Reasoning: "Hm.", Text: "So.", Usage: usage, Chunks: 2,
			Tools: []Tool{Call("Read", messages.JSON(`{"file_path": "a"}`)), {Name: "Bash", ID: "mine"}},
		}, []messages.Chunk{
			messages.BlockStart{Index: 0, BlockType: "reasoning"},
			messages.ReasoningDelta{Index: 0, Text: "Hm"},
			messages.ReasoningDelta{Index: 0, Text: "."},
			messages.BlockEnd{Index: 0, Block: messages.ReasoningBlock{Text: "Hm."}},
			messages.BlockStart{Index: 1, BlockType: "text"},
			messages.TextDelta{Index: 1, Text: "So"},
			messages.TextDelta{Index: 1, Text: "."},
			messages.BlockEnd{Index: 1, Block: messages.TextBlock{Text: "So."}},
			messages.BlockStart{Index: 2, BlockType: "tool-call"},
			messages.ToolCallDelta{Index: 2, ID: "call-3-2-1", Name: "Read", ArgumentsDelta: `{"file_pa`},
			messages.ToolCallDelta{Index: 2, ID: "call-3-2-1", ArgumentsDelta: `th": "a"}`},
			messages.BlockEnd{Index: 2, Block: messages.ToolCallBlock{ID: "call-3-2-1", Name: "Read", Arguments: `{"file_path": "a"}`}},
			messages.BlockStart{Index: 3, BlockType: "tool-call"},
			messages.ToolCallDelta{Index: 3, ID: "mine", Name: "Bash", ArgumentsDelta: `{`},
			messages.ToolCallDelta{Index: 3, ID: "mine", ArgumentsDelta: `}`},
			messages.BlockEnd{Index: 3, Block: messages.ToolCallBlock{ID: "mine", Name: "Bash", Arguments: `{}`}},
			messages.UsageChunk{Usage: usage},
			stops(messages.FinishToolCalls, 0),
		}},
		{"empty raw arguments", Calls(Tool{Name: "Bash", ID: "x", Input: Raw("")}), []messages.Chunk{
			messages.BlockStart{Index: 0, BlockType: "tool-call"},
			messages.ToolCallDelta{Index: 0, ID: "x", Name: "Bash"},
			messages.BlockEnd{Index: 0, Block: messages.ToolCallBlock{ID: "x", Name: "Bash"}},
			messages.UsageChunk{Usage: messages.Usage{OutputTokens: 1}},
			stops(messages.FinishToolCalls, 0),
		}},
		{"cut short", Answer{Text: "So", Finish: messages.FinishMaxTokens}, []messages.Chunk{
			messages.BlockStart{Index: 0, BlockType: "text"},
			messages.TextDelta{Index: 0, Text: "So"},
			messages.BlockEnd{Index: 0, Block: messages.TextBlock{Text: "So"}},
			messages.UsageChunk{Usage: messages.Usage{OutputTokens: 1}},
			stops(messages.FinishMaxTokens, 0),
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := collect(context.Background(), New(c.answer), model.Request{Turn: 3, Step: 2})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, got, plainFinish); diff != "" {
				t.Errorf("chunks (-want +got):\n%s", diff)
			}
			assemble(t, got)
		})
	}
}

// V-7: what is assembled is what the answer says, whatever it was cut into.
func TestAssembled(t *testing.T) {
	a := Answer{
		Reasoning: "Let me see.", Text: "A long text with 世界 in it, which is cut into several pieces by default.",
		Tools: []Tool{Call("Bash", map[string]any{"timeout": 5, "command": "ls"}), Call("Bash", Raw(`{"command": `))},
	}
	for _, chunks := range []int{0, 1, 2, 7, 10_000} {
		a.Chunks = chunks
		out, err := collect(context.Background(), New(a), model.Request{Turn: 1, Step: 1})
		if err != nil {
			t.Fatal(err)
		}
		got := assemble(t, out)
		want := messages.NewContent(
			messages.ReasoningBlock{Text: a.Reasoning}, messages.TextBlock{Text: a.Text},
			messages.ToolCallBlock{ID: "call-1-1-1", Name: "Bash", Arguments: `{"command":"ls","timeout":5}`},
			messages.ToolCallBlock{ID: "call-1-1-2", Name: "Bash", Arguments: `{"command": `},
		)
		if diff := cmp.Diff(want, got.Content, cmp.AllowUnexported(messages.Content{})); diff != "" {
			t.Errorf("chunks %d: content (-want +got):\n%s", chunks, diff)
		}
		if got.Finish.Kind != messages.FinishToolCalls || !got.HasUsage {
			t.Errorf("chunks %d: finish %+v, usage %v", chunks, got.Finish, got.HasUsage)
		}
	}
}

// Minted ids are the same for the same request, and differ between calls, steps
// and turns of a session.
func TestMintedIDs(t *testing.T) {
	s := New(Calls(Call("A", nil), Call("B", nil)))
	seen := map[messages.CallID]bool{}
	for turn := 1; turn <= 3; turn++ {
		for step := 1; step <= 3; step++ {
			req := model.Request{Turn: turn, Step: step}
			first, _ := collect(context.Background(), s, req)
			again, _ := collect(context.Background(), s, req)
			if diff := cmp.Diff(first, again, plainFinish); diff != "" {
				t.Errorf("turn %d, step %d: two runs differ:\n%s", turn, step, diff)
			}
			for _, call := range assemble(t, first).Content.ToolCalls() {
				if seen[call.ID] {
					t.Errorf("the id %q was minted twice", call.ID)
				}
				seen[call.ID] = true
			}
		}
	}
	if !seen["call-2-3-2"] || len(seen) != 18 {
		t.Errorf("minted %d ids: %v", len(seen), seen)
	}
}

func TestFailures(t *testing.T) {
	partial := Text("one two three four")
	partial.Chunks = 4
	partial.Error = Fault{Failure: messages.Failure{Message: "cut off"}, Times: 1, After: 3}
	endless := Text("x")
	endless.Error = Fault{Failure: rateLimited, After: 1000}
	for _, c := range []struct {
		name   string
		answer Answer
		fails  int // attempts that fail, of the first five
		chunks int // that come before the failure
		want   messages.Failure
	}{
		{"always", Fail(rateLimited), 5, 0, rateLimited},
		{"twice", FailTimes(2, rateLimited, Text("well")), 2, 0, rateLimited},
		{"default code, in the middle", partial, 1, 3, messages.Failure{Message: "cut off", Code: messages.CodeUnknown}},
		{"never after the finish", endless, 5, 4, rateLimited},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := New(c.answer)
			for attempt := range 5 {
				chunks, err := collect(context.Background(), s, model.Request{Turn: 1, Step: attempt + 1, Attempt: attempt})
				if attempt >= c.fails {
					if err != nil {
						t.Errorf("attempt %d: %v", attempt, err)
					}
					assemble(t, chunks)
					continue
				}
				var got messages.Failure
				if !errors.As(err, &got) || got != c.want || len(chunks) != c.chunks {
					t.Errorf("attempt %d: %d chunks and %#v, want %d and %#v", attempt, len(chunks), err, c.chunks, c.want)
				}
			}
		})
	}
}

// The clock of these tests is synctest's: what they measure is exact.

func TestDelayAndPace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := Text("abc")
		a.Chunks, a.Delay, a.Pace = 3, 5*time.Second, time.Second
		start := time.Now()
		var at []time.Duration
		for _, err := range New(a).Stream(t.Context(), model.Request{}) {
			if err != nil {
				t.Fatal(err)
			}
			at = append(at, time.Since(start))
		}
		want := []time.Duration{5, 6, 7, 8, 9, 10, 11}
		for i := range want {
			want[i] *= time.Second
		}
		if diff := cmp.Diff(want, at); diff != "" {
			t.Errorf("times (-want +got):\n%s", diff)
		}
	})
}

// A failure waits as a chunk would.
func TestFailureWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := Fail(rateLimited)
		a.Delay = 3 * time.Second
		start := time.Now()
		_, err := collect(t.Context(), New(a), model.Request{})
		if !errors.Is(err, rateLimited) || time.Since(start) != a.Delay {
			t.Errorf("after %v: %v", time.Since(start), err)
		}
	})
}

// Cancellation ends every kind of wait at once, with the cause.
func TestCancelWhileWaiting(t *testing.T) {
	slow := Text("abcdef")
	slow.Chunks, slow.Delay, slow.Pace = 6, time.Hour, time.Hour
	between := slow
	between.Delay = 0
	failing := Fail(rateLimited)
	failing.Delay = time.Hour
	stalled := Text("abc")
	stalled.Hang = true
	for _, c := range []struct {
		name   string
		answer Answer
		chunks int
	}{
		{"before the first chunk", slow, 0},
		{"between chunks", between, 1},
		{"before a failure", failing, 0},
		{"hanging", Hang(), 0},
		{"hanging after its text", stalled, 3},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				cause := messages.CancelUser
				ctx, cancel := context.WithCancelCause(t.Context())
				start := time.Now()
				const when = 30 * time.Minute
				timer := time.AfterFunc(when, func() { cancel(cause) })
				defer timer.Stop()
				chunks, err := collect(ctx, New(c.answer), model.Request{})
				if err != error(cause) {
					t.Errorf("got error %v, want the cause itself", err)
				}
				if took := time.Since(start); took != when {
					t.Errorf("it ended after %v, want %v", took, when)
				}
				if len(chunks) != c.chunks {
					t.Errorf("got %d chunks, want %d", len(chunks), c.chunks)
				}
			})
		})
	}
}

// One Script serves many sessions at once; -race looks on.
func TestConcurrentSessions(t *testing.T) {
	s := New(
		Calls(Call("Read", map[string]any{"file_path": "{{prompt}}"})),
		FailTimes(1, rateLimited, Text("read {{lastToolResult}}")),
		Text("more"),
	)
	var wg sync.WaitGroup
	for i := range 64 {
		wg.Go(func() {
			k := newTalk(t, s).prompt(fmt.Sprint("file-", i))
			call := k.answer().Content.ToolCalls()[0]
			if want := fmt.Sprintf(`{"file_path":"file-%d"}`, i); call.Arguments != want {
				t.Errorf("arguments %s, want %s", call.Arguments, want)
			}
			k.result(call.ID, fmt.Sprint("content-", i))
			if _, err := k.ask(); !errors.Is(err, rateLimited) {
				t.Errorf("first attempt: %v", err)
			}
			k.attempt++
			if got, want := k.text(), fmt.Sprint("read content-", i); got != want {
				t.Errorf("got %q, want %q", got, want)
			}
			if got := k.prompt("go on").text(); got != "more" {
				t.Errorf("second turn: %q", got)
			}
		})
	}
	wg.Wait()
}

// T-5: what a stream shares with others cannot be changed through it.
func TestChunksAreShared(t *testing.T) {
	s := New(Text("Hello."))
	one, _ := collect(context.Background(), s, model.Request{})
	two, _ := collect(context.Background(), s, model.Request{})
	one[0] = nil
	if two[0] == nil {
		t.Error("collected slices share memory")
	}
	if three, _ := collect(context.Background(), s, model.Request{}); three[0] == nil {
		t.Error("a consumer changed the script")
	}
}

func TestNewPanics(t *testing.T) {
	for _, c := range []struct {
		name string
		make func()
		want string
	}{
		{"nothing", func() { New() }, "scripted.New: a script needs at least one answer"},
		{"empty answer", func() { New(Text("a"), Answer{}) }, "scripted.New: answer 2: an answer needs at least one of text, reasoning, tools, error and hang"},
		{"input", func() { New(Calls(Call("Bash", 5))) }, `scripted.New: answer 1: input of tool "Bash": want an object, got 5`},
		{"input that is no JSON", func() { New(Calls(Call("Bash", func() {}))) }, ""},
		{"broken JSON", func() { New(Calls(Call("Bash", messages.JSON(`{`)))) }, ""},
		{"loop", func() { New(Answer{Text: "a", Match: "b"}).Then(ThenLoop) }, "scripted: then loop needs a first answer without match"},
		{"unknown then", func() { New(Text("a")).Then("never") }, `scripted: unknown then "never": want stop, repeat-last or loop`},
		{"render", func() { _, _ = Answer{}.Render(model.Request{}) }, "scripted: render: an answer needs at least one of text, reasoning, tools, error and hang"},
	} {
		t.Run(c.name, func(t *testing.T) {
			defer func() {
				got := recover()
				if got == nil || c.want != "" && got != any(c.want) {
					t.Errorf("panic %q, want %q", got, c.want)
				}
			}()
			c.make()
		})
	}
}

func TestInfo(t *testing.T) {
	got := New(Text("a")).Info()
	if want := (Info{Name: "scripted", Provider: "scripted", Model: "scripted"}); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if n := New(Text("a"), Text("b")).Len(); n != 2 {
		t.Errorf("Len is %d", n)
	}
}

func TestRender(t *testing.T) {
	a := Text("one two")
	a.Chunks, a.Delay, a.Pace, a.Hang = 2, time.Hour, time.Hour, true
	got, err := a.Render(model.Request{})
	if err != nil || len(got) != 4 {
		t.Errorf("a hanging answer: %v and %v, want what comes before the hang", got, err)
	}
	got, err = FailTimes(1, rateLimited, Text("x")).Render(model.Request{})
	if len(got) != 0 || !errors.Is(err, rateLimited) {
		t.Errorf("first attempt: %v and %v", got, err)
	}
	got, err = FailTimes(1, rateLimited, Text("x")).Render(model.Request{Attempt: 1})
	if err != nil || assemble(t, got).Content.Text() != "x" || assemble(t, got).ReplayState != "" {
		t.Errorf("second attempt: %v and %v", got, err)
	}
}

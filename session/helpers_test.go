package session_test

import (
	"errors"
	"fmt"
	"iter"
	"slices"
	"testing"

	"github.com/dsh-actor/dsh-actor/messages"
	"github.com/dsh-actor/dsh-actor/session"
)

// Declared log-only types, one per enclosure.
type (
	inStepEvent struct {
		Text string `json:"text"`
	}
	inTurnEvent struct {
		Text string `json:"text"`
	}
	// recordEvent may stand between turns and says in which turn it was written.
	recordEvent struct {
		Turn int `json:"turn"`
	}
	// unholdable can be made to hold what JSON cannot.
	unholdable struct {
		Number float64       `json:"number"`
		Raw    messages.JSON `json:"raw,omitzero"`
	}
	undeclared struct{}
	// impostor carries a core type's name.
	impostor struct{ Name string }
)

func (inStepEvent) EventType() string { return "test/in-step" }
func (inTurnEvent) EventType() string { return "test/in-turn" }
func (recordEvent) EventType() string { return "test/record" }
func (e recordEvent) EventTurn() int  { return e.Turn }
func (unholdable) EventType() string  { return "test/unholdable" }
func (undeclared) EventType() string  { return "test/undeclared" }
func (e impostor) EventType() string  { return e.Name }

func testTypes() *messages.Registry {
	return messages.NewRegistry(
		messages.Define[inStepEvent](messages.InStep, "Stands in a step."),
		messages.Define[inTurnEvent](messages.InTurn, "Stands in a turn."),
		messages.Define[recordEvent](messages.Anywhere, "Stands anywhere."),
		messages.Define[unholdable](messages.Anywhere, "Stands anywhere."),
	)
}

func config() session.Config {
	return session.Config{Header: session.Header{ID: "s-1", CreatedAt: 1}, Types: testTypes()}
}

// must appends entries one by one, at times 1000, 1001, ….
func must(t testing.TB, l *session.Log, entries ...session.Entry) {
	t.Helper()
	for i, e := range entries {
		if _, err := l.Append(1000+l.NextSeq(), e); err != nil {
			t.Fatalf("entry %d (%s): %v", i, e.Data.EventType(), err)
		}
	}
}

func logOf(t testing.TB, entries ...session.Entry) *session.Log {
	t.Helper()
	l := session.New(config())
	must(t, l, entries...)
	return l
}

func eventsOf(l *session.Log) []messages.Event {
	_, events := l.Events(0)
	return events.Slice()
}

func seqOf(events []messages.Event) iter.Seq2[messages.Event, error] {
	return func(yield func(messages.Event, error) bool) {
		for _, e := range events {
			if !yield(e, nil) {
				return
			}
		}
	}
}

// stamp gives entries the sequence numbers and times of a log.
func stamp(entries []session.Entry) []messages.Event {
	out := make([]messages.Event, len(entries))
	for i, e := range entries {
		out[i] = messages.Event{
			Seq: int64(i), Time: 1000 + int64(i), Data: e.Data, Surface: e.Surface,
			Sources: e.Sources, HasSources: e.HasSources || e.Sources.Len() > 0,
		}
	}
	return out
}

// text is what two values have in common when they mean the same in a log.
func text(t testing.TB, v any) string {
	t.Helper()
	j, err := messages.MarshalJSON(v)
	if err != nil {
		t.Fatalf("encode %T: %v", v, err)
	}
	return string(j)
}

func texts[T any](t testing.TB, items []T) []string {
	t.Helper()
	out := make([]string, len(items))
	for i, v := range items {
		out[i] = text(t, v)
	}
	return out
}

func history(t testing.TB, l *session.Log) []messages.Message {
	t.Helper()
	h, ok := l.History()
	if !ok {
		t.Fatal("the history is dropped")
	}
	return h.Slice()
}

func nodeSeqs(t testing.TB, l *session.Log) []int64 {
	t.Helper()
	nodes, ok := l.Nodes()
	if !ok {
		t.Fatal("the nodes are dropped")
	}
	var out []int64
	for _, n := range nodes.All() {
		out = append(out, n.Seq)
	}
	return out
}

// state is everything that a log says about itself.
type state struct {
	Next, Time      int64
	Turn, Step      int
	TurnOpen, Steps int
	StepOpen        bool
	Pending         string
	HeaderLogged    bool
	Header          string
	History, Nodes  string
}

func stateOf(t testing.TB, l *session.Log) state {
	t.Helper()
	s := state{
		Next: l.NextSeq(), Time: l.LastTime(), Turn: l.LastTurn(), Steps: l.Steps(),
		Pending: fmt.Sprint(l.Pending()), HeaderLogged: l.HeaderLogged(),
		History: fmt.Sprint(texts(t, history(t, l))), Nodes: fmt.Sprint(nodeSeqs(t, l)),
	}
	s.TurnOpen, _ = l.OpenTurn()
	s.Step, s.StepOpen = l.OpenStep()
	if h, ok := l.LastHeader(); ok {
		s.Header = text(t, h)
	}
	return s
}

// wantRule fails unless err is a RuleError of the rule.
func wantRule(t testing.TB, err error, rule string) *session.RuleError {
	t.Helper()
	var r *session.RuleError
	if !errors.As(err, &r) {
		t.Fatalf("want a RuleError of %s, got %v", rule, err)
	}
	if r.Rule != rule {
		t.Fatalf("want rule %s, got %v", rule, err)
	}
	return r
}

// Entries of a plausible turn.

func turnStart(turn int) session.Entry {
	return session.LogOnly(messages.TurnStart{Turn: turn, Trigger: messages.TurnTrigger{
		Kind: messages.TriggerMessage, Source: messages.UserSource(),
	}})
}

func turnEnd(turn int) session.Entry {
	return session.LogOnly(messages.TurnEnd{Turn: turn, Reason: messages.EndReason{Kind: messages.EndCompleted}})
}

func stepStart(turn, step int) session.Entry {
	return session.LogOnly(messages.StepStart{Turn: turn, Step: step})
}

func stepEnd(turn, step int) session.Entry {
	return session.LogOnly(messages.StepEnd{Turn: turn, Step: step})
}

func user(content string) session.Entry {
	return session.Add(messages.UserMessage{Content: messages.Text(content), Source: messages.UserSource()})
}

func steering(turn int, content string) session.Entry {
	return session.Add(messages.SteeringMessage{
		Turn: turn, Content: messages.Text(content), Source: messages.UserSource(),
	})
}

func header(system string, reason messages.HeaderReason) session.Entry {
	return session.LogOnly(messages.RequestHeaderEvent{
		Header: messages.RequestHeader{
			Config: messages.RequestConfig{Provider: "scripted", Model: "m"}, System: system,
		},
		Reason: reason,
	})
}

func chunk(turn, step int, content string) session.Entry {
	return session.LogOnly(messages.AssistantChunk{Turn: turn, Step: step, Chunk: messages.TextDelta{Text: content}})
}

// answer is an assistant/message that says something and asks for the calls.
func answer(turn, step int, says string, ids ...messages.CallID) session.Entry {
	var blocks []messages.Block
	if says != "" {
		blocks = append(blocks, messages.TextBlock{Text: says})
	}
	for _, id := range ids {
		blocks = append(blocks, messages.ToolCallBlock{ID: id, Name: "Read", Arguments: `{"path":"a"}`})
	}
	return session.Answer(messages.AssistantMessage{
		Turn: turn, Step: step, Content: messages.NewContent(blocks...),
		Provenance: messages.Provenance{Provider: "scripted", Model: "m"},
	}, messages.List[int64]{})
}

func toolCall(turn, step int, id messages.CallID) session.Entry {
	return session.LogOnly(messages.ToolCall{
		Turn: turn, Step: step, CallID: id, Name: "Read", Arguments: `{"path":"a"}`,
	})
}

func toolResult(turn, step int, id messages.CallID, content string, sources ...int64) session.Entry {
	return session.Add(messages.ToolResult{
		Turn: turn, Step: step, CallID: id, Content: messages.Text(content),
	}, sources...)
}

func notStarted(turn, step int, id messages.CallID) session.Entry {
	return session.Add(messages.ToolResult{
		Turn: turn, Step: step, CallID: id, Content: messages.Text("no"), IsError: true,
		Error: messages.ErrorInfo{Name: "ToolNotStartedError", Code: messages.CodeToolNotStarted},
	})
}

func entries(parts ...[]session.Entry) []session.Entry { return slices.Concat(parts...) }

// openBatch is a turn up to and including the answer that asks for the calls.
func openBatch(ids ...messages.CallID) []session.Entry {
	return []session.Entry{
		turnStart(1), user("go"), stepStart(1, 1), header("s", messages.HeaderInitial), answer(1, 1, "ok", ids...),
	}
}

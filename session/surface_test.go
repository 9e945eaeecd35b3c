package session_test

import (
	"strings"
	"testing"

	"github.com/dsh-actor/dsh-actor/messages"
	"github.com/dsh-actor/dsh-actor/session"
	"github.com/google/go-cmp/cmp"
)

// with returns the entry with its surface metadata changed.
func with(e session.Entry, change func(*session.Entry)) session.Entry {
	change(&e)
	return e
}

func sources(seqs ...int64) func(*session.Entry) {
	return func(e *session.Entry) { e.Sources, e.HasSources = messages.ListOf(seqs...), true }
}

func noOp(e *session.Entry) { e.Surface = messages.SurfaceOp{} }

func replaceUser(content string, start, end int64, from ...int64) session.Entry {
	return session.Replace(messages.UserMessage{
		Content: messages.Text(content), Source: messages.PluginSource("compact"),
	}, start, end, from...)
}

func replaceResult(turn, step int, id messages.CallID, content string, at int64, change func(*messages.ToolResult)) session.Entry {
	d := messages.ToolResult{Turn: turn, Step: step, CallID: id, Content: messages.Text(content)}
	if change != nil {
		change(&d)
	}
	return session.Replace(d, at, at, at)
}

func TestSurfaceRules(t *testing.T) {
	const ok = ""
	inStep := []session.Entry{turnStart(1), stepStart(1, 1)}
	// Nodes: 1 user, 4 assistant, 6 result c1, 8 result c2, 9 user; the step is closed.
	toolTurn := entries(openBatch("c1", "c2"), []session.Entry{
		toolCall(1, 1, "c1"), toolResult(1, 1, "c1", "one", 5), toolCall(1, 1, "c2"),
		session.Add(messages.ToolResult{
			Turn: 1, Step: 1, CallID: "c2", Content: messages.Text("Error: two"), IsError: true,
			Error: messages.ErrorInfo{Name: "N", Code: "C"}, Meta: `{"k": 1}`,
		}, 7),
		user("context"), stepEnd(1, 1),
	})
	meta := func(j messages.JSON) func(*messages.ToolResult) {
		return func(d *messages.ToolResult) {
			d.IsError, d.Error, d.Meta = true, messages.ErrorInfo{Name: "N", Code: "C"}, j
		}
	}
	cases := []struct {
		name   string
		before []session.Entry
		last   session.Entry
		rule   string
		says   string
	}{
		// E-4: the four surface types must carry a surfaceOp.
		{"user/message without op", inStep, with(user("x"), noOp), "E-4", "needs a surfaceOp"},
		{"steering without op", inStep, with(steering(1, "x"), noOp), "E-4", "needs a surfaceOp"},
		{"answer without op", inStep, with(answer(1, 1, "x"), noOp), "E-4", "needs a surfaceOp"},
		{"result without op", entries(openBatch("c1"), []session.Entry{toolCall(1, 1, "c1")}),
			with(toolResult(1, 1, "c1", "x"), noOp), "E-4", "needs a surfaceOp"},
		// E-4: all others must not carry one, nor sources.
		{"chunk with op", inStep, session.Add(messages.AssistantChunk{Turn: 1, Step: 1, Chunk: messages.TextDelta{}}),
			"E-4", "carries a surfaceOp"},
		{"turn/start with op", nil, session.Add(messages.TurnStart{Turn: 1}), "E-4", "carries a surfaceOp"},
		{"tool/call with sources", inStep, with(toolCall(1, 1, "c1"), sources(0)), "E-4", "carries sourceEventSeqs"},
		{"tool/call with empty sources", inStep, with(toolCall(1, 1, "c1"), sources()), "E-4", "carries sourceEventSeqs"},
		{"declared type with op", inStep, session.Add(inTurnEvent{}), "E-4", "carries a surfaceOp"},
		{"declared type with sources", inStep, with(session.LogOnly(inTurnEvent{}), sources(0)), "E-4", "carries"},
		{"unknown type with op", inStep, session.Add(messages.OtherEvent{Name: "x", Raw: `{}`}), "E-4", "carries"},
		{"unknown op", inStep, with(user("x"), func(e *session.Entry) { e.Surface.Kind = 9 }), "E-5", "unknown surfaceOp"},

		// E-5: sources.
		{"sources earlier", inStep, with(user("x"), sources(1, 0)), ok, ""},
		{"source is the event itself", inStep, with(user("x"), sources(2)), "E-5", "not earlier"},
		{"source is later", inStep, with(user("x"), sources(0, 7)), "E-5", "not earlier"},
		{"source is negative", inStep, with(user("x"), sources(-1)), "E-5", "negative"},
		{"source twice in a row", inStep, with(user("x"), sources(1, 1)), "E-5", "named twice"},
		{"source twice apart", inStep, with(user("x"), sources(1, 0, 1)), "E-5", "named twice"},
		{"empty sources of an answer", inStep, answer(1, 1, "x"), ok, ""},
		{"empty sources of a user/message", inStep, with(user("x"), sources()), "E-5", "only an assistant/message"},
		{"empty sources of a result", entries(openBatch("c1"), []session.Entry{toolCall(1, 1, "c1")}),
			with(toolResult(1, 1, "c1", "x"), sources()), "E-5", "only an assistant/message"},

		// E-5: replace.
		{"replace one", toolTurn, replaceUser("r", 1, 1, 1), ok, ""},
		{"replace all", toolTurn, replaceUser("r", 1, 9, 1, 4, 6, 8, 9), ok, ""},
		{"replace with more sources than nodes", toolTurn, replaceUser("r", 1, 4, 0, 1, 2, 4), ok, ""},
		{"replace from a log-only event", toolTurn, replaceUser("r", 0, 4, 0, 1, 4), "E-5", "from seq 0, which is not a node"},
		{"replace to a log-only event", toolTurn, replaceUser("r", 1, 5, 1, 4, 5), "E-5", "to seq 5, which is not a node"},
		{"replace to the future", toolTurn, replaceUser("r", 1, 99, 1, 4), "E-5", "to seq 99"},
		{"replace backwards", toolTurn, replaceUser("r", 4, 1, 1, 4), "E-5", "before it"},
		{"replace without sources", toolTurn, replaceUser("r", 1, 4), "E-5", "without naming it"},
		{"replace without one source", toolTurn, replaceUser("r", 1, 6, 1, 6), "E-5", "replaces seq 4 without naming it"},
		{"replace what was replaced", entries(toolTurn, []session.Entry{replaceUser("r", 1, 4, 1, 4)}),
			replaceUser("r", 1, 6, 1, 6), "E-5", "from seq 1, which is not a node"},
		{"replace a replacement and what follows it", entries(toolTurn, []session.Entry{replaceUser("r", 1, 4, 1, 4)}),
			replaceUser("r", 11, 6, 11, 6), ok, ""}, // order is the surface's, not that of numbers
		{"replace outside a turn", entries(toolTurn, []session.Entry{turnEnd(1)}), replaceUser("r", 1, 1, 1),
			"E-7", "no turn is open"},

		// E-5: a replacing tool/result.
		{"result: content only", toolTurn, replaceResult(1, 1, "c1", "new", 6, nil), ok, ""},
		{"result: with error and meta", toolTurn, replaceResult(1, 1, "c2", "new", 8, meta(`{"k": 1}`)), ok, ""},
		{"result: meta as it is stored", toolTurn, replaceResult(1, 1, "c2", "new", 8, meta(`{"k":1}`)), ok, ""},
		{"result: other meta", toolTurn, replaceResult(1, 1, "c2", "new", 8, meta(`{"k":2}`)), "E-5", "more than the content"},
		{"result: no meta", toolTurn, replaceResult(1, 1, "c2", "new", 8, meta("")), "E-5", "more than the content"},
		{"result: other id", toolTurn, replaceResult(1, 1, "c2", "new", 6, nil), "E-5", "more than the content"},
		{"result: other step", toolTurn, replaceResult(1, 2, "c1", "new", 6, nil), "E-5", "more than the content"},
		{"result: other turn", toolTurn, replaceResult(2, 1, "c1", "new", 6, nil), "E-5", "more than the content"},
		{"result: other isError", toolTurn,
			replaceResult(1, 1, "c1", "new", 6, func(d *messages.ToolResult) { d.IsError = true }), "E-5", "more than"},
		{"result: other code", toolTurn, replaceResult(1, 1, "c2", "new", 8, func(d *messages.ToolResult) {
			d.IsError, d.Error, d.Meta = true, messages.ErrorInfo{Name: "N", Code: "D"}, `{"k":1}`
		}), "E-5", "more than"},
		{"result: for a user/message", toolTurn, replaceResult(1, 1, "c1", "new", 1, nil), "E-5", "exactly one tool/result"},
		{"result: for two results", toolTurn, session.Replace(
			messages.ToolResult{Turn: 1, Step: 1, CallID: "c1", Content: messages.Text("new")}, 6, 8, 6, 8),
			"E-5", "exactly one tool/result"},
		{"result: of an earlier turn", entries(toolTurn, []session.Entry{turnEnd(1), turnStart(2)}),
			replaceResult(1, 1, "c1", "new", 6, nil), ok, ""},
		{"result: between turns", entries(toolTurn, []session.Entry{turnEnd(1)}),
			replaceResult(1, 1, "c1", "new", 6, nil), "E-7", "no turn is open"},
		{"result: replaced again", entries(toolTurn, []session.Entry{replaceResult(1, 1, "c1", "new", 6, nil)}),
			replaceResult(1, 1, "c1", "newer", 11, nil), ok, ""},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			l := logOf(t, c.before...)
			before := stateOf(t, l)
			_, err := l.Append(5, c.last)
			if c.rule == ok {
				if err != nil {
					t.Fatal(err)
				}
				return
			}
			if r := wantRule(t, err, c.rule); !strings.Contains(r.Problem, c.says) {
				t.Errorf("problem %q does not say %q", r.Problem, c.says)
			}
			if after := stateOf(t, l); after != before {
				t.Errorf("a refused append changed the log:\n%+v\n%+v", before, after)
			}
		})
	}
}

// E-6: what the history shows of each surface type.
func TestDerivedHistory(t *testing.T) {
	l := logOf(t, entries(openBatch("c1"), []session.Entry{
		toolCall(1, 1, "c1"),
		session.Add(messages.ToolResult{
			Turn: 1, Step: 1, CallID: "c1", Content: messages.Text("Error: no"), IsError: true,
			Error: messages.ErrorInfo{Name: "N", Code: "C"}, Meta: `{}`,
		}, 5),
		stepEnd(1, 1), steering(1, "also"), stepStart(1, 2), answer(1, 2, ""), stepEnd(1, 2),
	})...)
	got := texts(t, history(t, l))
	want := []string{
		`{"role":"user","content":[{"type":"text","text":"go"}]}`,
		`{"role":"assistant","content":[{"type":"text","text":"ok"},` +
			`{"type":"tool-call","id":"c1","name":"Read","arguments":"{\"path\":\"a\"}"}],` +
			`"provenance":{"provider":"scripted","model":"m"}}`,
		`{"role":"user","content":[{"type":"tool-result","toolCallId":"c1",` +
			`"content":[{"type":"text","text":"Error: no"}],"isError":true}]}`,
		`{"role":"user","content":[{"type":"text","text":"also"}]}`,
		// the empty answer is a node and no message
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("history (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]int64{1, 4, 6, 8, 10}, nodeSeqs(t, l)); diff != "" {
		t.Errorf("nodes (-want +got):\n%s", diff)
	}
	nodes, _ := l.Nodes()
	var shown []int
	var kinds []session.NodeKind
	for _, n := range nodes.All() {
		shown = append(shown, n.Message())
		kinds = append(kinds, n.Kind())
	}
	if diff := cmp.Diff([]int{0, 1, 2, 3, -1}, shown); diff != "" {
		t.Errorf("messages of the nodes (-want +got):\n%s", diff)
	}
	wantKinds := []session.NodeKind{
		session.UserNode, session.AssistantNode, session.ResultNode, session.SteeringNode, session.AssistantNode,
	}
	if diff := cmp.Diff(wantKinds, kinds); diff != "" {
		t.Errorf("kinds (-want +got):\n%s", diff)
	}
}

// E-5, E-6: a replacement stands where the first replaced node stood.
func TestReplaceKeepsThePlace(t *testing.T) {
	l := logOf(t, turnStart(1), user("a"), user("b"), user("c"), user("d"), replaceUser("b+c", 2, 3, 2, 3))
	var got []string
	for _, m := range history(t, l) {
		got = append(got, m.Content.Text())
	}
	if diff := cmp.Diff([]string{"a", "b+c", "d"}, got); diff != "" {
		t.Errorf("history (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]int64{1, 5, 4}, nodeSeqs(t, l)); diff != "" {
		t.Errorf("nodes (-want +got):\n%s", diff)
	}
	// An empty answer in place of a message takes it out of the history.
	must(t, l, stepStart(1, 1), session.Replace(messages.AssistantMessage{Turn: 1, Step: 1}, 5, 5, 5))
	got = nil
	for _, m := range history(t, l) {
		got = append(got, m.Content.Text())
	}
	if diff := cmp.Diff([]string{"a", "d"}, got); diff != "" {
		t.Errorf("history (-want +got):\n%s", diff)
	}
}

// E-5, K-4: an answer that replaces the open step's own asks for its new calls
// only; those that both ask for stay one call.
func TestReplacedAnswerKeepsItsCalls(t *testing.T) {
	l := logOf(t, openBatch("c1")...)
	d := answer(1, 1, "better", "c1", "c2").Data
	must(t, l, session.Replace(d, 4, 4, 4))
	want := []session.PendingCall{{ID: "c1", Seq: -1}, {ID: "c2", Seq: -1}}
	if diff := cmp.Diff(want, l.Pending()); diff != "" {
		t.Errorf("pending (-want +got):\n%s", diff)
	}
}

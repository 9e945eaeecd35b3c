package session_test

import (
	"strconv"
	"strings"
	"testing"

	"github.com/dsh-actor/dsh-actor/messages"
	"github.com/dsh-actor/dsh-actor/session"
	"github.com/google/go-cmp/cmp"
)

// show is a closer in short: what it is and what it refers to.
func show(e messages.Event) string {
	switch d := e.Data.(type) {
	case messages.ToolResult:
		out := "result " + string(d.CallID) + " " + d.Error.Name + "/" + string(d.Error.Code)
		for _, s := range e.Sources.All() {
			out += " src=" + strconv.FormatInt(s, 10)
		}
		return out
	case messages.TurnEnd:
		return "turn/end " + string(d.Reason.Kind)
	}
	return e.Type()
}

// K-3, K-4, SPEC 3.1 "Crash after tool/call".
func TestRepair(t *testing.T) {
	const unknown, never = "ToolOutcomeUnknownError/TOOL_OUTCOME_UNKNOWN", "ToolNotStartedError/TOOL_NOT_STARTED"
	cases := []struct {
		name string
		log  []session.Entry
		want []string
	}{
		{"empty", nil, nil},
		{"balanced", []session.Entry{turnStart(1), user("x"), turnEnd(1)}, nil},
		{"balanced with a record", []session.Entry{turnStart(1), turnEnd(1), session.LogOnly(recordEvent{})}, nil},
		{"open turn", []session.Entry{turnStart(1)}, []string{"turn/end interrupted"}},
		{"between steps", []session.Entry{turnStart(1), stepStart(1, 1), stepEnd(1, 1)}, []string{"turn/end interrupted"}},
		{"chunks without an answer stay", []session.Entry{turnStart(1), stepStart(1, 1), chunk(1, 1, "x")},
			[]string{"step/end", "turn/end interrupted"}},
		{"nothing recorded", openBatch("c1", "c2"),
			[]string{"result c1 " + never, "result c2 " + never, "step/end", "turn/end interrupted"}},
		{"one recorded", entries(openBatch("c1", "c2"), []session.Entry{toolCall(1, 1, "c1")}),
			[]string{"result c1 " + unknown + " src=5", "result c2 " + never, "step/end", "turn/end interrupted"}},
		{"two recorded, one with result", entries(openBatch("c1", "c2", "c3"), []session.Entry{
			toolCall(1, 1, "c1"), toolCall(1, 1, "c2"), toolResult(1, 1, "c1", "x", 5)}),
			[]string{"result c2 " + unknown + " src=6", "result c3 " + never, "step/end", "turn/end interrupted"}},
		{"results out of order", entries(openBatch("c1", "c2"), []session.Entry{
			toolCall(1, 1, "c1"), toolCall(1, 1, "c2"), toolResult(1, 1, "c2", "x", 6)}),
			[]string{"result c1 " + unknown + " src=5", "step/end", "turn/end interrupted"}},
		{"one id, three calls", entries(openBatch("c", "c", "c"), []session.Entry{
			toolCall(1, 1, "c"), toolResult(1, 1, "c", "x", 5), toolCall(1, 1, "c")}),
			[]string{"result c " + unknown + " src=7", "result c " + never, "step/end", "turn/end interrupted"}},
		{"all with results", entries(openBatch("c1"), []session.Entry{
			toolCall(1, 1, "c1"), toolResult(1, 1, "c1", "x", 5), user("context")}),
			[]string{"step/end", "turn/end interrupted"}},
		{"calls of an ended step are left alone", entries(openBatch("c1"), []session.Entry{
			toolCall(1, 1, "c1"), stepEnd(1, 1), stepStart(1, 2)}),
			[]string{"step/end", "turn/end interrupted"}},
		{"a call that no answer asked for", []session.Entry{turnStart(1), stepStart(1, 1), toolCall(1, 1, "c1")},
			[]string{"step/end", "turn/end interrupted"}},
		{"half repaired", entries(openBatch("c1", "c2"), []session.Entry{toolCall(1, 1, "c1"), notStarted(1, 1, "c2")}),
			[]string{"result c1 " + unknown + " src=5", "step/end", "turn/end interrupted"}},
		{"only the last turn", entries(openBatch("c1"), []session.Entry{
			toolCall(1, 1, "c1"), stepEnd(1, 1), turnEnd(1), turnStart(2)}),
			[]string{"turn/end interrupted"}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			l := logOf(t, c.log...)
			last := l.LastTime()
			events, err := session.Repair(l)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, e := range events.All() {
				got = append(got, show(e))
				if e.Time != last {
					t.Errorf("%s has time %d, want the last event's %d", e.Type(), e.Time, last)
				}
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("closers (-want +got):\n%s", diff)
			}
			if _, open := l.OpenTurn(); open {
				t.Error("the turn is still open")
			}
			if err := session.Verify(testTypes(), seqOf(eventsOf(l))); err != nil {
				t.Errorf("the repaired log: %v", err)
			}
			if again, err := session.Repair(l); err != nil || again.Len() != 0 {
				t.Errorf("a second repair: %d events, %v", again.Len(), err)
			}
		})
	}
}

// K-4: the exact events of a crash after the tool/call of the first of two.
func TestRepairEvents(t *testing.T) {
	l := logOf(t, entries(openBatch("c1", "c2"), []session.Entry{toolCall(1, 1, "c1")})...)
	events, err := session.Repair(l)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		`{"type":"tool/result","seq":6,"time":1005,"data":{"turn":1,"step":1,"callId":"c1","content":[{"type":"text",` +
			`"text":"Error: the outcome of this tool call is unknown: the turn was interrupted after the call was recorded ` +
			`and before its result was. It may have taken effect, in whole or in part. Retry it only if it is read-only or ` +
			`idempotent; otherwise verify first what it did."}],"isError":true,` +
			`"error":{"name":"ToolOutcomeUnknownError","code":"TOOL_OUTCOME_UNKNOWN"}},` +
			`"surfaceOp":"append","sourceEventSeqs":[5]}`,
		`{"type":"tool/result","seq":7,"time":1005,"data":{"turn":1,"step":1,"callId":"c2","content":[{"type":"text",` +
			`"text":"Error: this tool call was not started: the turn was interrupted before it could be. It had no effect."}],` +
			`"isError":true,"error":{"name":"ToolNotStartedError","code":"TOOL_NOT_STARTED"}},"surfaceOp":"append"}`,
		`{"type":"step/end","seq":8,"time":1005,"data":{"turn":1,"step":1}}`,
		`{"type":"turn/end","seq":9,"time":1005,"data":{"turn":1,"reason":{"kind":"interrupted"}}}`,
	}
	if diff := cmp.Diff(want, texts(t, events.Slice())); diff != "" {
		t.Errorf("closers (-want +got):\n%s", diff)
	}
	// The turn numbers continue (K-5, T-1).
	must(t, l, turnStart(2))
}

// DESIGN 3 rule 7: the same closers seal a live turn, with the reason that its
// end was classified as.
func TestClosersSeal(t *testing.T) {
	l := logOf(t, entries(openBatch("c1", "c2"), []session.Entry{toolCall(1, 1, "c1")})...)
	closers := session.Closers(l, messages.EndReason{Kind: messages.EndDisposed})
	events, err := l.AppendBatch(7777, closers...)
	if err != nil {
		t.Fatal(err)
	}
	last := events.At(events.Len() - 1)
	if show(last) != "turn/end disposed" || last.Time != 7777 {
		t.Errorf("sealed with %s at %d", show(last), last.Time)
	}
	for _, e := range events.All() {
		if d, ok := e.Data.(messages.ToolResult); ok && !strings.HasPrefix(d.Content.Text(), "Error: ") {
			t.Errorf("result %s reads %q", d.CallID, d.Content.Text())
		}
	}
}

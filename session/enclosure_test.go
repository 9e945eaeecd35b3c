package session_test

import (
	"strings"
	"testing"

	"github.com/dsh-actor/dsh-actor/messages"
	"github.com/dsh-actor/dsh-actor/session"
)

func TestEnclosure(t *testing.T) {
	const ok = ""
	record := func(turn int) session.Entry { return session.LogOnly(recordEvent{Turn: turn}) }
	other := session.LogOnly(messages.OtherEvent{Name: "later/type", Raw: `{"n":1}`})
	cases := []struct {
		name   string
		before []session.Entry
		last   session.Entry
		rule   string // of the refusal
		says   string // part of the refusal
	}{
		// E-7, T-1: turns.
		{"first turn is 1", nil, turnStart(1), ok, ""},
		{"first turn is not 0", nil, turnStart(0), "E-7", "turn 0 cannot follow turn 0"},
		{"first turn is not 2", nil, turnStart(2), "E-7", "turn 2 cannot follow turn 0"},
		{"turns count on", []session.Entry{turnStart(1), turnEnd(1)}, turnStart(2), ok, ""},
		{"turns do not repeat", []session.Entry{turnStart(1), turnEnd(1)}, turnStart(1), "E-7", "cannot follow turn 1"},
		{"turns do not nest", []session.Entry{turnStart(1)}, turnStart(2), "E-7", "turn 1 is still open"},
		{"turn/end needs a turn", nil, turnEnd(1), "E-7", "no turn is open"},
		{"turn/end names the turn", []session.Entry{turnStart(1)}, turnEnd(2), "E-7", "names turn 2, but turn 1"},
		{"turn/end after turn/end", []session.Entry{turnStart(1), turnEnd(1)}, turnEnd(1), "E-7", "no turn is open"},
		{"turn/end needs the step closed", []session.Entry{turnStart(1), stepStart(1, 1)}, turnEnd(1), "E-7",
			"step 1 of turn 1 is still open"},

		// E-7: steps.
		{"step needs a turn", nil, stepStart(1, 1), "E-7", "no turn is open"},
		{"first step is 1", []session.Entry{turnStart(1)}, stepStart(1, 1), ok, ""},
		{"first step is not 2", []session.Entry{turnStart(1)}, stepStart(1, 2), "E-7", "step 2 cannot follow step 0"},
		{"step names the turn", []session.Entry{turnStart(1)}, stepStart(2, 1), "E-7", "names turn 2"},
		{"steps do not nest", []session.Entry{turnStart(1), stepStart(1, 1)}, stepStart(1, 2), "E-7", "still open"},
		{"steps count on", []session.Entry{turnStart(1), stepStart(1, 1), stepEnd(1, 1)}, stepStart(1, 2), ok, ""},
		{"steps do not repeat", []session.Entry{turnStart(1), stepStart(1, 1), stepEnd(1, 1)}, stepStart(1, 1), "E-7",
			"step 1 cannot follow step 1"},
		{"steps start again in the next turn",
			[]session.Entry{turnStart(1), stepStart(1, 1), stepEnd(1, 1), turnEnd(1), turnStart(2)},
			stepStart(2, 1), ok, ""},
		{"step/end needs a step", []session.Entry{turnStart(1)}, stepEnd(1, 1), "E-7", "no step is open"},
		{"step/end names the step", []session.Entry{turnStart(1), stepStart(1, 1)}, stepEnd(1, 2), "E-7", "names step 2"},
		{"step/end names the turn", []session.Entry{turnStart(1), stepStart(1, 1)}, stepEnd(2, 1), "E-7", "of turn 2"},

		// E-8: what lies in the turn.
		{"user/message outside", nil, user("x"), "E-7", "no turn is open"},
		{"user/message between turns", []session.Entry{turnStart(1), turnEnd(1)}, user("x"), "E-7", "no turn is open"},
		{"user/message in the turn", []session.Entry{turnStart(1)}, user("x"), ok, ""},
		{"user/message in the step", []session.Entry{turnStart(1), stepStart(1, 1)}, user("x"), ok, ""},
		{"steering outside", nil, steering(1, "x"), "E-7", "no turn is open"},
		{"steering between steps", []session.Entry{turnStart(1)}, steering(1, "x"), ok, ""},
		{"steering of another turn", []session.Entry{turnStart(1)}, steering(2, "x"), "E-7", "names turn 2"},
		{"prompt/blocked outside", nil, session.LogOnly(messages.PromptBlocked{Reason: "r"}), "E-7", "no turn"},
		{"prompt/blocked", []session.Entry{turnStart(1)}, session.LogOnly(messages.PromptBlocked{Reason: "r"}), ok, ""},
		{"approval/asked outside", nil, session.LogOnly(messages.ApprovalAsked{ID: "a"}), "E-7", "no turn"},
		{"approval/asked", []session.Entry{turnStart(1)}, session.LogOnly(messages.ApprovalAsked{ID: "a"}), ok, ""},
		{"approval/decided outside", nil, session.LogOnly(messages.ApprovalDecided{ID: "a"}), "E-7", "no turn"},
		{"approval/policy outside", nil, session.LogOnly(messages.ApprovalPolicy{Policy: "ask"}), "E-7", "no turn"},

		// E-8: what lies in the step and names it.
		{"request/header outside a step", []session.Entry{turnStart(1)}, header("s", messages.HeaderInitial), "E-7",
			"no step is open"},
		{"chunk outside a step", []session.Entry{turnStart(1)}, chunk(1, 1, "x"), "E-7", "no step is open"},
		{"chunk of another step", []session.Entry{turnStart(1), stepStart(1, 1)}, chunk(1, 2, "x"), "E-7", "names step 2"},
		{"chunk of another turn", []session.Entry{turnStart(1), stepStart(1, 1)}, chunk(2, 1, "x"), "E-7", "of turn 2"},
		{"chunk after the step", []session.Entry{turnStart(1), stepStart(1, 1), stepEnd(1, 1)}, chunk(1, 1, "x"), "E-7",
			"no step is open"},
		{"answer outside a step", []session.Entry{turnStart(1)}, answer(1, 1, "x"), "E-7", "no step is open"},
		{"answer of another step", []session.Entry{turnStart(1), stepStart(1, 1)}, answer(1, 2, "x"), "E-7", "names step 2"},
		{"tool/call outside a step", []session.Entry{turnStart(1)}, toolCall(1, 1, "c1"), "E-7", "no step is open"},
		{"tool/call of another step", []session.Entry{turnStart(1), stepStart(1, 1)}, toolCall(1, 2, "c1"), "E-7",
			"names step 2"},

		// E-7: results need their call.
		{"result of a call", entries(openBatch("c1"), []session.Entry{toolCall(1, 1, "c1")}),
			toolResult(1, 1, "c1", "x", 5), ok, ""},
		{"result without sources", entries(openBatch("c1"), []session.Entry{toolCall(1, 1, "c1")}),
			toolResult(1, 1, "c1", "x"), ok, ""},
		{"result before its call", openBatch("c1"), toolResult(1, 1, "c1", "x"), "E-7", `no tool/call "c1"`},
		{"result of an unknown call", entries(openBatch("c1"), []session.Entry{toolCall(1, 1, "c1")}),
			toolResult(1, 1, "c2", "x"), "E-7", `no tool/call "c2"`},
		{"second result of a call",
			entries(openBatch("c1"), []session.Entry{toolCall(1, 1, "c1"), toolResult(1, 1, "c1", "x")}),
			toolResult(1, 1, "c1", "x"), "E-7", `no tool/call "c1"`},
		{"result of a call of an ended step", // step/end clears pending calls
			entries(openBatch("c1"), []session.Entry{toolCall(1, 1, "c1"), stepEnd(1, 1), stepStart(1, 2)}),
			toolResult(1, 2, "c1", "x"), "E-7", `no tool/call "c1"`},
		{"not-started needs no call", openBatch("c1"), notStarted(1, 1, "c1"), ok, ""},
		{"not-started of an unknown call", openBatch(), notStarted(1, 1, "c1"), ok, ""},
		{"not-started twice", entries(openBatch("c1"), []session.Entry{notStarted(1, 1, "c1")}),
			notStarted(1, 1, "c1"), "E-7", `no tool/call "c1"`},
		{"not-started of a call that has a result",
			entries(openBatch("c1"), []session.Entry{toolCall(1, 1, "c1"), toolResult(1, 1, "c1", "x")}),
			notStarted(1, 1, "c1"), "E-7", `no tool/call "c1"`},
		{"not-started outside a step", []session.Entry{turnStart(1)}, notStarted(1, 1, "c1"), "E-7", "no step is open"},
		{"a repeated id is two calls",
			entries(openBatch("c", "c"), []session.Entry{toolCall(1, 1, "c"), toolCall(1, 1, "c"), toolResult(1, 1, "c", "x")}),
			toolResult(1, 1, "c", "y"), ok, ""},
		{"a repeated id is not three results",
			entries(openBatch("c", "c"), []session.Entry{toolCall(1, 1, "c"), toolCall(1, 1, "c"),
				toolResult(1, 1, "c", "x"), toolResult(1, 1, "c", "y")}),
			toolResult(1, 1, "c", "z"), "E-7", `no tool/call "c"`},

		// Z-19, Z-26: declared types keep their enclosure.
		{"in-step type in the step", []session.Entry{turnStart(1), stepStart(1, 1)}, session.LogOnly(inStepEvent{}), ok, ""},
		{"in-step type in the turn", []session.Entry{turnStart(1)}, session.LogOnly(inStepEvent{}), "E-7", "no step"},
		{"in-turn type in the turn", []session.Entry{turnStart(1)}, session.LogOnly(inTurnEvent{}), ok, ""},
		{"in-turn type outside", nil, session.LogOnly(inTurnEvent{}), "E-7", "no turn"},
		{"record before the first turn", nil, record(0), ok, ""},
		{"record between turns", []session.Entry{turnStart(1), turnEnd(1)}, record(0), ok, ""},
		{"record between turns with a turn", []session.Entry{turnStart(1), turnEnd(1)}, record(1), "E-7",
			"names turn 1, not 0"},
		{"record in the turn", []session.Entry{turnStart(1)}, record(1), ok, ""},
		{"record in the turn without it", []session.Entry{turnStart(1)}, record(0), "E-7", "names turn 0, not 1"},

		// E-8, E-14: types that are not what they say.
		{"undeclared type", []session.Entry{turnStart(1)}, session.LogOnly(undeclared{}), "E-8", "not declared"},
		{"unknown type of another build", nil, other, ok, ""},
		{"unknown type in a step", []session.Entry{turnStart(1), stepStart(1, 1)}, other, ok, ""},
		{"a core type read raw", nil,
			session.LogOnly(messages.OtherEvent{Name: "turn/start", Raw: `{"turn":1}`}), "E-8", "declared as Go type"},
		{"a declared type read raw keeps its enclosure", nil,
			session.LogOnly(messages.OtherEvent{Name: "test/in-turn", Raw: `{}`}), "E-7", "no turn"},
		{"a core name on another type", nil, session.LogOnly(impostor{"turn/start"}), "E-8", "declared as Go type"},
		{"a declared name on another type", nil, session.LogOnly(impostor{"test/record"}), "E-8", "declared as Go type"},
		{"no name", nil, session.LogOnly(messages.OtherEvent{Raw: `{}`}), "E-1", "no type"},
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
			r := wantRule(t, err, c.rule)
			if !strings.Contains(r.Problem, c.says) {
				t.Errorf("problem %q does not say %q", r.Problem, c.says)
			}
			if r.Seq != int64(len(c.before)) || r.Type != c.last.Data.EventType() {
				t.Errorf("names event %q at %d, want %q at %d", r.Type, r.Seq, c.last.Data.EventType(), len(c.before))
			}
			if after := stateOf(t, l); after != before {
				t.Errorf("a refused append changed the log:\n%+v\n%+v", before, after)
			}
			if n := len(eventsOf(l)); n != len(c.before) {
				t.Errorf("%d events, want %d", n, len(c.before))
			}
		})
	}
}

// E-8: every core type has its place; none is treated as a declared one.
func TestEveryCoreTypeIsKnown(t *testing.T) {
	for _, typ := range messages.NewRegistry().Types() {
		inside := []session.Entry{turnStart(1), stepStart(1, 1)}
		e := session.LogOnly(typ.Sample)
		if messages.IsSurfaceType(typ.Name) {
			e = session.Add(typ.Sample)
		}
		outside := session.New(session.Config{})
		_, err := outside.Append(0, e)
		wantRule(t, err, "E-7") // a zero payload fits nowhere in an empty log
		l := logOf(t, inside...)
		if _, err := l.Append(0, e); err != nil {
			wantRule(t, err, "E-7") // at the most it names another turn or step
		}
	}
}

// E-7: the error names rule, type and sequence number.
func TestRuleErrorText(t *testing.T) {
	l := logOf(t, turnStart(1))
	_, err := l.Append(0, turnEnd(3))
	const want = `session event "turn/end" at seq 1 breaks E-7: names turn 3, but turn 1 is open`
	if err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

// K-4, C-5: sources decide which call of a repeated id a result answers.
func TestResultAnswersItsSource(t *testing.T) {
	l := logOf(t, openBatch("c", "c")...)
	must(t, l, toolCall(1, 1, "c"), toolCall(1, 1, "c"), toolResult(1, 1, "c", "second", 6))
	got := l.Pending()
	if len(got) != 1 || got[0] != (session.PendingCall{ID: "c", Seq: 5}) {
		t.Errorf("pending %v, want the first call", got)
	}
}

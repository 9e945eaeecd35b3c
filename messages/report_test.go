package messages

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestReport(t *testing.T) {
	r := Report{Owner: "session s-1"}
	r.Count("turns", 1)
	r.Count("turns", 2)
	r.Count("calls", 0)
	r.Fail(nil)
	if !r.Quiet() || r.Err() != nil {
		t.Errorf("a report of what ended is not quiet: %v", r.Err())
	}
	part := Report{
		Owner: "bridge", Ended: map[string]int{"runs": 3, "turns": 1}, Discarded: []MessageID{"m"},
		Leftovers: []Leftover{{Kind: "tool", Name: "Bash", Session: "s-1", Turn: 4, CallID: "c", PID: 77}, {Kind: "listener", Name: "L"}},
		Errors:    []string{"earlier"}, TookMS: 9,
	}
	r.Merge(part)
	r.Merge(Report{})
	r.Fail(errors.Join(errors.New("flush"), errors.New("close")))
	want := Report{
		Owner: "session s-1", Ended: map[string]int{"runs": 3, "turns": 4}, Discarded: []MessageID{"m"},
		Leftovers: part.Leftovers, Errors: []string{"earlier", "multiple errors [flush; close]"},
	}
	if diff := cmp.Diff(want, r); diff != "" {
		t.Errorf("report (-want +got):\n%s", diff)
	}
	if r.Quiet() {
		t.Error("a report with leftovers is quiet")
	}
	wantErr := `session s-1 did not end quietly: still running: tool "Bash" of session s-1, turn 4, call c, pid 77; still running: listener "L"; earlier; multiple errors [flush; close]`
	if err := r.Err(); err == nil || err.Error() != wantErr {
		t.Errorf("Err()\n got %v\nwant %s", err, wantErr)
	}
	failed := Report{Errors: []string{"x"}}
	if failed.Quiet() || failed.Err() == nil {
		t.Error("a failed report is quiet")
	}
	checkGolden(t, []golden[Report]{
		{Report{Owner: "runtime"}, `{"owner":"runtime","tookMs":0}`},
		{want, `{"owner":"session s-1","ended":{"runs":3,"turns":4},"discarded":["m"],"leftovers":[{"kind":"tool","name":"Bash","session":"s-1","turn":4,"callId":"c","pid":77},{"kind":"listener","name":"L"}],"errors":["earlier","multiple errors [flush; close]"],"tookMs":0}`},
	})
}

// P-28.
func TestResult(t *testing.T) {
	ctx := ListOf(NewContext("p", "c"))
	ok := NewSuccess(ResultFields{Value: `{"a":1}`, Content: Text("a"), Meta: `1`, Contexts: ctx, Message: "ignored", Info: ErrorInfo{"N", "C"}})
	if ok.IsError() || ok.Value() != `{"a":1}` || ok.Content().Text() != "a" || ok.Meta() != `1` || ok.Contexts().Len() != 1 || ok.Message() != "" || !ok.Info().IsZero() {
		t.Errorf("success %+v", ok.Fields())
	}
	bad := NewFailure(ResultFields{Value: `{"a":1}`, Message: "m", Info: ErrorInfo{"N", "C"}})
	if !bad.IsError() || bad.Value() != "" || bad.Content().Text() != "Error: m" || bad.Message() != "m" || bad.Info() != (ErrorInfo{"N", "C"}) || bad.Meta() != "" || bad.Contexts().Len() != 0 {
		t.Errorf("failure %+v", bad.Fields())
	}
	if got := NewFailure(ResultFields{Message: "m", Content: EmptyContent()}); got.Content().Len() != 0 {
		t.Error("content that is present was replaced")
	}
	changed := bad.With(func(f *ResultFields) { f.Content, f.Contexts = Text("x"), ctx })
	if !changed.IsError() || changed.Content().Text() != "x" || changed.Message() != "m" || changed.Contexts().Len() != 1 {
		t.Errorf("changed %+v", changed.Fields())
	}
	if bad.Content().Text() != "Error: m" || bad.Contexts().Len() != 0 {
		t.Error("With changed its receiver")
	}
}

// Z-50.
func TestApprovalOutcome(t *testing.T) {
	for _, c := range []struct {
		answer ApprovalAnswer
		want   string
	}{
		{ApprovalOnce{}, "allowed-once"}, {ApprovalRejected{"r"}, "rejected"}, {ApprovalCancelled{}, "cancelled"}, {ApprovalUnavailable{}, "unavailable"}, {nil, "unavailable"},
	} {
		if got := ApprovalOutcome(c.answer); got != c.want {
			t.Errorf("ApprovalOutcome(%T) = %q, want %q", c.answer, got, c.want)
		}
	}
}

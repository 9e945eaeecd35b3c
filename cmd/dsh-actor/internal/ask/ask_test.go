package ask

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/dsh-actor/dsh-actor/messages"
	"github.com/dsh-actor/dsh-actor/tools/permission"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// typist types lines, one for each read. Before a read it does what before says.
type typist struct {
	lines     []string
	discarded int
	before    func()
}

func (y *typist) Discard() { y.discarded++ }

func (y *typist) Line(ctx context.Context) (string, error) {
	if y.before != nil {
		y.before()
	}
	if ctx.Err() != nil {
		return "", context.Cause(ctx)
	}
	if len(y.lines) == 0 {
		return "", io.EOF
	}
	line := y.lines[0]
	y.lines = y.lines[1:]
	return line, nil
}

var question = permission.Question{
	Approval: "a1", Tool: "Bash", Summary: "rm -rf build", Reason: "the command is not read-only: rm", Origin: messages.AskByMode,
	Suggestions: []permission.Update{{Type: permission.AddRules, Behavior: permission.Allow, Rules: []string{"Bash(rm *)"}}},
}

func TestAnswers(t *testing.T) {
	hook := question
	hook.Suggestions = nil
	for _, tt := range []struct {
		name  string
		q     permission.Question
		lines []string
		want  permission.Answer
		left  int // lines that were not read
	}{
		{"once", question, []string{"y"}, permission.Answer{Kind: permission.AnswerOnce}, 0},
		{"in full", question, []string{" YES "}, permission.Answer{Kind: permission.AnswerOnce}, 0},
		{"always", question, []string{"a"}, permission.Answer{Kind: permission.AnswerSession}, 0},
		{"no", question, []string{"n"}, permission.Answer{Kind: permission.AnswerNo}, 0},
		{"no, and why", question, []string{"n use make clean"}, permission.Answer{Kind: permission.AnswerNo, Reason: "use make clean"}, 0},
		{"nothing is no answer", question, []string{"", "what?", "y", "n"}, permission.Answer{Kind: permission.AnswerOnce}, 1},
		{"always of nothing", hook, []string{"a", "n"}, permission.Answer{Kind: permission.AnswerNo}, 0},
		{"the end of the input", question, nil, permission.Answer{Kind: permission.AnswerNo}, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			in := &typist{lines: tt.lines}
			got, err := New(in, io.Discard, false, nil).Ask(t.Context(), tt.q)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if len(in.lines) != tt.left || in.discarded != 1 {
				t.Errorf("%d lines are left, want %d; typed ahead was discarded %d times", len(in.lines), tt.left, in.discarded)
			}
		})
	}
}

func TestQuestion(t *testing.T) {
	var out bytes.Buffer
	a := New(&typist{lines: []string{"maybe", "y"}}, &out, false, nil)
	if _, err := a.Ask(t.Context(), question); err != nil {
		t.Fatal(err)
	}
	want := "? Bash rm -rf build\n" +
		"  the command is not read-only: rm\n" +
		"  y  yes, once\n" +
		"  a  always in this session: Bash(rm *)\n" +
		"  n  no; words after it tell the model why\n" +
		"  Allow it? [y/a/n]   Allow it? [y/a/n] "
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	out.Reset()
	hook := permission.Question{Tool: "Write", Summary: "x", Suggestions: []permission.Update{{Type: permission.SetMode, Mode: permission.ModeAcceptEdits}}}
	if _, err := New(&typist{}, &out, true, nil).Ask(t.Context(), hook); err != nil {
		t.Fatal(err)
	}
	if got := out.String(); !strings.HasPrefix(got, "\x1b[33m?\x1b[0m \x1b[1mWrite\x1b[0m x\n  y  yes, once\n  a  always in this session: mode acceptEdits\n") || !strings.HasSuffix(got, "\n") {
		t.Errorf("%q", got)
	}
}

// TestCancelled: the question of a call that was cancelled is taken back, while it is
// read and while it waits for another one.
func TestCancelled(t *testing.T) {
	cause := errors.New("cancelled")
	ctx, cancel := context.WithCancelCause(t.Context())
	var out bytes.Buffer
	a := New(&typist{lines: []string{"y"}, before: func() { cancel(cause) }}, &out, false, nil)
	if _, err := a.Ask(ctx, question); !errors.Is(err, cause) {
		t.Errorf("error %v, want %v", err, cause)
	}
	if !strings.HasSuffix(out.String(), "] \n") {
		t.Errorf("the cursor is left behind the question: %q", out.String())
	}
	<-a.turn // somebody else's question is open
	if _, err := a.Ask(ctx, question); !errors.Is(err, cause) {
		t.Errorf("error %v, want %v", err, cause)
	}
	a.turn <- struct{}{}
}

// screen records what is told to it.
type screen struct {
	asked  chan struct{}
	paused int
	now    int
}

func (s *screen) Asked(messages.ApprovalID) <-chan struct{} { return s.asked }
func (s *screen) Pause() func() {
	s.paused++
	s.now++
	return func() { s.now-- }
}

// TestScreen: the question waits until everything before it was shown, and the view
// is off the screen while it is open.
func TestScreen(t *testing.T) {
	s := &screen{asked: make(chan struct{})}
	ctx, cancel := context.WithCancelCause(t.Context())
	cause := errors.New("cancelled")
	cancel(cause)
	in := &typist{lines: []string{"y"}, before: func() {
		if s.now != 1 {
			t.Error("the view was on the screen")
		}
	}}
	a := New(in, io.Discard, false, s)
	if _, err := a.Ask(ctx, question); !errors.Is(err, cause) {
		t.Errorf("before it was shown: error %v, want %v", err, cause)
	}
	close(s.asked)
	if got, err := a.Ask(t.Context(), question); err != nil || got.Kind != permission.AnswerOnce {
		t.Errorf("%v, %v", got, err)
	}
	if s.paused != 1 || s.now != 0 {
		t.Errorf("paused %d times, %d still", s.paused, s.now)
	}
}

// TestOneAtATime: concurrent questions do not mix.
func TestOneAtATime(t *testing.T) {
	open := 0
	in := &typist{lines: []string{"y", "y", "y", "y"}}
	in.before = func() {
		open++
		if open > 1 {
			t.Error("two questions are open")
		}
		open--
	}
	a := New(in, io.Discard, false, nil)
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			if _, err := a.Ask(t.Context(), question); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
}

func TestBrokenTerminal(t *testing.T) {
	broken := errors.New("broken")
	w := writerFunc(func([]byte) (int, error) { return 0, broken })
	if _, err := New(&typist{}, w, false, nil).Ask(t.Context(), question); !errors.Is(err, broken) {
		t.Errorf("error %v, want %v", err, broken)
	}
	in := &typist{before: func() {}}
	a := New(brokenInput{in, broken}, io.Discard, false, nil)
	if _, err := a.Ask(t.Context(), question); !errors.Is(err, broken) {
		t.Errorf("error %v, want %v", err, broken)
	}
}

type brokenInput struct {
	*typist
	err error
}

func (b brokenInput) Line(context.Context) (string, error) { return "", b.err }

type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }

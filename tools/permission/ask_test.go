package permission

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/dsh-actor/dsh-actor/messages"
	"github.com/dsh-actor/dsh-actor/pipeline"
)

// asker answers from a list, in order, and keeps the questions.
type asker struct {
	answers   []Answer
	err       error
	questions []Question
}

func (a *asker) ask(_ context.Context, q Question) (Answer, error) {
	a.questions = append(a.questions, q)
	if a.err != nil {
		return Answer{}, a.err
	}
	answer := a.answers[0]
	a.answers = a.answers[1:]
	return answer, nil
}

// The question has all that a person needs; the answers do what they say (Z-50).
func TestAnswers(t *testing.T) {
	for _, c := range []struct {
		name   string
		answer Answer
		err    error
		want   string
	}{
		{name: "once", answer: Answer{Kind: AnswerOnce}, want: "ran"},
		{name: "session", answer: Answer{Kind: AnswerSession}, want: "ran"},
		{name: "no", answer: Answer{Kind: AnswerNo}, want: `the user rejected tool "Bash"`},
		{name: "no with a reason", answer: Answer{Kind: AnswerNo, Reason: "use pnpm"}, want: "use pnpm"},
		{name: "cancelled", answer: Answer{Kind: AnswerCancelled}, want: `approval for tool "Bash" was cancelled`},
		{name: "nothing", answer: Answer{}, want: "Bash needs approval in the mode default: the command is not read-only: npm is not known to be read-only"},
		{name: "error", err: errors.New("no terminal"), want: "Bash needs approval in the mode default: the command is not read-only: npm is not known to be read-only"},
		{name: "bad update", answer: Answer{Kind: AnswerSession, Update: &Update{Type: AddRules, Rules: []string{"Bash("}}}, want: "Bash needs approval in the mode default: the command is not read-only: npm is not known to be read-only"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newStand(t)
			a := &asker{answers: []Answer{c.answer}, err: c.err}
			cfg := s.config(ModeDefault)
			cfg.Asker = a.ask
			s.install(cfg)
			if got := s.run("Bash npm test"); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
			want := []Question{{
				Approval: "ask-1", Session: "s-1", Call: "c-1", Tool: "Bash", Arguments: `{"command":"npm test"}`, Summary: "npm test",
				Reason: "Bash needs approval in the mode default: the command is not read-only: npm is not known to be read-only",
				Origin: messages.AskByMode,
				Suggestions: []Update{
					{Type: AddRules, Behavior: Allow, Rules: []string{"Bash(npm test)"}},
					{Type: AddRules, Behavior: Allow, Rules: []string{"Bash(npm test *)"}},
				},
			}}
			if diff := cmp.Diff(want, a.questions); diff != "" {
				t.Errorf("questions (-want +got):\n%s", diff)
			}
		})
	}
}

// "Always for this session" holds for the session, for the calls that it names,
// and for no other session.
func TestAlwaysForThisSession(t *testing.T) {
	s := newStand(t)
	a := &asker{answers: []Answer{{Kind: AnswerSession}, {Kind: AnswerNo}, {Kind: AnswerNo}, {Kind: AnswerNo}}}
	cfg := s.config(ModeDefault)
	cfg.Asker = a.ask
	p := s.install(cfg)
	steps := []struct {
		call, want string
		questions  int
	}{
		{"Bash npm test", "ran", 1},
		{"Bash npm test", "ran", 1},
		{"Bash npm test && ls", "ran", 1},
		{"Bash npm install", `the user rejected tool "Bash"`, 2},
	}
	for _, step := range steps {
		if got := s.run(step.call); got != step.want || len(a.questions) != step.questions {
			t.Errorf("%s: %q after %d questions, want %q after %d", step.call, got, len(a.questions), step.want, step.questions)
		}
	}
	s.agent.id = "s-2"
	if got := s.run("Bash npm test"); got == "ran" {
		t.Error("another session was granted it")
	}
	s.agent.id = "s-1"
	// The session's end takes it back (Z-37).
	if err := s.pipeline.Seams().SessionEnd.Run(t.Context(), &pipeline.SessionEnd{Agent: s.agent, Reason: "close"}); err != nil {
		t.Fatal(err)
	}
	if got := s.run("Bash npm test"); got == "ran" {
		t.Error("the grant outlived the session")
	}
	if _, there := p.sessions.Load(messages.SessionID("s-2")); !there {
		t.Error("another session was forgotten")
	}
}

// What a person granted in answer to an ask rule is not asked again; what they
// granted in answer to the mode does not lift an ask rule.
func TestAlwaysAndAskRules(t *testing.T) {
	s := newStand(t)
	a := &asker{}
	cfg := s.config(ModeDefault, "ask Bash(git push *)")
	cfg.Asker = a.ask
	p := s.install(cfg)
	if err := p.Apply("s-1", Update{Type: AddRules, Rules: []string{"Bash(git *)"}}); err != nil {
		t.Fatal(err)
	}
	for _, step := range []struct {
		call   string
		answer *Answer // nil: no question is expected
	}{
		{"Bash git commit", nil},
		{"Bash git push origin", &Answer{Kind: AnswerOnce}},
		{"Bash git push origin", &Answer{Kind: AnswerSession}},
		{"Bash git push origin", nil},
		{"Bash git push --force", &Answer{Kind: AnswerOnce}},
		{"Bash git push origin && git push --force", &Answer{Kind: AnswerOnce}},
	} {
		asked := len(a.questions)
		if step.answer != nil {
			a.answers = []Answer{*step.answer}
			asked++
		}
		if got := s.run(step.call); got != "ran" || len(a.questions) != asked {
			t.Fatalf("%s: %q, %d questions, want %d", step.call, got, len(a.questions), asked)
		}
	}
	if q := a.questions[0]; q.Origin != messages.AskByRule || q.Reason != "Bash needs approval by the rule Bash(git push *)" ||
		cmp.Diff(q.Suggestions, []Update{{Type: AddRules, Behavior: Allow, Rules: []string{"Bash(git push origin)"}}}) != "" {
		t.Errorf("question: %+v", q)
	}
}

// A grant in answer to one ask rule leaves the others in force, also for what only
// reads.
func TestGrantsAndOtherAskRules(t *testing.T) {
	w := newWorld(t)
	p := w.policy(ModeDefault, "ask Bash(npm publish *)", "ask Bash(cat *)", "ask Read(a.txt)")
	for _, rule := range []string{"Bash(npm publish)", "Read(//TOP/out/x)"} {
		if err := p.apply("s-1", Update{Type: AddRules, Rules: []string{w.expand(rule)}}, true); err != nil {
			t.Fatal(err)
		}
	}
	for call, want := range map[string]Behavior{
		"Bash npm publish": Allow, "Bash cat a.txt": Ask, "Bash npm publish && cat a.txt": Ask, "Bash npm publish; npm publish --x": Ask, "Read a.txt": Ask,
		`Glob {"pattern":"a.txt"}`: Ask,
	} {
		if v := w.explain(p, call); v.Behavior != want {
			t.Errorf("%s: %s, want %s (%s)", call, v.Behavior, want, v.Reason)
		}
	}
}

// A hook's ask is not answered by rules, so nothing is suggested for it, and
// "always" is once.
func TestAlwaysForHooks(t *testing.T) {
	s := newStand(t)
	s.decide(messages.ToolAsk{Reason: "sure?", Origin: messages.AskByHook})
	a := &asker{answers: []Answer{{Kind: AnswerSession}, {Kind: AnswerNo}}}
	cfg := s.config(ModeDefault)
	cfg.Asker = a.ask
	s.install(cfg)
	if got := s.run("Bash npm test"); got != "ran" {
		t.Errorf("got %q", got)
	}
	if got := s.run("Bash npm test"); got == "ran" {
		t.Error("a hook's question was answered for ever")
	}
	if a.questions[0].Suggestions != nil {
		t.Errorf("suggestions: %v", a.questions[0].Suggestions)
	}
}

// The person is asked only if no listener of the approval seam answers, wherever
// it stands (Z-50: PermissionRequest hooks).
func TestOtherAnswerers(t *testing.T) {
	for _, late := range []bool{false, true} {
		for _, c := range []struct {
			answer messages.ApprovalAnswer
			want   string
			asked  int
		}{
			{messages.ApprovalOnce{}, "ran", 0},
			{messages.ApprovalRejected{Reason: "hook"}, "hook", 0},
			{nil, "ran", 1}, // has no opinion
		} {
			s := newStand(t)
			a := &asker{answers: []Answer{{Kind: AnswerOnce}}}
			cfg := s.config(ModeDefault)
			cfg.Asker = a.ask
			hook := func(ctx context.Context, _ *pipeline.ApprovalRequest, next nextAnswer) (messages.ApprovalAnswer, error) {
				if c.answer != nil {
					return c.answer, nil
				}
				return next(ctx)
			}
			if late {
				s.install(cfg)
			}
			s.pipeline.Seams().Approval.Use(hook)
			if !late {
				s.install(cfg)
			}
			if got := s.run("Bash npm test"); got != c.want || len(a.questions) != c.asked {
				t.Errorf("late %v, %v: %q after %d questions, want %q after %d", late, c.answer, got, len(a.questions), c.want, c.asked)
			}
		}
	}
}

// Without an answerer an ask is denied with its reason (P-9, Z-50), although the
// policy listens on the seam.
func TestNoAnswerer(t *testing.T) {
	s := newStand(t)
	s.install(s.config(ModeDefault))
	if got, want := s.run("Write a.txt"), "Write needs approval in the mode default: it changes a.txt"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestApply(t *testing.T) {
	w := newWorld(t)
	cfg := w.config(ModeDefault)
	cfg.DisableBypass = true
	p, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		update Update
		call   string
		want   Behavior
	}{
		{Update{Type: AddRules, Rules: []string{"Bash(npm *)", "mcp__srv"}}, "Bash npm x", Allow},
		{Update{Type: AddRules, Behavior: Deny, Rules: []string{"Bash(npm publish *)"}}, "Bash npm publish", Deny},
		{Update{Type: AddRules, Behavior: Ask, Rules: []string{"Read(a.txt)"}}, "Read a.txt", Ask},
		{Update{Type: AddDirectories, Directories: []string{"../extra"}}, "Read ../extra/e.txt", Allow},
		{Update{Type: SetMode, Mode: ModeAcceptEdits}, "Write b.txt", Allow},
	} {
		if before := w.explain(p, c.call); before.Behavior == c.want {
			t.Errorf("%s: %s before", c.call, before.Behavior)
		}
		if err := p.Apply("s-1", c.update); err != nil {
			t.Errorf("%v: %v", c.update, err)
		}
		if after := w.explain(p, c.call); after.Behavior != c.want {
			t.Errorf("%s: %s after %v, want %s", c.call, after.Behavior, c.update, c.want)
		}
	}
	if v := w.explain(p, "mcp__srv__echo"); v.Behavior != Allow {
		t.Errorf("the first update was lost: %v", v)
	}
	if p.Mode("s-1") != ModeAcceptEdits || p.Mode("s-2") != ModeDefault {
		t.Errorf("modes: %s, %s", p.Mode("s-1"), p.Mode("s-2"))
	}
	for _, c := range []struct {
		update Update
		want   string
	}{
		{Update{Type: "removeRules"}, `permission update: unknown type "removeRules"`},
		{Update{Type: AddRules}, "permission update addRules: no rules"},
		{Update{Type: AddRules, Rules: []string{"Read", "Bash("}}, "permission update: allow rule \"Bash(\": malformed rule"},
		{Update{Type: AddRules, Rules: []string{"*"}}, "permission update: allow rule \"*\": a rule that allows must name its tool"},
		{Update{Type: AddRules, Behavior: "perhaps", Rules: []string{"Read"}}, `unknown behavior "perhaps"`},
		{Update{Type: AddDirectories}, "permission update addDirectories: no directories"},
		{Update{Type: SetMode, Mode: "x"}, `unknown permission mode "x"`},
		{Update{Type: SetMode, Mode: ModeBypass}, `permission mode "bypassPermissions" is disabled`},
	} {
		if err := p.Apply("s-1", c.update); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v: %v, want %s", c.update, err, c.want)
		}
	}
	if v := w.explain(p, "Read /etc/passwd"); v.Behavior == Allow {
		t.Error("a part of a bad update was applied")
	}
}

// What "always" suggests: the narrowest first, and each of them answers the next
// such question.
func TestSuggestions(t *testing.T) {
	w := newWorld(t)
	for _, c := range []struct {
		call   string
		origin messages.AskOrigin
		want   []string
	}{
		{"Bash npm run test -- --x", messages.AskByMode, []string{"allow [Bash(npm run test -- --x)]", "allow [Bash(npm run test *)]"}},
		{"Bash git push origin main", messages.AskByMode, []string{"allow [Bash(git push origin main)]", "allow [Bash(git push *)]"}},
		{"Bash cd src && go test ./... && git commit -m 'a (b)'", messages.AskByMode, []string{
			`allow [Bash(go test ./...) Bash(git commit -m 'a \(b\)')]`, "allow [Bash(go test *) Bash(git commit *)]",
		}},
		{"Bash pytest tests", messages.AskByMode, []string{"allow [Bash(pytest tests)]", "allow [Bash(pytest *)]"}},
		{"Bash python -c 'print(1*2)'", messages.AskByMode, []string{`allow [Bash(python -c 'print\(1\*2\)')]`}},
		{"Bash rm -rf build/*", messages.AskByMode, []string{`allow [Bash(rm -rf build/\*)]`}},
		{"Bash sudo ls", messages.AskByMode, []string{"allow [Bash(sudo ls)]"}},
		{"Bash echo $(rm x)", messages.AskByMode, []string{`allow [Bash(echo $\(rm x\))]`}},
		{"Bash npm test $X", messages.AskByMode, []string{"allow [Bash(npm test $X)]"}},
		{"Bash npm test > log", messages.AskByMode, []string{"allow [Bash(npm test > log)]"}},
		{"Bash PATH=. npm test", messages.AskByMode, []string{"allow [Bash(PATH=. npm test)]"}},
		{"Bash f() { x; }; f", messages.AskByMode, []string{`allow [Bash(f\(\) { x; }; f)]`}},
		{"Bash echo )", messages.AskByMode, []string{`allow [Bash(echo \))]`}},
		{"Bash a; b; c; d; e; f", messages.AskByMode, []string{"allow [Bash(a; b; c; d; e; f)]"}},
		{"Bash git push *", messages.AskByMode, []string{`allow [Bash(git push \*)]`, "allow [Bash(git push *)]"}},
		{"Bash git push origin", messages.AskByRule, []string{"allow [Bash(git push origin)]"}},
		{"Bash git push origin", messages.AskByHook, nil},
		{"Bash git push origin", messages.AskByListener, nil},
		{`Bash {"x":1}`, messages.AskByMode, nil},
		{"Bash \x01", messages.AskByMode, nil},
		{"Write new.txt", messages.AskByMode, []string{"allow [Edit(//TOP/work/new.txt)]", "mode acceptEdits"}},
		{"Edit .git/config", messages.AskByMode, []string{"allow [Edit(//TOP/work/.git/config)]"}},
		{"Write ../out/x (1)*.txt", messages.AskByMode, []string{`allow [Edit(//TOP/out/x \(1\)\*.txt)]`, "allow [Edit(//TOP/out/**)]"}},
		{"Read ~/.ssh/id", messages.AskByMode, []string{"allow [Read(//TOP/home/.ssh/id)]", "allow [Read(//TOP/home/.ssh/**)]", "work in [TOP/home/.ssh]"}},
		{"Grep ../out", messages.AskByMode, []string{"allow [Read(//TOP/out/**)]", "work in [TOP/out]"}},
		{"Read /x", messages.AskByMode, []string{"allow [Read(//x)]"}},
		{"mcp__srv__echo", messages.AskByMode, []string{"allow [mcp__srv__echo]"}},
		{"WebFetch", messages.AskByRule, []string{"allow [WebFetch]"}},
	} {
		// A bridge of test and policy: the answer in force must answer the question.
		var rules []string
		mode := ModeDefault
		if c.origin == messages.AskByRule {
			mode = ModeBypass
			rules = []string{"ask Bash(git *)", "ask WebFetch"}
		}
		p := w.policy(mode, rules...)
		request := w.request(c.call)
		updates := p.Suggestions(request, c.origin)
		var got []string
		for _, u := range updates {
			got = append(got, strings.ReplaceAll(strings.ReplaceAll(u.String(), w.top, "TOP"), strings.TrimPrefix(w.top, "/"), "TOP"))
		}
		want := []string{}
		for _, s := range c.want {
			want = append(want, strings.ReplaceAll(s, "//TOP", "/TOP"))
		}
		for i := range got {
			got[i] = strings.ReplaceAll(got[i], "//TOP", "/TOP")
		}
		if diff := cmp.Diff(want, append([]string{}, got...)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.call, diff)
		}
		for i, u := range updates {
			p := w.policy(mode, rules...)
			if before := p.Explain(request); before.Behavior != Ask {
				t.Fatalf("%s: %s before", c.call, before.Behavior)
			}
			if err := p.apply("s-1", u, c.origin == messages.AskByRule); err != nil {
				t.Errorf("%s: %v", u, err)
			}
			if after := p.Explain(request); after.Behavior != Allow {
				t.Errorf("%s: suggestion %d, %s, does not answer it: %s", c.call, i, u, after.Reason)
			}
		}
	}
}

// A summary is one line that does nothing to a terminal.
func TestSummary(t *testing.T) {
	w := newWorld(t)
	for call, want := range map[string]string{
		"Bash ls -la":                       "ls -la",
		"Bash a\nb\tc":                      `a\nb\tc`,
		"Bash echo \x1b[2J\x07":             `echo \u{1b}[2J\u{7}`,
		"Bash echo \u202egnp.exe\u200b":     `echo \u{202e}gnp.exe\u{200b}`,
		"Bash echo 日本 é":                    "echo 日本 é",
		"Bash " + strings.Repeat("é", 300):  strings.Repeat("é", MaxSummary-1) + "…",
		"Read a.txt":                        "a.txt",
		`Grep {"pattern":"x","path":"src"}`: "x in src",
		`Glob {"pattern":"*.go"}`:           "*.go",
		`mcp__srv__echo {"a":"b"}`:          `{"a":"b"}`,
		`Bash {"x":1}`:                      `{"x":1}`,
	} {
		r := w.request(call)
		if got := newSubject(r.Tool, r.Arguments, w.workspace()).summary(); got != want {
			t.Errorf("%q: %q, want %q", call, got, want)
		}
	}
}

// A person's answer is cancelled with the turn (P-11).
func TestAskCancelled(t *testing.T) {
	s := newStand(t)
	cfg := s.config(ModeDefault)
	ctx, cancel := context.WithCancelCause(t.Context())
	cfg.Asker = func(ctx context.Context, _ Question) (Answer, error) {
		cancel(messages.CancelUser)
		<-ctx.Done()
		return Answer{}, fmt.Errorf("gone: %w", context.Cause(ctx))
	}
	s.install(cfg)
	r := s.pipeline.Execute(ctx, pipeline.Input{ID: "c", Name: "Bash", Arguments: `{"command":"npm test"}`, Agent: s.agent})
	if r.Info().Code != messages.CodeAbortedBeforeDispatch {
		t.Errorf("got %q %q", r.Message(), r.Info().Code)
	}
}

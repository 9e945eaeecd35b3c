package permission_test

import (
	"context"
	"fmt"

	"github.com/dsh-actor/dsh-actor/messages"
	"github.com/dsh-actor/dsh-actor/pipeline"
	"github.com/dsh-actor/dsh-actor/tools/permission"
)

// A policy judges calls, also outside of a pipeline.
func ExamplePolicy_Explain() {
	policy, err := permission.New(permission.Config{
		Mode: permission.ModeDefault,
		Rules: []permission.Entry{
			{Behavior: permission.Deny, Rule: "Bash(rm *)"},
			{Behavior: permission.Ask, Rule: "Bash(git push *)"},
			{Behavior: permission.Allow, Rule: "Bash(git *)"},
		},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, command := range []string{"git status", "git commit -m x && git push", "git status; sudo rm -rf /", "make"} {
		verdict := policy.Explain(permission.Request{
			Tool: "Bash", Arguments: `{"command":` + messages.QuoteJSON(command) + `}`, Cwd: "/work",
		})
		fmt.Printf("%s: %s %q\n", command, verdict.Behavior, verdict.Reason)
	}
	// Output:
	// git status: allow ""
	// git commit -m x && git push: ask "Bash needs approval by the rule Bash(git push *)"
	// git status; sudo rm -rf /: deny "permission to use Bash is denied by the rule Bash(rm *)"
	// make: ask "Bash needs approval in the mode default: the command is not read-only: make is not known to be read-only"
}

// A host loads the settings of a project, shows what is wrong with them, and
// installs the policy after its bridges.
func ExampleLoad() {
	cfg, diagnostics, err := permission.Load(permission.LoadOptions{
		Settings: `{"permissions":{"allow":["Bash(make *)"],"deny":["Read(.env"]}}`,
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	cfg.Asker = func(_ context.Context, q permission.Question) (permission.Answer, error) {
		fmt.Println(q.Tool, q.Summary)
		return permission.Answer{Kind: permission.AnswerNo, Reason: "not now"}, nil
	}
	policy, err := permission.New(cfg)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, d := range append(diagnostics, policy.Diagnostics()...) {
		fmt.Println(d)
	}
	p := pipeline.New(pipeline.Config{})
	remove := policy.Install(p)
	defer remove()
	// Output:
	// --settings:1:50: error: deny rule "Read(.env": malformed rule: the rule does not end with a closing parenthesis; it is not in force, and what it was to deny is not held back (/permissions/deny/0)
}

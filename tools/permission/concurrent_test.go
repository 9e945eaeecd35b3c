package permission

import (
	"fmt"
	"sync"
	"testing"

	"github.com/dsh-actor/dsh-actor/messages"
)

// Decisions, reloads, grants and endings at the same time: a deny rule that is
// always there always denies (run with -race).
func TestConcurrentUse(t *testing.T) {
	w := newWorld(t)
	p := w.policy(ModeDefault, "deny Read(.env)", "allow Bash(make *)")
	const rounds = 200
	var wg sync.WaitGroup
	for n := range 4 {
		id := messages.SessionID(fmt.Sprintf("s-%d", n%2))
		wg.Go(func() {
			for i := range rounds {
				r := w.request("Read .env")
				r.Session = id
				if v := p.Explain(r); v.Behavior != Deny {
					t.Errorf("round %d: %+v", i, v)
				}
				r = w.request("Bash cat src/*.go && git status")
				r.Session = id
				if v := p.Explain(r); v.Behavior != Allow {
					t.Errorf("round %d: %+v", i, v)
				}
			}
		})
		wg.Go(func() {
			for i := range rounds {
				switch i % 4 {
				case 0:
					if err := p.Apply(id, Update{Type: AddRules, Rules: []string{fmt.Sprintf("Bash(npm run %d)", i)}}); err != nil {
						t.Error(err)
					}
				case 1:
					if err := p.SetMode(id, Modes()[i/4%len(Modes())]); err != nil {
						t.Error(err)
					}
				case 2:
					if err := p.Replace(w.config(Modes()[i/4%len(Modes())], "deny Read(.env)", "allow Bash(make *)")); err != nil {
						t.Error(err)
					}
				default:
					p.Forget(id)
				}
			}
		})
	}
	wg.Wait()
}

// No grant is lost when several are given at the same time.
func TestConcurrentGrants(t *testing.T) {
	w := newWorld(t)
	p := w.policy(ModeDontAsk)
	var wg sync.WaitGroup
	const n = 20
	for i := range n {
		wg.Go(func() {
			if err := p.Apply("s-1", Update{Type: AddRules, Rules: []string{fmt.Sprintf("Bash(npm run %d)", i)}}); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	for i := range n {
		if v := w.explain(p, fmt.Sprintf("Bash npm run %d", i)); v.Behavior != Allow {
			t.Errorf("grant %d is lost", i)
		}
	}
}

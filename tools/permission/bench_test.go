package permission

import (
	"testing"

	"github.com/dsh-actor/dsh-actor/pipeline"
)

// typicalRules are as people have them.
var typicalRules = []string{
	"deny Read(.env)", "deny Read(secrets/**)", "deny Bash(rm -rf *)", "deny Bash(curl *)", "ask Bash(git push *)",
	"allow Bash(npm run *)", "allow Bash(go test *)", "allow Bash(git commit *)", "allow Edit(src/**)", "allow mcp__srv",
}

var typicalCalls = []struct{ name, call string }{
	{"plain", "Bash git status"},
	{"rule", "Bash go test ./..."},
	{"file", "Bash cat src/main.go"},
	{"compound", "Bash cd src && go test ./... 2>&1 | tail -20"},
	{"heredoc", "Bash git commit -m \"$(cat <<'EOF'\nSubject\n\nBody of it.\nEOF\n)\""},
	{"read", "Read TOP/work/src/main.go"},
	{"edit", "Edit TOP/work/src/main.go"},
	{"mcp", "mcp__srv__echo"},
}

// The whole decision: deny rules, mode and allow rules, ask rules.
func BenchmarkDecide(b *testing.B) {
	w := newWorld(b)
	for _, c := range typicalCalls {
		b.Run(c.name, func(b *testing.B) {
			p := w.policy(ModeDefault, typicalRules...)
			r := w.request(c.call)
			if v := p.Explain(r); v.Behavior != Allow {
				b.Fatalf("%+v", v)
			}
			b.ReportAllocs()
			for b.Loop() {
				p.Explain(r)
			}
		})
	}
	b.Run("no rules", func(b *testing.B) {
		p := w.policy(ModeDefault)
		r := w.request("Bash git status")
		b.ReportAllocs()
		for b.Loop() {
			p.Explain(r)
		}
	})
}

// What the policy adds to a call through the pipeline, where up to three listeners
// judge it.
func BenchmarkPipeline(b *testing.B) {
	for _, c := range typicalCalls {
		for _, installed := range []bool{false, true} {
			name := c.name + "/without"
			if installed {
				name = c.name + "/with"
			}
			b.Run(name, func(b *testing.B) {
				s := newStand(b)
				if installed {
					s.install(s.config(ModeDefault, typicalRules...))
				}
				r := s.request(c.call)
				in := pipeline.Input{ID: "c", Name: r.Tool, Arguments: string(r.Arguments), Agent: s.agent}
				b.ReportAllocs()
				for b.Loop() {
					if r := s.pipeline.Execute(b.Context(), in); r.IsError() {
						b.Fatal(r.Message())
					}
				}
			})
		}
	}
}

func BenchmarkParseScript(b *testing.B) {
	for _, c := range typicalCalls {
		if c.call[:4] != "Bash" {
			continue
		}
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				parseScript(c.call[5:])
			}
		})
	}
}

//go:build unix

package main

import (
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// stream are the flags of a program that reads lines.
var stream = []string{"--output-format", "stream-json", "--verbose", "--include-partial-messages", "--permission-mode", "bypassPermissions"}

// phase is a place in a turn at which a signal can come.
type phase struct {
	scenario string
	// reach returns when the program is in the phase.
	reach func(*process)
	// What SPEC table R and the log say then.
	terminal, stop string
	tail           []string // the last events of the log
}

func phases() map[string]phase {
	return map[string]phase{
		"streaming": {
			scenario: `turns: [{text: "I begin and do not", hang: true}]`,
			reach:    func(p *process) { p.line(`"text_delta"`) },
			terminal: `"aborted_streaming"`, stop: "absent",
			tail: []string{"step/end", "turn/end"},
		},
		"tool": {
			scenario: `turns: [{text: "Let me.", tools: [{name: Bash, input: {command: "echo > up; sleep 1000"}}, {name: Glob, input: {pattern: x}}]}]`,
			reach:    func(p *process) { p.await("up") },
			terminal: `"aborted_tools"`, stop: `"tool_use"`,
			tail: []string{"tool/call", "tool/result", "tool/call", "tool/result", "step/end", "turn/end"},
		},
		"background": {
			scenario: `turns: [{tools: [{name: Bash, input: {command: "sleep 1000 & sleep 1000 </dev/null >/dev/null 2>&1 & setsid sleep 1000 & echo > up; wait"}}]}]`,
			reach:    func(p *process) { p.await("up") },
			terminal: `"aborted_tools"`, stop: `"tool_use"`,
			tail: []string{"tool/call", "tool/result", "step/end", "turn/end"},
		},
		"retry": {
			scenario: `turns: [{error: {message: busy, status: 529, code: OVERLOADED, retryAfter: 60s}}]`,
			reach:    func(p *process) { p.line(`"api_retry"`) },
			terminal: `"aborted_streaming"`, stop: "absent",
			tail: []string{"step/start", "request/header", "step/end", "llm/retry", "turn/end"},
		},
	}
}

// TestSignals sends each signal in each phase: exit code, result line, log, and no
// process is left (table R; DESIGN 3, rule 6).
func TestSignals(t *testing.T) {
	for name, ph := range phases() {
		for _, s := range []struct {
			signal syscall.Signal
			exit   int
		}{{syscall.SIGINT, 0}, {syscall.SIGTERM, 143}, {syscall.SIGHUP, 129}} {
			t.Run(name+"/"+s.signal.String(), func(t *testing.T) {
				p := start(t, ph.scenario, append(stream, "hi")...).begin().closeStdin()
				ph.reach(p)
				p.signal(s.signal)
				if exit := p.end(); exit != s.exit {
					t.Errorf("exit code %d, want %d; standard error: %s", exit, s.exit, p.stderr.String())
				}
				for field, want := range map[string]string{
					"type": `"result"`, "subtype": `"error_during_execution"`, "is_error": "true", "result": "absent",
					"terminal_reason": ph.terminal, "stop_reason": ph.stop, "dsh.end.kind": `"aborted"`,
				} {
					if got := p.field(field); got != want {
						t.Errorf("%s is %s, want %s", field, got, want)
					}
				}
				events := p.events()
				if diff := cmp.Diff(ph.tail, events[max(0, len(events)-len(ph.tail)):]); diff != "" {
					t.Errorf("end of the log (-want +got):\n%s", diff)
				}
				if p.stderr.String() != "" {
					t.Errorf("standard error: %s", p.stderr.String())
				}
			})
		}
	}
}

// TestSignalBetweenTurns: there is nothing to cancel, and nothing to report.
func TestSignalBetweenTurns(t *testing.T) {
	for _, s := range []struct {
		signal syscall.Signal
		exit   int
	}{{syscall.SIGINT, 0}, {syscall.SIGTERM, 143}} {
		t.Run(s.signal.String(), func(t *testing.T) {
			p := start(t, `turns: [{text: one}, {text: two}]`, append(stream, "--input-format", "stream-json")...).begin()
			p.say(`{"type":"user","message":{"role":"user","content":"hi"}}`)
			p.line(`"type":"result"`)
			before := p.count
			p.signal(s.signal)
			if exit := p.end(); exit != s.exit {
				t.Errorf("exit code %d, want %d", exit, s.exit)
			}
			if p.count != before {
				t.Errorf("%d more lines: %s", p.count-before, p.last)
			}
		})
	}
}

// TestSignalBeforePrompt: the session is open, and nobody has said anything.
func TestSignalBeforePrompt(t *testing.T) {
	p := start(t, `turns: [{text: one}]`, append(stream, "--input-format", "stream-json")...).begin()
	p.line(`"subtype":"init"`)
	p.signal(syscall.SIGTERM)
	if exit := p.end(); exit != 143 {
		t.Errorf("exit code %d, want 143", exit)
	}
	if p.count != 1 {
		t.Errorf("%d lines, the last %s", p.count, p.last)
	}
}

// TestSignalDropsQueue: prompts that wait behind the cancelled one are dropped.
func TestSignalDropsQueue(t *testing.T) {
	p := start(t, `turns: [{text: "I do not", hang: true}]`, append(stream, "--input-format", "stream-json", "--replay-user-messages")...).begin()
	for range 3 {
		p.say(`{"type":"user","message":{"role":"user","content":"hi"}}`)
	}
	for _, pattern := range []string{"isReplay", "isReplay", "isReplay", "text_delta"} {
		p.seen(pattern)
	}
	p.signal(syscall.SIGINT)
	if exit := p.end(); exit != 0 {
		t.Errorf("exit code %d, want 0", exit)
	}
	if n := strings.Count(strings.Join(p.events(), " "), "turn/start"); n != 1 {
		t.Errorf("%d turns, want 1", n)
	}
}

// TestInterruptRequest: who talks over standard input can cancel a turn and go on.
func TestInterruptRequest(t *testing.T) {
	p := start(t, `turns: [{match: second, text: two}, {match: first, text: "I do not", hang: true}]`, append(stream, "--input-format", "stream-json")...).begin()
	p.say(`{"type":"user","message":{"role":"user","content":"first"}}`)
	p.line(`"text_delta"`)
	p.say(`{"type":"user","message":{"role":"user","content":"second"}}`)
	p.say(`{"type":"control_request","request_id":"r1","request":{"subtype":"interrupt"}}`)
	p.line(`"terminal_reason":"aborted_streaming"`)
	p.line(`"result":"two"`)
	p.closeStdin()
	if exit := p.end(); exit != 0 {
		t.Errorf("exit code %d, want 0: that of the last turn", exit)
	}
}

// TestGrace: a command that minds SIGTERM is killed after its grace, and the turn ends
// as aborted all the same (Z-9).
func TestGrace(t *testing.T) {
	p := start(t, `turns: [{tools: [{name: Bash, input: {command: "trap 'echo > told' TERM; exec 3<>wait; echo > up; while :; do read -r -u 3 x; done"}}]}]`, append(stream, "hi")...).begin().closeStdin()
	p.await("up")
	p.signal(syscall.SIGINT)
	p.await("told")
	if exit := p.end(); exit != 0 || p.field("terminal_reason") != `"aborted_tools"` {
		t.Errorf("exit code %d, %s", exit, p.last)
	}
}

// TestSecondSignal: nobody wants to wait for the grace. What runs is killed, the turn
// is sealed, and the exit code is that of a closed session.
func TestSecondSignal(t *testing.T) {
	p := start(t, `turns: [{tools: [{name: Bash, input: {command: "trap 'echo > told' TERM; exec 3<>wait; echo > up; while :; do read -r -u 3 x; done"}}]}]`, append(stream, "hi")...).begin().closeStdin()
	p.await("up")
	p.signal(syscall.SIGINT)
	p.await("told")
	began := time.Now()
	p.signal(syscall.SIGINT)
	exit := p.end()
	if took := time.Since(began); took > 2*time.Second {
		t.Errorf("it took %v after the second signal", took)
	}
	if exit != 1 || p.field("terminal_reason") != `"aborted"` || p.field("dsh.end.kind") != `"disposed"` {
		t.Errorf("exit code %d, %s", exit, p.last)
	}
	if !strings.Contains(p.stderr.String(), `still running: tool "Bash"`) {
		t.Errorf("standard error does not name what was left: %s", p.stderr.String())
	}
}

// TestBrokenPipe: nobody reads the output any more. The turn is cancelled, and no
// process is left.
func TestBrokenPipe(t *testing.T) {
	p := start(t, `
turns:
  - text: This is a line that nobody will read, which shows when the next one is written.
    tools: [{name: Bash, input: {command: "sleep 1000 & echo > up; read go < wait"}}]
  - text: done`, append(stream, "hi")...)
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	p.await("up")
	if err := out.Close(); err != nil {
		t.Fatal(err)
	}
	p.release("wait")
	if err := p.cmd.Wait(); p.cmd.ProcessState.ExitCode() != 1 {
		t.Errorf("%v; standard error: %s", err, p.stderr.String())
	}
	if !strings.Contains(p.stderr.String(), "broken pipe") {
		t.Errorf("standard error: %s", p.stderr.String())
	}
}

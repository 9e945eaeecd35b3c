// Package proctest lets a test prove that it leaves no process behind.
//
// A process counts as started by the test if it is a descendant of the test
// binary, or (on Linux) if it carries the mark that the test binary puts into
// its own environment and that [proc.Owner] puts into that of its children:
// so a daemon that gave itself another parent is found too. One that cleared
// its environment and left its parent is not found.
package proctest

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/dsh-actor/dsh-actor/internal/proc"
	"github.com/dsh-actor/dsh-actor/internal/proc/ptable"
)

// VerifyNone fails the test if, at its end, a process is alive that was
// started since the call. It does not wait: what the test started must be gone
// when the test is. The processes are then killed, so that they are not found
// again by the next test.
//
// Call it first, so that it looks after all other cleanups. Processes of tests
// that run in parallel are taken for the test's own.
func VerifyNone(t testing.TB) {
	t.Helper()
	markSelf()
	before, err := started()
	if err != nil {
		t.Fatalf("look for processes: %v", err)
	}
	t.Cleanup(func() {
		for _, p := range leftover(t.Errorf, before) {
			t.Errorf("process left behind: %s", describe(p))
		}
	})
}

// M is what [testing.M] can do.
type M interface{ Run() int }

// Main wraps the tests of a package: after they have run, it fails if any of
// their processes is alive. It fits goleak.VerifyTestMain:
//
//	func TestMain(m *testing.M) { goleak.VerifyTestMain(proctest.Main(m)) }
func Main(m M) M { return main{m} }

type main struct{ m M }

func (w main) Run() int {
	markSelf()
	code := w.m.Run()
	complain := func(format string, args ...any) { fmt.Fprintf(os.Stderr, "proctest: "+format+"\n", args...) }
	for _, p := range leftover(complain, nil) {
		complain("process left behind: %s", describe(p))
		code = max(code, 1)
	}
	return code
}

// leftover returns what was started and was not there before, and ends it.
func leftover(complain func(string, ...any), before []ptable.Proc) []ptable.Proc {
	now, err := started()
	if err != nil {
		complain("look for processes: %v", err)
		return nil
	}
	now = slices.DeleteFunc(now, func(p ptable.Proc) bool {
		return slices.ContainsFunc(before, func(b ptable.Proc) bool { return b.ID == p.ID })
	})
	for _, p := range now {
		if ptable.Running(p.ID) {
			if h, err := os.FindProcess(p.PID); err == nil {
				_ = h.Kill()
				_ = h.Release()
			}
		}
	}
	return now
}

// started lists the live processes that this one has started, by parent or by
// mark.
func started() ([]ptable.Proc, error) {
	tab, err := ptable.Read()
	if err != nil {
		return nil, err
	}
	var list []ptable.Proc
	seen := make(map[int]bool)
	add := func(p ptable.Proc) bool {
		if seen[p.PID] {
			return false
		}
		seen[p.PID] = true
		list = append(list, p)
		return true
	}
	tab.Descend(tab.Self().PID, add)
	for pid, value := range tab.Marks(proc.DefaultMark) {
		if p, _ := tab.Lookup(pid); ours(value) && add(p) {
			tab.Descend(pid, add)
		}
	}
	slices.SortFunc(list, func(a, b ptable.Proc) int { return a.PID - b.PID })
	return list, nil
}

// selfMark begins every mark that this process gives out.
func selfMark() string { return strconv.Itoa(os.Getpid()) + "-" }

func ours(value string) bool {
	for mark := range strings.SplitSeq(value, ";") {
		if strings.HasPrefix(mark, selfMark()) {
			return true
		}
	}
	return false
}

// markSelf puts the mark into this process's environment, which is what
// children inherit that are not started by a proc.Owner.
func markSelf() {
	value := os.Getenv(proc.DefaultMark)
	if ours(value) {
		return
	}
	if value != "" {
		value += ";"
	}
	_ = os.Setenv(proc.DefaultMark, value+selfMark()+"test")
}

func describe(p ptable.Proc) string {
	return fmt.Sprintf("pid %d (%s), parent %d, group %d, session %d", p.PID, p.Name, p.PPID, p.PGID, p.SID)
}

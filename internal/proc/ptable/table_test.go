package ptable

import (
	"os"
	"os/exec"
	"runtime"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestReadShowsOurselves(t *testing.T) {
	tab, err := Read()
	if err != nil {
		t.Fatal(err)
	}
	self := tab.Self()
	if self.PID != os.Getpid() || self.PPID != os.Getppid() || self.Start == 0 || self.Dead {
		t.Errorf("we are %+v", self)
	}
	if !tab.Alive(self.ID) || tab.Alive(ID{PID: self.PID, Start: self.Start + 1}) {
		t.Error("Alive does not go by the identity")
	}
	if now, ok := Now(self.PID); !ok || now.ID != self.ID || !Running(self.ID) || Running(ID{PID: self.PID}) {
		t.Errorf("now we are %+v", now)
	}
	n := 0
	for range tab.All() {
		n++
	}
	if n != tab.Len() || n < 2 {
		t.Errorf("%d rows of %d", n, tab.Len())
	}
}

func TestReadShowsChildren(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no cat")
	}
	cmd := exec.Command("cat")
	cmd.Env = append(os.Environ(), "PTABLE_TEST=a=b")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	tab, err := Read()
	if err != nil {
		t.Fatal(err)
	}
	var below []int
	tab.Descend(os.Getpid(), func(p Proc) bool { below = append(below, p.PID); return true })
	if !cmp.Equal(below, []int{cmd.Process.Pid}) {
		t.Errorf("below us: %v, want %d", below, cmd.Process.Pid)
	}
	if runtime.GOOS == "linux" {
		if diff := cmp.Diff(map[int]string{cmd.Process.Pid: "a=b"}, tab.Marks("PTABLE_TEST")); diff != "" {
			t.Errorf("marks (-want +got):\n%s", diff)
		}
	}
	id := tab.procs[cmd.Process.Pid].ID
	in.Close()
	if err := cmd.Wait(); err != nil {
		t.Fatal(err)
	}
	if Running(id) {
		t.Error("it runs after it was reaped")
	}
	if !tab.Alive(id) {
		t.Error("a table has changed")
	}
}

func TestDescendLeavesOut(t *testing.T) {
	proc := func(pid, ppid int) Proc { return Proc{ID: ID{PID: pid}, PPID: ppid} }
	tab := New(1, map[int]Proc{1: proc(1, 0), 2: proc(2, 1), 3: proc(3, 2), 4: proc(4, 3), 5: {ID: ID{PID: 5}, PPID: 2, Dead: true}})
	var got []int
	tab.Descend(1, func(p Proc) bool { got = append(got, p.PID); return p.PID != 3 })
	if !cmp.Equal(got, []int{2, 3}) {
		t.Errorf("visited %v", got)
	}
}

//go:build unix

package proc

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/dsh-actor/dsh-actor/internal/proc/ptable"
)

const me = 100

// row is a process: id, start, parent, group, session.
func row(pid int, start uint64, ppid, pgid, sid int) ptable.Proc {
	return ptable.Proc{ID: ptable.ID{PID: pid, Start: start}, PPID: ppid, PGID: pgid, SID: sid}
}

func table(rows ...ptable.Proc) *ptable.Table {
	procs := map[int]ptable.Proc{
		1:  row(1, 1, 0, 1, 1),
		me: row(me, 5, 1, me, me),
	}
	for _, r := range rows {
		procs[r.PID] = r
	}
	return ptable.New(me, procs)
}

func foundPIDs(f *finder) map[*tree][]int {
	f.byGroup()
	f.byParent()
	got := make(map[*tree][]int)
	for _, p := range f.list {
		got[p.tree] = append(got[p.tree], p.PID)
	}
	for _, pids := range got {
		slices.Sort(pids)
	}
	return got
}

func TestFind(t *testing.T) {
	// Trees without a handle on their leader: what is found by numbers only.
	running := func(pid int) *tree { return &tree{pid: pid} }
	over := func(pid int, known ...ptable.Proc) *tree {
		t := &tree{pid: pid, reaped: true}
		for _, p := range known {
			t.remember(p.ID)
		}
		return t
	}
	dead := func(p ptable.Proc) ptable.Proc { p.Dead = true; return p }

	for _, tc := range []struct {
		name string
		tree *tree
		seen []ptable.Proc
		rows []ptable.Proc
		want []int
	}{
		{
			name: "group, session and descendants, not the neighbours",
			tree: running(200),
			rows: []ptable.Proc{
				row(200, 10, me, 200, 200),
				row(201, 11, 200, 200, 200), // in the group
				row(202, 11, 1, 200, 200),   // in the group, lost its parent
				row(203, 11, 1, 203, 200),   // in the session, lost its parent
				row(204, 11, 201, 204, 204), // left by setsid
				row(205, 12, 204, 205, 205), // and again
				row(300, 10, me, 300, 300),  // another run
				row(301, 10, 300, 300, 300),
				row(302, 10, 1, 302, 302),
			},
			want: []int{200, 201, 202, 203, 204, 205},
		},
		{
			name: "the ended are not found, and hide nobody",
			tree: running(200),
			rows: []ptable.Proc{dead(row(200, 10, me, 200, 200)), row(201, 11, 1, 200, 200), dead(row(202, 11, 1, 200, 200))},
			want: []int{201},
		},
		{
			name: "the host is never found, nor what it is in",
			tree: running(200),
			rows: []ptable.Proc{row(200, 10, me, 200, 200), row(me, 5, 200, 200, 200)},
			want: []int{200},
		},
		{
			name: "the number of a reaped leader was given away",
			tree: over(200),
			rows: []ptable.Proc{row(200, 99, 1, 200, 200), row(201, 99, 200, 200, 200)},
		},
		{
			name: "the number of a reaped leader was given away, and that has ended too",
			tree: over(200),
			rows: []ptable.Proc{row(201, 99, 1, 200, 200)},
		},
		{
			name: "a survivor of the group vouches for the group",
			tree: over(200, row(201, 11, 1, 200, 200)),
			rows: []ptable.Proc{row(201, 11, 1, 200, 200), row(202, 50, 1, 200, 200)},
			want: []int{201, 202},
		},
		{
			name: "a survivor whose number was given away vouches for nothing",
			tree: over(200, row(201, 11, 1, 200, 200)),
			rows: []ptable.Proc{row(201, 99, 1, 200, 200), row(202, 50, 1, 200, 200)},
		},
		{
			name: "one that left is known by its identity, and leads others",
			tree: over(200, row(250, 11, 1, 250, 250)),
			rows: []ptable.Proc{row(250, 11, 1, 250, 250), row(251, 12, 1, 251, 250), row(252, 12, 251, 252, 252)},
			want: []int{250, 251, 252},
		},
		{
			name: "one that left and ended long ago leads nobody",
			tree: over(200, row(250, 11, 1, 250, 250)),
			rows: []ptable.Proc{row(251, 99, 1, 251, 250)},
		},
		{
			name: "one that ended a moment ago still leads",
			tree: over(200),
			seen: []ptable.Proc{row(200, 10, me, 200, 200), row(250, 11, 1, 250, 250)},
			rows: []ptable.Proc{row(201, 11, 1, 200, 200), row(251, 12, 1, 251, 250)},
			want: []int{201, 251},
		},
		{
			name: "one that ended a moment ago, and whose number was given away, does not",
			tree: over(200),
			seen: []ptable.Proc{row(250, 11, 1, 250, 250)},
			rows: []ptable.Proc{row(250, 99, 1, 250, 250), row(251, 99, 250, 250, 250)},
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			seen := make(map[ptable.ID]*target)
			for _, p := range tc.seen {
				seen[p.ID] = &target{tree: tc.tree}
			}
			fresh := map[*tree]bool{tc.tree: !tc.tree.reaped}
			f := newFinder(table(tc.rows...), []*tree{tc.tree}, fresh, nil, seen)
			if diff := cmp.Diff(tc.want, foundPIDs(f)[tc.tree]); diff != "" {
				t.Errorf("process ids (-want +got):\n%s", diff)
			}
		})
	}
}

// Two trees in one reading keep their processes apart.
func TestFindTellsTreesApart(t *testing.T) {
	a, b := &tree{pid: 200}, &tree{pid: 300}
	f := newFinder(table(
		row(200, 10, me, 200, 200), row(201, 10, 200, 201, 201),
		row(300, 10, me, 300, 300), row(301, 10, 300, 301, 301),
	), []*tree{a, b}, map[*tree]bool{a: true, b: true}, nil, nil)
	got := foundPIDs(f)
	if diff := cmp.Diff([]int{200, 201}, got[a]); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]int{300, 301}, got[b]); diff != "" {
		t.Error(diff)
	}
}

// A reading that was under way when it was asked for does not count; those who
// wait share the next.
func TestSnapshotsAreShared(t *testing.T) {
	var s snapshots
	s.reading.Lock() // a reading is under way
	const n = 20
	tables := make(chan *ptable.Table, n)
	for range n {
		go func() {
			tab, err := s.take()
			if err != nil {
				t.Error(err)
			}
			tables <- tab
		}()
	}
	for { // until all that can join have joined
		s.mu.Lock()
		waiting := s.next != nil
		s.mu.Unlock()
		if waiting {
			break
		}
	}
	s.reading.Unlock()
	distinct := make(map[*ptable.Table]bool)
	for range n {
		distinct[<-tables] = true
	}
	// Those that came while the shared reading was under way had another.
	if len(distinct) > 3 {
		t.Errorf("%d readings for %d callers", len(distinct), n)
	}
}

// Where there is no process table, the group is reached and its end awaited.
func TestEndBlind(t *testing.T) {
	o := New(Config{KillWait: 5 * time.Second})
	for _, tc := range []struct {
		name, command string
		grace         time.Duration
		killed        int
	}{
		{"obeys", `echo ready; exec sleep 300`, 10 * time.Second, 0},
		{"does not obey", `trap "" TERM; echo ready; sleep 300 & sleep 300`, 200 * time.Millisecond, 1},
		{"at once", `echo ready; exec sleep 300`, 0, 1},
	} {
		t.Run(tc.name, func(t *testing.T) {
			ready := make(chan struct{}, 9)
			spec := Spec{Shell: []string{"/bin/sh", "-c"}, Command: tc.command}
			spec.Stdout.Tee = teeFunc(func() { ready <- struct{}{} })
			p, err := o.Start(context.Background(), spec)
			if err != nil {
				t.Fatal(err)
			}
			<-ready
			e := &sequence{shared: o.shared, trees: []*tree{p.tree}}
			r := e.blind(nil, tc.grace <= 0, tc.grace)[p.tree]
			if r.found != 1 || r.killed != tc.killed || len(r.left) > 0 {
				t.Errorf("%+v", r)
			}
			if out := p.Wait(); out.Signal == 0 {
				t.Errorf("it was not signalled: %+v", out)
			}
		})
	}
	o.Drain(context.Background(), 0)
}

type teeFunc func()

func (f teeFunc) Write(b []byte) (int, error) { f(); return len(b), nil }

func BenchmarkSnapshot(b *testing.B) {
	b.ReportAllocs()
	var s snapshots
	var n int
	for b.Loop() {
		tab, err := s.take()
		if err != nil {
			b.Fatal(err)
		}
		tab.Marks(DefaultMark)
		n = tab.Len()
	}
	b.ReportMetric(float64(n), "processes")
}

package ptable

import (
	"iter"
	"maps"
	"os"
	"sync"
)

// ID identifies a process for as long as the machine runs: a process id that
// is given away again comes with another start time. The unit of Start is the
// system's own (clock ticks on Linux, microseconds on Darwin, 100 ns on
// Windows); it is only ever compared.
type ID struct {
	PID   int
	Start uint64
}

// Proc is one row of a [Table].
type Proc struct {
	ID
	PPID int
	PGID int // 0 where the system has no process groups
	SID  int // 0 where it is not known
	// Dead is set for a process that has ended and waits to be reaped by its
	// parent. It holds no resources but its process id.
	Dead bool
	// Exiting is set for a process that is on its way there and runs none of
	// its program any more (Linux).
	Exiting bool
	// Name is the program's short name, as the system gives it.
	Name string
}

// Table is one reading of the process table.
type Table struct {
	procs    map[int]Proc
	children map[int][]int // live children by parent
	self     Proc

	marksOnce sync.Once
	marks     map[int]string
	markName  string
}

// Read reads the process table. It returns an error where the system has none
// that can be read, and never one for a process that vanished meanwhile.
func Read() (*Table, error) {
	procs, err := readAll()
	if err != nil {
		return nil, err
	}
	return New(os.Getpid(), procs), nil
}

// New returns a table of the given rows, by process id, as the process self
// would read it. It is for tests of what is made of a table.
func New(self int, procs map[int]Proc) *Table {
	t := &Table{procs: procs, children: make(map[int][]int, len(procs)/2), self: procs[self]}
	for pid, p := range procs {
		if !p.Dead {
			t.children[p.PPID] = append(t.children[p.PPID], pid)
		}
	}
	return t
}

// Len is the number of processes in the table.
func (t *Table) Len() int { return len(t.procs) }

// Lookup returns the process that has the id now.
func (t *Table) Lookup(pid int) (Proc, bool) {
	p, ok := t.procs[pid]
	return p, ok
}

// Running reports whether the process has not ended, by a look at it alone.
func Running(id ID) bool {
	p, ok := Now(id.PID)
	return ok && p.ID == id && !p.Dead
}

// Alive reports whether the process was there and had not ended.
func (t *Table) Alive(id ID) bool {
	p, ok := t.procs[id.PID]
	return ok && p.Start == id.Start && !p.Dead
}

// All yields every process, the ended ones included, in no order.
func (t *Table) All() iter.Seq[Proc] { return maps.Values(t.procs) }

// Descend calls visit for every live descendant of pid, parents first. visit
// returns false to leave out a process and everything below it.
func (t *Table) Descend(pid int, visit func(Proc) bool) {
	for _, child := range t.children[pid] {
		if child != pid && visit(t.procs[child]) {
			t.Descend(child, visit)
		}
	}
}

// Self is the calling process.
func (t *Table) Self() Proc { return t.self }

// Marks returns the value of one environment variable, by process id, of every
// live process that is no older than the caller and has the variable. The
// environment is the one that the program was started with. Processes of other
// users are left out, and everything is where the system does not show
// environments (anywhere but on Linux). All calls on one table must give the
// same name.
func (t *Table) Marks(name string) map[int]string {
	t.marksOnce.Do(func() {
		t.markName = name
		t.marks = make(map[int]string)
		var env environs
		for pid, p := range t.procs {
			if p.Dead || p.Start < t.self.Start || pid == t.self.PID {
				continue
			}
			if v, ok := env.lookup(pid, name); ok {
				t.marks[pid] = v
			}
		}
	})
	if t.markName != name {
		panic("ptable: a table is searched for one mark only")
	}
	return t.marks
}

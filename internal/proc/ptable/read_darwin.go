package ptable

import (
	"bytes"
	"fmt"

	"golang.org/x/sys/unix"
)

// The states of a process that has ended, from <sys/proc.h>.
const stateZombie = 5

func readAll() (map[int]Proc, error) {
	rows, err := unix.SysctlKinfoProcSlice("kern.proc.all")
	if err != nil {
		return nil, fmt.Errorf("read the process table: %w", err)
	}
	procs := make(map[int]Proc, len(rows))
	for i := range rows {
		p := fromKinfo(&rows[i])
		procs[p.PID] = p
	}
	return procs, nil
}

// Now returns the row of the process that has the id now, if any.
func Now(pid int) (Proc, bool) {
	row, err := unix.SysctlKinfoProc("kern.proc.pid", pid)
	if err != nil {
		return Proc{}, false
	}
	p := fromKinfo(row)
	return p, p.PID == pid
}

func fromKinfo(row *unix.KinfoProc) Proc {
	started := row.Proc.P_starttime
	name, _, _ := bytes.Cut(row.Proc.P_comm[:], []byte{0})
	return Proc{
		ID: ID{
			PID:   int(row.Proc.P_pid),
			Start: uint64(started.Sec)*1_000_000 + uint64(started.Usec),
		},
		PPID: int(row.Eproc.Ppid),
		PGID: int(row.Eproc.Pgid),
		Dead: row.Proc.P_stat == stateZombie,
		Name: string(name),
	}
}

// environs would read environments; this system does not show them.
type environs struct{}

func (environs) lookup(int, string) (string, bool) { return "", false }

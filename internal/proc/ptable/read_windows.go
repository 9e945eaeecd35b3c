package ptable

import (
	"errors"
	"fmt"
	"unsafe"

	"golang.org/x/sys/windows"
)

func readAll() (map[int]Proc, error) {
	snap, err := windows.CreateToolhelp32Snapshot(windows.TH32CS_SNAPPROCESS, 0)
	if err != nil {
		return nil, fmt.Errorf("read the process table: %w", err)
	}
	defer windows.CloseHandle(snap)
	procs := make(map[int]Proc)
	entry := windows.ProcessEntry32{Size: uint32(unsafe.Sizeof(windows.ProcessEntry32{}))}
	for err = windows.Process32First(snap, &entry); err == nil; err = windows.Process32Next(snap, &entry) {
		pid := int(entry.ProcessID)
		now, _ := Now(pid)
		procs[pid] = Proc{
			ID:   ID{PID: pid, Start: now.Start},
			PPID: int(entry.ParentProcessID),
			Name: windows.UTF16ToString(entry.ExeFile[:]),
		}
	}
	if !errors.Is(err, windows.ERROR_NO_MORE_FILES) {
		return nil, fmt.Errorf("read the process table: %w", err)
	}
	// A parent's id stays with a child after the parent ended and its id was
	// given away; such a child is nobody's.
	for pid, p := range procs {
		if parent, ok := procs[p.PPID]; ok && parent.Start > p.Start {
			p.PPID = 0
			procs[pid] = p
		}
	}
	return procs, nil
}

// Now returns the identity of the process that has the id now, if any. The
// other columns are only in a [Table].
func Now(pid int) (Proc, bool) {
	h, err := windows.OpenProcess(windows.PROCESS_QUERY_LIMITED_INFORMATION, false, uint32(pid))
	if err != nil {
		return Proc{}, false
	}
	defer windows.CloseHandle(h)
	var created, exited, kernel, user windows.Filetime
	if err := windows.GetProcessTimes(h, &created, &exited, &kernel, &user); err != nil {
		return Proc{}, false
	}
	start := uint64(created.HighDateTime)<<32 | uint64(created.LowDateTime)
	ended := exited.HighDateTime != 0 || exited.LowDateTime != 0
	return Proc{ID: ID{PID: pid, Start: start}, Dead: ended}, true
}

// environs would read environments; this system does not show them.
type environs struct{}

func (environs) lookup(int, string) (string, bool) { return "", false }

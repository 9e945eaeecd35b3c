package ptable

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"syscall"
)

func readAll() (map[int]Proc, error) {
	dir, err := os.Open("/proc")
	if err != nil {
		return nil, fmt.Errorf("read the process table: %w", err)
	}
	defer dir.Close()
	names, err := dir.Readdirnames(-1)
	if err != nil {
		return nil, fmt.Errorf("read the process table: %w", err)
	}
	procs := make(map[int]Proc, len(names))
	buf := make([]byte, 1024) // a stat line has 52 short fields
	for _, name := range names {
		pid, err := strconv.Atoi(name)
		if err != nil {
			continue // not a process
		}
		if p, ok := readStat(pid, buf); ok {
			procs[pid] = p
		}
	}
	if _, ok := procs[os.Getpid()]; !ok {
		return nil, fmt.Errorf("read the process table: /proc does not show this process (%d)", os.Getpid())
	}
	return procs, nil
}

// Now returns the row of the process that has the id now, if any.
func Now(pid int) (Proc, bool) { return readStat(pid, make([]byte, 1024)) }

func readStat(pid int, buf []byte) (Proc, bool) {
	n, ok := slurp("/proc/"+strconv.Itoa(pid)+"/stat", buf)
	if !ok {
		return Proc{}, false
	}
	return parseStat(pid, buf[:n])
}

// slurp reads a small file of /proc with bare system calls: a snapshot reads
// thousands of them, and the poller has no use for any.
func slurp(path string, buf []byte) (int, bool) {
	fd, err := syscall.Open(path, syscall.O_RDONLY|syscall.O_CLOEXEC, 0)
	if err != nil {
		return 0, false
	}
	defer syscall.Close(fd)
	for {
		n, err := syscall.Read(fd, buf)
		if err == syscall.EINTR {
			continue
		}
		return n, err == nil && n > 0
	}
}

// pfExiting is set in the flags of a task that has begun to exit.
const pfExiting = 0x4

// parseStat reads a line of /proc/«pid»/stat. The name is in parentheses and
// may itself hold parentheses and spaces, so the fields are counted from the
// last closing one.
func parseStat(pid int, line []byte) (Proc, bool) {
	open, end := bytes.IndexByte(line, '('), bytes.LastIndexByte(line, ')')
	if open < 0 || end < open || end+2 >= len(line) {
		return Proc{}, false
	}
	p := Proc{ID: ID{PID: pid}, Name: string(line[open+1 : end])}
	rest := line[end+2:]
	var state byte
	threads, flags := 0, uint64(0)
	// Field numbers are those of proc(5); the state is the third.
	for field := 3; field <= 22; field++ {
		word, tail, found := bytes.Cut(rest, []byte{' '})
		if !found {
			return Proc{}, false
		}
		rest = tail
		switch field {
		case 3:
			state = word[0]
		case 4:
			p.PPID = atoi(word)
		case 5:
			p.PGID = atoi(word)
		case 6:
			p.SID = atoi(word)
		case 9:
			flags, _ = strconv.ParseUint(string(word), 10, 64)
		case 20:
			threads = atoi(word)
		case 22:
			start, err := strconv.ParseUint(string(word), 10, 64)
			if err != nil {
				return Proc{}, false
			}
			p.Start = start
		}
	}
	// A process whose first thread has ended while others run shows as a
	// zombie too, and is alive.
	p.Exiting = flags&pfExiting != 0 && threads <= 1
	p.Dead = state == 'X' || state == 'x' || state == 'Z' && threads <= 1
	return p, true
}

func atoi(word []byte) int {
	n, _ := strconv.Atoi(string(word))
	return n
}

// environ returns the value that the process was started with. An environment
// that may not be read is one without the variable.
func environ(pid int, name string) (string, bool) {
	data, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/environ")
	if err != nil {
		return "", false
	}
	for entry := range bytes.SplitSeq(data, []byte{0}) {
		if v, ok := bytes.CutPrefix(entry, []byte(name)); ok && len(v) > 0 && v[0] == '=' {
			return string(v[1:]), true
		}
	}
	return "", false
}

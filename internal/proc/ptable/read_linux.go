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

// environs reads the environments that processes were started with.
type environs struct{ buf []byte }

// lookup returns the value that a name has in the environment of a process. An
// environment that may not be read is one without the name.
func (e *environs) lookup(pid int, name string) (string, bool) {
	if e.buf == nil {
		e.buf = make([]byte, 64<<10)
	}
	fd, err := syscall.Open("/proc/"+strconv.Itoa(pid)+"/environ", syscall.O_RDONLY|syscall.O_CLOEXEC, 0)
	if err != nil {
		return "", false
	}
	defer syscall.Close(fd)
	n := 0
	for {
		if n == len(e.buf) {
			e.buf = append(e.buf, make([]byte, len(e.buf))...)
		}
		m, err := syscall.Read(fd, e.buf[n:])
		if err == syscall.EINTR {
			continue
		}
		if err != nil || m <= 0 {
			break
		}
		n += m
	}
	for entry := range bytes.SplitSeq(e.buf[:n], []byte{0}) {
		if len(entry) > len(name) && entry[len(name)] == '=' && string(entry[:len(name)]) == name {
			return string(entry[len(name)+1:]), true
		}
	}
	return "", false
}

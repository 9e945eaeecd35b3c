package proc

import (
	"context"
	"slices"
	"sync"
	"time"
	"unsafe"

	"golang.org/x/sys/windows"

	"github.com/dsh-actor/dsh-actor/internal/proc/ptable"
)

// leader is the job that holds the child and everything that it starts.
type leader struct {
	lock    sync.Mutex // guards job
	job     windows.Handle
	process windows.Handle // closed by reap
}

// shared is what a family of owners has in common. A job knows its processes.
type shared struct {
	markName string
	killWait time.Duration
}

// newJob makes a job. One that is owned ends its processes when its last
// handle is closed, that of a host that crashed included.
func newJob(owned bool) (windows.Handle, error) {
	job, err := windows.CreateJobObject(nil, nil)
	if err != nil || !owned {
		return job, err
	}
	var limits windows.JOBOBJECT_EXTENDED_LIMIT_INFORMATION
	limits.BasicLimitInformation.LimitFlags = windows.JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE
	_, err = windows.SetInformationJobObject(job, windows.JobObjectExtendedLimitInformation,
		uintptr(unsafe.Pointer(&limits)), uint32(unsafe.Sizeof(limits)))
	if err != nil {
		windows.CloseHandle(job)
		return 0, err
	}
	return job, nil
}

func (l *leader) close() {
	l.lock.Lock()
	defer l.lock.Unlock()
	if l.job != 0 {
		windows.CloseHandle(l.job)
		l.job = 0
	}
}

type exitStatus struct{ code uint32 }

func (s exitStatus) report(o *Outcome) { o.Exited, o.ExitCode = true, int(int32(s.code)) }

// reap waits for the leader's exit and takes its status.
func (t *tree) reap() {
	_, _ = windows.WaitForSingleObject(t.process, windows.INFINITE)
	s := status{at: time.Now()}
	_ = windows.GetExitCodeProcess(t.process, &s.code)
	var created, exited, kernel, user windows.Filetime
	if windows.GetProcessTimes(t.process, &created, &exited, &kernel, &user) == nil {
		s.cpu = ticks(kernel) + ticks(user)
	}
	windows.CloseHandle(t.process)
	t.mu.Lock()
	t.reaped = true
	t.mu.Unlock()
	t.status = s
	close(t.exited)
}

// ticks converts a time that is counted in units of 100 ns.
func ticks(f windows.Filetime) time.Duration {
	return time.Duration(uint64(f.HighDateTime)<<32|uint64(f.LowDateTime)) * 100
}

// leaves reports whether the job holds any process.
func (t *tree) leaves() bool { return len(t.pids()) > 0 }

// pids lists the processes of the job.
func (t *tree) pids() []int {
	t.lock.Lock()
	defer t.lock.Unlock()
	if t.job == 0 {
		return nil
	}
	// A JOBOBJECT_BASIC_PROCESS_ID_LIST: two 32-bit counts and the ids.
	const head = int(8 / unsafe.Sizeof(uintptr(0)))
	for n := 64; ; n *= 4 {
		buf := make([]uintptr, head+n)
		err := windows.QueryInformationJobObject(t.job, windows.JobObjectBasicProcessIdList,
			uintptr(unsafe.Pointer(&buf[0])), uint32(len(buf))*uint32(unsafe.Sizeof(buf[0])), nil)
		if err == windows.ERROR_MORE_DATA {
			continue
		}
		if err != nil {
			return nil
		}
		count := *(*uint32)(unsafe.Add(unsafe.Pointer(&buf[0]), 4))
		ids := buf[head:][:count]
		pids := make([]int, count)
		for i, id := range ids {
			pids[i] = int(id)
		}
		return pids
	}
}

func (t *tree) list() []Member {
	var list []Member
	for _, pid := range t.pids() {
		p, _ := ptable.Now(pid)
		list = append(list, Member{ID: ptable.ID{PID: pid, Start: p.Start}})
	}
	return list
}

// members lists the live processes of a tree.
func (s *shared) members(t *tree) []Member { return t.list() }

// empty returns those of the trees that have no live process.
func (s *shared) empty(trees []*tree) []*tree {
	return slices.DeleteFunc(trees, (*tree).leaves)
}

// strays are processes that left their tree: there is no way out of a job.
type strays struct {
	tree     *tree
	prefixes []string
}

// pollEvery is the time between two looks at a job.
const pollEvery = 10 * time.Millisecond

// end ends the jobs together: a CTRL_BREAK, the grace, and the end of every
// process that is still there. When ctx is done the grace is over.
func (s *shared) end(ctx context.Context, trees []*tree, _ *strays, grace time.Duration) map[*tree]ending {
	r := make(map[*tree]ending)
	for _, t := range trees {
		n := len(t.pids())
		if n == 0 {
			continue
		}
		r[t] = ending{found: n}
		if grace > 0 {
			// It fails if we have no console; then the grace passes.
			_ = windows.GenerateConsoleCtrlEvent(windows.CTRL_BREAK_EVENT, uint32(t.pid))
		}
	}
	if grace > 0 && awaitEmpty(r, grace, ctx.Done()) {
		return r
	}
	for t, e := range r {
		if n := len(t.pids()); n > 0 {
			e.killed = n
			e.found = max(e.found, n)
			r[t] = e
			t.lock.Lock()
			if t.job != 0 {
				_ = windows.TerminateJobObject(t.job, 1)
			}
			t.lock.Unlock()
		}
	}
	if awaitEmpty(r, s.killWait, nil) {
		return r
	}
	for t, e := range r {
		e.left = t.list()
		r[t] = e
	}
	return r
}

func awaitEmpty(trees map[*tree]ending, d time.Duration, stop <-chan struct{}) bool {
	tick := time.NewTicker(pollEvery)
	defer tick.Stop()
	until := time.Now().Add(d)
	for {
		empty := true
		for t := range trees {
			empty = empty && !t.leaves()
		}
		if empty || !time.Now().Before(until) {
			return empty
		}
		select {
		case <-tick.C:
		case <-stop:
			return false
		}
	}
}

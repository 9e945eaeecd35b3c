package proc

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/windows"
)

// launch starts the child in a job of its own and everything that serves it.
// The error is a *LaunchError.
func (p *Process) launch() error {
	spec := &p.spec
	argv, err := spec.argv()
	if err != nil {
		return err
	}
	env := spec.Env.List(spec.Dir)
	path, err := lookPath(argv[0], env, spec)
	if err != nil {
		return err
	}
	if spec.Dir != "" {
		switch info, err := os.Stat(spec.Dir); {
		case err != nil:
			return &LaunchError{Kind: LaunchDir, Path: spec.Dir, Err: pathCause(err)}
		case !info.IsDir():
			return &LaunchError{Kind: LaunchDir, Path: spec.Dir, Err: syscall.ENOTDIR}
		}
	}
	t := &tree{exited: make(chan struct{}), keep: spec.Background == BackgroundKeep}
	if !t.keep {
		env, t.mark = p.owner.marked(env)
	}
	system := func(what string, err error) error {
		return &LaunchError{Kind: LaunchSystem, Path: path, Err: fmt.Errorf("%s: %w", what, err)}
	}
	var io stdio
	defer io.close()
	if err := io.open(spec); err != nil {
		return system("make pipes", err)
	}
	if t.job, err = newJob(!t.keep); err != nil {
		return system("make a job", err)
	}
	// The child is started when it is in the job, so that nothing that it
	// starts can be outside.
	p.began = time.Now()
	pid, handle, err := syscall.StartProcess(path, argv, &syscall.ProcAttr{
		Dir:   spec.Dir,
		Env:   env,
		Files: []uintptr{io.child[0].Fd(), io.child[1].Fd(), io.child[2].Fd()},
		Sys: &syscall.SysProcAttr{
			CmdLine:       commandLine(spec),
			CreationFlags: windows.CREATE_SUSPENDED | windows.CREATE_NEW_PROCESS_GROUP,
		},
	})
	if err != nil {
		t.leader.close()
		return &LaunchError{Kind: programKind(spec), Path: path, Err: err}
	}
	t.pid, t.process = pid, windows.Handle(handle)
	err = windows.AssignProcessToJobObject(t.job, t.process)
	if err == nil {
		err = resume(pid)
	}
	if err != nil {
		_ = windows.TerminateProcess(t.process, 1)
		windows.CloseHandle(t.process)
		t.leader.close()
		return system("put it into a job", err)
	}
	io.closeChild()
	p.tree = t
	p.stdin, p.out.file, p.err.file = io.take(0), io.take(1), io.take(2)
	p.begin(spec.Stdin)
	return nil
}

// commandLine returns the raw command line for cmd.exe, which does not follow
// the quoting that other programs expect, and "" for any other program.
func commandLine(spec *Spec) string {
	if len(spec.Shell) == 0 {
		return ""
	}
	base := strings.ToLower(filepath.Base(spec.Shell[0]))
	if base != "cmd" && base != "cmd.exe" {
		return ""
	}
	var line strings.Builder
	for _, arg := range spec.Shell {
		line.WriteString(syscall.EscapeArg(arg))
		line.WriteByte(' ')
	}
	return line.String() + `"` + spec.Command + `"`
}

// resume starts a process that was made suspended and has one thread.
func resume(pid int) error {
	snap, err := windows.CreateToolhelp32Snapshot(windows.TH32CS_SNAPTHREAD, 0)
	if err != nil {
		return err
	}
	defer windows.CloseHandle(snap)
	entry := windows.ThreadEntry32{Size: uint32(unsafe.Sizeof(windows.ThreadEntry32{}))}
	for err = windows.Thread32First(snap, &entry); err == nil; err = windows.Thread32Next(snap, &entry) {
		if int(entry.OwnerProcessID) != pid {
			continue
		}
		thread, err := windows.OpenThread(windows.THREAD_SUSPEND_RESUME, false, entry.ThreadID)
		if err != nil {
			return err
		}
		defer windows.CloseHandle(thread)
		_, err = windows.ResumeThread(thread)
		return err
	}
	return err
}

// lookPath finds the program in the PATH of the child's environment, with the
// extensions of PATHEXT. Relative entries are left out.
func lookPath(name string, env []string, spec *Spec) (string, error) {
	dirs := []string{""}
	if !strings.ContainsAny(name, `/\:`) {
		dirs = filepath.SplitList(lookupEnv(env, "PATH"))
	}
	exts := strings.Split(lookupEnv(env, "PATHEXT"), ";")
	if exts[0] == "" {
		exts = []string{".com", ".exe", ".bat", ".cmd"}
	}
	if filepath.Ext(name) != "" {
		exts = append([]string{""}, exts...)
	}
	for _, dir := range dirs {
		file := name
		switch {
		case dir != "" && !filepath.IsAbs(dir):
			continue
		case dir != "":
			file = filepath.Join(dir, name)
		case !filepath.IsAbs(file):
			file = filepath.Join(spec.Dir, file)
		}
		for _, ext := range exts {
			if info, err := os.Stat(file + ext); err == nil && !info.IsDir() {
				return file + ext, nil
			}
		}
	}
	return "", &LaunchError{Kind: programKind(spec), Path: name, Err: fmt.Errorf("%w in PATH", fs.ErrNotExist)}
}

func programKind(spec *Spec) LaunchKind {
	if len(spec.Shell) > 0 {
		return LaunchShell
	}
	return LaunchProgram
}

// pathCause takes the system's error out of one that repeats the path.
func pathCause(err error) error {
	var pe *fs.PathError
	if errors.As(err, &pe) {
		return pe.Err
	}
	return err
}

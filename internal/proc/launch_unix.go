//go:build unix

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
)

// launch starts the child and everything that serves it. The error is a
// *LaunchError.
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
	t := &tree{exited: make(chan struct{}), keep: spec.Background == BackgroundKeep}
	if !t.keep {
		env, t.mark = p.owner.marked(env)
	}

	var io stdio
	defer io.close()
	if err := io.open(spec); err != nil {
		return &LaunchError{Kind: LaunchSystem, Path: path, Err: fmt.Errorf("make pipes: %w", err)}
	}
	if spec.Stdin != nil {
		io.feed(spec.Stdin)
	}
	sys := &syscall.SysProcAttr{Setsid: true}
	t.leader.prepare(sys)
	p.began = time.Now()
	t.pid, err = syscall.ForkExec(path, argv, &syscall.ProcAttr{
		Dir:   spec.Dir,
		Env:   env,
		Files: []uintptr{uintptr(io.child[0]), uintptr(io.child[1]), uintptr(io.child[2])},
		Sys:   sys,
	})
	if err != nil {
		return launchError(err, path, spec)
	}
	io.closeChild()
	t.leader.started(t.pid)
	p.tree = t
	p.written = int64(io.sent)
	p.stdin, p.out.file, p.err.file = io.file(0), io.file(1), io.file(2)
	p.begin(spec.Stdin[io.sent:])
	return nil
}

// defaultPath is searched when the child's environment has no PATH.
const defaultPath = "/usr/local/bin:/usr/bin:/bin"

// lookPath finds the program in the PATH of the child's environment. Relative
// entries are left out: what runs must not depend on the working directory by
// accident.
func lookPath(name string, env []string, spec *Spec) (string, error) {
	if strings.Contains(name, "/") {
		return name, nil
	}
	path := lookupEnv(env, "PATH")
	if path == "" {
		path = defaultPath
	}
	var found error
	for _, dir := range filepath.SplitList(path) {
		if !filepath.IsAbs(dir) {
			continue
		}
		file := filepath.Join(dir, name)
		info, err := os.Stat(file)
		switch {
		case err != nil:
		case info.IsDir():
		case info.Mode()&0o111 == 0:
			found = fs.ErrPermission
		default:
			return file, nil
		}
	}
	if found == nil {
		found = fmt.Errorf("%w in PATH", fs.ErrNotExist)
	}
	return "", &LaunchError{Kind: programKind(spec), Path: name, Err: found}
}

func programKind(spec *Spec) LaunchKind {
	if len(spec.Shell) > 0 {
		return LaunchShell
	}
	return LaunchProgram
}

// launchError finds out what a failed fork or exec was about: the kernel
// answers with one number for the directory, the program and the interpreter.
func launchError(err error, path string, spec *Spec) error {
	fail := func(kind LaunchKind, path string, err error) error {
		return &LaunchError{Kind: kind, Path: path, Err: err}
	}
	errno, _ := err.(syscall.Errno)
	switch errno {
	case syscall.E2BIG:
		return fail(LaunchSize, path, err)
	case syscall.EAGAIN, syscall.ENOMEM, syscall.EMFILE, syscall.ENFILE:
		return fail(LaunchSystem, path, err)
	}
	if spec.Dir != "" {
		switch info, err := os.Stat(spec.Dir); {
		case err != nil:
			return fail(LaunchDir, spec.Dir, pathCause(err))
		case !info.IsDir():
			return fail(LaunchDir, spec.Dir, syscall.ENOTDIR)
		}
	}
	file := path
	if !filepath.IsAbs(file) {
		file = filepath.Join(spec.Dir, file)
	}
	switch info, err := os.Stat(file); {
	case err != nil:
		return fail(programKind(spec), path, pathCause(err))
	case info.IsDir():
		return fail(programKind(spec), path, syscall.EISDIR)
	case info.Mode()&0o111 == 0:
		return fail(programKind(spec), path, syscall.EACCES)
	}
	if errno == syscall.ENOENT { // the file is there, what it names is not
		return fail(LaunchInterpreter, path, err)
	}
	if errno == syscall.EACCES && spec.Dir != "" && !enterable(spec.Dir) {
		return fail(LaunchDir, spec.Dir, err)
	}
	return fail(programKind(spec), path, err)
}

// enterable reports whether the directory can be made the working directory.
func enterable(dir string) bool {
	const search = 1 // X_OK
	return syscall.Access(dir, search) == nil
}

// pathCause takes the system's error out of one that repeats the path.
func pathCause(err error) error {
	var pe *fs.PathError
	if errors.As(err, &pe) {
		return pe.Err
	}
	return err
}

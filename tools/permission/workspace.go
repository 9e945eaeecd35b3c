package permission

import (
	"path/filepath"
	"runtime"
	"strings"
)

// workspace is what paths are judged by: the directories that a session works in.
// It does not change; the file system may.
type workspace struct {
	cwd     string  // the session's working directory; "" if unknown
	dir     string  // where relative paths of a call begin; "" if unknown
	project string  // where the paths of rules begin; "" if unknown
	home    string  // what ~ stands for; "" if unknown
	roots   []start // the directories of the workspace
	// fold says that the file system may take names of different case for the same.
	fold bool
}

// foldsCase reports whether file systems of this system usually ignore case.
func foldsCase() bool { return runtime.GOOS == "windows" || runtime.GOOS == "darwin" }

// newWorkspace resolves the directories once. One that cannot be resolved is left
// out: nothing is inside it. Dir is "" if relative paths begin at cwd.
func newWorkspace(cwd, dir, project, home string, directories []string, fold bool) *workspace {
	w := &workspace{cwd: cleanAbs(cwd), dir: cleanAbs(dir), project: cleanAbs(project), home: cleanAbs(home), fold: fold}
	if dir == "" {
		w.dir = w.cwd
	}
	if w.project == "" {
		w.project = w.cwd
	}
	w.add(w.cwd)
	for _, d := range directories {
		w.add(w.directory(d))
	}
	return w
}

func (w *workspace) add(dir string) {
	if dir == "" {
		return
	}
	if resolved, err := resolvePath(dir, start{}); err == nil {
		w.roots = append(w.roots, start{dir, resolved})
	}
}

// directory makes an additional directory, as settings write it, absolute.
func (w *workspace) directory(dir string) string {
	if t := expandTilde(dir, w.home); t != dir {
		return cleanAbs(t)
	}
	if !filepath.IsAbs(dir) && w.project != "" {
		dir = filepath.Join(w.project, dir)
	}
	return cleanAbs(dir)
}

func cleanAbs(path string) string {
	if !filepath.IsAbs(path) {
		return ""
	}
	return filepath.Clean(path)
}

// expandTilde replaces a leading ~ by home, if that is known.
func expandTilde(path, home string) string {
	if home == "" || !strings.HasPrefix(path, "~") {
		return path
	}
	if rest := path[1:]; rest == "" || rest[0] == '/' || rest[0] == filepath.Separator {
		return home + rest
	}
	return path
}

// target is a path of a call.
type target struct {
	lexical  string // clean and absolute
	resolved string // with links followed; "" if that failed
}

// target judges a path that begins at dir. It fails for what names no file in any
// known directory.
func (w *workspace) target(path, dir string) (t target, ok bool) {
	if path == "" || strings.IndexByte(path, 0) >= 0 {
		return target{}, false
	}
	path = expandTilde(path, w.home)
	switch {
	case path[0] == '~':
		return target{}, false // somebody's home, or a home that is not known
	case filepath.IsAbs(path):
	case dir == "":
		return target{}, false
	default:
		path = dir + string(filepath.Separator) + path // not cleaned: .. follows links
	}
	t.lexical = filepath.Clean(path)
	from := start{}
	for _, root := range w.roots {
		if _, ok := cutDir(path, root.lexical); ok {
			from = root
			break
		}
	}
	if resolved, err := resolvePath(path, from); err == nil {
		t.resolved = resolved
	}
	return t, true
}

// inside reports whether the target lies in the workspace, wherever its links
// lead.
func (w *workspace) inside(t target) bool {
	if t.resolved == "" {
		return false
	}
	for _, root := range w.roots {
		if _, ok := cutDir(t.resolved, root.resolved); ok {
			return true
		}
	}
	return false
}

// protected reports whether writing to the target changes what programs and this
// policy obey rather than the work: a repository's .git, and the settings files.
// It is no part of the workspace where writing is concerned.
func (t target) protected() bool {
	return protectedPath(t.lexical) || protectedPath(t.resolved)
}

func protectedPath(path string) bool {
	slashed := filepath.ToSlash(path)
	below := false // .claude
	for slashed != "" {
		var name string
		name, slashed, _ = strings.Cut(slashed, "/")
		name = plainName(name)
		switch {
		case strings.EqualFold(name, ".git"):
			return true
		case below && slashed == "" && (strings.EqualFold(name, "settings.json") || strings.EqualFold(name, "settings.local.json")):
			return true
		}
		below = strings.EqualFold(name, ".claude")
	}
	return false
}

// plainName takes off a name what some file systems ignore: trailing dots and
// spaces, and the name of a stream.
func plainName(name string) string {
	name, _, _ = strings.Cut(name, ":")
	return strings.TrimRight(name, ". ")
}

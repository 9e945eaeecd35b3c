package permission

import (
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// workspace is what paths are judged by: the directories that a session works in.
// It does not change; the file system may.
type workspace struct {
	cwd     start   // the session's working directory
	dir     string  // where relative paths of a call begin; "" if unknown
	project start   // where the paths of rules begin
	home    start   // what ~ stands for
	roots   []start // the directories of the workspace
	bases   []start // where relative patterns of rules that narrow begin
	// fold says that the file system may take names of different case for the same.
	fold bool
}

// foldsCase reports whether file systems of this system usually ignore case.
func foldsCase() bool { return runtime.GOOS == "windows" || runtime.GOOS == "darwin" }

// newWorkspace resolves the directories once. Nothing is inside one that is
// unknown or cannot be resolved. Dir is "" if relative paths begin at cwd.
func newWorkspace(cwd, dir, project, home string, directories []string, fold bool) *workspace {
	w := &workspace{cwd: startAt(cwd), project: startAt(project), home: startAt(home), fold: fold}
	at := w.cwd
	if dir != "" {
		at = startAt(dir)
	}
	w.dir = at.lexical
	if w.project.lexical == "" {
		w.project = w.cwd
	}
	w.add(w.cwd)
	for _, d := range directories {
		w.add(startAt(w.directory(d)))
	}
	// A relative pattern holds at the project, where the call is, and in every other
	// directory of the workspace, so that no change of directory disarms it.
	for _, b := range append([]start{w.project, at}, w.roots...) {
		same := func(other start) bool { return other.lexical == b.lexical }
		if b.lexical != "" && !slices.ContainsFunc(w.bases, same) {
			w.bases = append(w.bases, b)
		}
	}
	return w
}

// startAt resolves a directory. It is the zero start if dir is not absolute.
func startAt(dir string) start {
	s := start{lexical: cleanAbs(dir)}
	if s.lexical != "" {
		if resolved, err := resolvePath(s.lexical, start{}); err == nil {
			s.resolved = resolved
		}
		if info, err := os.Stat(s.lexical); err == nil {
			os.SameFile(info, info) // Windows looks the identity up when it is first compared
			s.info = info
		}
	}
	return s
}

func (w *workspace) add(root start) {
	if root.resolved != "" {
		w.roots = append(w.roots, root)
	}
}

// directory makes an additional directory, as settings write it, absolute.
func (w *workspace) directory(dir string) string {
	if t := expandTilde(dir, w.home.lexical); t != dir {
		return t
	}
	if !filepath.IsAbs(dir) && w.project.lexical != "" {
		dir = filepath.Join(w.project.lexical, dir)
	}
	return dir
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

// absolute makes a path that begins at dir absolute, as it is written: .. is not
// taken out, because it follows links. It fails for what names no file in any known
// directory.
func (w *workspace) absolute(path, dir string) (abs string, ok bool) {
	if path == "" || strings.IndexByte(path, 0) >= 0 {
		return "", false
	}
	path = expandTilde(path, w.home.lexical)
	switch {
	case path[0] == '~':
		return "", false // somebody's home, or a home that is not known
	case filepath.IsAbs(path):
		return path, true
	case dir == "":
		return "", false
	}
	return dir + string(filepath.Separator) + path, true
}

// lookup judges the paths of one decision. It resolves a path once, however many
// rules ask about it. It is for one goroutine.
type lookup struct {
	*workspace
	seen  []lookedUp
	roots []rootState // of the workspace's roots
}

type lookedUp struct {
	path, dir string
	target    target
	ok        bool
}

// rootState says whether a root still leads to where it did.
type rootState uint8

const (
	rootUnchecked rootState = iota
	rootFresh
	rootStale
)

// maxRemembered bounds what a lookup remembers: it is searched one by one.
const maxRemembered = 16

func (w *workspace) lookup() *lookup { return &lookup{workspace: w} }

// target judges a path that begins at dir. It fails for what names no file in any
// known directory.
func (l *lookup) target(path, dir string) (target, bool) {
	for i := range l.seen {
		if s := &l.seen[i]; s.path == path && s.dir == dir {
			return s.target, s.ok
		}
	}
	t, ok := l.resolve(path, dir)
	if len(l.seen) < maxRemembered {
		l.seen = append(l.seen, lookedUp{path, dir, t, ok})
	}
	return t, ok
}

func (l *lookup) resolve(path, dir string) (t target, ok bool) {
	path, ok = l.absolute(path, dir)
	if !ok {
		return target{}, false
	}
	t.lexical = filepath.Clean(path)
	if resolved, err := resolvePath(path, l.start(path)); err == nil {
		t.resolved = resolved
	}
	return t, true
}

// start returns the root that the resolution of a path may begin at: one that the
// path begins with, and that nobody has put something else in the place of.
func (l *lookup) start(path string) start {
	for i := range l.workspace.roots {
		root := &l.workspace.roots[i]
		if _, below := cutDir(path, root.lexical); !below {
			continue
		}
		if l.roots == nil {
			l.roots = make([]rootState, len(l.workspace.roots))
		}
		if l.roots[i] == rootUnchecked {
			l.roots[i] = rootStale
			if root.leads() {
				l.roots[i] = rootFresh
			}
		}
		if l.roots[i] == rootFresh {
			return *root
		}
	}
	return start{}
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

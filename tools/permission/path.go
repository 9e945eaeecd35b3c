package permission

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// maxLinks is how many symbolic links one path may lead through.
const maxLinks = 40

var errLinks = errors.New("too many symbolic links")

// start is where the resolution of a path may begin: a directory that is resolved
// already.
type start struct {
	lexical  string      // clean and absolute, "" for none
	resolved string      // "" if that failed
	info     fs.FileInfo // of the directory, nil if there was none
}

// leads reports whether the directory still leads to where it did.
func (s *start) leads() bool {
	if s.info == nil {
		return false
	}
	info, err := os.Stat(s.lexical)
	return err == nil && os.SameFile(info, s.info)
}

// resolvePath follows the symbolic links of an absolute path as the system would:
// component by component, so that .. after a link leaves the link's target. What
// does not exist is kept as it is named, so that a new file is judged by its
// nearest existing parent. It fails for what cannot be followed.
func resolvePath(path string, from start) (string, error) {
	volume := filepath.VolumeName(path)
	current, rest := volume+string(filepath.Separator), path[len(volume):]
	if from.lexical != "" {
		if below, ok := cutDir(path, from.lexical); ok {
			current, rest = from.resolved, below
		}
	}
	links := 0
	for rest != "" {
		var name string
		name, rest = cutComponent(rest)
		switch name {
		case "", ".":
			continue
		case "..":
			current = filepath.Dir(current)
			continue
		}
		next := joinName(current, name)
		info, err := os.Lstat(next)
		switch {
		case err == nil && info.Mode()&fs.ModeSymlink == 0, errors.Is(err, fs.ErrNotExist), isNotDir(err):
			current = next
			continue
		case err != nil:
			return "", err
		}
		if links++; links > maxLinks {
			return "", errLinks
		}
		target, err := os.Readlink(next)
		if err != nil {
			return "", err
		}
		if v := filepath.VolumeName(target); filepath.IsAbs(target) {
			current, target = v+string(filepath.Separator), target[len(v):]
		}
		rest = target + string(filepath.Separator) + rest
	}
	return current, nil
}

// joinName appends a name to a clean directory.
func joinName(dir, name string) string {
	if os.IsPathSeparator(dir[len(dir)-1]) { // a root
		return dir + name
	}
	return dir + string(filepath.Separator) + name
}

// cutComponent takes the first component off a path.
func cutComponent(path string) (name, rest string) {
	for i := 0; i < len(path); i++ {
		if os.IsPathSeparator(path[i]) {
			return path[:i], path[i+1:]
		}
	}
	return path, ""
}

// cutDir returns what of path lies below dir, and whether it is dir or lies below
// it. Both are absolute; dir is clean.
func cutDir(path, dir string) (below string, ok bool) {
	switch {
	case !strings.HasPrefix(path, dir):
		return "", false
	case len(path) == len(dir):
		return "", true
	case os.IsPathSeparator(path[len(dir)]):
		return path[len(dir)+1:], true
	case os.IsPathSeparator(dir[len(dir)-1]): // a root
		return path[len(dir):], true
	}
	return "", false
}

package settings

import (
	"errors"
	"io/fs"
	"os"
)

// stamp is one version of a file: which file, how large, last written when.
type stamp struct {
	path string
	info os.FileInfo // nil if there is an error
	err  error
}

func stampOf(path string) stamp {
	info, err := os.Stat(path)
	if err != nil {
		return stamp{path: path, err: err}
	}
	// Windows looks a file's identity up when it is first compared: do it now, while
	// the path still names this file.
	os.SameFile(info, info)
	return stamp{path: path, info: info}
}

// same reports whether both are the same version.
func (s stamp) same(other stamp) bool {
	if s.info == nil || other.info == nil {
		return s.info == nil && other.info == nil &&
			errors.Is(s.err, fs.ErrNotExist) == errors.Is(other.err, fs.ErrNotExist)
	}
	return os.SameFile(s.info, other.info) &&
		s.info.Size() == other.info.Size() &&
		s.info.ModTime().Equal(other.info.ModTime()) &&
		s.info.Mode() == other.info.Mode()
}

// Changed reports whether one of the files that were looked at appeared,
// vanished or was written since. It costs one stat per file. It cannot see a
// write that leaves file, size and modification time as they were, which takes
// two writes within one tick of the file system's clock.
func (s *Snapshot) Changed() bool {
	for _, st := range s.stamps {
		if !st.same(stampOf(st.path)) {
			return true
		}
	}
	return false
}

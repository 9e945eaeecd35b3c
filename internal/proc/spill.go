package proc

import (
	"fmt"
	"os"
	"runtime"
)

// spill writes the whole of a stream to a private file, from the moment when
// it no longer fits its capture. A nil spill does nothing.
type spill struct {
	Spill
	file *os.File
	size int64
	err  error // why there is no file; final
}

// write appends data. The first call writes what was kept before it.
func (s *spill) write(kept func() []byte, data []byte) {
	if s == nil || s.err != nil {
		return
	}
	if s.file == nil {
		if s.err = s.open(); s.err != nil {
			return
		}
		s.append(kept())
	}
	s.append(data)
}

func (s *spill) append(data []byte) {
	if s.err != nil {
		return
	}
	limit := s.Limit
	if limit <= 0 {
		limit = DefaultSpillLimit
	}
	if s.size += int64(len(data)); s.size > limit {
		s.drop(errSpillLimit)
		return
	}
	if _, err := s.file.Write(data); err != nil {
		s.drop(fmt.Errorf("spill output: %w", err))
	}
}

// open makes the file, private in a private directory.
func (s *spill) open() error {
	if err := os.MkdirAll(s.Dir, 0o700); err != nil {
		return fmt.Errorf("spill output: %w", err)
	}
	info, err := os.Stat(s.Dir)
	if err != nil {
		return fmt.Errorf("spill output: %w", err)
	}
	if mode := info.Mode().Perm(); mode&0o077 != 0 && runtime.GOOS != "windows" {
		return fmt.Errorf("spill output: directory %q is open to others (mode %#o)", s.Dir, mode)
	}
	// CreateTemp makes it 0600 and never follows or reuses a name.
	s.file, err = os.CreateTemp(s.Dir, s.Prefix+"*")
	if err != nil {
		return fmt.Errorf("spill output: %w", err)
	}
	return nil
}

// drop removes the file for a reason.
func (s *spill) drop(why error) {
	s.err = why
	s.file.Close()
	if err := os.Remove(s.file.Name()); err != nil {
		s.err = fmt.Errorf("%w; the file was not removed: %w", why, err)
	}
}

// close ends the spill and returns the path of the file, if there is one.
func (s *spill) close() (path string, err error) {
	if s == nil || s.file == nil && s.err == nil {
		return "", nil
	}
	if s.err != nil {
		return "", s.err
	}
	if err := s.file.Close(); err != nil {
		s.err = fmt.Errorf("spill output: %w", err)
		os.Remove(s.file.Name())
		return "", s.err
	}
	return s.file.Name(), nil
}

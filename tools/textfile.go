package tools

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"github.com/dsh-actor/dsh-actor/messages"
)

// textFile is a text file as the model works with it: without byte order mark,
// with line feeds only. Both are put back when it is written.
type textFile struct {
	path string // as the model gave it, made absolute
	real string // the file itself, symbolic links followed
	text string
	mark bool // it begins with a UTF-8 byte order mark
	crlf bool // its lines end with CR LF
	info os.FileInfo
}

const byteOrderMark = "\ufeff"

// maxTextFile bounds the files that are read into memory.
const maxTextFile = 64 << 20

// absolute resolves a path of the model against the directory of the session's
// commands.
func absolute(path, cwd string) string {
	if path == "~" || strings.HasPrefix(path, "~/") {
		if home, err := os.UserHomeDir(); err == nil {
			path = filepath.Join(home, path[1:])
		}
	}
	if !filepath.IsAbs(path) {
		path = filepath.Join(cwd, path)
	}
	return filepath.Clean(path)
}

// openRegular opens a file that is one: a device or a pipe might never end.
func openRegular(path string) (*os.File, os.FileInfo, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, nil, err
	}
	switch {
	case info.IsDir():
		return nil, nil, fmt.Errorf("%s is a directory, not a file", path)
	case !info.Mode().IsRegular():
		return nil, nil, fmt.Errorf("%s is not a regular file", path)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, nil, err
	}
	// What was opened counts, not what was there before.
	if info, err = f.Stat(); err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("%s is not a regular file", path)
	}
	if err != nil {
		f.Close()
		return nil, nil, err
	}
	return f, info, nil
}

func readRegular(path string, limit int64) ([]byte, os.FileInfo, error) {
	f, info, err := openRegular(path)
	if err != nil {
		return nil, nil, err
	}
	defer f.Close()
	if info.Size() > limit {
		return nil, nil, fmt.Errorf("%s has %d bytes; at most %d can be read", path, info.Size(), limit)
	}
	data, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err == nil && int64(len(data)) > limit {
		err = fmt.Errorf("%s grew to more than %d bytes while it was read", path, limit)
	}
	return data, info, err
}

// readText reads a whole text file.
func readText(path string) (*textFile, error) {
	data, info, err := readRegular(path, maxTextFile)
	if err != nil {
		return nil, err
	}
	t := &textFile{path: path, real: path, info: info}
	if real, err := filepath.EvalSymlinks(path); err == nil {
		t.real = real
	}
	if bytes.IndexByte(data, 0) >= 0 {
		return nil, fmt.Errorf("%s is not a text file", path)
	}
	if !utf8.Valid(data) {
		return nil, fmt.Errorf("%s is not UTF-8 text", path)
	}
	text, mark := strings.CutPrefix(string(data), byteOrderMark)
	t.text, t.mark = text, mark
	// A file is one with CR LF if that is how all of its lines end; a mixture is
	// kept as it is.
	if n := strings.Count(text, "\n"); n > 0 && n == strings.Count(text, "\r\n") && n == strings.Count(text, "\r") {
		t.crlf = true
		t.text = strings.ReplaceAll(text, "\r\n", "\n")
	}
	return t, nil
}

// encode returns the bytes of the file with another text.
func (t *textFile) encode(text string) []byte {
	if t.crlf {
		text = strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\n", "\r\n")
	}
	if t.mark {
		text = byteOrderMark + text
	}
	return []byte(text)
}

// write replaces the text.
func (t *textFile) write(text string) (os.FileInfo, error) {
	return replaceFile(t.real, t.encode(text), t.info.Mode().Perm())
}

// replaceFile gives path the content as a whole: a reader sees the old or the
// new one, and a crash leaves one of them.
func replaceFile(path string, data []byte, mode fs.FileMode) (os.FileInfo, error) {
	dir := filepath.Dir(path)
	tmp, err := os.CreateTemp(dir, "."+filepath.Base(path)+".*.tmp")
	if errors.Is(err, fs.ErrPermission) {
		return overwrite(path, data) // only the file may be written, not its directory
	}
	if err != nil {
		return nil, err
	}
	name := tmp.Name()
	defer os.Remove(name) // fails once it has its name
	_, err = tmp.Write(data)
	if err == nil {
		err = tmp.Chmod(mode)
	}
	if cerr := tmp.Close(); err == nil {
		err = cerr
	}
	if err == nil {
		err = os.Rename(name, path)
	}
	if err != nil {
		return nil, err
	}
	return os.Stat(path)
}

func overwrite(path string, data []byte) (os.FileInfo, error) {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_TRUNC, 0)
	if err != nil {
		return nil, err
	}
	_, err = f.Write(data)
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		return nil, err
	}
	return os.Stat(path)
}

// fileError says what is wrong with a file, as the model reads it.
func fileError(err error, cwd string) error {
	if errors.Is(err, fs.ErrNotExist) {
		return &missingError{cwd: cwd, err: err}
	}
	var pe *fs.PathError
	if errors.As(err, &pe) {
		return fmt.Errorf("%s %s: %w", pe.Op, pe.Path, pe.Err)
	}
	return err
}

// missingError is a path that names nothing. Its text is the measured one, which
// is a sentence (Z-44).
type missingError struct {
	cwd string
	err error
}

func (e *missingError) Error() string {
	return "File does not exist. Note: your current working directory is " + e.cwd + "."
}

func (e *missingError) Unwrap() error { return e.err }

// unchanged reports why a file may not be changed by the session: it has not
// read it, or somebody else has changed it since.
func (k *Kit) unchanged(s *session, path string, info os.FileInfo) error {
	if k.cfg.Unread {
		return nil
	}
	seen, ok := s.seen(path)
	switch {
	case !ok:
		return errors.New("the file has not been read yet; read it before you change it")
	case seen != versionOf(info):
		return errors.New("the file has changed since it was read; read it again before you change it")
	}
	return nil
}

// clean makes a string of foreign bytes one that a log can hold (Z-7).
func clean(s string) string { return messages.ValidUTF8(s) }

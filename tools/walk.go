package tools

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
)

// errEnough ends a walk early, without being its error.
var errEnough = errors.New("enough")

// walker visits the regular files below a directory, in the order of their
// names. Symbolic links are not followed; what cannot be read is left out.
type walker struct {
	ctx     context.Context
	ignored bool // visit what .gitignore files leave out, too
	visit   func(file found) error
}

// found is a file that a walk has come to.
type found struct {
	path  string // as the operating system names it
	rel   string // below the walk's root, slash-separated
	entry fs.DirEntry
}

// versionControl are the directories that are never entered.
var versionControl = []string{".git", ".hg", ".svn", ".bzr", ".jj", ".sl"}

func (w *walker) walk(root string) error {
	g, rel, inRepository := ignorerFor(root)
	if w.ignored || !inRepository {
		w.ignored = true
	}
	err := w.dir(root, "", rel, g)
	if errors.Is(err, errEnough) {
		return nil
	}
	return err
}

// dir visits one directory: rel is its path below the root of the walk, and
// inRepo that below the root of the repository.
func (w *walker) dir(dir, rel, inRepo string, g ignorer) error {
	if err := context.Cause(w.ctx); err != nil {
		return err
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		if rel == "" {
			return err // the root itself
		}
		return nil
	}
	if !w.ignored {
		g = g.with(inRepo, filepath.Join(dir, ".gitignore"))
	}
	for _, e := range entries {
		name := e.Name()
		child := path.Join(inRepo, name)
		if e.IsDir() && slices.Contains(versionControl, name) {
			continue
		}
		if !w.ignored && g.ignores(child, e.IsDir()) {
			continue
		}
		full := filepath.Join(dir, name)
		switch {
		case e.IsDir():
			err = w.dir(full, path.Join(rel, name), child, g)
		case e.Type().IsRegular():
			err = w.visit(found{path: full, rel: path.Join(rel, name), entry: e})
		}
		if err != nil {
			return err
		}
	}
	return nil
}

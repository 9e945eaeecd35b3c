package settings_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dsh-actor/dsh-actor/internal/settings"
)

// tree is a home and a project directory.
type tree struct {
	t             testing.TB
	home, project string
}

func newTree(t testing.TB) tree {
	t.Helper()
	dir := t.TempDir()
	return tree{t, filepath.Join(dir, "home"), filepath.Join(dir, "project")}
}

func (w tree) path(layer settings.Layer) string {
	switch layer {
	case settings.User:
		return filepath.Join(w.home, ".claude", "settings.json")
	case settings.Project:
		return filepath.Join(w.project, ".claude", "settings.json")
	default:
		return filepath.Join(w.project, ".claude", "settings.local.json")
	}
}

func (w tree) write(layer settings.Layer, text string) tree {
	w.t.Helper()
	writeFile(w.t, w.path(layer), text)
	return w
}

func writeFile(t testing.TB, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func (w tree) options() settings.Options {
	return settings.Options{Home: w.home, ProjectDir: w.project}
}

func (w tree) read(change ...func(*settings.Options)) *settings.Snapshot {
	w.t.Helper()
	o := w.options()
	for _, c := range change {
		c(&o)
	}
	s, err := settings.Read(o)
	if err != nil {
		w.t.Fatal(err)
	}
	return s
}

// show replaces the directories by names that do not change.
func (w tree) show(s string) string {
	return filepath.ToSlash(strings.NewReplacer(w.home, "HOME", w.project, "PROJ").Replace(s))
}

func (w tree) diagnostics(s *settings.Snapshot) (lines []string) {
	for _, d := range s.Diagnostics {
		lines = append(lines, w.show(d.String()))
	}
	return lines
}

func (w tree) entries(list []settings.Entry) (lines []string) {
	for _, e := range list {
		lines = append(lines, e.Text+" @ "+w.show(e.Origin.String()))
	}
	return lines
}

func statuses(s *settings.Snapshot) (out []string) {
	for _, d := range s.Documents {
		out = append(out, string(d.Layer)+" "+string(d.Status))
	}
	return out
}

func env(s *settings.Snapshot, name string) string {
	for _, v := range s.Effective.Env {
		if v.Name == name {
			return v.Value
		}
	}
	return ""
}

// document returns what was read of a layer.
func document(t testing.TB, s *settings.Snapshot, layer settings.Layer) settings.Document {
	t.Helper()
	for _, d := range s.Documents {
		if d.Layer == layer {
			return d
		}
	}
	t.Fatalf("no document of layer %s", layer)
	return settings.Document{}
}

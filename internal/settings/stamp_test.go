package settings_test

import (
	"os"
	"testing"
	"time"

	"github.com/dsh-actor/dsh-actor/internal/settings"
)

// Oracle section 10 (hot reload): created, edited, replaced and removed files
// are noticed, and nothing else is.
func TestChanged(t *testing.T) {
	past := time.Date(2020, 1, 2, 3, 4, 5, 0, time.UTC)
	for _, c := range []struct {
		name   string
		change func(t *testing.T, w tree)
		want   bool
	}{
		{"nothing", func(*testing.T, tree) {}, false},
		{"read", func(t *testing.T, w tree) {
			if _, err := os.ReadFile(w.path(settings.Project)); err != nil {
				t.Fatal(err)
			}
		}, false},
		{"other file", func(t *testing.T, w tree) { writeFile(t, w.path(settings.Project)+".swp", "x") }, false},
		{"created", func(_ *testing.T, w tree) { w.write(settings.Local, "{}") }, true},
		{"grown", func(_ *testing.T, w tree) { w.write(settings.Project, `{"env":{}}`) }, true},
		{"same size", func(t *testing.T, w tree) {
			w.write(settings.Project, "[]")
			if err := os.Chtimes(w.path(settings.Project), past, past.Add(time.Nanosecond)); err != nil {
				t.Fatal(err)
			}
		}, true},
		{"replaced, same size and time", func(t *testing.T, w tree) {
			other := w.path(settings.Project) + ".new"
			writeFile(t, other, "[]")
			if err := os.Chtimes(other, past, past); err != nil {
				t.Fatal(err)
			}
			if err := os.Rename(other, w.path(settings.Project)); err != nil {
				t.Fatal(err)
			}
		}, true},
		{"removed", func(t *testing.T, w tree) {
			if err := os.Remove(w.path(settings.Project)); err != nil {
				t.Fatal(err)
			}
		}, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newTree(t).write(settings.Project, "{}")
			if err := os.Chtimes(w.path(settings.Project), past, past); err != nil {
				t.Fatal(err)
			}
			s := w.read()
			c.change(t, w)
			if got := s.Changed(); got != c.want {
				t.Errorf("Changed() = %v, want %v", got, c.want)
			}
			if w.read().Changed() {
				t.Error("a new snapshot counts as changed")
			}
		})
	}
}

func BenchmarkChanged(b *testing.B) {
	s := newTree(b).write(settings.User, "{}").write(settings.Project, "{}").read()
	b.ReportAllocs()
	for b.Loop() {
		if s.Changed() {
			b.Fatal("changed")
		}
	}
}

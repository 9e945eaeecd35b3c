//go:build unix

package settings_test

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/dsh-actor/dsh-actor/internal/settings"
)

// A pipe in the place of a file must not block the start of a session.
func TestPipe(t *testing.T) {
	w := newTree(t)
	path := w.path(settings.Project)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	s := w.read()
	if len(s.Diagnostics) != 1 || s.Diagnostics[0].Severity != settings.Error {
		t.Errorf("diagnostics: %v", s.Diagnostics)
	}
}

// PAIN 46: a link to the same file is the same file.
func TestLinkToSameFile(t *testing.T) {
	w := newTree(t).write(settings.User, `{"permissions":{"allow":["Read"]}}`)
	if err := os.MkdirAll(filepath.Dir(w.path(settings.Project)), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(w.path(settings.User), w.path(settings.Project)); err != nil {
		t.Fatal(err)
	}
	s := w.read()
	if got := len(s.Effective.Permissions.Allow); got != 1 {
		t.Errorf("%d rules, want 1", got)
	}
}

package session_test

import (
	"testing"

	"github.com/dsh-actor/dsh-actor/session"
)

// E-13
func TestHeaderValidate(t *testing.T) {
	for name, c := range map[string]struct {
		header session.Header
		ok     bool
	}{
		"smallest":       {session.Header{ID: "a"}, true},
		"all":            {session.Header{ID: "a", CreatedAt: 5, Cwd: "/w", ParentSession: "p", SeedLength: 3, DelegationDepth: 1}, true},
		"posix cwd":      {session.Header{ID: "a", Cwd: "/"}, true},
		"drive cwd":      {session.Header{ID: "a", Cwd: `C:\project`}, true},
		"drive slash":    {session.Header{ID: "a", Cwd: `d:/project`}, true},
		"unc cwd":        {session.Header{ID: "a", Cwd: `\\host\share`}, true},
		"version":        {session.Header{Version: 1, ID: "a"}, false},
		"no id":          {session.Header{}, false},
		"relative cwd":   {session.Header{ID: "a", Cwd: "project"}, false},
		"dot cwd":        {session.Header{ID: "a", Cwd: "./project"}, false},
		"drive relative": {session.Header{ID: "a", Cwd: `C:project`}, false},
		"seed length":    {session.Header{ID: "a", SeedLength: -1}, false},
		"depth":          {session.Header{ID: "a", DelegationDepth: -1}, false},
	} {
		if err := c.header.Validate(); (err == nil) != c.ok {
			t.Errorf("%s: %v", name, err)
		}
	}
}

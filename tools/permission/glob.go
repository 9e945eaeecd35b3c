package permission

import (
	"os"
	"path"
	"path/filepath"
	"strings"
)

// globMatch is one file that a pattern of a command line matches.
type globMatch struct {
	name   string // as the command would get it
	target target
}

// maxMatches bounds what a pattern may match, and the directories and names that
// are looked at for it.
const (
	maxMatches = 256
	maxLooked  = 4096
)

// glob expands a pattern as a shell would, from dir. It matches more rather than
// less: hidden files too, and any character for a bracket expression. It fails for
// patterns that it does not understand or that match too much.
func (w *lookup) glob(pattern, dir string) (matches []globMatch, ok bool) {
	if strings.ContainsAny(pattern, "[\\\x00") || strings.HasPrefix(pattern, "~") || dir == "" && !filepath.IsAbs(pattern) {
		return nil, false
	}
	names, looked := []string{""}, 0
	if filepath.IsAbs(pattern) {
		names = []string{"/"}
	}
	for part := range strings.SplitSeq(pattern, "/") {
		if part == "" {
			continue
		}
		var next []string
		for _, name := range names {
			if !strings.ContainsAny(part, "*?") {
				next = append(next, name+part+"/")
				continue
			}
			t, ok := w.target(name+".", dir)
			if !ok || !w.inside(t) {
				return nil, false // no look outside
			}
			entries, err := os.ReadDir(t.resolved)
			if looked += len(entries) + 1; looked > maxLooked {
				return nil, false
			}
			if err != nil {
				continue // no directory: the shell finds nothing either
			}
			for _, e := range entries {
				if hit, err := path.Match(part, e.Name()); hit && err == nil {
					next = append(next, name+e.Name()+"/")
				}
			}
		}
		if names = next; len(names) > maxMatches {
			return nil, false
		}
	}
	if len(names) == 0 {
		names = []string{pattern} // the shell leaves it as it is
	}
	for _, name := range names {
		if len(name) > 1 {
			name = strings.TrimSuffix(name, "/")
		}
		t, ok := w.target(name, dir)
		if !ok {
			return nil, false
		}
		if _, err := os.Lstat(t.resolved); err != nil && name != pattern {
			continue
		}
		matches = append(matches, globMatch{name, t})
	}
	return matches, true
}

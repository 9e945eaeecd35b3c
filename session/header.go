package session

import (
	"fmt"
	"maps"
)

// Validate reports what is wrong with a header (E-13): the version must be 0,
// the id not empty, the working directory absolute if there is one (as POSIX or
// Windows has it, since a log may be read on another machine), and no count
// negative.
func (h Header) Validate() error {
	switch {
	case h.Version != 0:
		return fmt.Errorf("session header: version %d is not supported", h.Version)
	case h.ID == "":
		return fmt.Errorf("session header: no id")
	case h.Cwd != "" && !isAbs(h.Cwd):
		return fmt.Errorf("session header of %s: cwd %q is not absolute", h.ID, h.Cwd)
	case h.SeedLength < 0:
		return fmt.Errorf("session header of %s: seedLength %d is negative", h.ID, h.SeedLength)
	case h.DelegationDepth < 0:
		return fmt.Errorf("session header of %s: delegationDepth %d is negative", h.ID, h.DelegationDepth)
	}
	return nil
}

// isAbs reports whether the path is absolute on POSIX or on Windows.
func isAbs(path string) bool {
	if path[0] == '/' || path[0] == '\\' {
		return true
	}
	drive := path[0] | 0x20
	return len(path) >= 3 && 'a' <= drive && drive <= 'z' && path[1] == ':' && (path[2] == '\\' || path[2] == '/')
}

// clone returns a header that shares nothing with h.
func (h Header) clone() Header {
	h.Labels = maps.Clone(h.Labels)
	return h
}

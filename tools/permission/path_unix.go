//go:build unix

package permission

import (
	"errors"
	"syscall"
)

// isNotDir reports whether a path leads through something that is no directory.
func isNotDir(err error) bool { return errors.Is(err, syscall.ENOTDIR) }

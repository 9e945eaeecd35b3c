package permission

// isNotDir reports whether a path leads through something that is no directory.
// Windows says of such a path that it does not exist.
func isNotDir(error) bool { return false }

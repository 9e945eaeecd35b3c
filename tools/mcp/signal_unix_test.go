//go:build unix

package mcp_test

import "syscall"

const terminate = syscall.SIGTERM

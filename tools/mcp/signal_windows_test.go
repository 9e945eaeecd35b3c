package mcp_test

import "os"

var terminate = os.Interrupt

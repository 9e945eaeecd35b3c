//go:build !unix

package actors_test

import (
	"testing"
	"time"
)

func cpu() time.Duration { return 0 }

func reportCPU(*testing.B, time.Duration) {}

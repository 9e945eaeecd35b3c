//go:build unix

package actors_test

import (
	"syscall"
	"testing"
	"time"
)

// cpu is the processor time that the process has used: on a shared machine it says
// more than the clock.
func cpu() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// reportCPU adds the processor time per operation to a benchmark's figures.
func reportCPU(b *testing.B, since time.Duration) {
	b.ReportMetric(float64(cpu()-since)/float64(b.N), "cpu-ns/op")
}

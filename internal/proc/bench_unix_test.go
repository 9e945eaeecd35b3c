//go:build unix

package proc

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// The paired runs: the same shell, command, input, session and captured
// output, by this package and by os/exec as it comes.

const benchCommand = "cat"

func benchInput() []byte { return bytes.Repeat([]byte("0123456789"), 60) }

func benchSpec(env []string) Spec {
	return Spec{
		Shell:   []string{"/bin/sh", "-c"},
		Command: benchCommand,
		Env:     Env{Base: env},
		Stdin:   benchInput(),
		Timeout: time.Minute,
		Grace:   time.Second,
	}
}

func runOurs(tb testing.TB, o *Owner, spec Spec) {
	out := o.Run(context.Background(), spec)
	if !out.Exited || out.ExitCode != 0 || len(out.Stdout.Data) != 600 {
		tb.Errorf("outcome: %+v", out)
	}
}

func runBare(tb testing.TB, input []byte, env []string) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "/bin/sh", "-c", benchCommand)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	cmd.Env = env
	cmd.Stdin = bytes.NewReader(input)
	var out, err bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &err
	if e := cmd.Run(); e != nil || out.Len() != 600 {
		tb.Errorf("bare: %v, %d bytes", e, out.Len())
	}
}

// BenchmarkRun runs both in turns, so that both meet the same machine, and
// reports the median of each and their ratio.
func BenchmarkRun(b *testing.B) {
	env := os.Environ()
	for _, at := range []int{1, 8, 64} {
		b.Run(fmt.Sprintf("at=%d", at), func(b *testing.B) {
			b.ReportAllocs()
			o := New(Config{})
			defer o.Drain(context.Background(), 0)
			spec, input := benchSpec(env), benchInput()
			round := func(n int, run func()) time.Duration {
				var wg sync.WaitGroup
				var left atomic.Int64
				left.Store(int64(n))
				began := time.Now()
				for range at {
					wg.Go(func() {
						for left.Add(-1) >= 0 {
							run()
						}
					})
				}
				wg.Wait()
				return time.Since(began) / time.Duration(n)
			}
			ours := func() { runOurs(b, o, spec) }
			bare := func() { runBare(b, input, env) }
			n := max(4*at, 16)
			round(n, ours)
			round(n, bare)
			b.ResetTimer()
			var us, them []time.Duration
			for i := 0; i < b.N; i += 2 * n {
				if i/(2*n)%2 == 0 {
					us = append(us, round(n, ours))
					them = append(them, round(n, bare))
				} else {
					them = append(them, round(n, bare))
					us = append(us, round(n, ours))
				}
			}
			b.StopTimer()
			slices.Sort(us)
			slices.Sort(them)
			u, t := us[len(us)/2], them[len(them)/2]
			b.ReportMetric(float64(u.Microseconds()), "ours-µs")
			b.ReportMetric(float64(t.Microseconds()), "bare-µs")
			b.ReportMetric(float64(u)/float64(t), "ratio")
			runtime.KeepAlive(input)
		})
	}
}

func BenchmarkRunOurs(b *testing.B) {
	b.ReportAllocs()
	o := New(Config{})
	spec := benchSpec(os.Environ())
	for b.Loop() {
		runOurs(b, o, spec)
	}
}

func BenchmarkRunBare(b *testing.B) {
	b.ReportAllocs()
	input, env := benchInput(), os.Environ()
	for b.Loop() {
		runBare(b, input, env)
	}
}

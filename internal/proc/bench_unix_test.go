//go:build unix

package proc

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
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
// reports the median of each, their ratio, and that of the
// processor time of parent and children together.
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
			var us, them, usCPU, themCPU []time.Duration
			both := func(walls, cpus *[]time.Duration, run func()) {
				before := cpuTime()
				*walls = append(*walls, round(n, run))
				*cpus = append(*cpus, (cpuTime()-before)/time.Duration(n))
			}
			for i := 0; i < b.N; i += 2 * n {
				if i/(2*n)%2 == 0 {
					both(&us, &usCPU, ours)
					both(&them, &themCPU, bare)
				} else {
					both(&them, &themCPU, bare)
					both(&us, &usCPU, ours)
				}
			}
			b.StopTimer()
			u, t := median(us), median(them)
			b.ReportMetric(float64(u.Microseconds()), "ours-µs")
			b.ReportMetric(float64(t.Microseconds()), "bare-µs")
			b.ReportMetric(float64(u)/float64(t), "ratio")
			b.ReportMetric(float64(median(usCPU))/float64(median(themCPU)), "cpu-ratio")
		})
	}
}

func median(d []time.Duration) time.Duration {
	slices.Sort(d)
	return d[len(d)/2]
}

// cpuTime is the processor time of this process and its ended children.
func cpuTime() (sum time.Duration) {
	for _, who := range []int{syscall.RUSAGE_SELF, syscall.RUSAGE_CHILDREN} {
		var u syscall.Rusage
		if err := syscall.Getrusage(who, &u); err == nil {
			sum += time.Duration(u.Utime.Nano() + u.Stime.Nano())
		}
	}
	return sum
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

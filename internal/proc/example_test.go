//go:build unix

package proc_test

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/dsh-actor/dsh-actor/internal/proc"
)

func ExampleOwner_Run() {
	owner := proc.New(proc.Config{})
	defer owner.Drain(context.Background(), time.Second)

	out := owner.Run(context.Background(), proc.Spec{
		Shell:   []string{"/bin/sh", "-c"},
		Command: `read -r name; echo "hello, $name"; echo "token: $API_TOKEN" >&2; exit 2`,
		Env: proc.Env{
			Base: append(os.Environ(), "API_TOKEN=ambient"), // removed: it looks like a secret
			Set:  []string{"LANG=C"},
		},
		Stdin:   []byte("world\n"),
		Timeout: 10 * time.Second,
		Grace:   time.Second,
	})
	fmt.Printf("exit %d\n", out.ExitCode)
	fmt.Printf("%s%s", out.Stdout.Data, out.Stderr.Data)
	// Output:
	// exit 2
	// hello, world
	// token:
}

func ExampleOwner_Drain() {
	owner := proc.New(proc.Config{})
	out := owner.Run(context.Background(), proc.Spec{
		Shell:   []string{"/bin/sh", "-c"},
		Command: `sleep 300 >/dev/null 2>&1 & echo started`,
	})
	fmt.Printf("exit %d, %d left behind\n", out.ExitCode, len(out.Survivors))

	report := owner.Drain(context.Background(), time.Second)
	fmt.Printf("ended %d, left %d\n", report.Processes, len(report.Left))
	// Output:
	// exit 0, 1 left behind
	// ended 1, left 0
}

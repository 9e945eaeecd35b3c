// Command dsh-actor runs AI-agent sessions; see its help.
package main

import (
	"context"
	"fmt"
	"os"

	"github.com/dsh-actor/dsh-actor/cmd/dsh-actor/internal/app"
)

func main() { os.Exit(run()) }

func run() int {
	sys, err := app.Process()
	if err != nil {
		fmt.Fprintln(os.Stderr, "dsh-actor:", err)
		return 1
	}
	return app.Main(context.Background(), sys, os.Args[1:])
}

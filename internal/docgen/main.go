package main

import (
	"fmt"
	"io"
	"os"
	"slices"
)

// page is one generated page.
type page struct {
	name string
	file string // under docs/
	// write writes the page.
	write func(io.Writer) error
}

func pages() []page {
	return []page{
		{"events", "events.md", writeEvents},
	}
}

func main() {
	if err := run(os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "docgen:", err)
		os.Exit(2)
	}
}

// run prints the page that args name.
func run(args []string, out io.Writer) error {
	var names []string
	for _, p := range pages() {
		names = append(names, p.name)
	}
	if len(args) != 1 || !slices.Contains(names, args[0]) {
		return fmt.Errorf("usage: docgen PAGE, one of %v", names)
	}
	return pages()[slices.Index(names, args[0])].write(out)
}

package app

import (
	"slices"
	"strings"
)

// prepare makes of a command line what the flag library expects.
//
// A command line without a command that has -p or --print is one of `claude`: it is
// given to run. The flags that take a list take every word up to the next flag, as
// the real program's do.
func prepare(args []string) []string {
	if printing(args) {
		args = append([]string{"run"}, args...)
	}
	if len(args) > 0 && args[0] == "run" {
		return append([]string{"run"}, joinLists(args[1:])...)
	}
	return args
}

// printing reports whether the first thing on the command line is a flag, and -p is
// among the flags.
func printing(args []string) bool {
	if len(args) == 0 || !strings.HasPrefix(args[0], "-") {
		return false
	}
	for _, a := range args {
		switch a {
		case "--":
			return false
		case "-p", "--print":
			return true
		}
	}
	return false
}

// joinLists writes "--flag a b" as "--flag=a --flag=b" for the flags that take a
// list.
func joinLists(args []string) []string {
	var out []string
	for i := 0; i < len(args); i++ {
		a := args[i]
		if a == "--" {
			return append(out, args[i:]...)
		}
		name, ok := strings.CutPrefix(a, "--")
		if !ok || !slices.Contains(listFlags(), string(normalize(nil, name))) {
			out = append(out, a)
			continue
		}
		n := 0
		for i+1 < len(args) && !strings.HasPrefix(args[i+1], "-") {
			i++
			n++
			out = append(out, a+"="+args[i])
		}
		if n == 0 {
			out = append(out, a) // the library says that a value is missing
		}
	}
	return out
}

package app

import (
	"errors"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// notHere are flags of the real program that are known and not honoured, with the
// reason. They are told apart from typing errors.
var notHere = map[string]string{
	"resume":                 "it comes with durable stores: so far a session ends with its process",
	"r":                      "it comes with durable stores: so far a session ends with its process",
	"continue":               "it comes with durable stores: so far a session ends with its process",
	"c":                      "it comes with durable stores: so far a session ends with its process",
	"fork-session":           "it comes with durable stores: so far a session ends with its process",
	"mcp-config":             "MCP servers come with a later version",
	"strict-mcp-config":      "MCP servers come with a later version",
	"agents":                 "subagents come with a later version",
	"plugin-dir":             "plugins come with the hook bridges",
	"json-schema":            "structured output is not supported",
	"max-budget-usd":         "no prices are known here; --max-turns bounds the requests",
	"fallback-model":         "a request is retried with the same model",
	"permission-prompt-tool": "questions are asked on the terminal",
}

// flagError explains a flag that could not be understood, and names the nearest one.
func flagError(c *cobra.Command, err error) error {
	var missing *pflag.NotExistError
	if !errors.As(err, &missing) {
		return &usageError{err.Error()}
	}
	name := missing.GetSpecifiedName()
	dashes := "--"
	if missing.GetSpecifiedShortnames() != "" {
		dashes = "-"
	}
	if why, known := notHere[name]; known {
		return usagef("%s%s: %s", dashes, name, why)
	}
	if near := nearest(c, name); near != "" {
		return usagef("unknown flag %s%s; did you mean %s?", dashes, name, near)
	}
	return usagef("unknown flag %s%s", dashes, name)
}

// nearest returns the flag that takes the fewest changes to get to, with its dashes,
// "" if none is near.
func nearest(c *cobra.Command, name string) string {
	best, bestDistance := "", max(2, len(name)/3)+1
	c.Flags().VisitAll(func(f *pflag.Flag) {
		if f.Hidden {
			return
		}
		if d := near(strings.ToLower(name), strings.ToLower(f.Name)); d < bestDistance {
			best, bestDistance = "--"+f.Name, d
		}
	})
	return best
}

// near is how far a word is from a flag, or from the beginning of one: who wrote
// --output means --output-format.
func near(word, flag string) int {
	d := distance(word, flag)
	if len(word) >= 4 {
		for n := len(word) - 1; n <= len(word)+1 && n < len(flag); n++ {
			d = min(d, distance(word, flag[:n])+1)
		}
	}
	return d
}

// distance is the number of insertions, deletions and changes between two words.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			change := diagonal
			if a[i] != b[j] {
				change++
			}
			diagonal = row[j+1]
			row[j+1] = min(change, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}

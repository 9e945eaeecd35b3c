package scripted

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
)

// fields are the keys that an object may have, with what reads their values.
type fields map[string]reader

type reader func(n *node, key string) *ParseError

// object reads the members of n in the order of the file. What names the
// object, such as "an answer".
func object(n *node, what string, known fields) *ParseError {
	if n.kind != objectKind {
		return wrongType(n, what, "an object")
	}
	for _, m := range n.members {
		read, ok := known[m.key]
		if !ok {
			return errorAt(m.at, "unknown key %.60q in %s%s", m.key, what, hint(m.key, slices.Sorted(maps.Keys(known))))
		}
		if bad := read(m.value, m.key); bad != nil {
			return bad
		}
	}
	return nil
}

func wrongType(n *node, key, want string) *ParseError {
	return errorAt(n.at, "%s must be %s, not %s", key, want, n.describe())
}

func str(out *string) reader {
	return func(n *node, key string) *ParseError {
		switch {
		case n.kind == boolKind || n.kind == numberKind:
			return errorAt(n.at, "%s must be a string, not %s: put it in quotes", key, n.describe())
		case n.kind != stringKind:
			return wrongType(n, key, "a string")
		case n.text == "":
			return errorAt(n.at, "%s must not be empty: leave it out instead", key)
		}
		*out = n.text
		return nil
	}
}

// count reads a whole number from least to most.
func count(out *int64, least, most int64) reader {
	return func(n *node, key string) *ParseError {
		v, err := strconv.ParseInt(n.text, 10, 64)
		switch {
		case n.kind != numberKind:
			return wrongType(n, key, "a number")
		case err != nil || v < least || v > most:
			return errorAt(n.at, "%s must be a whole number from %d to %d, not %.40s", key, least, most, n.text)
		}
		*out = v
		return nil
	}
}

func duration(out *time.Duration) reader {
	return func(n *node, key string) *ParseError {
		const want = "a duration such as 200ms or 1.5s"
		if n.kind != stringKind {
			return wrongType(n, key, want)
		}
		d, err := time.ParseDuration(n.text)
		switch {
		case err != nil:
			return wrongType(n, key, want)
		case d < 0:
			return errorAt(n.at, "%s must not be negative", key)
		}
		*out = d
		return nil
	}
}

// hint says which of the known keys was probably meant, or which there are.
func hint(key string, known []string) string {
	best, least := "", 1<<30
	for _, k := range known {
		d := distance(strings.ToLower(key), strings.ToLower(k))
		if len(key) >= 3 && (strings.HasPrefix(k, key) || strings.HasPrefix(key, k)) {
			d = min(d, 1)
		}
		if d < least {
			best, least = k, d
		}
	}
	if least <= max(1, len(best)/3) {
		return fmt.Sprintf("; did you mean %q?", best)
	}
	return "; known keys are " + strings.Join(known, ", ")
}

// distance is the number of characters to insert, delete, replace or swap with
// their neighbour to turn a into b (optimal string alignment). It stops early
// for a that cannot be near.
func distance(a, b string) int {
	if len(a) > 2*len(b)+2 {
		return len(a)
	}
	x, y := []rune(a), []rune(b)
	before, row := make([]int, len(y)+1), make([]int, len(y)+1)
	for j := range row {
		row[j] = j
	}
	for i := range x {
		next := make([]int, len(y)+1)
		next[0] = i + 1
		for j := range y {
			cost := 1
			if x[i] == y[j] {
				cost = 0
			}
			next[j+1] = min(row[j+1]+1, next[j]+1, row[j]+cost)
			if i > 0 && j > 0 && x[i] == y[j-1] && x[i-1] == y[j] {
				next[j+1] = min(next[j+1], before[j-1]+1)
			}
		}
		before, row = row, next
	}
	return row[len(y)]
}

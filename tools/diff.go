package tools

import "strings"

// Hunk is a part of a patch: the lines of both sides, with three lines around
// each change, each line after a space, "-" or "+". A last line without a line
// feed is followed by a line that says so.
type Hunk struct {
	OldStart int      `json:"oldStart"`
	OldLines int      `json:"oldLines"`
	NewStart int      `json:"newStart"`
	NewLines int      `json:"newLines"`
	Lines    []string `json:"lines"`
}

const (
	contextLines = 3
	// maxEdits bounds the work of the search for the smallest patch, which grows
	// with its square. A patch that is larger replaces the lines in one piece.
	maxEdits = 1000

	noNewline = `\ No newline at end of file`
)

// diff returns the patch that makes the new text of the old one.
func diff(old, new string) []Hunk {
	a, b := splitLines(old), splitLines(new)
	// Most of a file is usually the same.
	head := 0
	for head < len(a) && head < len(b) && a[head] == b[head] {
		head++
	}
	tail := 0
	for tail < len(a)-head && tail < len(b)-head && a[len(a)-1-tail] == b[len(b)-1-tail] {
		tail++
	}
	ops := script(a[head:len(a)-tail], b[head:len(b)-tail])
	return hunks(a, b, head, ops)
}

// splitLines keeps the line feeds, so that a last line without one differs from
// one with it.
func splitLines(s string) []string {
	if s == "" {
		return nil
	}
	lines := strings.SplitAfter(s, "\n")
	if lines[len(lines)-1] == "" {
		lines = lines[:len(lines)-1]
	}
	return lines
}

// op is a run of lines that are the same, or that are replaced by others.
type op struct{ same, del, add int }

// script returns what turns a into b, by the greedy algorithm of Myers.
func script(a, b []string) []op {
	n, m := len(a), len(b)
	if n == 0 && m == 0 {
		return nil
	}
	limit := min(n+m, maxEdits)
	v := make([]int, 2*limit+2)
	at := func(k int) *int { return &v[(k+len(v))%len(v)] }
	var trace [][]int
	for d := 0; d <= limit; d++ {
		for k := -d; k <= d; k += 2 {
			var x int
			if k == -d || k != d && *at(k - 1) < *at(k + 1) {
				x = *at(k + 1)
			} else {
				x = *at(k - 1) + 1
			}
			for x < n && x-k < m && a[x] == b[x-k] {
				x++
			}
			*at(k) = x
			if x >= n && x-k >= m {
				return backtrack(n, m, append(trace, band(v, d)))
			}
		}
		trace = append(trace, band(v, d))
	}
	return []op{{del: n, add: m}}
}

// band copies the part of v that round d has written: for k from -d to d.
func band(v []int, d int) []int {
	out := make([]int, 2*d+1)
	for k := -d; k <= d; k++ {
		out[k+d] = v[(k+len(v))%len(v)]
	}
	return out
}

// backtrack walks the rounds back from the end and returns the script from the
// beginning.
func backtrack(x, y int, trace [][]int) []op {
	var steps []op // in reverse
	for d := len(trace) - 1; d > 0; d-- {
		prev := trace[d-1]
		get := func(k int) int {
			if i := k + d - 1; i >= 0 && i < len(prev) {
				return prev[i]
			}
			return -1
		}
		k := x - y
		down := k == -d || k != d && get(k-1) < get(k+1)
		var px, py int
		if down {
			px = get(k + 1)
			py = px - (k + 1)
		} else {
			px = get(k - 1)
			py = px - (k - 1)
		}
		edit, from := op{add: 1}, px // from: x after the single edit
		if !down {
			edit, from = op{del: 1}, px+1
		}
		if same := x - from; same > 0 {
			steps = append(steps, op{same: same})
		}
		steps = append(steps, edit)
		x, y = px, py
	}
	if x > 0 {
		steps = append(steps, op{same: x})
	}
	var ops []op
	for i := len(steps) - 1; i >= 0; i-- {
		s := steps[i]
		if last := len(ops) - 1; last >= 0 && s.same == 0 && ops[last].same == 0 {
			ops[last].del += s.del
			ops[last].add += s.add
			continue
		}
		ops = append(ops, s)
	}
	return ops
}

// hunks groups the changes with the lines around them. The script begins after
// head common lines.
func hunks(a, b []string, head int, ops []op) []Hunk {
	out := []Hunk{}
	var h *Hunk
	oldEnd := 0 // lines of a that are in h
	i, j := head, head
	for _, o := range ops {
		if o.same > 0 {
			i, j = i+o.same, j+o.same
			continue
		}
		if h == nil || i-oldEnd > 2*contextLines {
			if h != nil {
				h.extend(a, oldEnd, min(oldEnd+contextLines, len(a)))
			}
			from := max(i-contextLines, 0)
			if h != nil {
				from = max(from, oldEnd)
			}
			out = append(out, Hunk{OldStart: from + 1, NewStart: j - (i - from) + 1})
			h = &out[len(out)-1]
			oldEnd = from
		}
		h.extend(a, oldEnd, i)
		for _, l := range a[i : i+o.del] {
			h.line('-', l)
			h.OldLines++
		}
		for _, l := range b[j : j+o.add] {
			h.line('+', l)
			h.NewLines++
		}
		i, j = i+o.del, j+o.add
		oldEnd = i
	}
	if h != nil {
		h.extend(a, oldEnd, min(oldEnd+contextLines, len(a)))
	}
	return out
}

// extend adds common lines.
func (h *Hunk) extend(a []string, from, to int) {
	for _, l := range a[from:to] {
		h.line(' ', l)
		h.OldLines++
		h.NewLines++
	}
}

func (h *Hunk) line(mark byte, l string) {
	text, ended := strings.CutSuffix(l, "\n")
	h.Lines = append(h.Lines, string(mark)+text)
	if !ended {
		h.Lines = append(h.Lines, noNewline)
	}
}

package oteltest

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"

	"github.com/dsh-actor/dsh-actor/otel"
)

// Node is one ended span in its tree.
type Node struct {
	Name       string
	Kind       trace.SpanKind
	Attributes map[string]any
	Events     []Event
	// Links are what the span refers to.
	Links []Link
	// Error says that the status is an error, StatusText why.
	Error      bool
	StatusText string
	// Parent is nil for a root, and for a span whose parent was not recorded here.
	Parent *Node
	// Remote says that the parent is in another process or was given as text.
	Remote   bool
	Children []*Node

	Start, End  time.Time
	SpanContext trace.SpanContext
	ParentID    trace.SpanID
	seq         int
	text        string // the rendered subtree, which is also the sort key
}

// Event is one event of a span.
type Event struct {
	Name       string
	Attributes map[string]any
	Time       time.Time
}

// Link is one link of a span. To is nil if the target was not recorded.
type Link struct {
	SpanContext trace.SpanContext
	To          *Node
}

// Has reports whether the span has the attribute with this value. Numbers are
// int64 or float64, lists are slices.
func (n *Node) Has(key string, value any) bool {
	got, ok := n.Attributes[key]
	if !ok {
		return false
	}
	switch v := value.(type) {
	case int:
		value = int64(v)
	case []string:
		list, ok := got.([]string)
		return ok && slices.Equal(list, v)
	}
	if _, list := got.([]string); list {
		return false
	}
	return got == value
}

// Base returns the name without its variable part: "execute_tool" for
// "execute_tool Bash".
func (n *Node) Base() string {
	base, _, _ := strings.Cut(n.Name, " ")
	return base
}

// Path returns the names from the root to the span, joined by " > ".
func (n *Node) Path() string {
	if n.Parent == nil {
		return n.Name
	}
	return n.Parent.Path() + " > " + n.Name
}

// Roots returns the trees of what has ended so far.
//
// Siblings are in the order in which they were started, except that neighbours
// of a kind that runs in parallel (turns of several sessions, tool calls, hooks,
// detached runs) are sorted by what they say, so that the order does not depend
// on scheduling.
func (r *Recorder) Roots() []*Node {
	r.mu.Lock()
	spans := slices.Clone(r.ended)
	order := make(map[trace.SpanID]int, len(spans))
	for _, s := range spans {
		id := s.SpanContext().SpanID()
		order[id] = r.order[id]
	}
	r.mu.Unlock()

	byID := make(map[trace.SpanID]*Node, len(spans))
	nodes := make([]*Node, 0, len(spans))
	for _, s := range spans {
		n := node(s)
		n.seq = order[n.SpanContext.SpanID()]
		byID[n.SpanContext.SpanID()] = n
		nodes = append(nodes, n)
	}
	var roots []*Node
	for _, n := range nodes {
		for i := range n.Links {
			n.Links[i].To = byID[n.Links[i].SpanContext.SpanID()]
		}
		if parent := byID[n.ParentID]; parent != nil {
			n.Parent = parent
			parent.Children = append(parent.Children, n)
		} else {
			roots = append(roots, n)
		}
	}
	arrange(roots)
	return roots
}

// Find returns the spans whose name, or base name, is name, outer before inner.
func (r *Recorder) Find(name string) []*Node {
	var found []*Node
	var walk func([]*Node)
	walk = func(list []*Node) {
		for _, n := range list {
			if n.Name == name || n.Base() == name {
				found = append(found, n)
			}
			walk(n.Children)
		}
	}
	walk(r.Roots())
	return found
}

func node(s sdktrace.ReadOnlySpan) *Node {
	n := &Node{
		Name: s.Name(), Kind: s.SpanKind(), Attributes: values(s.Attributes()),
		Error: s.Status().Code == codes.Error, StatusText: s.Status().Description,
		Start: s.StartTime(), End: s.EndTime(),
		SpanContext: s.SpanContext(), ParentID: s.Parent().SpanID(), Remote: s.Parent().IsRemote(),
	}
	for _, e := range s.Events() {
		n.Events = append(n.Events, Event{Name: e.Name, Attributes: values(e.Attributes), Time: e.Time})
	}
	for _, l := range s.Links() {
		n.Links = append(n.Links, Link{SpanContext: l.SpanContext})
	}
	return n
}

func values(list []attribute.KeyValue) map[string]any {
	out := make(map[string]any, len(list))
	for _, kv := range list {
		out[string(kv.Key)] = kv.Value.AsInterface()
	}
	return out
}

// arrange orders siblings and renders their subtrees, innermost first.
func arrange(list []*Node) {
	slices.SortFunc(list, func(a, b *Node) int { return cmp.Compare(a.seq, b.seq) })
	for _, n := range list {
		arrange(n.Children)
		n.text = render(n)
	}
	for i := 0; i < len(list); {
		j := i + 1
		for j < len(list) && parallel(list[i]) && list[j].Base() == list[i].Base() {
			j++
		}
		slices.SortStableFunc(list[i:j], func(a, b *Node) int { return compareNatural(a.text, b.text) })
		i = j
	}
}

func parallel(n *Node) bool {
	switch n.Base() {
	case otel.SpanInvokeAgent, otel.SpanExecuteTool, otel.SpanHook, otel.SpanDetached:
		return true
	}
	return false
}

// compareNatural compares text with runs of digits as numbers: step 2 is before
// step 10.
func compareNatural(a, b string) int {
	for a != "" && b != "" {
		da, db := digits(a), digits(b)
		if da > 0 && db > 0 {
			na, nb := strings.TrimLeft(a[:da], "0"), strings.TrimLeft(b[:db], "0")
			if c := cmp.Or(cmp.Compare(len(na), len(nb)), cmp.Compare(na, nb)); c != 0 {
				return c
			}
			a, b = a[da:], b[db:]
			continue
		}
		if a[0] != b[0] {
			return cmp.Compare(a[0], b[0])
		}
		a, b = a[1:], b[1:]
	}
	return cmp.Compare(len(a), len(b))
}

func digits(s string) int {
	i := 0
	for i < len(s) && s[i] >= '0' && s[i] <= '9' {
		i++
	}
	return i
}

// Duration returns how long the span lasted.
func (n *Node) Duration() time.Duration { return n.End.Sub(n.Start) }

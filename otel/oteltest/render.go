package oteltest

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"

	"go.opentelemetry.io/otel/trace"

	"github.com/dsh-actor/dsh-actor/otel"
)

// Text renders all trees for comparison with a golden text. One line per span:
// its name, [kind] unless internal, ERROR if the status says so, and its
// attributes sorted by key. Events follow as "* name", links as "~ path of the
// target". Times are left out and values that the catalogue calls volatile are
// shown as "?".
func (r *Recorder) Text() string {
	var b strings.Builder
	for _, root := range r.Roots() {
		b.WriteString(root.text)
	}
	return b.String()
}

// Text renders the span and what is below it, as [Recorder.Text] does.
func (n *Node) Text() string { return n.text }

func render(n *Node) string {
	var b strings.Builder
	b.WriteString(n.Name)
	if n.Kind != trace.SpanKindInternal {
		b.WriteString(" [" + n.Kind.String() + "]")
	}
	if n.Error {
		b.WriteString(" ERROR")
		if n.StatusText != "" {
			b.WriteString(" " + strconv.Quote(n.StatusText))
		}
	}
	if n.Remote {
		b.WriteString(" (remote parent)")
	}
	b.WriteString(renderAttributes(n.Attributes))
	b.WriteByte('\n')
	for _, e := range n.Events {
		b.WriteString("  * " + e.Name + renderAttributes(e.Attributes) + "\n")
	}
	for _, l := range n.Links {
		target := "(elsewhere)"
		if l.To != nil {
			target = l.To.Path()
		}
		b.WriteString("  ~ " + target + "\n")
	}
	for _, c := range n.Children {
		for line := range strings.Lines(c.text) {
			b.WriteString("  " + line)
		}
	}
	return b.String()
}

func renderAttributes(attrs map[string]any) string {
	var b strings.Builder
	for _, key := range slices.Sorted(maps.Keys(attrs)) {
		b.WriteString(" " + key + "=")
		if volatile()[key] {
			b.WriteByte('?')
			continue
		}
		b.WriteString(renderValue(attrs[key]))
	}
	return b.String()
}

func renderValue(v any) string {
	switch v := v.(type) {
	case string:
		if v == "" || strings.ContainsAny(v, " \"=\t\n") {
			return strconv.Quote(v)
		}
		return v
	case []string:
		return "[" + strings.Join(v, ",") + "]"
	}
	return fmt.Sprint(v)
}

// volatile are the keys whose values differ from run to run.
var volatile = sync.OnceValue(func() map[string]bool {
	keys := map[string]bool{}
	for _, a := range otel.Attributes() {
		keys[a.Key] = a.Volatile
	}
	return keys
})

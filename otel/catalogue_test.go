package otel_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/dsh-actor/dsh-actor/otel"
	"github.com/dsh-actor/dsh-actor/otel/oteltest"
)

// constants returns the string constants of names.go whose names have the
// prefix.
func constants(t *testing.T, prefix string) map[string]string {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), "names.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	ast.Inspect(file, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok {
			return true
		}
		for i, name := range spec.Names {
			if lit, ok := spec.Values[i].(*ast.BasicLit); ok && strings.HasPrefix(name.Name, prefix) {
				if out[name.Name], err = strconv.Unquote(lit.Value); err != nil {
					t.Fatal(err)
				}
			}
		}
		return true
	})
	if len(out) == 0 {
		t.Fatalf("names.go has no constant %s…", prefix)
	}
	return out
}

// TestCatalogueIsComplete: every name of names.go is documented, once.
func TestCatalogueIsComplete(t *testing.T) {
	documented := map[string][]string{}
	for _, a := range otel.Attributes() {
		documented["Key"] = append(documented["Key"], a.Key)
		if a.Doc == "" || a.Type == "" || len(a.On) == 0 {
			t.Errorf("%s lacks a doc, a type or a place", a.Key)
		}
	}
	for _, s := range otel.Spans() {
		documented["Span"] = append(documented["Span"], s.Name)
	}
	for _, e := range otel.Events() {
		documented["Event"] = append(documented["Event"], e.Name)
	}
	for _, m := range otel.Metrics() {
		documented["Metric"] = append(documented["Metric"], m.Name)
	}
	var places []string
	for _, prefix := range []string{"Span", "Event", "Metric"} {
		places = append(places, documented[prefix]...)
	}
	for prefix, names := range documented {
		declared := constants(t, prefix)
		for constant, name := range declared {
			if n := count(names, name); n != 1 {
				t.Errorf("%s (%s) is documented %d times", constant, name, n)
			}
		}
		if len(names) != len(declared) {
			t.Errorf("%d names %s… are documented, %d declared", len(names), prefix, len(declared))
		}
	}
	for _, a := range otel.Attributes() {
		for _, place := range a.On {
			if !slices.Contains(places, place) {
				t.Errorf("%s is said to be on %q, which is nothing", a.Key, place)
			}
		}
	}
}

func count(list []string, s string) (n int) {
	for _, item := range list {
		if item == s {
			n++
		}
	}
	return n
}

// TestCatalogueIsTrue: what is emitted is documented, there, with that type; and
// every documented attribute is emitted by something, those of the exporters'
// markers aside.
func TestCatalogueIsTrue(t *testing.T) {
	metrics := oteltest.NewMetrics()
	rec, tr := newTracer(t, otel.Config{MeterProvider: metrics.Provider(), CaptureArgs: true})
	exercise(t, tr)
	_, failed := tr.StartStep(t.Context(), 1, 1)
	failed.End(otel.StepEnd{Ending: otel.Ending{Err: named{}}})

	emitted := map[string]bool{}
	check := func(place, key string, value any) {
		emitted[key+" on "+place] = true
		i := slices.IndexFunc(otel.Attributes(), func(a otel.AttributeInfo) bool { return a.Key == key })
		if i < 0 {
			t.Errorf("%s on %s is not documented", key, place)
			return
		}
		info := otel.Attributes()[i]
		if !slices.Contains(info.On, place) {
			t.Errorf("%s is on %s, which its documentation does not say", key, place)
		}
		if got := typeOf(value); got != info.Type {
			t.Errorf("%s on %s is %v, documented as %v", key, place, got, info.Type)
		}
	}
	spans := map[string]bool{}
	var walk func([]*oteltest.Node)
	walk = func(list []*oteltest.Node) {
		for _, n := range list {
			spans[n.Base()] = true
			for key, value := range n.Attributes {
				check(n.Base(), key, value)
			}
			for _, e := range n.Events {
				spans[e.Name] = true
				for key, value := range e.Attributes {
					check(e.Name, key, value)
				}
			}
			walk(n.Children)
		}
	}
	walk(rec.Roots())
	points, err := metrics.Points()
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range points {
		spans[p.Metric] = true
		for key, value := range p.Attributes {
			check(p.Metric, key, value)
		}
	}
	for _, a := range otel.Attributes() {
		if !slices.ContainsFunc(a.On, func(place string) bool { return place == otel.SpanDropped || emitted[a.Key+" on "+place] }) {
			t.Errorf("%s is documented and never emitted", a.Key)
		}
	}
	for _, s := range otel.Spans() {
		if !spans[s.Name] && s.Name != otel.SpanDropped {
			t.Errorf("the span %s is documented and never emitted", s.Name)
		}
	}
	for _, e := range otel.Events() {
		if !spans[e.Name] {
			t.Errorf("the event %s is documented and never emitted", e.Name)
		}
	}
	for _, m := range otel.Metrics() {
		if !spans[m.Name] && m.Name != otel.MetricDropped {
			t.Errorf("the metric %s is documented and never emitted", m.Name)
		}
	}
}

func typeOf(v any) otel.Type {
	switch v.(type) {
	case string:
		return otel.String
	case []string:
		return otel.Strings
	case int64:
		return otel.Int
	case float64:
		return otel.Double
	case bool:
		return otel.Bool
	}
	return otel.Type(fmt.Sprintf("%T", v))
}

// TestPackageDocHasTheVocabulary: the table in doc.go is that of Attributes.
// UPDATE_GOLDEN=1 writes it.
func TestPackageDocHasTheVocabulary(t *testing.T) {
	const begin, end = "// # Attributes\n//\n", "package otel\n"
	text, err := os.ReadFile("doc.go")
	if err != nil {
		t.Fatal(err)
	}
	head, rest, found := strings.Cut(string(text), begin)
	table, tail, found2 := strings.Cut(rest, end)
	if !found || !found2 {
		t.Fatal("doc.go has no section Attributes before the package clause")
	}
	var b strings.Builder
	for _, a := range otel.Attributes() {
		fmt.Fprintf(&b, "//\t%-38s %-8s  %s\n", a.Key, a.Type, a.Doc)
	}
	if os.Getenv("UPDATE_GOLDEN") == "1" {
		if err := os.WriteFile("doc.go", []byte(head+begin+b.String()+end+tail), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if table != b.String() {
		t.Errorf("the table in doc.go is not that of Attributes(); run the test with UPDATE_GOLDEN=1")
	}
}

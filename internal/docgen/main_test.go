package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// The pages in the repository are what the code says now.
func TestPagesAreFresh(t *testing.T) {
	for _, p := range pages() {
		var want bytes.Buffer
		if err := run([]string{p.name}, &want); err != nil {
			t.Fatal(err)
		}
		got, err := os.ReadFile(filepath.Join("..", "..", "docs", p.file))
		if err != nil {
			t.Fatal(err)
		}
		got = bytes.ReplaceAll(got, []byte("\r\n"), []byte("\n")) // a checkout on Windows
		if diff := cmp.Diff(want.String(), string(got)); diff != "" {
			t.Errorf("docs/%s is stale; run: go run ./internal/docgen %s > docs/%s\n(-code +page):\n%s", p.file, p.name, p.file, diff)
		}
	}
}

// Every link within a page leads to a heading of it.
func TestLinksLeadSomewhere(t *testing.T) {
	for _, p := range pages() {
		var page strings.Builder
		if err := p.write(&page); err != nil {
			t.Fatal(err)
		}
		anchors := map[string]bool{}
		for line := range strings.Lines(page.String()) {
			if heading, ok := strings.CutPrefix(strings.TrimLeft(strings.TrimSpace(line), "#"), " "); ok && strings.HasPrefix(line, "#") {
				if anchors[anchor(heading)] {
					t.Errorf("%s: two headings for #%s", p.file, anchor(heading))
				}
				anchors[anchor(heading)] = true
			}
		}
		links := 0
		for _, part := range strings.Split(page.String(), "](#")[1:] {
			target, _, _ := strings.Cut(part, ")")
			links++
			if !anchors[target] {
				t.Errorf("%s: no heading for the link #%s", p.file, target)
			}
		}
		if links == 0 {
			t.Errorf("%s has no links", p.file)
		}
	}
}

func TestUsage(t *testing.T) {
	for _, args := range [][]string{nil, {"nothing"}, {"events", "more"}} {
		var out bytes.Buffer
		err := run(args, &out)
		if err == nil || !strings.Contains(err.Error(), "events") || out.Len() > 0 {
			t.Errorf("%q: %v, printed %q", args, err, out.String())
		}
	}
}

package wiretest

import (
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write the golden files")

// Golden compares a JSON text with testdata/name, which is indented for readers.
func Golden(t *testing.T, name string, got []byte) {
	t.Helper()
	v := jsontext.Value(got)
	if !v.IsValid() {
		t.Fatalf("not valid JSON: %s", got)
	}
	if err := v.Indent(jsontext.WithIndent("  ")); err != nil {
		t.Fatal(err)
	}
	v = append(v, '\n')
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, v, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(v)); diff != "" {
		t.Errorf("%s (-want +got):\n%s", path, diff)
	}
}

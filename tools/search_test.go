package tools_test

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/dsh-actor/dsh-actor/tools"
)

// tree makes a repository with files that are ignored and files that are not.
func tree(b *bench) {
	b.file(".git/config", "needle\n")
	b.file(".gitignore", "# comment\n*.log\n/build/\n!keep.log\nsub/secret.txt\n**/deep/*.tmp\n")
	b.file("a.go", "package a\n\nfunc Needle() {}\n")
	b.file("b.txt", "nothing\nneedle one\nother\nother\nother\nneedle two\n")
	b.file("x.log", "needle\n")
	b.file("keep.log", "needle\n")
	b.file("build/out.txt", "needle\n")
	b.file("src/build/in.txt", "needle\n")
	b.file("sub/.gitignore", "local.txt\n")
	b.file("sub/local.txt", "needle\n")
	b.file("sub/secret.txt", "needle\n")
	b.file("sub/deep/x.tmp", "needle\n")
	b.file("sub/deep/x.txt", "needle\n")
	b.file(".hidden", "needle\n")
	b.file("binary", "needle\x00\n")
}

func lines(text string) []string { return strings.Split(text, "\n") }

func TestGrepFiles(t *testing.T) {
	b := newBench(t, tools.Config{})
	tree(b)
	for _, tc := range []struct {
		name string
		in   in
		want []string
	}{
		{"ignored files are left out", in{"pattern": "needle"},
			[]string{".hidden", "b.txt", "keep.log", "src/build/in.txt", "sub/deep/x.txt"}},
		{"ignore case", in{"pattern": "NEEDLE()", "-i": true, "glob": "*.go"}, []string{"a.go"}},
		{"below a directory", in{"pattern": "needle", "path": "sub"}, []string{"sub/deep/x.txt"}},
		{"below a directory, absolute", in{"pattern": "needle", "path": b.path("sub")}, []string{"sub/deep/x.txt"}},
		{"a file, ignored or not", in{"pattern": "needle", "path": "x.log"}, []string{"x.log"}},
		{"glob of a path", in{"pattern": "needle", "glob": "s*/**/*.txt"}, []string{"src/build/in.txt", "sub/deep/x.txt"}},
		{"glob with braces", in{"pattern": "(?i)needle", "glob": "*.{go,log}"}, []string{"a.go", "keep.log"}},
		{"type", in{"pattern": ".", "type": "go"}, []string{"a.go"}},
		{"nothing", in{"pattern": "absent"}, []string{"No files found"}},
		{"limit", in{"pattern": "needle", "head_limit": 2}, []string{".hidden", "b.txt", "[cut after 2; there are more]"}},
		{"limit that fits", in{"pattern": "needle", "head_limit": 5},
			[]string{".hidden", "b.txt", "keep.log", "src/build/in.txt", "sub/deep/x.txt"}},
		{"line ends and begins", in{"pattern": "^needle two$"}, []string{"b.txt"}},
		{"across lines needs multiline", in{"pattern": "one\nother"}, []string{"b.txt"}},
		{"dot across lines", in{"pattern": "one.other", "multiline": true}, []string{"b.txt"}},
		{"dot is no line feed", in{"pattern": "one.other"}, []string{"No files found"}},
	} {
		if diff := cmp.Diff(tc.want, lines(b.ok("Grep", tc.in))); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tc.name, diff)
		}
	}
}

func TestGrepContent(t *testing.T) {
	b := newBench(t, tools.Config{})
	tree(b)
	b.file("c.txt", "needle three\r\nend")
	for _, tc := range []struct {
		name string
		in   in
		want []string
	}{
		{"lines", in{"pattern": "needle", "glob": "{b,c}.txt"},
			[]string{"b.txt:2:needle one", "b.txt:6:needle two", "c.txt:1:needle three"}},
		{"without numbers", in{"pattern": "needle", "path": "c.txt", "-n": false}, []string{"c.txt:needle three"}},
		{"context", in{"pattern": "needle", "glob": "{b,c}.txt", "-C": 1}, []string{
			"b.txt-1-nothing", "b.txt:2:needle one", "b.txt-3-other", "--",
			"b.txt-5-other", "b.txt:6:needle two", "--", "c.txt:1:needle three", "c.txt-2-end"}},
		{"context that joins", in{"pattern": "needle", "path": "b.txt", "-A": 2, "-B": 1}, []string{
			"b.txt-1-nothing", "b.txt:2:needle one", "b.txt-3-other", "b.txt-4-other", "b.txt-5-other", "b.txt:6:needle two"}},
		{"limit", in{"pattern": "e", "path": "b.txt", "head_limit": 2},
			[]string{"b.txt:2:needle one", "b.txt:3:other", "[cut after 2; there are more]"}},
		{"multiline", in{"pattern": "one.other", "path": "b.txt", "multiline": true}, []string{"b.txt:2:needle one", "b.txt:3:other"}},
		{"empty matches", in{"pattern": "x*", "path": "c.txt"}, []string{"c.txt:1:needle three", "c.txt:2:end"}},
		{"nothing", in{"pattern": "absent"}, []string{"No matches found"}},
	} {
		tc.in["output_mode"] = "content"
		if diff := cmp.Diff(tc.want, lines(b.ok("Grep", tc.in))); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tc.name, diff)
		}
	}
	b.file("wide.txt", "needle"+strings.Repeat("ü", 600))
	if got := b.ok("Grep", in{"pattern": "needle", "path": "wide.txt", "output_mode": "content"}); !strings.HasSuffix(got, "ü... [cut]") || len(got) > 1100 {
		t.Errorf("a long line: %d bytes", len(got))
	}
}

func TestGrepCount(t *testing.T) {
	b := newBench(t, tools.Config{})
	tree(b)
	r := b.call("Grep", in{"pattern": "needle", "output_mode": "count", "glob": "*.txt"})
	var v tools.GrepOutput
	if err := r.Value().Unmarshal(&v); err != nil {
		t.Fatal(err)
	}
	want := tools.GrepOutput{Mode: "count", NumFiles: 3, NumMatches: 4, Filenames: []string{}, Content: "b.txt:2\nsrc/build/in.txt:1\nsub/deep/x.txt:1"}
	if diff := cmp.Diff(want, v); diff != "" {
		t.Errorf("value (-want +got):\n%s", diff)
	}
}

func TestGrepErrors(t *testing.T) {
	b := newBench(t, tools.Config{})
	for _, tc := range []struct {
		name, want string
		in         in
	}{
		{"no expression", "not a regular expression", in{"pattern": "("}},
		{"lookahead", "not a regular expression", in{"pattern": "(?!x)"}},
		{"no such path", "File does not exist.", in{"pattern": "x", "path": "/no/such"}},
		{"no such type", "no file type", in{"pattern": "x", "type": "klingon"}},
		{"glob and type", "not both", in{"pattern": "x", "type": "go", "glob": "*"}},
		{"bad glob", "not closed", in{"pattern": "x", "glob": "{a"}},
		{"negative", "must not be negative", in{"pattern": "x", "-A": -1}},
		{"unknown mode", "must be one of", in{"pattern": "x", "output_mode": "all"}},
	} {
		if got := b.fails("Grep", tc.in); !strings.Contains(got, tc.want) {
			t.Errorf("%s: %q", tc.name, got)
		}
	}
}

func TestGlob(t *testing.T) {
	b := newBench(t, tools.Config{})
	now := time.Now()
	for i, name := range []string{"old.go", "sub/mid.go", "sub/deep/new.go", "x.txt", "ignored.log"} {
		p := b.file(name, "")
		if err := os.Chtimes(p, now, now.Add(time.Duration(i)*time.Hour)); err != nil {
			t.Fatal(err)
		}
	}
	b.file(".gitignore", "*.log\n")
	b.file(".git/x.go", "")
	for _, tc := range []struct {
		pattern, path string
		want          []string
	}{
		{"**/*.go", "", []string{"sub/deep/new.go", "sub/mid.go", "old.go"}},
		{"*.go", "", []string{"old.go"}},
		{"sub/*.go", "", []string{"sub/mid.go"}},
		{"*.go", "sub", []string{"sub/mid.go"}},
		{"**", "sub/deep", []string{"sub/deep/new.go"}},
		{"sub/**/*.go", "", []string{"sub/deep/new.go", "sub/mid.go"}},
		{"*.{log,txt}", "", []string{"ignored.log", "x.txt"}},
		{"[!o]*.txt", "", []string{"x.txt"}},
	} {
		var want []string
		for _, w := range tc.want {
			want = append(want, b.path(w))
		}
		if diff := cmp.Diff(want, lines(b.ok("Glob", in{"pattern": tc.pattern, "path": tc.path}))); diff != "" {
			t.Errorf("%q in %q (-want +got):\n%s", tc.pattern, tc.path, diff)
		}
	}
	if got := b.ok("Glob", in{"pattern": b.path("sub") + "/*.go"}); got != b.path("sub/mid.go") {
		t.Errorf("an absolute pattern: %q", got)
	}
	if got := b.ok("Glob", in{"pattern": "*.none"}); got != "No files found" {
		t.Errorf("nothing: %q", got)
	}
	if got := b.fails("Glob", in{"pattern": "*", "path": "/no/such"}); !strings.HasPrefix(got, "File does not exist.") {
		t.Errorf("no such directory: %q", got)
	}
	for i := range 120 {
		b.file("many/"+strings.Repeat("x", i+1), "")
	}
	if got := lines(b.ok("Glob", in{"pattern": "many/*"})); len(got) != 101 || !strings.HasPrefix(got[100], "[there are more") {
		t.Errorf("%d lines, the last %q", len(got), got[len(got)-1])
	}
}

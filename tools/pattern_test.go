package tools

import "testing"

func TestGlobPattern(t *testing.T) {
	for _, tc := range []struct {
		pattern string
		yes, no []string
	}{
		{"*.go", []string{"a.go", ".go"}, []string{"a/b.go", "a.gox", "go"}},
		{"**/*.go", []string{"a.go", "a/b.go", "a/b/c.go"}, []string{"a/b.txt"}},
		{"a/**", []string{"a/b", "a/b/c"}, []string{"a", "b/a/c"}},
		{"a/**/b", []string{"a/b", "a/x/b", "a/x/y/b"}, []string{"ab", "a/xb", "a/b/c"}},
		{"a**b", []string{"ab", "axxb"}, []string{"a/b"}},
		{"?.txt", []string{"a.txt", "ü.txt"}, []string{"ab.txt", "/.txt"}},
		{"[a-c]x", []string{"ax", "cx"}, []string{"dx", "-x"}},
		{"[!a-c]x", []string{"dx"}, []string{"ax", "/x"}},
		{"[]]x", []string{"]x"}, []string{"[x"}},
		{"{a,b*}.{x,y}", []string{"a.x", "bcd.y"}, []string{"c.x", "a.z"}},
		{"{a,{b,c}}", []string{"a", "b", "c"}, []string{"d"}},
		{"{**/a,b}", []string{"a", "x/a", "b"}, []string{"x/b"}},
		{"a,b", []string{"a,b"}, []string{"a"}},
		{"a}b", []string{"a}b"}, nil},
		{`\*\{`, []string{"*{"}, []string{"a{"}},
		{"a.b+(c)^$|", []string{"a.b+(c)^$|"}, []string{"axb+(c)^$|"}},
		{"日本*", []string{"日本語"}, []string{"日"}},
		{"a\nb", []string{"a\nb"}, nil},
		{"*", []string{"a\nb"}, nil},
	} {
		re, err := globPattern(tc.pattern)
		if err != nil {
			t.Errorf("%q: %v", tc.pattern, err)
			continue
		}
		for _, s := range tc.yes {
			if !re.MatchString(s) {
				t.Errorf("%q does not match %q (%s)", tc.pattern, s, re)
			}
		}
		for _, s := range tc.no {
			if re.MatchString(s) {
				t.Errorf("%q matches %q (%s)", tc.pattern, s, re)
			}
		}
	}
	for _, p := range []string{"[a", "{a", `a\`, "[", "[!"} {
		if re, err := globPattern(p); err == nil {
			t.Errorf("%q is accepted: %s", p, re)
		}
	}
}

func FuzzGlobPattern(f *testing.F) {
	for _, s := range []string{"**/*.go", "[!a-z]{b,c}", `\x[]-]`, "a**b", "[[:alpha:]]", "[z-a]", "{,}", "[\\"} {
		f.Add(s, "a/b.go")
	}
	f.Fuzz(func(t *testing.T, pattern, path string) {
		if re, err := globPattern(pattern); err == nil {
			re.MatchString(path)
		}
		parseIgnore("", []byte(pattern))
	})
}

func TestIgnoreRules(t *testing.T) {
	g := ignorer{files: []*ignoreRules{parseIgnore("", []byte(
		"*.log\n!keep.log\n/top\nmid/dle\nonly/\n\\#hash\ntrail   \nsp\\ \n**/any\nall/**\n{x}\n!\n/\n"))}}
	for path, want := range map[string]bool{
		"a.log": true, "d/a.log": true, "keep.log": false, "d/keep.log": false,
		"top": true, "d/top": false, "mid/dle": true, "x/mid/dle": false,
		"#hash": true, "trail": true, "sp ": true, "d/e/any": true, "any": true,
		"all/x": true, "all": false, "{x}": true, "x": false,
		"only": false,
	} {
		if got := g.ignores(path, false); got != want {
			t.Errorf("%q: %v", path, got)
		}
	}
	if !g.ignores("only", true) || !g.ignores("d/only", true) {
		t.Error("a directory pattern does not hold for directories")
	}
	// The rules of a directory hold below it, and before those above.
	g.files = append(g.files, parseIgnore("d", []byte("!a.log\nlocal\n")))
	for path, want := range map[string]bool{"d/a.log": false, "a.log": true, "d/local": true, "d/e/local": true, "local": false, "dd/local": false} {
		if got := g.ignores(path, false); got != want {
			t.Errorf("nested: %q: %v", path, got)
		}
	}
}

package tools

import (
	"bytes"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
)

// ignoreRules are the rules of one .gitignore file.
type ignoreRules struct {
	dir   string // slash-separated, relative to the root of the rules; "" is the root
	rules []ignoreRule
}

type ignoreRule struct {
	pattern *regexp.Regexp // of a path relative to the file's directory
	keep    bool           // "!": what earlier rules ignore is not ignored
	dirs    bool           // directories only
}

// parseIgnore reads a .gitignore file. A line that is no pattern ignores
// nothing.
func parseIgnore(dir string, text []byte) *ignoreRules {
	r := &ignoreRules{dir: dir}
	for raw := range bytes.Lines(text) {
		line := strings.TrimRight(string(raw), "\r\n")
		for strings.HasSuffix(line, " ") && !strings.HasSuffix(line, `\ `) {
			line = line[:len(line)-1]
		}
		if line == "" || line[0] == '#' {
			continue
		}
		var rule ignoreRule
		line, rule.keep = strings.CutPrefix(line, "!")
		line, rule.dirs = strings.CutSuffix(line, "/")
		if line == "" {
			continue
		}
		// A slash, other than at the end, ties a pattern to the directory.
		if !strings.Contains(line, "/") {
			line = "**/" + line
		}
		line = strings.TrimPrefix(line, "/")
		// Braces and commas are nothing special in these files.
		line = strings.NewReplacer(`{`, `\{`, `}`, `\}`).Replace(line)
		re, err := globPattern(line)
		if err != nil {
			continue
		}
		rule.pattern = re
		r.rules = append(r.rules, rule)
	}
	return r
}

// ignorer holds the rules from the root of a repository down to a directory,
// the nearest last. It is immutable.
type ignorer struct{ files []*ignoreRules }

// with returns an ignorer that also has the rules of a .gitignore file in dir.
func (g ignorer) with(dir, file string) ignorer {
	text, err := os.ReadFile(file)
	if err != nil {
		return g
	}
	files := append(g.files[:len(g.files):len(g.files)], parseIgnore(dir, text))
	return ignorer{files}
}

// ignores reports whether a path, relative to the root of the rules, is
// ignored. The last rule that matches it decides.
func (g ignorer) ignores(p string, isDir bool) bool {
	for i := len(g.files) - 1; i >= 0; i-- {
		f := g.files[i]
		rel := p
		if f.dir != "" {
			var ok bool
			if rel, ok = strings.CutPrefix(p, f.dir+"/"); !ok {
				continue
			}
		}
		for j := len(f.rules) - 1; j >= 0; j-- {
			if r := f.rules[j]; (isDir || !r.dirs) && r.pattern.MatchString(rel) {
				return !r.keep
			}
		}
	}
	return false
}

// repository returns the root of the repository that dir is in, if it is in one.
func repository(dir string) (root string, ok bool) {
	for {
		if _, err := os.Lstat(filepath.Join(dir, ".git")); err == nil {
			return dir, true
		}
		up := filepath.Dir(dir)
		if up == dir {
			return "", false
		}
		dir = up
	}
}

// ignorerFor returns the rules that hold in dir, those of dir itself not
// included, and the path of dir relative to their root.
func ignorerFor(dir string) (g ignorer, rel string, inRepository bool) {
	root, ok := repository(dir)
	if !ok {
		return ignorer{}, "", false
	}
	r, err := filepath.Rel(root, dir)
	if err != nil {
		return ignorer{}, "", false
	}
	g = g.with("", filepath.Join(root, ".git", "info", "exclude"))
	rel = filepath.ToSlash(r)
	if rel == "." {
		return g, "", true
	}
	at := ""
	for part := range strings.SplitSeq(rel, "/") {
		g = g.with(at, filepath.Join(root, filepath.FromSlash(at), ".gitignore"))
		at = path.Join(at, part)
	}
	return g, rel, true
}

package permission

import (
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"runtime"
	"strings"
)

// anchor is where a path rule begins.
type anchor int

const (
	atProject  anchor = iota // /src/**
	atHome                   // ~/x
	atRoot                   // //etc/x
	atRelative               // src/**, ./src/**
)

// pathPattern is what a rule of a file tool says in parentheses, in the manner of
// .gitignore: * stays within a directory, ** does not, and a pattern without a
// slash is found at any depth.
type pathPattern struct {
	anchor   anchor
	up       int // leading .. of a relative pattern
	segments []string
}

const (
	anyDepth    = "**"
	maxBraces   = 64  // patterns that one rule may stand for
	maxSegments = 256 // of one pattern
)

// parsePathPatterns parses a path rule. Braces are alternatives: *.{ts,tsx} are
// two patterns.
func parsePathPatterns(spec string) ([]pathPattern, error) {
	spec = strings.TrimSpace(spec)
	switch {
	case spec == "":
		return nil, errors.New("no path")
	case spec[0] == '!':
		return nil, errors.New("a path rule cannot be negated")
	case strings.ContainsAny(spec, "\x00\n"):
		return nil, errors.New("control characters")
	}
	texts, err := expandBraces(spec)
	if err != nil {
		return nil, err
	}
	patterns := make([]pathPattern, 0, len(texts))
	for _, text := range texts {
		p, err := parsePathPattern(text)
		if err != nil {
			return nil, err
		}
		patterns = append(patterns, p)
	}
	return patterns, nil
}

func parsePathPattern(text string) (p pathPattern, err error) {
	floating := false
	switch {
	case strings.HasPrefix(text, "//"):
		p.anchor, text = atRoot, text[2:]
	case text == "~" || strings.HasPrefix(text, "~/"):
		p.anchor, text = atHome, text[1:]
	case strings.HasPrefix(text, "/"):
		p.anchor, text = atProject, text[1:]
	default:
		p.anchor = atRelative
		floating = !strings.Contains(strings.TrimSuffix(text, "/"), "/")
	}
	if floating && text != ".." && text != "." {
		p.segments = append(p.segments, anyDepth)
	}
	for name := range strings.SplitSeq(text, "/") {
		switch {
		case name == "" || name == ".":
			continue
		case name == ".." && p.anchor == atRelative && len(p.segments) == 0:
			p.up++
			continue
		case name == "..":
			return p, errors.New(".. in the middle of a path rule")
		case name == anyDepth:
			if n := len(p.segments); n > 0 && p.segments[n-1] == anyDepth {
				continue
			}
		default:
			name = strings.ReplaceAll(name, "[!", "[^")
			if _, err := path.Match(name, ""); err != nil {
				return p, fmt.Errorf("%q: %w", name, err)
			}
		}
		p.segments = append(p.segments, name)
	}
	if strings.HasSuffix(text, "/") || len(p.segments) == 0 { // a directory: what is in it
		if n := len(p.segments); n == 0 || p.segments[n-1] != anyDepth {
			p.segments = append(p.segments, anyDepth)
		}
	}
	if len(p.segments) > maxSegments {
		return p, errors.New("too many directories")
	}
	return p, nil
}

// expandBraces replaces {a,b} by its alternatives. Braces without a comma stand
// for themselves.
func expandBraces(s string) ([]string, error) {
	out, todo := []string{}, []string{s}
	for len(todo) > 0 {
		s, todo = todo[len(todo)-1], todo[:len(todo)-1]
		open, close := innerBraces(s)
		if open < 0 {
			if out = append(out, s); len(out) > maxBraces {
				return nil, errors.New("too many alternatives")
			}
			continue
		}
		if len(todo) > maxBraces {
			return nil, errors.New("too many alternatives")
		}
		for alternative := range strings.SplitSeq(s[open+1:close], ",") {
			todo = append(todo, s[:open]+alternative+s[close+1:])
		}
	}
	return out, nil
}

// innerBraces finds braces with a comma and no braces between them.
func innerBraces(s string) (open, close int) {
	for i := 0; i < len(s); i++ {
		if s[i] != '}' {
			continue
		}
		if open := strings.LastIndexByte(s[:i], '{'); open >= 0 && strings.Contains(s[open:i], ",") && !strings.Contains(s[open:i], "}") {
			return open, i
		}
	}
	return -1, -1
}

// matches reports whether the pattern, with base for its anchor, names file or a
// directory that it is in. Both paths are absolute.
func (p *pathPattern) matches(base, file string, fold bool) bool {
	for range p.up {
		base = filepath.Dir(base)
	}
	if fold {
		base, file = strings.ToLower(base), strings.ToLower(file)
	}
	below, ok := cutDir(file, base)
	if !ok {
		return false
	}
	below = filepath.ToSlash(below)
	return matchSegments(p.segments, below, fold) || matchSegments(p.beneath(), below, fold)
}

// names is the test of rules that allow. It is as matches, but a pattern that ends
// in a wildcard names what it matches and nothing below: src/* is not src/a/b.
func (p *pathPattern) names(base, file string) bool {
	for range p.up {
		base = filepath.Dir(base)
	}
	below, ok := cutDir(file, base)
	if !ok {
		return false
	}
	below = filepath.ToSlash(below)
	if matchSegments(p.segments, below, false) {
		return true
	}
	last := p.segments[len(p.segments)-1]
	return !strings.ContainsAny(last, `*?[\`) && matchSegments(p.beneath(), below, false)
}

// beneath is the pattern of what is in the directories that p names.
func (p *pathPattern) beneath() []string {
	if p.segments[len(p.segments)-1] == anyDepth {
		return p.segments
	}
	return append(p.segments[:len(p.segments):len(p.segments)], anyDepth)
}

// matchSegments matches a relative path with segments. ** stands for any number of
// directories, at the end for at least one name.
func matchSegments(segments []string, below string, fold bool) bool {
	// retry is where to go on when a segment does not match: the last ** takes one
	// directory more.
	var retrySegments []string
	retryBelow, canRetry := "", false
	for {
		switch {
		case len(segments) > 0 && segments[0] == anyDepth:
			if len(segments) == 1 {
				return below != ""
			}
			retrySegments, retryBelow, canRetry = segments[1:], below, true
			segments = segments[1:]
			continue
		case len(segments) == 0 && below == "":
			return true
		case len(segments) > 0 && below != "":
			name, rest, _ := strings.Cut(below, "/")
			if matchName(segments[0], name, fold) {
				segments, below = segments[1:], rest
				continue
			}
		}
		if !canRetry || retryBelow == "" {
			return false
		}
		_, retryBelow, _ = strings.Cut(retryBelow, "/")
		segments, below = retrySegments, retryBelow
	}
}

func matchName(pattern, name string, fold bool) bool {
	if fold {
		pattern = strings.ToLower(pattern)
	}
	ok, err := path.Match(pattern, name)
	return ok && err == nil
}

// narrows reports whether a rule that denies or asks reaches the target: its
// pattern names the path as it was given or where its links lead.
func (p *pathPattern) narrows(w *workspace, t target) bool {
	switch p.anchor {
	case atRoot:
		root := rootOf(t.lexical)
		return p.reaches(start{lexical: root, resolved: root}, w, t)
	case atHome:
		return p.reaches(w.home, w, t)
	case atProject:
		return p.reaches(w.project, w, t)
	}
	for _, b := range w.bases {
		if p.reaches(b, w, t) {
			return true
		}
	}
	return false
}

func (p *pathPattern) reaches(base start, w *workspace, t target) bool {
	if base.lexical == "" {
		return false
	}
	if p.matches(base.lexical, t.lexical, w.fold) || t.resolved != t.lexical && p.matches(base.lexical, t.resolved, w.fold) {
		return true
	}
	return base.resolved != "" && base.resolved != base.lexical &&
		(p.matches(base.resolved, t.lexical, w.fold) || p.matches(base.resolved, t.resolved, w.fold))
}

// permits reports which of the target's two paths a rule that allows names. Both
// must be named, by one rule or by two.
func (p *pathPattern) permits(w *workspace, t target) (lexical, resolved bool) {
	base := w.project
	switch p.anchor {
	case atRoot:
		root := rootOf(t.lexical)
		base = start{lexical: root, resolved: root}
	case atHome:
		base = w.home
	}
	if base.lexical == "" || base.resolved == "" || t.resolved == "" {
		return false, false
	}
	lexical, resolved = p.names(base.lexical, t.lexical), p.names(base.resolved, t.resolved)
	if short, ok := withoutPrivate(t.resolved); ok && p.anchor == atRoot && !resolved {
		resolved = p.names(base.resolved, short)
	}
	return lexical, resolved
}

// withoutPrivate returns the name under which macOS knows a path in /private: it
// reaches /tmp, /var and /etc through links into it, and rules name these.
func withoutPrivate(path string) (short string, ok bool) {
	short, ok = strings.CutPrefix(path, "/private")
	if !ok || runtime.GOOS != "darwin" {
		return "", false
	}
	for _, dir := range [...]string{"/tmp/", "/var/", "/etc/"} {
		if strings.HasPrefix(short, dir) {
			return short, true
		}
	}
	return "", false
}

// rootOf is the root directory of the volume that a path is on.
func rootOf(path string) string {
	return filepath.VolumeName(path) + string(filepath.Separator)
}

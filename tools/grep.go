package tools

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"github.com/dsh-actor/dsh-actor/messages"
	"github.com/dsh-actor/dsh-actor/pipeline"
	"github.com/dsh-actor/dsh-actor/tools/internal/plain"
)

// GrepInput is the arguments of Grep.
type GrepInput struct {
	Pattern    string `json:"pattern" description:"A regular expression (RE2)."`
	Path       string `json:"path,omitzero" description:"The file or directory to search; by default that of the session's commands."`
	Glob       string `json:"glob,omitzero" description:"Only files whose name, or path if it has a slash, matches, such as *.{ts,tsx}."`
	Type       string `json:"type,omitzero" description:"Only files of a language, such as go, py, js, ts, rust, java, md."`
	OutputMode string `json:"output_mode,omitzero" enum:"content,files_with_matches,count" description:"files_with_matches by default."`
	Before     int    `json:"-B,omitzero" description:"Lines to show before each match (content)."`
	After      int    `json:"-A,omitzero" description:"Lines to show after each match (content)."`
	Context    int    `json:"-C,omitzero" description:"Lines to show before and after each match (content)."`
	LineNumber *bool  `json:"-n,omitzero" description:"Show line numbers (content); true by default."`
	IgnoreCase bool   `json:"-i,omitzero" description:"Ignore case."`
	Multiline  bool   `json:"multiline,omitzero" description:"Let the pattern match across lines, and . match line feeds."`
	HeadLimit  int    `json:"head_limit,omitzero" description:"How many lines or files to return; 250 by default."`
}

// GrepOutput is the canonical value of Grep (Z-44).
type GrepOutput struct {
	Mode         string   `json:"mode"`
	NumFiles     int      `json:"numFiles"`
	Filenames    []string `json:"filenames"`
	Content      string   `json:"content,omitzero"`
	NumLines     int      `json:"numLines,omitzero"`
	NumMatches   int      `json:"numMatches,omitzero"`
	AppliedLimit int      `json:"appliedLimit,omitzero"`
}

const (
	modeContent = "content"
	modeFiles   = "files_with_matches"
	modeCount   = "count"

	defaultHeadLimit = 250
	maxGrepFile      = 16 << 20
	maxGrepLine      = 500 // code points of a line that are shown
)

func (k *Kit) grep() pipeline.Tool {
	return pipeline.MustDefine(pipeline.Definition[GrepInput, GrepOutput]{
		Name:            "Grep",
		Description:     "Searches the contents of files. In a repository, ignored files are left out. Binary files always are.",
		Run:             k.runGrep,
		Render:          renderGrep,
		Concurrent:      func(GrepInput) bool { return true },
		FinalizeContent: plain.Failure,
	})
}

// search is one run of Grep.
type search struct {
	in    GrepInput
	re    *regexp.Regexp
	glob  *regexp.Regexp // nil for all
	cwd   string
	limit int
	lines []string // of the answer
	out   GrepOutput
}

func (k *Kit) runGrep(ctx context.Context, inv *pipeline.Invocation, in GrepInput) (GrepOutput, error) {
	cwd := k.Cwd(inv.Agent())
	s, err := newSearch(in, cwd)
	if err != nil {
		return GrepOutput{}, err
	}
	root := absolute(in.Path, cwd)
	info, err := os.Stat(root)
	if err != nil {
		return GrepOutput{}, fileError(err, cwd)
	}
	if !info.IsDir() {
		if err := s.file(root); err != nil && !errors.Is(err, errEnough) {
			return GrepOutput{}, fileError(err, cwd)
		}
		return s.done(), nil
	}
	w := walker{ctx: ctx, visit: func(f found) error {
		if !s.wants(f.rel) {
			return nil
		}
		err := s.file(f.path)
		if err != nil && !errors.Is(err, errEnough) {
			return nil // vanished, or not to be read by us
		}
		return err
	}}
	if err := w.walk(root); err != nil {
		return GrepOutput{}, fileError(err, cwd)
	}
	return s.done(), nil
}

func newSearch(in GrepInput, cwd string) (*search, error) {
	if in.OutputMode == "" {
		in.OutputMode = modeFiles
	}
	if in.Context > 0 {
		in.Before, in.After = in.Context, in.Context
	}
	if in.Before < 0 || in.After < 0 || in.HeadLimit < 0 {
		return nil, errors.New("-A, -B, -C and head_limit must not be negative")
	}
	flags := "m"
	if in.IgnoreCase {
		flags += "i"
	}
	if in.Multiline {
		flags += "s"
	}
	re, err := regexp.Compile("(?" + flags + ")" + in.Pattern)
	if err != nil {
		return nil, fmt.Errorf("the pattern is not a regular expression: %w", err)
	}
	s := &search{in: in, re: re, cwd: cwd, limit: in.HeadLimit, out: GrepOutput{Mode: in.OutputMode, Filenames: []string{}}}
	if s.limit == 0 {
		s.limit = defaultHeadLimit
	}
	glob := in.Glob
	if in.Type != "" {
		if glob != "" {
			return nil, errors.New("give glob or type, not both")
		}
		ok := false
		if glob, ok = fileTypes[in.Type]; !ok {
			return nil, fmt.Errorf("there is no file type %q; use glob", in.Type)
		}
	}
	if glob != "" {
		if !strings.Contains(glob, "/") {
			glob = "**/" + glob
		}
		if s.glob, err = globPattern(strings.TrimPrefix(glob, "/")); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// fileTypes are the patterns of file names by language.
var fileTypes = map[string]string{
	"c": "*.{c,h}", "cpp": "*.{cc,cpp,cxx,h,hh,hpp,hxx,inl}", "cs": "*.cs", "css": "*.{css,scss}", "go": "*.go",
	"html": "*.{htm,html}", "java": "*.java", "js": "*.{js,jsx,cjs,mjs,vue}", "json": "*.json", "kotlin": "*.{kt,kts}",
	"lua": "*.lua", "make": "{*.mak,*.mk,GNUmakefile,Makefile,makefile}", "md": "*.{md,markdown,mdx}", "php": "*.php",
	"proto": "*.proto", "py": "*.{py,pyi}", "ruby": "{*.rb,*.gemspec,Gemfile,Rakefile}", "rust": "*.rs", "scala": "*.{sbt,scala}",
	"sh": "*.{bash,sh,zsh}", "sql": "*.sql", "swift": "*.swift", "toml": "*.toml", "ts": "*.{ts,tsx,cts,mts}",
	"txt": "*.txt", "xml": "*.xml", "yaml": "*.{yaml,yml}",
}

func (s *search) wants(rel string) bool { return s.glob == nil || s.glob.MatchString(rel) }

// file searches one file. It returns errEnough when the answer is full.
func (s *search) file(path string) error {
	data, _, err := readRegular(path, maxGrepFile)
	if err != nil {
		return err
	}
	if bytes.IndexByte(data[:min(len(data), 8<<10)], 0) >= 0 {
		return nil // binary
	}
	if s.in.OutputMode == modeFiles {
		if !s.re.Match(data) {
			return nil
		}
		if len(s.out.Filenames) == s.limit {
			s.out.AppliedLimit = s.limit
			return errEnough
		}
		s.out.Filenames = append(s.out.Filenames, s.name(path))
		return nil
	}
	matched, count := s.matches(data)
	if count == 0 {
		return nil
	}
	if s.in.OutputMode == modeCount {
		if s.full() {
			return errEnough
		}
		s.out.NumFiles++
		s.out.NumMatches += count
		s.lines = append(s.lines, fmt.Sprintf("%s:%d", s.name(path), count))
		return nil
	}
	return s.show(s.name(path), data, matched)
}

// name is the path as the answer has it: relative to the directory of the
// session's commands if it is below it.
func (s *search) name(path string) string {
	rel, err := filepath.Rel(s.cwd, path)
	if err != nil || rel == ".." || strings.HasPrefix(rel, ".."+string(filepath.Separator)) {
		return clean(path)
	}
	return clean(rel)
}

// matches returns the lines, counted from 0, that a match touches, and the
// number of lines on which one begins.
func (s *search) matches(data []byte) (lines map[int]bool, count int) {
	lines = make(map[int]bool)
	line, at, begun := 0, 0, -1
	for _, m := range s.re.FindAllIndex(data, -1) {
		if m[0] == len(data) && m[0] > 0 && data[m[0]-1] == '\n' {
			break // after the last line
		}
		line += bytes.Count(data[at:m[0]], []byte{'\n'})
		at = m[0]
		if line != begun {
			count++
			begun = line
		}
		last := m[1]
		if last > m[0] && data[last-1] == '\n' {
			last-- // the line feed is the line's own
		}
		for l, end := line, line+bytes.Count(data[m[0]:last], []byte{'\n'}); l <= end; l++ {
			lines[l] = true
		}
	}
	return lines, count
}

// show adds the lines that match, and those around them.
func (s *search) show(name string, data []byte, matched map[int]bool) error {
	numbers := s.in.LineNumber == nil || *s.in.LineNumber
	around := s.in.Before > 0 || s.in.After > 0
	lines := strings.Split(strings.TrimSuffix(string(data), "\n"), "\n")
	shown, last := 0, -1
	wanted := make([]bool, len(lines))
	for l := range matched {
		for i := max(l-s.in.Before, 0); i <= min(l+s.in.After, len(lines)-1); i++ {
			wanted[i] = true
		}
	}
	for i, line := range lines {
		if !wanted[i] {
			continue
		}
		if around && (shown == 0 && len(s.lines) > 0 || shown > 0 && last != i-1) {
			if s.full() {
				return errEnough
			}
			s.lines = append(s.lines, "--")
		}
		if s.full() {
			return errEnough
		}
		if shown == 0 {
			s.out.NumFiles++
			s.out.Filenames = append(s.out.Filenames, name)
		}
		mark := "-"
		if matched[i] {
			mark = ":"
		}
		var b strings.Builder
		b.WriteString(name + mark)
		if numbers {
			b.WriteString(strconv.Itoa(i+1) + mark)
		}
		b.WriteString(shorten(clean(strings.TrimSuffix(line, "\r"))))
		s.lines = append(s.lines, b.String())
		shown, last = shown+1, i
	}
	return nil
}

// full reports whether the answer can take no further line, and notes that it
// would have had one.
func (s *search) full() bool {
	if len(s.lines) < s.limit {
		return false
	}
	s.out.AppliedLimit = s.limit
	return true
}

func shorten(line string) string {
	n := 0
	for i := range line {
		if n == maxGrepLine {
			return line[:i] + "... [cut]"
		}
		n++
	}
	return line
}

func (s *search) done() GrepOutput {
	if s.in.OutputMode == modeFiles {
		s.out.NumFiles = len(s.out.Filenames)
		return s.out
	}
	s.out.Content = strings.Join(s.lines, "\n")
	if s.in.OutputMode == modeContent {
		s.out.NumLines = len(s.lines)
	}
	return s.out
}

func renderGrep(_ GrepInput, o GrepOutput) messages.Content {
	text := o.Content
	if o.Mode == modeFiles {
		text = strings.Join(o.Filenames, "\n")
	}
	switch {
	case text == "" && o.Mode == modeFiles:
		return messages.Text("No files found")
	case text == "":
		return messages.Text("No matches found")
	case o.AppliedLimit > 0:
		text += fmt.Sprintf("\n[cut after %d; there are more]", o.AppliedLimit)
	}
	return messages.Text(text)
}

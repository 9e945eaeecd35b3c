package tools

import (
	"cmp"
	"context"
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/dsh-actor/dsh-actor/messages"
	"github.com/dsh-actor/dsh-actor/pipeline"
	"github.com/dsh-actor/dsh-actor/tools/internal/plain"
)

// GlobInput is the arguments of Glob.
type GlobInput struct {
	Pattern string `json:"pattern" description:"A pattern such as **/*.go or src/{a,b}/*.ts."`
	Path    string `json:"path,omitzero" description:"The directory to look in; by default that of the session's commands."`
}

// GlobOutput is the canonical value of Glob (Z-44).
type GlobOutput struct {
	Filenames  []string `json:"filenames"`
	DurationMs int64    `json:"durationMs"`
	NumFiles   int      `json:"numFiles"`
	Truncated  bool     `json:"truncated"`
}

// maxGlob is the number of names that a search returns.
const maxGlob = 100

func (k *Kit) glob() pipeline.Tool {
	return pipeline.MustDefine(pipeline.Definition[GlobInput, GlobOutput]{
		Name:            "Glob",
		Description:     fmt.Sprintf("Finds files by the pattern of their path, ignored ones included. Returns the %d newest, the newest first.", maxGlob),
		Run:             k.runGlob,
		Render:          renderGlob,
		Concurrent:      func(GlobInput) bool { return true },
		FinalizeContent: plain.Failure,
	})
}

func (k *Kit) runGlob(ctx context.Context, inv *pipeline.Invocation, in GlobInput) (GlobOutput, error) {
	began := time.Now()
	cwd := k.Cwd(inv.Agent())
	root, pattern := globRoot(absolute(in.Path, cwd), in.Pattern)
	re, err := globPattern(pattern)
	if err != nil {
		return GlobOutput{}, err
	}
	type hit struct {
		path     string
		modified time.Time
	}
	var hits []hit
	w := walker{ctx: ctx, ignored: true, visit: func(f found) error {
		if !re.MatchString(f.rel) {
			return nil
		}
		if info, err := f.entry.Info(); err == nil {
			hits = append(hits, hit{f.path, info.ModTime()})
		}
		return nil
	}}
	if err := w.walk(root); err != nil {
		return GlobOutput{}, fileError(err, cwd)
	}
	slices.SortStableFunc(hits, func(a, b hit) int {
		return cmp.Or(b.modified.Compare(a.modified), strings.Compare(a.path, b.path))
	})
	out := GlobOutput{Filenames: []string{}, Truncated: len(hits) > maxGlob}
	for _, h := range hits[:min(len(hits), maxGlob)] {
		out.Filenames = append(out.Filenames, clean(h.path))
	}
	out.NumFiles = len(out.Filenames)
	out.DurationMs = time.Since(began).Milliseconds()
	return out, nil
}

// globRoot moves the part of a pattern that is plain directories to the root, so
// that only what can match is walked. An absolute pattern has its own root.
func globRoot(root, pattern string) (string, string) {
	pattern = filepath.ToSlash(pattern)
	if path.IsAbs(pattern) {
		root, pattern = "/", pattern[1:]
	}
	for {
		dir, rest, ok := strings.Cut(pattern, "/")
		if !ok || strings.ContainsAny(dir, `*?[{}\`) || dir == "" {
			return root, pattern
		}
		root, pattern = filepath.Join(root, dir), rest
	}
}

func renderGlob(_ GlobInput, o GlobOutput) messages.Content {
	if o.NumFiles == 0 {
		return messages.Text("No files found")
	}
	text := strings.Join(o.Filenames, "\n")
	if o.Truncated {
		text += "\n[there are more; use a narrower pattern or path]"
	}
	return messages.Text(text)
}

//go:build unix

package scripted

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/dsh-actor/dsh-actor/messages"
)

// workbench runs tool calls on real files, just well enough for the examples. It
// keeps to the names and shapes that the built-in tools have.
type workbench struct {
	t    *testing.T
	dir  string
	used []string // "Bash" or "Bash failed"
}

func (w *workbench) run(call messages.ToolCallBlock) string {
	w.t.Helper()
	var in struct {
		FilePath    string `json:"file_path"`
		Content     string `json:"content"`
		OldString   string `json:"old_string"`
		NewString   string `json:"new_string"`
		ReplaceAll  bool   `json:"replace_all"`
		Pattern     string `json:"pattern"`
		Path        string `json:"path"`
		OutputMode  string `json:"output_mode"`
		LineNumbers bool   `json:"-n"`
		Command     string `json:"command"`
		Description string `json:"description"`
		Timeout     int    `json:"timeout"`
	}
	if err := messages.JSON(call.Arguments).Unmarshal(&in, json.RejectUnknownMembers(true)); err != nil {
		w.t.Fatalf("%s: arguments %s: %v", call.Name, call.Arguments, err)
	}
	for _, p := range []string{in.FilePath, in.Path} {
		if !filepath.IsLocal(p) && p != "" {
			w.t.Fatalf("%s: the path %q leaves the working directory", call.Name, p)
		}
	}
	path := filepath.Join(w.dir, in.FilePath)
	var out string
	var err error
	switch call.Name {
	case "Write":
		if _, err := os.Stat(path); err == nil {
			w.t.Fatalf("Write would overwrite %s", path)
		}
		err = errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(in.Content), 0o600))
	case "Read":
		var b []byte
		b, err = os.ReadFile(path)
		out = string(b)
	case "Edit":
		var b []byte
		b, err = os.ReadFile(path)
		if n := strings.Count(string(b), in.OldString); n != 1 {
			w.t.Fatalf("Edit: old_string is there %d times", n)
		}
		err = errors.Join(err, os.WriteFile(path, []byte(strings.Replace(string(b), in.OldString, in.NewString, 1)), 0o600))
	case "Grep":
		pattern := regexp.MustCompile(in.Pattern)
		files, _ := filepath.Glob(filepath.Join(w.dir, in.Path, "*"))
		for _, file := range files {
			b, _ := os.ReadFile(file)
			for i, line := range strings.Split(string(b), "\n") {
				if pattern.MatchString(line) {
					out += fmt.Sprintf("%s:%d:%s\n", filepath.Base(file), i+1, line)
				}
			}
		}
	case "Bash":
		ctx, cancel := context.WithTimeout(w.t.Context(), time.Duration(in.Timeout)*time.Millisecond)
		defer cancel()
		cmd := exec.CommandContext(ctx, "sh", "-c", in.Command)
		cmd.Dir = w.dir
		var b []byte
		b, err = cmd.CombinedOutput()
		out = string(b)
	default:
		w.t.Fatalf("no tool %q", call.Name)
	}
	note := call.Name
	if err != nil {
		note += " failed"
		out += err.Error()
	}
	w.used = append(w.used, note)
	return out
}

// play runs an example to its end and returns the last text.
func (w *workbench) play(file string) string {
	w.t.Helper()
	s, err := Load(file)
	if err != nil {
		w.t.Fatal(err)
	}
	if s.Info().Prompt == "" || s.Info().Description == "" {
		w.t.Errorf("%s lacks a prompt or a description", file)
	}
	k := newTalk(w.t, s).prompt(s.Info().Prompt)
	for range s.Len() - 1 {
		calls := k.answer().Content.ToolCalls()
		if len(calls) == 0 {
			w.t.Fatalf("the answer of step %d has no tools, but is not the last", k.step)
		}
		for _, call := range calls {
			k.result(call.ID, w.run(call))
		}
	}
	last := k.answer()
	if last.Finish.Kind != messages.FinishStop {
		w.t.Errorf("the last answer finished %q", last.Finish.Kind)
	}
	return last.Content.Text()
}

func TestExampleFixTheBug(t *testing.T) {
	w := &workbench{t: t, dir: t.TempDir()}
	text := w.play("../../examples/fix-the-bug.yaml")
	want := []string{"Write", "Write", "Bash failed", "Grep", "Read", "Edit", "Bash"}
	if !slices.Equal(w.used, want) {
		t.Errorf("tools used: %q, want %q", w.used, want)
	}
	if !strings.HasSuffix(text, "ok: no newline at the end\nok: no lines\n0 of 3 failed\n") {
		t.Errorf("summary: %s", text)
	}
}

func TestExampleParallelTools(t *testing.T) {
	w := &workbench{t: t, dir: t.TempDir()}
	text := w.play("../../examples/parallel-tools.yaml")
	want := []string{"Write", "Write", "Read", "Read", "Read failed", "Bash"}
	if !slices.Equal(w.used, want) {
		t.Errorf("tools used: %q, want %q", w.used, want)
	}
	if lines := strings.Fields(text); lines[len(lines)-1] != "3" {
		t.Errorf("summary: %s", text)
	}
}

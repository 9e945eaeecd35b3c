package tools_test

import (
	"encoding/base64"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/dsh-actor/dsh-actor/messages"
	"github.com/dsh-actor/dsh-actor/tools"
)

func TestRead(t *testing.T) {
	b := newBench(t, tools.Config{})
	f := b.file("f.txt", "a\nb\nc\nd\n")
	long := b.file("long.txt", strings.Repeat("ü", 2100)+"\nx")
	many := b.file("many.txt", strings.Repeat("line\n", 3000))
	big := b.file("big.txt", strings.Repeat("0123456789\n", 30_000))
	for _, tc := range []struct {
		name string
		in   in
		want string
	}{
		{"whole", in{"file_path": f}, "1\ta\n2\tb\n3\tc\n4\td\n5\t"},
		{"offset", in{"file_path": f, "offset": 3}, "3\tc\n4\td\n5\t"},
		{"limit", in{"file_path": f, "limit": 2}, "1\ta\n2\tb\n[3 more lines; read on with offset 3]"},
		{"offset and limit", in{"file_path": f, "offset": 2, "limit": 2}, "2\tb\n3\tc\n[2 more lines; read on with offset 4]"},
		{"beyond the end", in{"file_path": f, "offset": 9}, "[the file has 5 lines, none of them from line 9 on]"},
		{"huge limit", in{"file_path": f, "offset": 4, "limit": 1 << 60}, "4\td\n5\t"},
		{"empty", in{"file_path": b.file("empty", "")}, "[the file is empty]"},
		{"no line feed at the end", in{"file_path": b.file("n", "x")}, "1\tx"},
		{"carriage returns and a mark", in{"file_path": b.file("crlf", "\ufeffa\r\nb\r\n")}, "1\ta\n2\tb\n3\t"},
		{"a mixture of line ends is shown", in{"file_path": b.file("mixed", "a\r\nb\n")}, "1\ta\r\n2\tb\n3\t"},
		{"a long line", in{"file_path": long}, "1\t" + strings.Repeat("ü", 2000) + "... [100 more characters]\n2\tx"},
		{"a part of a big file", in{"file_path": big, "offset": 30_000}, "30000\t0123456789\n30001\t"},
	} {
		if got := b.ok("Read", tc.in); got != tc.want {
			t.Errorf("%s: %q, want %q", tc.name, got, tc.want)
		}
	}
	if got := b.ok("Read", in{"file_path": many}); !strings.HasPrefix(got, "1\tline\n") || !strings.HasSuffix(got, "\n2000\tline\n[1001 more lines; read on with offset 2001]") {
		t.Errorf("many lines: ...%q", got[len(got)-80:])
	}

	for _, tc := range []struct{ name, path, want string }{
		{"too big", big, "the file has 330000 bytes"},
		{"directory", b.dir, "is a directory"},
		{"binary", b.file("bin", "a\x00b"), "is not a text file"},
		{"Latin-1", b.file("latin", "\xfcber"), "is not UTF-8"},
	} {
		if got := b.fails("Read", in{"file_path": tc.path}); !strings.Contains(got, tc.want) || strings.HasPrefix(got, "Error: ") {
			t.Errorf("%s: %q", tc.name, got)
		}
	}
	if got := b.fails("Read", in{"file_path": f, "offset": -1}); !strings.Contains(got, "negative") {
		t.Errorf("negative offset: %q", got)
	}
	if got := b.fails("Read", in{"path": f}); got != `Error: invalid arguments: missing required property "file_path"` { // P-16
		t.Errorf("missing argument: %q", got)
	}
	if runtime.GOOS != "windows" {
		if got := b.fails("Read", in{"file_path": "/dev/zero"}); !strings.Contains(got, "not a regular file") {
			t.Errorf("device: %q", got)
		}
	}
}

func TestReadImage(t *testing.T) {
	b := newBench(t, tools.Config{})
	png := "\x89PNG\r\n\x1a\nrest"
	r := b.call("Read", in{"file_path": b.file("a.PNG", png)})
	if r.IsError() || r.Content().Len() != 1 {
		t.Fatalf("%v", r.Content().Text())
	}
	want := messages.ImageBlock{MediaType: "image/png", Data: base64.StdEncoding.EncodeToString([]byte(png))}
	if got := r.Content().At(0); got != want {
		t.Errorf("block: %+v", got)
	}
	if got := string(r.Value()); !strings.Contains(got, `"type":"image"`) || strings.Contains(got, "filePath") {
		t.Errorf("value: %s", got)
	}
	if got := b.fails("Read", in{"file_path": b.file("b.png", "no image")}); !strings.Contains(got, "not of the type") {
		t.Errorf("no image: %q", got)
	}
}

func TestWrite(t *testing.T) {
	b := newBench(t, tools.Config{})
	p := b.path("new/dir/f.txt")
	b.ok("Write", in{"file_path": p, "content": "a\nb\n"})
	if got := b.content(p); got != "a\nb\n" {
		t.Errorf("content: %q", got)
	}
	// What the session wrote itself it may write again.
	r := b.call("Write", in{"file_path": p, "content": "a\nc\n"})
	var v tools.WriteOutput
	if err := r.Value().Unmarshal(&v); err != nil {
		t.Fatal(err)
	}
	if v.Type != "update" || v.OriginalFile == nil || *v.OriginalFile != "a\nb\n" || len(v.StructuredPatch) != 1 {
		t.Errorf("value: %+v", v)
	}
	if got := b.fails("Write", in{"file_path": b.dir, "content": ""}); !strings.Contains(got, "is a directory") {
		t.Errorf("directory: %q", got)
	}
	if got := b.fails("Write", in{"file_path": filepath.Join(p, "x"), "content": ""}); got == "" {
		t.Errorf("below a file: %q", got)
	}
}

// A file that the session has not read, or that has changed since, is not
// changed; another session's reading does not count.
func TestChangeNeedsReading(t *testing.T) {
	b := newBench(t, tools.Config{})
	other := &agent{"s-2", b.dir}
	p := b.file("f.txt", "one\n")
	edit := in{"file_path": p, "old_string": "one", "new_string": "two"}
	write := in{"file_path": p, "content": "x"}
	expect := func(what, want string) {
		t.Helper()
		for name, args := range map[string]in{"Edit": edit, "Write": write} {
			if got := b.fails(name, args); !strings.Contains(got, want) {
				t.Errorf("%s: %s: %q", what, name, got)
			}
		}
	}
	expect("unread", "has not been read")
	b.callIn(t.Context(), other, "Read", in{"file_path": p})
	expect("read by another session", "has not been read")
	b.ok("Read", in{"file_path": p})
	if err := os.Chtimes(p, time.Now(), time.Now().Add(time.Hour)); err != nil {
		t.Fatal(err)
	}
	expect("changed", "has changed")
	if got := b.content(p); got != "one\n" {
		t.Errorf("content: %q", got)
	}
	b.ok("Read", in{"file_path": p})
	b.ok("Edit", edit)
	b.kit.End(t.Context(), b.agent.id)
	expect("forgotten", "has not been read")

	free := newBench(t, tools.Config{Unread: true})
	q := free.file("f.txt", "one\n")
	free.ok("Edit", in{"file_path": q, "old_string": "one", "new_string": "two"})
	free.ok("Write", in{"file_path": q, "content": "three"})
}

func TestEdit(t *testing.T) {
	for _, tc := range []struct {
		name, before, old, new string
		all                    bool
		after, fails           string
	}{
		{name: "one", before: "a b c", old: "b", new: "B", after: "a B c"},
		{name: "all", before: "a a a", old: "a", new: "b", all: true, after: "b b b"},
		{name: "delete", before: "a\nb\n", old: "b\n", new: "", after: "a\n"},
		{name: "several", before: "a a a", old: "a", new: "b", fails: "3 times"},
		{name: "not there", before: "a", old: "x", new: "b", fails: "not in the file:\nx"},
		{name: "the same", before: "a", old: "a", new: "a", fails: "nothing to change"},
		{name: "empty old in a file with text", before: "a", old: "", new: "b", fails: "old_string is empty"},
		{name: "empty old in an empty file", before: "", old: "", new: "b", after: "b"},
		{name: "carriage returns stay", before: "a\r\nb\r\n", old: "a\nb", new: "x\ny\nz", after: "x\r\ny\r\nz\r\n"},
		{name: "carriage returns given too", before: "a\r\nb\r\n", old: "a\r\nb", new: "x\r\ny", after: "x\r\ny\r\n"},
		{name: "a mark stays", before: "\ufeffa", old: "a", new: "b", after: "\ufeffb"},
		{name: "dollars and backslashes are themselves", before: `x`, old: "x", new: `$1 \1 $& \n`, after: `$1 \1 $& \n`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			b := newBench(t, tools.Config{Unread: true})
			p := b.file("f.txt", tc.before)
			args := in{"file_path": p, "old_string": tc.old, "new_string": tc.new, "replace_all": tc.all}
			want := tc.after
			if tc.fails != "" {
				if got := b.fails("Edit", args); !strings.Contains(got, tc.fails) {
					t.Errorf("text: %q", got)
				}
				want = tc.before
			} else {
				b.ok("Edit", args)
			}
			if got := b.content(p); got != want {
				t.Errorf("content %q, want %q", got, want)
			}
		})
	}
	b := newBench(t, tools.Config{})
	b.ok("Edit", in{"file_path": b.path("new.txt"), "old_string": "", "new_string": "made"})
	if got := b.content(b.path("new.txt")); got != "made" {
		t.Errorf("a new file: %q", got)
	}
	if got := b.fails("Edit", in{"file_path": b.path("none.txt"), "old_string": "a", "new_string": "b"}); !strings.HasPrefix(got, "File does not exist.") {
		t.Errorf("a missing file: %q", got)
	}
}

// A changed file keeps its mode, and a symbolic link stays one.
func TestChangeKeepsTheFile(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("modes and links")
	}
	b := newBench(t, tools.Config{Unread: true})
	p := b.file("script.sh", "#!/bin/sh\n")
	if err := os.Chmod(p, 0o750); err != nil {
		t.Fatal(err)
	}
	link := b.path("link")
	if err := os.Symlink("script.sh", link); err != nil {
		t.Fatal(err)
	}
	b.ok("Edit", in{"file_path": link, "old_string": "/bin/sh", "new_string": "/bin/bash"})
	if info, err := os.Lstat(link); err != nil || info.Mode()&os.ModeSymlink == 0 {
		t.Errorf("the link: %v, %v", info, err)
	}
	if info, err := os.Stat(p); err != nil || info.Mode().Perm() != 0o750 {
		t.Errorf("the mode: %v, %v", info.Mode(), err)
	}
	if got := b.content(p); got != "#!/bin/bash\n" {
		t.Errorf("content: %q", got)
	}
	entries, err := os.ReadDir(b.dir)
	if err != nil || len(entries) != 2 {
		t.Errorf("the directory has %v, %v", entries, err)
	}
}

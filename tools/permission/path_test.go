package permission

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// Paths are followed as the system follows them, also those that do not exist yet.
func TestResolvePath(t *testing.T) {
	w := newWorld(t)
	w.link("work/out", w.path("out"))
	w.link("work/rel", "src/sub")
	w.link("work/chain", "rel")
	w.link("work/up", "..")
	w.link("work/dangling", w.path("out/new.txt"))
	w.link("work/loop", "loop")
	w.link("work/file", "a.txt")
	for _, c := range []struct{ path, want string }{
		{"work/a.txt", "work/a.txt"},
		{"work/./src//../a.txt", "work/a.txt"},
		{"work/out/secret.txt", "out/secret.txt"},
		{"work/rel/x.go", "work/src/sub/x.go"},
		{"work/chain/x.go", "work/src/sub/x.go"},
		{"work/out/../a.txt", "a.txt"}, // .. leaves the link's target
		{"work/rel/../main.go", "work/src/main.go"},
		{"work/up/out/secret.txt", "out/secret.txt"},
		{"work/new/deep/file", "work/new/deep/file"},
		{"work/out/new/file", "out/new/file"},
		{"work/dangling", "out/new.txt"},
		{"work/new/../../out/x", "out/x"},
		{"work/file", "work/a.txt"},
		{"work/file/x", "work/a.txt/x"}, // leads through a file: nowhere, and nowhere else
		{"work/loop", ""},
		{"work/loop/x", ""},
		{"work/" + strings.Repeat("x", 300), ""}, // a name that no file can have
	} {
		path := w.top + "/" + c.path // not joined: that would clean it
		for _, from := range []start{{}, {lexical: w.work, resolved: w.work}, {lexical: w.top, resolved: w.top}} {
			got, err := resolvePath(path, from)
			if c.want == "" {
				if err == nil {
					t.Errorf("%s: %s, want an error", c.path, got)
				}
				continue
			}
			if err != nil || got != w.path(c.want) {
				t.Errorf("%s from %q: %s, %v; want %s", c.path, from.lexical, got, err, c.want)
			}
		}
	}
}

// SPEC table P, "in the workspace": links, .. and missing files.
func TestInside(t *testing.T) {
	w := newWorld(t)
	w.link("work/out", w.path("out"))
	w.link("work/extra", w.path("extra"))
	w.link("work/dangling", w.path("out/new.txt"))
	w.link("alias", w.path("work"))
	w.file("workbench/x")
	ws := w.workspace("../extra", "~/shared", "missing").lookup()
	for path, want := range map[string]bool{
		"a.txt": true, "": false, ".": true, "..": false, "new/deep": true, "../work/a.txt": true, "../alias/a.txt": true, "TOP/alias/src/x": true,
		"../workbench/x": false, "out/secret.txt": false, "out/../a.txt": false, "dangling": false, "extra/e.txt": true, "TOP/extra/new": true,
		"TOP/home/shared/x": true, "~/shared/x": true, "~/x": false, "~other/x": false, "missing/x": true, "/": false, "a\x00b": false, "src/../../out": false,
		"TOP/work": true, "TOP": false, "TOP/wor": false,
	} {
		target, ok := ws.target(w.expand(path), ws.dir)
		if got := ok && ws.inside(target); got != want {
			t.Errorf("%q: %v, want %v", path, got, want)
		}
	}
	// The workspace itself may be reached through a link.
	linked := newWorkspace(w.path("alias"), "", "", "", nil, false).lookup()
	for path, want := range map[string]bool{"a.txt": true, "TOP/work/a.txt": true, "TOP/alias/a.txt": true, "out/x": false, "TOP/out": false} {
		target, ok := linked.target(w.expand(path), linked.dir)
		if got := ok && linked.inside(target); got != want {
			t.Errorf("through a link, %q: %v, want %v", path, got, want)
		}
	}
}

// A directory of the workspace that something else was put in the place of leads
// elsewhere, although the workspace was resolved before.
func TestReplacedRoot(t *testing.T) {
	w := newWorld(t)
	p := w.policy(ModeDefault)
	if err := p.Apply("s-1", Update{Type: AddDirectories, Directories: []string{w.path("extra")}}); err != nil {
		t.Fatal(err)
	}
	if v := w.explain(p, "Read TOP/extra/e.txt"); v.Behavior != Allow {
		t.Fatalf("before: %+v", v)
	}
	if err := os.Rename(w.path("extra"), w.path("moved")); err != nil {
		t.Fatal(err)
	}
	w.link("extra", w.path("out"))
	for _, call := range []string{"Read TOP/extra/secret.txt", "Bash cat TOP/extra/secret.txt"} {
		if v := w.explain(p, call); v.Behavior != Ask {
			t.Errorf("%s: %+v", call, v)
		}
	}
}

// A directory that cannot be looked into is not in the workspace.
func TestUnreadableDirectory(t *testing.T) {
	if runtime.GOOS == "windows" || os.Geteuid() == 0 {
		t.Skip("everything can be looked into")
	}
	w := newWorld(t)
	dir := w.path("work/closed")
	if err := os.Mkdir(dir, 0); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.Chmod(dir, 0o700) })
	ws := w.workspace().lookup()
	if target, ok := ws.target("closed/x", ws.dir); !ok || ws.inside(target) {
		t.Error("inside")
	}
}

func TestProtectedPath(t *testing.T) {
	for path, want := range map[string]bool{
		"/w/.git": true, "/w/.git/config": true, "/w/.GIT/hooks/x": true, "/w/sub/.git/x": true, "/w/.git./x": true, "/w/.git /x": true, "/w/.git::$INDEX_ALLOCATION/x": true,
		"/w/.gitignore": false, "/w/.github/x": false, "/w/git/x": false, "/w/x.git/y": false,
		"/w/.claude/settings.json": true, "/w/.claude/settings.local.json": true, "/w/.Claude/Settings.JSON": true, "/w/.claude/settings.json.": true,
		"/w/.claude/x/settings.json": false, "/w/.claude/commands/x.md": false, "/w/settings.json": false, "/w/.claude": false, "": false,
	} {
		if got := protectedPath(path); got != want {
			t.Errorf("%q: %v, want %v", path, got, want)
		}
	}
}

// The manner of .gitignore, for rules that narrow and, stricter, for rules that
// allow.
func TestPathPatterns(t *testing.T) {
	w := newWorld(t)
	ws := w.workspace(w.path("extra")).lookup()
	for _, c := range []struct {
		pattern, path   string
		narrows, allows bool
	}{
		{"a.txt", "a.txt", true, true},
		{"a.txt", "src/a.txt", true, true}, // at any depth
		{"./a.txt", "a.txt", true, true},
		{"./a.txt", "src/a.txt", false, false},
		{"/a.txt", "a.txt", true, true},
		{"/a.txt", "src/a.txt", false, false},
		{"src/main.go", "src/main.go", true, true},
		{"src/main.go", "x/src/main.go", false, false},
		{"*.go", "src/sub/x.go", true, true},
		{"*.go", "x.go.txt", false, false},
		{"**/*.go", "x.go", true, true},
		{"src/*", "src/main.go", true, true},
		{"src/*", "src/sub/x.go", true, false},
		{"src/**", "src/sub/x.go", true, true},
		{"src/**", "src", false, false},
		{"src", "src/sub/x.go", true, true},
		{"src/", "src/sub/x.go", true, true},
		{"src", "srcs/x", false, false},
		{"s?c/main.go", "src/main.go", true, true},
		{"[s]rc/main.go", "src/main.go", true, true},
		{"[!x]rc/main.go", "src/main.go", true, true},
		{"[!s]rc/main.go", "src/main.go", false, false},
		{"src/**/x.go", "src/sub/x.go", true, true},
		{"src/**/x.go", "src/x.go", true, true},
		{"a/**/b/**/c", "a/x/b/y/z/c", true, true},
		{"a/**/b/**/c", "a/x/y/z/c", false, false},
		{"*.{go,txt}", "a.txt", true, true},
		{"{src,test}/**", "test/x", true, true},
		{"src/{a,b/{c,d}}.go", "src/b/d.go", true, true},
		{"*", "src/sub/x.go", true, true},
		{"**", "src/sub/x.go", true, true},
		{"/**", "src/sub/x.go", true, true},
		{"*", "TOP/out/x", false, false},
		{"**", "TOP/out/x", false, false},
		{"//TOP/out/**", "TOP/out/x", true, true},
		{"//TOP/out/**", "../out/x", true, true},
		{"///TOP/out/*", "TOP/out/x", true, true},
		{"//**", "/etc/passwd", true, true},
		{"/etc/passwd", "/etc/passwd", false, false}, // of the project
		{"~/.ssh/**", "TOP/home/.ssh/id", true, true},
		{"~/.ssh/**", "~/.ssh/id", true, true},
		{"~", "~/.ssh/id", true, true},
		{"../out/*", "TOP/out/x", true, true},
		{"..", "TOP/out/x", true, true},
		{".", "a.txt", true, true},
		{"e.txt", "TOP/extra/e.txt", true, false}, // relative rules that narrow hold in every directory of the workspace
		{"src/\\*", "src/*", true, true},
		{"src/\\*", "src/x", false, false},
		{"A.TXT", "a.txt", false, false},
	} {
		patterns, err := parsePathPatterns(strings.ReplaceAll(w.expand(c.pattern), "//"+"/", "//"))
		if err != nil {
			t.Errorf("%s: %v", c.pattern, err)
			continue
		}
		target, ok := ws.target(w.expand(c.path), ws.dir)
		if !ok {
			t.Fatalf("%s: no target", c.path)
		}
		narrows, allows := false, false
		for _, p := range patterns {
			narrows = narrows || p.narrows(ws.workspace, target)
			lexical, resolved := p.permits(ws.workspace, target)
			allows = allows || lexical && resolved
		}
		if narrows != c.narrows || allows != c.allows {
			t.Errorf("%s of %s: narrows %v, allows %v; want %v, %v", c.pattern, c.path, narrows, allows, c.narrows, c.allows)
		}
	}
	for _, bad := range []string{"", "  ", "!x", "a/../b", "[", "src/[a-", "a\nb", "\x00", strings.Repeat("{a,b}", 10), strings.Repeat("a/", 300)} {
		if p, err := parsePathPatterns(bad); err == nil {
			t.Errorf("%q is %+v", bad, p)
		}
	}
}

// A rule that narrows needs one of the two paths, a rule that allows both.
func TestRulesAndLinks(t *testing.T) {
	w := newWorld(t)
	w.link("work/link", w.path("out/secret.txt"))
	w.link("work/dir", w.path("out"))
	w.link("out/back", w.path("work/.env"))
	for _, c := range []struct {
		rule, call string
		want       Behavior
	}{
		{"deny Read(link)", "Read link", Deny},
		{"deny Read(//TOP/out/**)", "Read link", Deny},
		{"deny Read(//TOP/out/**)", "Read dir/secret.txt", Deny},
		{"deny Read(.env)", "Read TOP/out/back", Deny},
		{"allow Read(link)", "Read link", Ask},
		{"allow Read(//TOP/out/**)", "Read link", Ask},
		{"allow Read(//TOP/**)", "Read link", Allow},
		{"allow Read(dir/**)", "Read dir/secret.txt", Ask},
		{"allow Read", "Read link", Allow},
	} {
		if v := w.explain(w.policy(ModeDefault, c.rule), c.call); v.Behavior != c.want {
			t.Errorf("%s, %s: %s, want %s", c.rule, c.call, v.Behavior, c.want)
		}
	}
	if v := w.explain(w.policy(ModeDefault, "allow Read(link)", "allow Read(//TOP/out/secret.txt)"), "Read link"); v.Behavior != Allow {
		t.Errorf("two rules for two paths: %v", v)
	}
}

// Where file names of different case are one file, a rule that narrows does not
// tell them apart; a rule that allows does.
func TestFold(t *testing.T) {
	w := newWorld(t)
	ws := newWorkspace(w.work, "", w.work, w.home, nil, true).lookup()
	patterns, err := parsePathPatterns(".env")
	if err != nil {
		t.Fatal(err)
	}
	target, _ := ws.target(".ENV", ws.dir)
	if !patterns[0].narrows(ws.workspace, target) {
		t.Error("a deny rule is passed by another case")
	}
	if lexical, _ := patterns[0].permits(ws.workspace, target); lexical {
		t.Error("an allow rule covers another case")
	}
}

// Which tools a path rule is about.
func TestPathRuleFamilies(t *testing.T) {
	w := newWorld(t)
	for _, c := range []struct {
		rule, call string
		want       Behavior
	}{
		{"deny Read(a.txt)", "Read a.txt", Deny}, {"deny Read(a.txt)", "Write a.txt", Deny}, {"deny Read(a.txt)", "Edit a.txt", Deny},
		{"ask Read(a.txt)", "Write a.txt", Allow}, {"deny Edit(a.txt)", "Write a.txt", Deny}, {"deny Edit(a.txt)", "MultiEdit a.txt", Deny},
		{"deny Edit(a.txt)", `NotebookEdit {"notebook_path":"a.txt"}`, Deny}, {"deny Edit(a.txt)", "Read a.txt", Allow}, {"deny Write(a.txt)", "Write a.txt", Deny},
		{"deny Write(a.txt)", "Edit a.txt", Allow}, {"deny Edit", "Write a.txt", Allow}, {"deny Write", "Write a.txt", Deny},
		{"deny Read(secrets/**)", "Grep secrets", Deny}, {"deny Read(secrets/**)", "Glob secrets", Deny}, {"deny Read(secrets)", "Grep secrets", Deny},
		{"deny Read(secrets/**)", `Glob {"pattern":"secrets/*"}`, Deny}, {"deny Read(secrets/**)", `Glob {"pattern":"*","path":"secrets"}`, Deny},
		{"deny Read(secrets/**)", `Glob {"pattern":"src/*"}`, Allow}, {"deny Read(.env)", `Glob {"pattern":".env"}`, Deny},
		{"deny Read(.env)", `Grep {"pattern":"x","glob":".env"}`, Deny}, {"deny Read(.env)", "Grep .", Allow}, {"deny Read(**)", "Grep", Deny},
		{"deny Glob(secrets/**)", "Glob secrets", Deny}, {"deny Glob(secrets/**)", "Grep secrets", Allow}, {"deny Grep(secrets)", "Grep secrets", Deny},
		{"deny LS(secrets)", `LS {"path":"secrets"}`, Deny}, {"deny Read(a.txt)", "Read {\"path\":\"a.txt\"}", Allow}, {"deny Read(a.txt)", "Read ", Deny}, {"deny Read(a.txt)", `Read {"file_path":"a\u002etxt"}`, Deny},
		{"deny Read(a.txt)", `Read {"file_path":"\u0000"}`, Deny}, // cannot be judged
	} {
		if v := w.explain(w.policy(ModeBypass, c.rule), c.call); v.Behavior != c.want {
			t.Errorf("%s, %s: %s, want %s", c.rule, c.call, v.Behavior, c.want)
		}
	}
	for _, c := range []struct {
		rule, call string
		want       Behavior
	}{
		{"allow Edit(src/**)", "Write src/new.go", Allow}, {"allow Edit(src/**)", "Write a.txt", Ask}, {"allow Write(src/**)", "Write src/x", Allow},
		{"allow Write(src/**)", "Edit src/x", Ask}, {"allow Edit(**)", "Write .git/config", Ask}, {"allow Edit(.git/**)", "Write .git/config", Allow},
		{"allow Edit", "Edit .git/config", Allow}, {"allow Edit", "Write a.txt", Ask}, {"allow Edit(**)", "Write .claude/settings.json", Ask},
		{"allow Edit(.claude/settings.json)", "Write .claude/settings.json", Allow}, {"allow Read(//TOP/out/**)", "Glob TOP/out", Allow},
		{"allow Read(//TOP/out/*)", "Grep TOP/out", Ask}, {"allow Read(//TOP/out/*)", "Read TOP/out/x", Allow}, {"allow Read(//TOP/out/**)", "Write TOP/out/x", Ask},
		{"allow Read", "Grep TOP/out", Ask}, {"allow Grep", "Grep TOP/out", Allow}, {"allow Edit(src/**)", "Write src/../a.txt", Ask},
		{"allow Edit(~/notes/**)", "Write ~/notes/x", Allow}, {"allow Read(//TOP/out/**)", `Glob {"pattern":"../out/*"}`, Allow},
		{"allow Read(//TOP/out/**)", `Glob {"pattern":"*/../../*"}`, Ask},
	} {
		if v := w.explain(w.policy(ModeDefault, c.rule), c.call); v.Behavior != c.want {
			t.Errorf("%s, %s: %s, want %s (%s)", c.rule, c.call, v.Behavior, c.want, v.Reason)
		}
	}
}

// A pattern of a command line is expanded as the shell would, or more.
func TestGlob(t *testing.T) {
	w := newWorld(t)
	ws := w.workspace().lookup()
	for pattern, want := range map[string]string{
		"*.txt": "a.txt", "src/*": "src/main.go src/sub", "s*/*": "secrets/key.pem src/main.go src/sub", "src/*/x.go": "src/sub/x.go", "*.none": "*.none",
		"src/m?in.go": "src/main.go", "src/*/*/*": "src/*/*/*", ".e*": ".env", "./*.txt": "./a.txt", "TOP/work/*.txt": "TOP/work/a.txt", "*/": ".git secrets src a.txt .env",
	} {
		matches, ok := ws.glob(w.expand(pattern), ws.dir)
		var names []string
		for _, m := range matches {
			names = append(names, m.name)
		}
		got := map[string]bool{}
		for _, n := range names {
			got[n] = true
		}
		for n := range strings.FieldsSeq(w.expand(want)) {
			if !got[n] {
				t.Errorf("%s does not match %s: %v", pattern, n, names)
			}
			delete(got, n)
		}
		if !ok || len(got) > 0 {
			t.Errorf("%s also matches %v (%v)", pattern, got, ok)
		}
	}
	for _, pattern := range []string{"[a]*", `\**`, "~/*", "/*", "../*", "src/../../*/*"} {
		if matches, ok := ws.glob(pattern, ws.dir); ok {
			t.Errorf("%s matches %v", pattern, matches)
		}
	}
	many := filepath.Join(w.work, "many")
	if err := os.Mkdir(many, 0o755); err != nil {
		t.Fatal(err)
	}
	for i := range maxMatches + 1 {
		w.file("work/many/" + strings.Repeat("x", i%200+1) + string(rune('a'+i/200)))
	}
	if _, ok := ws.glob("many/*", ws.dir); ok {
		t.Error("too many matches are accepted")
	}
}

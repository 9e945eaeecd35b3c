package settings_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/dsh-actor/dsh-actor/internal/settings"
)

// Oracle section 10: the layers, and what is the most specific one's.
func TestLayersMerge(t *testing.T) {
	w := newTree(t)
	w.write(settings.User, `{
  "model": "user-model",
  "disableAllHooks": true,
  "env": {"A": "user", "B": "user", "N": 1.50, "T": true},
  "hooks": {"Stop": []},
  "permissions": {"allow": ["Read"], "deny": ["Bash(rm *)"], "defaultMode": "plan", "additionalDirectories": ["/u"]}
}`)
	w.write(settings.Project, `{
  "env": {"B": "project", "C": "project"},
  "hooks": {"PreToolUse": []},
  "disableAllHooks": false,
  "permissions": {"allow": ["Edit"], "ask": ["Bash(git push *)"], "additionalDirectories": ["../p"]},
  "unknownKey": [1, {"deep": null}]
}`)
	w.write(settings.Local, `{"model":"local-model","permissions":{"deny":["Read(.env)"],"defaultMode":"acceptEdits"}}`)
	s := w.read(func(o *settings.Options) {
		o.Flag = ` {"env":{"C":"flag"},"permissions":{"allow":["WebFetch"],"disableBypassPermissionsMode":"disable"}} `
	})

	e := s.Effective
	check := func(what string, got, want any) {
		t.Helper()
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", what, diff)
		}
	}
	check("statuses", statuses(s), []string{"user loaded", "project loaded", "local loaded", "flag loaded"})
	check("diagnostics", w.diagnostics(s), []string(nil))
	check("allow", w.entries(e.Permissions.Allow), []string{
		"Read @ HOME/.claude/settings.json:6:29",
		"Edit @ PROJ/.claude/settings.json:5:29",
		"WebFetch @ --settings:1:46",
	})
	check("deny", w.entries(e.Permissions.Deny), []string{
		"Bash(rm *) @ HOME/.claude/settings.json:6:47",
		"Read(.env) @ PROJ/.claude/settings.local.json:1:47",
	})
	check("ask", w.entries(e.Permissions.Ask), []string{"Bash(git push *) @ PROJ/.claude/settings.json:5:46"})
	check("directories", w.entries(e.Permissions.AdditionalDirectories), []string{
		"/u @ HOME/.claude/settings.json:6:111", "../p @ PROJ/.claude/settings.json:5:93",
	})
	check("mode", w.entries([]settings.Entry{e.Permissions.DefaultMode, e.Permissions.DisableBypass}), []string{
		"acceptEdits @ PROJ/.claude/settings.local.json:1:75", "disable @ --settings:1:89",
	})
	check("model", w.entries([]settings.Entry{e.Model}), []string{"local-model @ PROJ/.claude/settings.local.json:1:10"})
	var vars []string
	for _, v := range e.Env {
		vars = append(vars, v.Name+"="+v.Value+" "+v.Origin.Pointer+" "+string(v.Origin.Layer))
	}
	check("env", vars, []string{"A=user /env/A user", "B=project /env/B project", "N=1.50 /env/N user", "T=true /env/T user", "C=flag /env/C flag"})
	check("toggle", []any{e.DisableAllHooks.Set, e.DisableAllHooks.On, w.show(e.DisableAllHooks.Origin.String())},
		[]any{true, false, "PROJ/.claude/settings.json:4:22"})
	var hooks []string
	for _, h := range e.Hooks {
		hooks = append(hooks, string(h.Layer)+" "+w.show(h.File)+" "+string(h.Value.Raw()))
	}
	check("hooks", hooks, []string{
		`user HOME/.claude/settings.json {"Stop": []}`, `project PROJ/.claude/settings.json {"PreToolUse": []}`,
	})
	check("unknown key", string(s.Documents[1].Root.Get("unknownKey").Raw()), `[1, {"deep": null}]`)
}

// Oracle section 10, each row as measured (the case's id, or the sentence of the
// report). The value of SETX shows whether the project file counts, hooks what
// the bridge gets of it.
func TestMeasuredFiles(t *testing.T) {
	const hook = `{"PreToolUse":[{"hooks":[{"type":"command","command":"x"}]}]}`
	for _, c := range []struct {
		id, text    string
		setx        string
		hooks       bool
		diagnostics []string
	}{
		{id: "cfg_good", text: `{"hooks":` + hook + `,"env":{"SETX":"yes"}}`, setx: "yes", hooks: true},
		{
			id: "cfg_trailing_comma", text: `{"hooks":{"PreToolUse":[{"hooks":[{"type":"command","command":"x"},]}]},"env":{"SETX":"yes"}}`,
			diagnostics: []string{"PROJ/.claude/settings.json:1:67: error: malformed JSON: trailing comma before ]; the whole file is ignored (/hooks/PreToolUse/0/hooks)"},
		},
		{
			id: "comment", text: "{\r\n  \"env\": {\"SETX\": \"yes\"} // why\r\n}",
			diagnostics: []string{"PROJ/.claude/settings.json:2:26: error: malformed JSON: comments are not allowed in JSON; the whole file is ignored"},
		},
		{
			id: "comment first", text: "/* x */ {}",
			diagnostics: []string{"PROJ/.claude/settings.json:1:1: error: malformed JSON: comments are not allowed in JSON; the whole file is ignored"},
		},
		{
			id: "malformed", text: "{\n  \"é\": {\"SETX\" \"yes\"}}",
			diagnostics: []string{`PROJ/.claude/settings.json:2:16: error: malformed JSON: invalid character '"' after object name (expecting ':'); the whole file is ignored (/é/SETX)`},
		},
		{
			id: "cut off", text: `{"env": {"SETX": "yes"`,
			diagnostics: []string{"PROJ/.claude/settings.json:1:23: error: malformed JSON: the text ends too early; the whole file is ignored (/env)"},
		},
		{
			id: "two values", text: `{"env":{"SETX":"yes"}} {}`,
			diagnostics: []string{"PROJ/.claude/settings.json:1:24: error: malformed JSON: text after the JSON value; the whole file is ignored"},
		},
		{id: "cfg_empty_file", text: ""},
		{id: "blank file", text: "\n\t \r\n"},
		{id: "BOM ok", text: "\ufeff" + `{"env":{"SETX":"yes"}}`, setx: "yes"},
		{id: "cfg_unknown_event", text: `{"hooks":{"NoSuchEvent":[]},"env":{"SETX":"yes"}}`, setx: "yes", hooks: true},
		{
			id: "cfg_hooks_null", text: `{"hooks":null,"env":{"SETX":"yes"}}`, setx: "yes",
			diagnostics: []string{"PROJ/.claude/settings.json:1:10: warning: must be an object, not null; the hooks of this file are ignored (/hooks)"},
		},
		{
			id: "cfg_hooks_arr", text: `{"hooks":[],"env":{"SETX":"yes"}}`, setx: "yes",
			diagnostics: []string{"PROJ/.claude/settings.json:1:10: warning: must be an object, not an array; the hooks of this file are ignored (/hooks)"},
		},
		{
			id: "permissions of the wrong type", text: `{"hooks":` + hook + `,"permissions":"x","env":{"SETX":"yes"}}`,
			diagnostics: []string{"PROJ/.claude/settings.json:1:86: error: must be an object, not a string; the whole file is ignored (/permissions)"},
		},
		{
			id: "root of the wrong type", text: `[1]`,
			diagnostics: []string{"PROJ/.claude/settings.json:1:1: error: must be an object, not an array; the whole file is ignored"},
		},
		{
			id: "env of the wrong type", text: `{"env":{"SETX":"yes","B":[]}}`,
			diagnostics: []string{"PROJ/.claude/settings.json:1:26: error: must be a string, not an array; the whole file is ignored (/env/B)"},
		},
		{
			id: "one rule of the wrong type", text: `{"env":{"SETX":"yes"},"permissions":{"deny":["Read",7]}}`, setx: "yes",
			diagnostics: []string{"PROJ/.claude/settings.json:1:53: error: a rule must be a string, not a number; it is not in force (/permissions/deny/1)"},
		},
		{
			id: "the last of two counts", text: `{"env":{"SETX":"no"},"env":{"SETX":"yes"}}`, setx: "yes",
			diagnostics: []string{`PROJ/.claude/settings.json:1:28: warning: "env" is given twice; the last one counts (/env)`},
		},
		{
			id: "invalid UTF-8", text: "{\"env\":{\"SETX\":\"y\xff\"}}", setx: "y\ufffd",
			diagnostics: []string{"PROJ/.claude/settings.json: warning: invalid UTF-8 was replaced by U+FFFD"},
		},
		{id: "lone surrogate", text: `{"env":{"SETX":"\ud83d"}}`, setx: "\ufffd"},
		{
			id: "no environment", text: `{"env":{"":"1","A=B":"2","C":"\u0000","SETX":"yes"}}`, setx: "yes",
			diagnostics: []string{
				"PROJ/.claude/settings.json:1:12: warning: no environment can hold this variable; it is ignored (/env/)",
				"PROJ/.claude/settings.json:1:22: warning: no environment can hold this variable; it is ignored (/env/A=B)",
				"PROJ/.claude/settings.json:1:30: warning: no environment can hold this variable; it is ignored (/env/C)",
			},
		},
		{
			id: "too deep", text: strings.Repeat(`{"a":`, 600) + "1" + strings.Repeat("}", 600),
			diagnostics: []string{"PROJ/.claude/settings.json:1:2561: error: malformed JSON: nested deeper than 512; the whole file is ignored (" + strings.Repeat("/a", 512) + ")"},
		},
	} {
		t.Run(c.id, func(t *testing.T) {
			w := newTree(t).write(settings.User, `{"hooks":`+hook+`}`).write(settings.Project, c.text)
			s := w.read()
			if diff := cmp.Diff(c.diagnostics, w.diagnostics(s)); diff != "" {
				t.Errorf("diagnostics (-want +got):\n%s", diff)
			}
			if got := env(s, "SETX"); got != c.setx {
				t.Errorf("SETX = %q, want %q", got, c.setx)
			}
			// The user's file applies whatever the project's holds.
			want := []settings.Layer{settings.User}
			if c.hooks {
				want = append(want, settings.Project)
			}
			var got []settings.Layer
			for _, h := range s.Effective.Hooks {
				got = append(got, h.Layer)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("hooks (-want +got):\n%s", diff)
			}
		})
	}
}

// Oracle section 10 (cfgbad_PreToolUse, cfgbad_SessionStart): a bad handler
// drops the file or itself; only the bridge knows which.
func TestCheckHooks(t *testing.T) {
	check := func(hooks *settings.Value) (problems []settings.Problem) {
		for event, groups := range hooks.Members() {
			for _, group := range groups.Elements() {
				for _, handler := range group.Get("hooks").Elements() {
					if handler.Get("command") == nil {
						problems = append(problems, settings.Problem{
							Value: handler, Message: "handler without a command", Severity: settings.Error, DropFile: event == "PreToolUse",
						})
					}
				}
			}
		}
		return problems
	}
	text := func(event string) string {
		return `{"hooks":{"` + event + `":[{"hooks":[{"type":"command"}]}]},"env":{"SETX":"yes"},
"permissions":{"allow":["Bash"],"deny":["Read(.env)"],"ask":["Edit"]}}`
	}
	t.Run("part", func(t *testing.T) {
		w := newTree(t).write(settings.Project, text("SessionStart"))
		s := w.read(func(o *settings.Options) { o.CheckHooks = check })
		if diff := cmp.Diff([]string{
			"PROJ/.claude/settings.json:1:37: error: handler without a command (/hooks/SessionStart/0/hooks/0)",
		}, w.diagnostics(s)); diff != "" {
			t.Errorf("diagnostics (-want +got):\n%s", diff)
		}
		if env(s, "SETX") != "yes" || len(s.Effective.Hooks) != 1 {
			t.Error("the rest of the file does not count")
		}
	})
	t.Run("file", func(t *testing.T) {
		w := newTree(t).write(settings.Project, text("PreToolUse"))
		s := w.read(func(o *settings.Options) { o.CheckHooks = check })
		if diff := cmp.Diff([]string{
			"PROJ/.claude/settings.json:1:35: error: handler without a command; the whole file is ignored (/hooks/PreToolUse/0/hooks/0)",
			"PROJ/.claude/settings.json: error: the file is ignored, and so its 2 deny and ask rules are not in force",
		}, w.diagnostics(s)); diff != "" {
			t.Errorf("diagnostics (-want +got):\n%s", diff)
		}
		if diff := cmp.Diff(settings.Effective{}, s.Effective); diff != "" {
			t.Errorf("something of the file counts:\n%s", diff)
		}
	})
	t.Run("file, fail closed", func(t *testing.T) {
		w := newTree(t).write(settings.Project, text("PreToolUse"))
		s := w.read(func(o *settings.Options) { o.CheckHooks, o.FailClosed = check, true })
		p := s.Effective.Permissions
		if len(p.Allow) != 0 || len(p.Deny) != 1 || len(p.Ask) != 1 || len(s.Effective.Env) != 0 {
			t.Errorf("kept: %+v", s.Effective)
		}
		last := s.Diagnostics[len(s.Diagnostics)-1]
		if want := "the file is ignored, but its 2 deny and ask rules stay in force"; last.Message != want || last.Severity != settings.Warning {
			t.Errorf("got %v", last)
		}
	})
}

// Oracle section 10: --settings.
func TestFlag(t *testing.T) {
	w := newTree(t).write(settings.Project, `{"env":{"SETX":"project"}}`)
	writeFile(t, filepath.Join(w.project, "extra.json"), `{"env":{"SETX":"extra"}}`)
	writeFile(t, filepath.Join(w.project, "bad.json"), `{"env":{"SETX":"extra"},}`)
	writeFile(t, filepath.Join(w.project, "shape.json"), `{"env":1}`)
	for _, c := range []struct{ name, flag, setx, err string }{
		{name: "text", flag: `{"env":{"SETX":"flag"}}`, setx: "flag"},
		{name: "relative file", flag: "extra.json", setx: "extra"},
		{name: "absolute file", flag: filepath.Join(w.project, "extra.json"), setx: "extra"},
		{name: "cfg_cli_malformed", flag: "{bad", err: "settings file not found: PROJ/{bad"},
		{name: "bad text", flag: "{bad}", err: `settings argument: --settings:1:2: error: malformed JSON: invalid character 'b' at start of value; the whole file is ignored`},
		{name: "bad file", flag: "bad.json", err: "settings argument: PROJ/bad.json:1:24: error: malformed JSON: trailing comma before }; the whole file is ignored"},
		{name: "bad shape", flag: "shape.json", err: "settings argument: PROJ/shape.json:1:8: error: must be an object, not a number; the whole file is ignored (/env)"},
		{name: "directory", flag: ".claude", err: "read settings file PROJ/.claude: not a regular file"},
	} {
		t.Run(c.name, func(t *testing.T) {
			o := w.options()
			o.Flag = c.flag
			s, err := settings.Read(o)
			if c.err != "" {
				if err == nil || w.show(err.Error()) != c.err {
					t.Fatalf("got error %v, want %s", err, c.err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if got := env(s, "SETX"); got != c.setx {
				t.Errorf("SETX = %q, want %q", got, c.setx)
			}
		})
	}
}

// Oracle section 10: --setting-sources (cfg_sources_user).
func TestSources(t *testing.T) {
	w := newTree(t).write(settings.User, `{"env":{"A":"user"}}`).
		write(settings.Project, `{"env":{"A":"project"}}`).
		write(settings.Local, `{"env":{"A":"local"}}`)
	for text, want := range map[string]string{"user": "user", "user, project": "project", "local,user": "local", " ": "", "project": "project"} {
		sources, err := settings.ParseSources(text)
		if err != nil {
			t.Fatal(err)
		}
		s := w.read(func(o *settings.Options) { o.Sources = sources })
		if got := env(s, "A"); got != want {
			t.Errorf("%q: A = %q, want %q", text, got, want)
		}
	}
	s := w.read(func(o *settings.Options) { o.Sources = []settings.Layer{}; o.Flag = `{"env":{"A":"flag"}}` })
	if diff := cmp.Diff([]string{"user unselected", "project unselected", "local unselected", "flag loaded"}, statuses(s)); diff != "" {
		t.Errorf("statuses (-want +got):\n%s", diff)
	}
	if _, err := settings.ParseSources("user,flag"); err == nil || err.Error() != `parse setting sources "user,flag": unknown source "flag" (user, project, local)` {
		t.Errorf("got %v", err)
	}
}

// PAIN 46: the same file is read once, however it is reached.
func TestSameFileOnce(t *testing.T) {
	w := newTree(t).write(settings.User, `{"permissions":{"allow":["Read"]}}`)
	s := w.read(func(o *settings.Options) { o.ProjectDir = o.Home })
	if diff := cmp.Diff([]string{"user loaded", "project duplicate", "local absent"}, statuses(s)); diff != "" {
		t.Errorf("statuses (-want +got):\n%s", diff)
	}
	if len(s.Effective.Permissions.Allow) != 1 {
		t.Errorf("allow: %v", s.Effective.Permissions.Allow)
	}
	if len(s.Diagnostics) != 1 || s.Diagnostics[0].Severity != settings.Info {
		t.Errorf("diagnostics: %v", s.Diagnostics)
	}
}

func TestUnreadable(t *testing.T) {
	w := newTree(t).write(settings.User, `{"env":{"A":"user"}}`)
	if err := os.MkdirAll(w.path(settings.Project), 0o755); err != nil {
		t.Fatal(err)
	}
	w.write(settings.Local, "{}")
	if err := os.Truncate(w.path(settings.Local), settings.MaxFileSize+1); err != nil {
		t.Fatal(err)
	}
	s := w.read()
	if diff := cmp.Diff([]string{
		"PROJ/.claude/settings.json: error: not a regular file; the whole file is ignored",
		"PROJ/.claude/settings.local.json: error: larger than 16777216 bytes; the whole file is ignored",
	}, w.diagnostics(s)); diff != "" {
		t.Errorf("diagnostics (-want +got):\n%s", diff)
	}
	if env(s, "A") != "user" {
		t.Error("the other files do not apply")
	}
}

func TestNothingToRead(t *testing.T) {
	s, err := settings.Read(settings.Options{})
	if err != nil || len(s.Documents) != 0 || s.Changed() {
		t.Errorf("got %+v, %v", s, err)
	}
}

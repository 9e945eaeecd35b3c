package settings_test

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/dsh-actor/dsh-actor/internal/settings"
)

// Every value knows its pointer, line and column.
func TestPositions(t *testing.T) {
	w := newTree(t).write(settings.Project, "\ufeff{\r\n\t\"é\": [ true,\n  {\"a/b~c\": \"x\"} ]\n}\n")
	root := document(t, w.read(), settings.Project).Root
	inner := root.Get("é")
	var object *settings.Value
	for i, v := range inner.Elements() {
		if i == 1 {
			object = v
		}
	}
	for _, c := range []struct {
		v            *settings.Value
		pointer      string
		line, column int
		raw          string
	}{
		{root, "", 1, 1, "{\r\n\t\"é\": [ true,\n  {\"a/b~c\": \"x\"} ]\n}"},
		{inner, "/é", 2, 7, "[ true,\n  {\"a/b~c\": \"x\"} ]"},
		{object, "/é/1", 3, 3, `{"a/b~c": "x"}`},
		{object.Get("a/b~c"), "/é/1/a~1b~0c", 3, 13, `"x"`},
	} {
		o := c.v.Origin()
		if o.Pointer != c.pointer || o.Line != c.line || o.Column != c.column || string(c.v.Raw()) != c.raw {
			t.Errorf("got %q at %d:%d %q, want %q at %d:%d %q", o.Pointer, o.Line, o.Column, c.v.Raw(), c.pointer, c.line, c.column, c.raw)
		}
	}
}

// An absent value has no kind, no children and no place.
func TestAbsentValue(t *testing.T) {
	var v *settings.Value
	if v.Kind() != 0 || v.Raw() != "" || v.Get("x").Get("y") != nil || v.Pointer() != "" || v.Origin() != (settings.Origin{}) {
		t.Error("an absent value is not empty")
	}
	for range v.Members() {
		t.Error("an absent value has members")
	}
	for range v.Elements() {
		t.Error("an absent value has elements")
	}
	if _, ok := v.Text(); ok {
		t.Error("an absent value is a string")
	}
	if _, ok := v.Bool(); ok {
		t.Error("an absent value is a boolean")
	}
}

// Whatever a file holds, reading it ends, every value has its place, and a file
// that is not JSON is an error diagnostic.
func FuzzRead(f *testing.F) {
	for _, seed := range []string{
		"", "{}", "\ufeff{}", `{"a":1,}`, "{// x\n}", `{"permissions":{"allow":["Bash(git *)",1],"deny":"x"}}`,
		`{"env":{"A":"b","A":2},"hooks":{"Stop":[{"hooks":[{}]}]}}`, `[[[`, `{"a":"\ud83d"}`, "{\"\xff\":\"\xff\"}",
		`{"disableAllHooks":"x","model":[]}`, "nul", `{"a/~":{"":[0,-0.0e5,null,true]}}`, `{"a":1}{}`, strings.Repeat("[", 600),
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		checks := 0
		s := settings.ReadText([]byte(text), settings.Options{
			CheckHooks: func(*settings.Value) []settings.Problem {
				checks++
				return []settings.Problem{{Message: "m", Severity: settings.Warning}}
			},
		})
		d := document(t, s, settings.Project)
		failed := false
		for _, diag := range s.Diagnostics {
			failed = failed || diag.Severity == settings.Error
			if diag.File != d.File || diag.Line < 0 || diag.Column < 0 || diag.Message == "" {
				t.Errorf("diagnostic %+v", diag)
			}
		}
		if d.Status != settings.Loaded && !failed {
			t.Errorf("the file is %s without an error", d.Status)
		}
		if valid := isJSON(text); (d.Root != nil) != valid {
			t.Fatalf("JSON: %v, root: %v", valid, d.Root != nil)
		}
		if d.Root != nil {
			checkValue(t, d.Root, d.Root)
		}
		if checks > 1 {
			t.Errorf("hooks judged %d times", checks)
		}
	})
}

var lenient = json.JoinOptions(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))

// isJSON decides by the token reader, apart from what the package allows beside.
func isJSON(text string) bool {
	text = strings.TrimPrefix(text, "\ufeff")
	if strings.Trim(text, " \t\r\n") == "" {
		return true
	}
	dec := jsontext.NewDecoder(bytes.NewBufferString(text), lenient)
	for {
		if _, err := dec.ReadToken(); err != nil {
			return errors.Is(err, io.EOF) && dec.StackDepth() == 0
		}
		if dec.StackDepth() > 512 {
			return false
		}
		if dec.StackDepth() == 0 {
			_, err := dec.ReadToken()
			return errors.Is(err, io.EOF)
		}
	}
}

// checkValue finds every value again by its pointer.
func checkValue(t *testing.T, root, v *settings.Value) {
	t.Helper()
	if !jsontext.Value(v.Raw()).IsValid(lenient) {
		t.Errorf("%s: raw text %q", v.Pointer(), v.Raw())
	}
	o := v.Origin()
	if o.Line < 1 || o.Column < 1 || o.Pointer != v.Pointer() {
		t.Errorf("origin %+v", o)
	}
	found := root
	for token := range jsontext.Pointer(v.Pointer()).Tokens() {
		next := found.Get(token)
		for i, e := range found.Elements() {
			if token == itoa(i) {
				next = e
			}
		}
		found = next
	}
	if found != v {
		t.Errorf("pointer %q leads elsewhere", v.Pointer())
	}
	for _, c := range v.Members() {
		checkValue(t, root, c)
	}
	for _, c := range v.Elements() {
		checkValue(t, root, c)
	}
}

func itoa(i int) string {
	b, _ := json.Marshal(i)
	return string(b)
}

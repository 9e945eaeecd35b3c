package settings

import "strings"

// fileSettings is what one file says.
type fileSettings struct {
	permissions     Permissions
	env             []Variable
	model           Entry
	disableAllHooks Toggle
	hooks           *Value
	diags           []Diagnostic
	dropped         bool // a schema error: the file does not count
}

// interpret reads the keys that the schema knows. A wrong type drops the file
// (measured: permissions:"x"), but for two: of hooks only that part is dropped
// (measured: null, array), and in a list of rules only the element that is not a
// string.
func interpret(root *Value, checkHooks func(*Value) []Problem) *fileSettings {
	f := &fileSettings{}
	if root.Kind() != '{' {
		f.wrongType(root, "an object")
		return f
	}
	f.readPermissions(root.Get("permissions"))
	f.readEnv(root.Get("env"))
	f.model = f.text(root.Get("model"))
	if v := root.Get("disableAllHooks"); v != nil {
		on, ok := v.Bool()
		if !ok {
			f.wrongType(v, "a boolean")
		}
		f.disableAllHooks = Toggle{Set: ok, On: on, Origin: v.Origin()}
	}
	f.readHooks(root.Get("hooks"), checkHooks)
	return f
}

func (f *fileSettings) readPermissions(v *Value) {
	if v == nil {
		return
	}
	if v.Kind() != '{' {
		f.wrongType(v, "an object")
		return
	}
	p := &f.permissions
	p.Allow = f.list(v.Get("allow"), "rule")
	p.Deny = f.list(v.Get("deny"), "rule")
	p.Ask = f.list(v.Get("ask"), "rule")
	p.AdditionalDirectories = f.list(v.Get("additionalDirectories"), "directory")
	p.DefaultMode = f.text(v.Get("defaultMode"))
	switch d := f.text(v.Get("disableBypassPermissionsMode")); d.Text {
	case "":
	case "disable":
		p.DisableBypass = d
	default:
		f.add(d.Origin.Diagnose(Error, `must be "disable", not %q; the whole file is ignored`, d.Text))
		f.dropped = true
	}
}

// readEnv reads the environment. Numbers and booleans stand for their text.
func (f *fileSettings) readEnv(v *Value) {
	if v == nil {
		return
	}
	if v.Kind() != '{' {
		f.wrongType(v, "an object")
		return
	}
	for name, value := range v.Members() {
		text, ok := value.Text()
		switch value.Kind() {
		case 't', 'f', '0':
			text, ok = string(value.Raw()), true
		}
		switch {
		case !ok:
			f.wrongType(value, "a string")
		case name == "" || strings.ContainsAny(name, "=\x00") || strings.Contains(text, "\x00"):
			f.add(value.Origin().Diagnose(Warning, "no environment can hold this variable; it is ignored"))
		default:
			f.env = append(f.env, Variable{name, text, value.Origin()})
		}
	}
}

func (f *fileSettings) readHooks(v *Value, check func(*Value) []Problem) {
	if v == nil {
		return
	}
	if v.Kind() != '{' {
		f.add(v.Origin().Diagnose(Warning, "must be an object, not %s; the hooks of this file are ignored", v.kindName()))
		return
	}
	f.hooks = v
	if check == nil {
		return
	}
	for _, p := range check(v) {
		message := p.Message
		if p.DropFile {
			message += "; the whole file is ignored"
			f.dropped = true
		}
		at := p.Value
		if at == nil {
			at = v
		}
		f.add(at.Origin().Diagnose(p.Severity, "%s", message))
	}
}

// list reads an array of strings.
func (f *fileSettings) list(v *Value, what string) []Entry {
	if v == nil {
		return nil
	}
	if v.Kind() != '[' {
		f.wrongType(v, "an array")
		return nil
	}
	var entries []Entry
	for _, item := range v.Elements() {
		if text, ok := item.Text(); ok {
			entries = append(entries, Entry{text, item.Origin()})
			continue
		}
		f.add(item.Origin().Diagnose(Error, "a %s must be a string, not %s; it is not in force", what, item.kindName()))
	}
	return entries
}

// text reads a string.
func (f *fileSettings) text(v *Value) Entry {
	if v == nil {
		return Entry{}
	}
	text, ok := v.Text()
	if !ok {
		f.wrongType(v, "a string")
	}
	return Entry{text, v.Origin()}
}

// wrongType drops the file.
func (f *fileSettings) wrongType(v *Value, want string) {
	f.add(v.Origin().Diagnose(Error, "must be %s, not %s; the whole file is ignored", want, v.kindName()))
	f.dropped = true
}

func (f *fileSettings) add(d Diagnostic) { f.diags = append(f.diags, d) }

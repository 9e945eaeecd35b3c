package settings

import "slices"

// Entry is one string of a settings file.
type Entry struct {
	Text   string
	Origin Origin
}

// Permissions are the permission settings. Rules are not interpreted here.
type Permissions struct {
	// Allow, Deny and Ask hold the rules of all layers, the least specific first.
	Allow, Deny, Ask []Entry
	// AdditionalDirectories are those of all layers, as they are written.
	AdditionalDirectories []Entry
	// DefaultMode is the most specific one; its Text is "" if there is none.
	DefaultMode Entry
	// DisableBypass is where bypassPermissions was forbidden
	// (disableBypassPermissionsMode "disable"), in any layer; its Text is "" if
	// nowhere.
	DisableBypass Entry
}

// Variable is one environment variable.
type Variable struct {
	Name  string
	Value string
	// Origin is the place of the value.
	Origin Origin
}

// Toggle is a boolean that may be unset. Its Origin says where it was set.
type Toggle struct {
	Set, On bool
	Origin  Origin
}

// Hooks is the hooks value of one file, which is the bridge's to interpret.
type Hooks struct {
	Layer Layer
	File  string
	Value *Value // an object
}

// Effective is what the files say together.
type Effective struct {
	Permissions Permissions
	// Env has one variable of each name, the most specific one, in the order in
	// which the names come up.
	Env []Variable
	// Model is the most specific one; its Text is "" if there is none.
	Model Entry
	// DisableAllHooks is the most specific one (measured: false of a project
	// overrides true of the user).
	DisableAllHooks Toggle
	// Hooks are those of all files, the least specific first.
	Hooks []Hooks
}

// merge adds a file that is more specific than what was merged before.
func (e *Effective) merge(f *fileSettings) {
	p, q := &e.Permissions, &f.permissions
	p.Allow = append(p.Allow, q.Allow...)
	p.AdditionalDirectories = append(p.AdditionalDirectories, q.AdditionalDirectories...)
	e.restrict(f)
	if q.DefaultMode.Text != "" {
		p.DefaultMode = q.DefaultMode
	}
	if f.model.Text != "" {
		e.Model = f.model
	}
	if f.disableAllHooks.Set {
		e.DisableAllHooks = f.disableAllHooks
	}
	for _, v := range f.env {
		i := slices.IndexFunc(e.Env, func(old Variable) bool { return old.Name == v.Name })
		if i < 0 {
			e.Env = append(e.Env, v)
		} else {
			e.Env[i] = v
		}
	}
	if f.hooks != nil {
		e.Hooks = append(e.Hooks, Hooks{f.hooks.text.layer, f.hooks.text.file, f.hooks})
	}
}

// restrict adds only what narrows.
func (e *Effective) restrict(f *fileSettings) {
	p, q := &e.Permissions, &f.permissions
	p.Deny = append(p.Deny, q.Deny...)
	p.Ask = append(p.Ask, q.Ask...)
	if q.DisableBypass.Text != "" {
		p.DisableBypass = q.DisableBypass
	}
}

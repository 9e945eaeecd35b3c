package permission

import (
	"github.com/dsh-actor/dsh-actor/internal/settings"
)

// LoadOptions says where permissions come from: settings files, and the command
// line. The zero value is no file at all.
type LoadOptions struct {
	// Home holds .claude/settings.json of the user, and is what ~ stands for.
	Home string
	// ProjectDir holds .claude of the project.
	ProjectDir string
	// Sources selects among user, project and local, as --setting-sources does; nil is
	// all of them.
	Sources []string
	// Settings is the --settings argument: the name of a file, or JSON text.
	Settings string
	// Allowed and Disallowed are the rules of --allowedTools and --disallowedTools, one
	// each (see [SplitRules]).
	Allowed, Disallowed []string
	// Mode is that of --permission-mode; it wins over the settings.
	Mode string
	// FailClosed keeps the deny and ask rules of a settings file that is left out for
	// an error elsewhere in it.
	FailClosed bool
}

// Load reads the settings files and returns the policy that they and the options
// ask for. The diagnostics are those of the files; those of the rules come from
// [Policy.Diagnostics]. It fails for bad options, not for bad files.
func Load(o LoadOptions) (Config, []Diagnostic, error) {
	read := settings.Options{Home: o.Home, ProjectDir: o.ProjectDir, Flag: o.Settings, FailClosed: o.FailClosed}
	if o.Sources != nil {
		read.Sources = []settings.Layer{}
		for _, s := range o.Sources {
			layers, err := settings.ParseSources(s)
			if err != nil {
				return Config{}, nil, err
			}
			read.Sources = append(read.Sources, layers...)
		}
	}
	snapshot, err := settings.Read(read)
	if err != nil {
		return Config{}, nil, err
	}
	cfg, diags := FromSettings(&snapshot.Effective)
	cfg.Home, cfg.ProjectDir = o.Home, o.ProjectDir
	if o.Mode != "" {
		if cfg.Mode, err = ParseMode(o.Mode); err != nil {
			return Config{}, nil, err
		}
		if err := cfg.permits(cfg.Mode); err != nil {
			return Config{}, nil, err
		}
	}
	cfg.Rules = append(cfg.Rules, commandLineRules(Allow, "--allowedTools", o.Allowed)...)
	cfg.Rules = append(cfg.Rules, commandLineRules(Deny, "--disallowedTools", o.Disallowed)...)
	return cfg, append(snapshot.Diagnostics, diags...), nil
}

func commandLineRules(b Behavior, flag string, rules []string) (entries []Entry) {
	for _, r := range rules {
		entries = append(entries, Entry{Behavior: b, Rule: r, Origin: Origin{File: flag}})
	}
	return entries
}

// FromSettings returns the policy that settings ask for. A default mode that is
// unknown here, or forbidden, is the default mode, with a diagnostic.
func FromSettings(e *settings.Effective) (Config, []Diagnostic) {
	p := &e.Permissions
	cfg := Config{DisableBypass: p.DisableBypass.Text != ""}
	for _, list := range [...]struct {
		behavior Behavior
		entries  []settings.Entry
	}{{Deny, p.Deny}, {Ask, p.Ask}, {Allow, p.Allow}} {
		for _, entry := range list.entries {
			cfg.Rules = append(cfg.Rules, Entry{list.behavior, entry.Text, entry.Origin})
		}
	}
	for _, d := range p.AdditionalDirectories {
		cfg.Directories = append(cfg.Directories, d.Text)
	}
	mode, err := ParseMode(p.DefaultMode.Text)
	if err == nil {
		err = cfg.permits(mode)
	}
	if err != nil {
		cfg.Mode = ModeDefault
		return cfg, []Diagnostic{p.DefaultMode.Origin.Diagnose(SeverityError, "%v; the mode is %s", err, ModeDefault)}
	}
	cfg.Mode = mode
	return cfg, nil
}

package app

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/dsh-actor/dsh-actor/internal/settings"
	"github.com/dsh-actor/dsh-actor/tools/permission"
)

// readSettings reads the settings files that the flags name.
func (a *app) readSettings(f *runFlags, dir string) (*settings.Snapshot, error) {
	o := settings.Options{Home: a.home(), ProjectDir: dir, Flag: f.settings}
	if f.settings != "" && !isJSON(f.settings) && !filepath.IsAbs(f.settings) {
		o.Flag = filepath.Join(a.sys.Dir, f.settings) // where the user typed it, not where the session works
	}
	if f.settingSources != "" {
		var err error
		if o.Sources, err = settings.ParseSources(f.settingSources); err != nil {
			return nil, usagef("--setting-sources: %v", err)
		}
	}
	s, err := settings.Read(o)
	if err != nil {
		return nil, fmt.Errorf("--settings: %w", err)
	}
	return s, nil
}

// isJSON reports whether a --settings argument is the settings themselves.
func isJSON(arg string) bool { return strings.HasPrefix(strings.TrimSpace(arg), "{") }

// home is the user's home directory, "" if there is none.
func (a *app) home() string {
	for _, name := range []string{"HOME", "USERPROFILE"} {
		if h := a.sys.Getenv(name); filepath.IsAbs(h) {
			return h
		}
	}
	return ""
}

// permissions are what the settings and the flags say.
func (a *app) permissions(f *runFlags, s *settings.Snapshot, dir string) (permission.Config, []permission.Diagnostic, error) {
	cfg, diagnostics := permission.FromSettings(&s.Effective)
	cfg.Home, cfg.ProjectDir = a.home(), dir
	for _, list := range f.allowed {
		for _, rule := range permission.SplitRules(list) {
			cfg.Rules = append(cfg.Rules, permission.Entry{Behavior: permission.Allow, Rule: rule, Origin: permission.Origin{File: "--allowedTools"}})
		}
	}
	for _, list := range f.disallowed {
		for _, rule := range permission.SplitRules(list) {
			cfg.Rules = append(cfg.Rules, permission.Entry{Behavior: permission.Deny, Rule: rule, Origin: permission.Origin{File: "--disallowedTools"}})
		}
	}
	for _, d := range f.addDirs {
		if !filepath.IsAbs(d) {
			d = filepath.Join(a.sys.Dir, d)
		}
		if err := mustBeDir(d); err != nil {
			return cfg, nil, fmt.Errorf("--add-dir: %w", err)
		}
		cfg.Directories = append(cfg.Directories, d)
	}
	mode := f.permissionMode
	if f.skipPermissions {
		mode = string(permission.ModeBypass)
	}
	if mode != "" {
		cfg.Mode = permission.Mode(mode)
	}
	return cfg, diagnostics, nil
}

// trustedEnv is the environment that the settings ask for.
func trustedEnv(s *settings.Snapshot) (env []string) {
	for _, v := range s.Effective.Env {
		env = append(env, v.Name+"="+v.Value)
	}
	return env
}

// stateDir is where the files of sessions are (Z-33), "" if there is no place.
func (a *app) stateDir() string {
	if dir := a.sys.Getenv("XDG_STATE_HOME"); filepath.IsAbs(dir) {
		return filepath.Join(dir, "dsh-actor")
	}
	if home := a.home(); home != "" {
		return filepath.Join(home, ".local", "state", "dsh-actor")
	}
	return ""
}

// hooksNotice tells that there are hooks, which this version does not run: silence
// would let somebody believe in a gate that is not there.
func hooksNotice(s *settings.Snapshot) string {
	if len(s.Effective.Hooks) == 0 || s.Effective.DisableAllHooks.On {
		return ""
	}
	var files []string
	for _, h := range s.Effective.Hooks {
		for range h.Value.Members() {
			files = append(files, h.File)
			break
		}
	}
	if len(files) == 0 {
		return ""
	}
	return "the hooks in " + strings.Join(files, ", ") + " are not run: this version has no hook bridge"
}

func mustBeDir(dir string) error {
	info, err := os.Stat(dir)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return fmt.Errorf("there is no directory %s", dir)
	case err != nil:
		return err
	case !info.IsDir():
		return fmt.Errorf("%s is not a directory", dir)
	}
	return nil
}

package settings

import (
	"fmt"
	"path/filepath"
	"strings"
)

// Layer is one source of settings. A later layer is more specific and wins where
// only one value can hold.
type Layer string

// The layers, from the least to the most specific.
const (
	User    Layer = "user"    // ~/.claude/settings.json
	Project Layer = "project" // .claude/settings.json
	Local   Layer = "local"   // .claude/settings.local.json
	Flag    Layer = "flag"    // --settings FILE or JSON text
)

// FlagName stands for the file name of settings given as JSON text.
const FlagName = "--settings"

// fileLayers are the layers that --setting-sources chooses from, in order.
var fileLayers = [...]Layer{User, Project, Local}

// ParseSources parses the argument of --setting-sources, a comma-separated list
// of user, project and local. Blank text selects none of them. The result is
// never nil.
func ParseSources(text string) ([]Layer, error) {
	sources := []Layer{}
	if strings.TrimSpace(text) == "" {
		return sources, nil
	}
	for name := range strings.SplitSeq(text, ",") {
		layer := Layer(strings.TrimSpace(name))
		switch layer {
		case User, Project, Local:
			sources = append(sources, layer)
		default:
			return nil, fmt.Errorf("parse setting sources %q: unknown source %q (user, project, local)", text, layer)
		}
	}
	return sources, nil
}

// path returns the file of a layer, "" if the options do not say where it is.
func (o *Options) path(layer Layer) string {
	dir, name := o.ProjectDir, "settings.json"
	switch layer {
	case User:
		dir = o.Home
	case Local:
		name = "settings.local.json"
	}
	if dir == "" {
		return ""
	}
	return filepath.Join(dir, ".claude", name)
}

// flagIsText reports whether the --settings argument is JSON text rather than a
// file name: it begins with { and ends with }, as the real program decides.
func flagIsText(flag string) bool {
	flag = strings.TrimSpace(flag)
	return strings.HasPrefix(flag, "{") && strings.HasSuffix(flag, "}")
}

// flagPath is the file that the --settings argument names.
func (o *Options) flagPath() string {
	if filepath.IsAbs(o.Flag) || o.ProjectDir == "" {
		return o.Flag
	}
	return filepath.Join(o.ProjectDir, o.Flag)
}

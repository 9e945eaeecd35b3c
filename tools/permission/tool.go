package permission

import (
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/dsh-actor/dsh-actor/messages"
)

// class is what kind of thing a tool does, as far as policy tells them apart.
type class int

const (
	other   class = iota // anything else, MCP tools included
	reading              // one file
	search               // what lies below a directory
	editing              // changes one file
	shell                // runs a command line
)

// classOf returns the class of a tool and the argument that policy looks at.
func classOf(tool string) (c class, argument string) {
	switch tool {
	case "Bash":
		return shell, "command"
	case "Read":
		return reading, "file_path"
	case "NotebookRead":
		return reading, "notebook_path"
	case "Glob", "Grep", "LS":
		return search, "path"
	case "Edit", "Write", "MultiEdit":
		return editing, "file_path"
	case "NotebookEdit":
		return editing, "notebook_path"
	}
	return other, ""
}

// mcpPrefix begins the names of MCP tools: mcp__server__tool.
const mcpPrefix = "mcp__"

// canonical is the name under which a tool is known to rules.
func canonical(tool string) string {
	if tool == "Task" {
		return "Agent" // its former name
	}
	return tool
}

// stringMember returns the string member of an object, and whether there is one.
func stringMember(object messages.JSON, name string) (string, bool) {
	for key, value := range object.Members() {
		if key != name {
			continue
		}
		if value.Kind() != '"' {
			return "", false
		}
		return unquoteJSON(value), true
	}
	return "", false
}

// unquoteJSON returns the string that a valid JSON string denotes.
func unquoteJSON(quoted messages.JSON) string {
	if strings.IndexByte(string(quoted), '\\') < 0 {
		return string(quoted[1 : len(quoted)-1])
	}
	b, _ := jsontext.AppendUnquote(nil, string(quoted)) // the text was checked when the call was made
	return string(b)
}

// subject is one call as policy sees it.
type subject struct {
	tool      string
	class     class
	arguments messages.JSON
	look      lookup
	scripts   *scriptCache // nil for none

	argument string // the text of the argument that policy looks at
	missing  string // the name of that argument, if it is not there

	script  *script  // of a shell tool, once parsed
	targets []target // of a file tool, once resolved
	located bool
	stray   bool // a path names nothing that can be judged

	uses []fileUse // of a shell tool, once asked for
	used bool
}

func newSubject(tool string, arguments messages.JSON, w *workspace) *subject {
	s := &subject{tool: tool, arguments: arguments, look: lookup{workspace: w}}
	var name string
	s.class, name = classOf(tool)
	if name == "" {
		return s
	}
	var ok bool
	if s.argument, ok = stringMember(arguments, name); !ok && s.class != search {
		s.missing = name
	}
	return s
}

// commands returns what a shell tool's command line says.
func (s *subject) commands() *script {
	if s.script == nil {
		s.script = s.scripts.parse(s.argument)
	}
	return s.script
}

// paths returns the paths of a file tool's call. Ok is false if one of them cannot
// be judged.
func (s *subject) paths() (targets []target, ok bool) {
	if s.located {
		return s.targets, !s.stray
	}
	s.located = true
	path := s.argument
	if s.class == search && path == "" {
		path = "."
	}
	s.locate(path)
	switch s.tool {
	case "Glob":
		if pattern, ok := stringMember(s.arguments, "pattern"); ok {
			s.locateGlob(path, pattern)
		}
	case "Grep":
		if filter, ok := stringMember(s.arguments, "glob"); ok && !strings.ContainsAny(filter, globMeta) {
			s.locate(path + "/" + filter)
		}
	}
	return s.targets, !s.stray
}

func (s *subject) locate(path string) {
	t, ok := s.look.target(path, s.look.dir)
	if !ok || s.missing != "" {
		s.stray = true
		return
	}
	s.targets = append(s.targets, t)
}

// globMeta are the characters that make a name a pattern.
const globMeta = `*?[{`

// locateGlob adds the directory that a glob pattern leads to, if it leads away
// from the one that it is used in.
func (s *subject) locateGlob(dir, pattern string) {
	meta := strings.IndexAny(pattern, globMeta)
	if meta < 0 {
		meta = len(pattern)
	}
	fixed, rest := pattern[:meta], pattern[meta:]
	for name := range strings.FieldsFuncSeq(rest, func(r rune) bool { return strings.ContainsRune(`/\{},`, r) }) {
		if name == ".." {
			s.stray = true
		}
	}
	if strings.ContainsAny(rest, "{") && (strings.Contains(rest, "{/") || strings.Contains(rest, ",/")) {
		s.stray = true // an alternative that begins at the root
	}
	if !strings.HasPrefix(fixed, "~") && !isRooted(fixed) {
		fixed = dir + "/" + fixed
	}
	if rest == "" {
		s.locate(fixed)
		return
	}
	// The last component may be the beginning of a name: the directory is what counts.
	s.locate(fixed[:strings.LastIndexAny(fixed, `/\`)+1] + ".")
}

// isRooted reports whether a path begins at a root on any system.
func isRooted(path string) bool {
	return strings.HasPrefix(path, "/") || strings.HasPrefix(path, `\`) || len(path) > 1 && path[1] == ':'
}

package view

import (
	"strings"

	"github.com/dsh-actor/dsh-actor/messages"
)

// subject says what a call is about, in one line: the argument that people
// recognise it by, or all arguments.
func subject(name, arguments string) string {
	j := messages.JSON(arguments)
	if messages.CheckJSON(j) != nil {
		return oneLine(arguments)
	}
	var keys []string
	switch name {
	case "Bash":
		keys = []string{"command"}
	case "Read", "Write", "Edit":
		keys = []string{"file_path"}
	case "Glob", "Grep":
		keys = []string{"pattern", "path"}
	}
	members := map[string]messages.JSON{}
	for k, v := range j.Members() {
		members[k] = v
	}
	var parts []string
	for _, k := range keys {
		var text string
		if v, ok := members[k]; ok && v.Kind() == '"' && v.Unmarshal(&text) == nil {
			parts = append(parts, oneLine(text))
		}
	}
	switch {
	case len(parts) > 0:
		return strings.Join(parts, " ")
	case len(members) == 0 && j.Kind() == '{':
		return ""
	default:
		return oneLine(arguments)
	}
}

// failure is the first line of what the model reads of a failed call.
func failure(r messages.ToolResult) string {
	return oneLine(strings.TrimPrefix(r.Content.Text(), "Error: "))
}

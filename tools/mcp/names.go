package mcp

import "strings"

const prefix = "mcp__"

// ToolName is the name under which a server's tool is offered.
func ToolName(server, tool string) string {
	return prefix + toolName(server) + "__" + toolName(tool)
}

// SplitName returns the server's and the tool's part of such a name.
func SplitName(name string) (server, tool string, ok bool) {
	rest, ok := strings.CutPrefix(name, prefix)
	if !ok {
		return "", "", false
	}
	server, tool, ok = strings.Cut(rest, "__")
	return server, tool, ok && server != "" && tool != ""
}

// toolName replaces the characters that model providers refuse in the names of
// tools.
func toolName(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case 'a' <= r && r <= 'z', 'A' <= r && r <= 'Z', '0' <= r && r <= '9', r == '_', r == '-':
			return r
		}
		return '_'
	}, s)
}

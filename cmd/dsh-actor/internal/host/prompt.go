package host

import (
	"runtime"
	"strings"
)

// identity is the product's own sentence (SP-1).
const identity = "You are dsh-actor, an agent that works for its user in a directory of the user's machine."

const manners = `Use the tools to find out and to act; do not guess what you can look up. ` +
	`Do what was asked, no less and no more. When a call is denied, do not try to get the same by another way: ` +
	`say what you need and why. When the work is done, say in a few sentences what you did and what is left.`

// systemPrompt is the same for the whole session, so that prompt caches hold: there
// is no date in it.
func systemPrompt(o Options) string {
	parts := []string{o.SystemPrompt}
	if o.SystemPrompt == "" {
		parts = []string{identity, manners, "Working directory: " + o.Cwd + "\nSystem: " + runtime.GOOS}
	}
	if o.AppendSystemPrompt != "" {
		parts = append(parts, o.AppendSystemPrompt)
	}
	return strings.Join(parts, "\n\n")
}

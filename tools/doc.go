// Package tools owns the built-in tools: Bash, Read, Write, Edit, Glob and
// Grep. They are named as Claude Code names them, and their canonical values
// are what that program reports as a tool's response (SPEC Z-44), so that
// hooks and rules that were written for it find what they expect.
//
// A [Kit] makes the tools and holds what they remember: for each session the
// directory that its commands are in, the files that it has read, and the
// processes that its commands left running. One Kit serves all sessions of a
// runtime; its tools are registered once. What a session left running ends
// with [Kit.End], and everything with [Kit.Drain].
//
// # Invariants
//
//   - A body returns when its context is done. A command is then ended as a tree
//     (Z-9), and what it printed is lost with the call.
//   - A failure reads as the tool says it: the "Error: " that the pipeline puts
//     before a message (P-17) is taken off again by finalizeContent, unless
//     somebody else has changed the content.
//   - A file is replaced as a whole or not at all. Line ends, byte order mark and
//     mode of a file that is changed stay as they are.
//   - Write and Edit change an existing file only if the session has read it and
//     it has not changed since.
//
// # What it refuses to know
//
// What is allowed: permission modes, rules and workspaces are listeners and
// guards in front of the tools. Nothing here asks, and no path is out of bounds.
package tools

// Package settings reads Claude Code settings files and says what they say, and
// where.
//
// # What it owns
//
// The layers and their order: user (~/.claude/settings.json), project
// (.claude/settings.json), local (.claude/settings.local.json) and flag (the
// --settings argument, a file or JSON text). [Read] takes them all and returns a
// [Snapshot]: each file as a tree of values with positions ([Document],
// [Value]), what they say together with the source of every entry
// ([Effective]), and what is wrong with them ([Diagnostic]). A snapshot never
// changes; [Snapshot.Changed] tells whether the files did.
//
// # Invariants
//
// Reading is a function of the files and of [Options]: no environment variable,
// no working directory, no clock. Whatever a file holds, Read returns: a file
// that cannot be used is left out, the others apply, and a diagnostic names
// file, line and column and the cause. Every value knows its JSON pointer and
// its position.
//
// What makes a file unusable was measured on Claude Code 2.1.332: text that is
// not JSON (comments and trailing commas included; a BOM is fine, and so is an
// empty file), a wrong type of a key that the schema knows, and a bad handler
// in one of a few hook events, which only the caller can judge
// ([Options.CheckHooks]). Such a file is left out whole, with the deny rules in
// it. That is the measured behaviour and it fails open, so the diagnostic says
// how many rules were lost, and [Options.FailClosed] keeps the deny and ask
// rules of a file that is at least JSON.
//
// # What it refuses to know
//
// What a rule means (tools/permission does), what a hook is (the bridge does;
// the hooks values are handed on raw, with positions), managed settings,
// plugins, and when to read again.
package settings

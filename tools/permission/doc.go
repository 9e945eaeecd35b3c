// Package permission decides which tool calls run, which are denied, and which a
// person is asked about: permission modes and rules in Claude Code's syntax
// (SPEC table P), as two listeners of tools/pre-execute and a guard.
//
//	ask rules ─► bridges (hooks) ─► mode and allow rules        tools/pre-execute, outermost first
//	deny rules                                                  guard, after any allow
//
// A [Policy] is made of a [Config] and installed with [Policy.Install]. [Load]
// makes the config of Claude settings files and command line flags. What a person
// answers comes through an [Asker]; [Condition] is the same rule syntax as the "if"
// of a hook.
//
// # Rules
//
// A rule is Tool or Tool(specifier). Deny rules are stronger than everything, ask
// rules than allow rules, allow rules than the mode; among themselves order and
// precision do not count. Where it cannot be told whether a rule is about a call,
// a rule that denies or asks is, and a rule that allows is not.
//
//	Bash                       every command line
//	Bash(git *), Bash(git:*)   git, and git with any arguments, but not gitk
//	Bash(npm run test)         exactly that
//	Read(secrets/**)           below secrets of the project
//	Edit(*.go)                 at any depth of the project, also for Write
//	Read(//etc/**), Read(~/x)  from the root, from the home directory
//	mcp__server, mcp__server__tool, mcp__server__*
//	WebFetch(domain:go.dev), Agent(explorer)
//
// Command lines are parsed. A rule is tested on each simple command, after its
// environment assignments are taken off. A rule that denies or asks reaches every
// command of the line, in substitutions and functions, behind wrappers such as sudo
// and xargs, in text given to sh -c, under another path of the program, and with
// what variables may expand to; and every line that cannot be read. A rule that
// allows covers a line only if each of its commands is named by a rule or only
// reads, if no program's name is computed, no assignment changes what a program
// is, and no redirection writes where writing is not allowed.
//
// Paths are judged as they are given and where their links lead. A rule that
// denies or asks needs one of the two, a rule that allows both. What does not exist
// is judged by its nearest existing parent.
//
// A rule that cannot be parsed is not in force. That is an error in
// [Policy.Diagnostics], with file, JSON pointer and position, and makes [New] fail
// with [Config.Strict].
//
// # The workspace
//
// It is the session's working directory and the additional directories, links
// followed. A repository's .git and the settings files of .claude are in it for
// reading, but not for writing: who may write there decides what git runs and what
// is permitted.
//
// # What it is not
//
// It is not a sandbox. A rule sees what a command line says and not what a program
// does: a script, a compiler or an interpreter may read and write anything, and
// between the decision and the deed the file system may change. That path rules
// also hold for files that a command line names (cat .env) is best effort.
//
// It knows nothing of hooks, terminals and sessions' logs.
package permission

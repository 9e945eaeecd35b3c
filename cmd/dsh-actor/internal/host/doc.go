// Package host puts a runtime together for one command: a model, tools, policy,
// retries and traces around one session. It is what an embedder would write, with
// the command's options in place of a program's choices.
//
// Invariants: [Open] leaves nothing behind when it fails. [Host.Close] ends what
// Open started, the session first and the traces last, whatever fails on the way,
// and says what was left.
//
// It refuses to know prompts, output and signals.
package host

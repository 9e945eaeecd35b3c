// Package mcp offers the tools of Model Context Protocol servers to sessions.
//
// A [Manager] owns its servers: it starts those that speak over standard input
// and output, connects to those that speak HTTP, and ends all of them. A tool
// is named mcp__«server»__«tool», and its canonical value is the content that
// the server answered with, as hooks are shown it (SPEC Z-44).
//
// # Invariants
//
//   - A server is connected to when it is needed, all of them at the same time,
//     and once for everybody. One that has ended is started again by the next
//     call. A call that was sent is never sent twice: it may have been done.
//   - A server is a process tree of [proc.Owner], with an environment without
//     secrets but those that it is given (Z-20), and nothing of it is left when
//     [Manager.Drain] returns.
//   - Arguments are validated against the server's schema before they are sent
//     (Z-28). A schema that cannot be compiled validates nothing here; the server
//     still does. No schema makes us read a file or a network address.
//   - A result that the server marks as an error is a failed call, not a failure
//     of ours.
//
// # What it refuses to know
//
// What is allowed, and whether a server can be trusted: its hints decide nothing
// but whether calls of a tool may overlap. It offers servers no sampling, no
// roots and no elicitation.
package mcp

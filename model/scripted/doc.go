// Package scripted is the model that needs no network: it answers from a
// script. It is the default of the quick start, of tests and of benchmarks.
//
// A script is written in a file, one conversation a file ([Load], [Parse]), or
// in Go ([New]). For a model that computes its answers there is [Func].
//
// # The file
//
// A scenario is YAML, or JSON with the same keys (a file is read as JSON if its
// name ends in .json or its text begins with a brace):
//
//	name: greet              # default: the file's name without its extension
//	description: Looks at the files and reports.
//	prompt: What is here?    # what `run` sends when it is given no prompt
//	turns:
//	  - reasoning: I should look first.
//	    text: Let me look.
//	    tools:
//	      - name: Bash
//	        input: {command: ls, description: List the files}
//	  - text: |
//	      These are the files:
//	      {{lastToolResult}}
//
// Keys of the file:
//
//	turns        the model's answers, in order; the only key that is required
//	name         names the script in messages and is the default of model
//	description  one or two sentences for people
//	prompt       a default prompt
//	provider     provider name to run under; default "scripted"
//	model        model name to run under; default: the name
//	then         what follows the last answer: "stop" (a text that says that the
//	             script has ended; the default), "repeat-last" (the answer that
//	             was given last, again) or "loop" (the first answer, and so on)
//
// Keys of an answer. It needs at least one of text, reasoning, tools, error and
// hang; what it has is sent in the order reasoning, text, tools:
//
//	text         a text block
//	reasoning    a reasoning block
//	tools        a list of tool calls: name, input (any object; default {}) and
//	             optionally id. In place of input, arguments is the argument
//	             text itself, sent as it is, for tests of malformed JSON
//	finish       "stop", "tool-calls" or "max-tokens"; default: tool-calls if
//	             there are tools, otherwise stop
//	usage        inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens,
//	             reasoningTokens; default: see below
//	chunks       into how many pieces each block is cut; default: pieces of at
//	             most 64 characters, cut after a space where there is one
//	delay        time before the first chunk, such as 200ms or 1.5s
//	pace         time before each further chunk
//	repeat       how many times in a row the answer is given; default 1
//	match        a regular expression (Go syntax, unanchored): see below
//	error        a failed request: see below
//	hang         true: after its blocks, if any, the answer neither ends nor
//	             fails until the request is cancelled
//
// Keys of error; a plain string stands for its message:
//
//	message      what went wrong; required
//	code         a stable name, such as RATE_LIMITED; default UNKNOWN
//	status       the HTTP status
//	retryAfter   how long the provider asks to wait, such as 2s
//	times        how many attempts fail before the answer is given; without it
//	             every attempt fails
//	after        how many chunks of the answer come before the failure; default 0
//
// A key that is not listed here, a value of the wrong type or a combination
// that makes no sense is an error that names file, line and column.
//
// # Which answer comes
//
// A [Script] has no state. Each request is answered from what it says itself,
// so that one Script serves any number of sessions at once, and resume and fork
// simply go on:
//
//  1. If the request answers a prompt (its history has no tool result after the
//     last assistant message) and one of the user messages since then matches
//     the match of an answer, the first such answer is given.
//  2. Otherwise it is the answer after the one that the history ends with, and
//     the first one if there is none. An answer with a match is never reached
//     this way: it begins a section, which goes on until the next match.
//  3. Otherwise it is what then says.
//
// Every answer leaves its number in the replay state of the finish chunk, and
// so in the provenance of the assistant message. That is how the end of the
// history tells the place without counting from the start. Assistant messages
// without such a mark (another model's, or an answer that a plugin rewrote)
// count as one answer each, in order.
//
// A failed or cancelled answer leaves no assistant message. A retry of the same
// step is told apart by the attempt number of the request, which is what times
// counts; a new prompt gets the same answer, and the same failure, again. To
// script a failure that a later prompt gets past, give both a match.
//
// # Templates
//
// Two placeholders are replaced in text, reasoning and the strings of input:
//
//	{{lastToolResult}}  the text of the latest tool result in the history,
//	                    without newlines at its end
//	{{prompt}}          the text of the user messages since the last answer that
//	                    had no tool calls, one a line
//
// Each value is cut at 64 KiB, is not scanned for placeholders itself, and is
// quoted as the place needs. Other braces are ordinary text.
//
// # What is made up
//
// A tool call without an id gets call-«turn»-«step»-«n», n counting from 1,
// which is the same on every run and differs between the steps of a session.
// Usage that is not given is estimated at four bytes a token for what the
// answer says; inputTokens is then 0, since nothing was read.
//
// # What it refuses to know
//
// The package knows no session, log, tool or hook, starts no goroutine, and
// imports only the vocabulary and package model.
package scripted

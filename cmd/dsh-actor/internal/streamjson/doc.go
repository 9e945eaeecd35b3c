// Package streamjson speaks the line protocol of `claude -p --output-format
// stream-json`: one JSON object a line.
//
// It owns the shapes of the lines in both directions: [Writer] makes the system,
// assistant, user, stream_event and result lines out of session events and of a
// row of SPEC table R, [Reader] reads the user and control lines. Names and
// meanings of the fields are those that scripts around the real program rely on;
// what only this program has is under the member "dsh".
//
// Invariants: every line is written by one Write and ends in a newline; lines of
// concurrent callers never mix. A line is never changed after it was written.
//
// What is not known is left out rather than made up: there is no total_cost_usd,
// because nobody here knows a price.
//
// It refuses to know how a turn runs, and what becomes of the prompts that it
// reads.
package streamjson

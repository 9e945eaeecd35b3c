// Package schema is the small JSON-Schema subset that tools made with Go types
// declare their arguments and results in (SPEC P-36, Z-28), and its validator.
//
// It owns three things: the check that a hand-written schema lies in the subset
// ([Parse]), the derivation of a schema from a Go type ([For], [Of]), and the
// validation of a JSON value with the texts that models read
// ([Schema.Validate]).
//
// # The subset
//
//   - no "type" and no "oneOf": any JSON value
//   - "type": one of object, array, string, number, integer, boolean, null
//   - object: "properties", "required" (each declared), boolean
//     "additionalProperties" (absent means open)
//   - array: "items"
//   - string, number, integer, boolean, null: type-correct, non-empty "enum";
//     "const", which must be in the "enum" if there is one
//   - "oneOf": at least two branches of which exactly one must match, beside
//     annotations only
//   - annotations everywhere: "description", "title", "default", "examples";
//     they never change a value
//
// Everything else is refused when the schema is parsed, so that no keyword is
// ever accepted and then not enforced.
//
// # Invariants
//
// A [Schema] is immutable and safe for concurrent use. A value that conforms is
// checked in one pass over its tokens, without building it; only a value that
// does not is looked at again to find the words. Numbers are compared exactly
// (Z-11): no digit is lost on the way through a float64.
//
// The package knows nothing of tools, calls or sessions.
package schema

package schema

import (
	"github.com/go-json-experiment/json/jsontext"

	"github.com/dsh-actor/dsh-actor/messages"
)

// Schemas and values are scanned in place: every one of them has passed
// messages.CheckJSON once (P-6, P-18), and checking the grammar again would cost
// more than the schema does. Texts are strings here, and share memory.

// kindOf returns the kind of the value that raw is, or 0 if it is "".
func kindOf(raw string) jsontext.Kind { return messages.JSON(raw).Kind() }

// unquote returns the string that raw, a valid JSON string, denotes.
func unquote(raw string) string {
	s, _ := jsontext.AppendUnquote(nil, raw)
	return string(s)
}

// member is one member of an object.
type member struct{ name, value string }

// membersOf returns the members of raw, a valid JSON object, in order.
func membersOf(raw string) []member {
	var out []member
	for name, value := range messages.JSON(raw).Members() {
		out = append(out, member{name, string(value)})
	}
	return out
}

// items returns the items of raw, a valid JSON array.
func items(raw string) []string {
	var out []string
	for item := range messages.JSON(raw).Elements() {
		out = append(out, string(item))
	}
	return out
}

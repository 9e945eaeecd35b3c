package scripted

import (
	"time"

	"github.com/dsh-actor/dsh-actor/messages"
)

// Answer is one answer of the model: what a file has under turns, with the same
// meaning and defaults. The zero value of a field is "not given"; an answer
// needs at least one of Text, Reasoning, Tools, Error and Hang.
type Answer struct {
	Match     string // regular expression on the prompt
	Reasoning string
	Text      string
	Tools     []Tool
	Finish    string         // a finish kind of V-8 other than aborted and error
	Usage     messages.Usage // the zero value is "estimate it"
	Chunks    int            // pieces per block
	Delay     time.Duration  // before the first chunk
	Pace      time.Duration  // before each further chunk
	Repeat    int            // times in a row
	Error     Fault
	Hang      bool
}

// Fault is a failure of the request in place of an answer, or before it. The
// zero value is none.
type Fault struct {
	Failure messages.Failure // its Code defaults to UNKNOWN
	Times   int              // attempts that fail; 0 is all of them
	After   int              // chunks that come before the failure
}

// Tool is one tool call of an [Answer].
type Tool struct {
	Name string
	// ID is minted from turn, step and place if it is empty.
	ID messages.CallID
	// Input is the argument. It is encoded as JSON, maps with sorted keys; nil
	// is an empty object, [messages.JSON] is taken as it is once it was checked,
	// and [Raw] is sent without a check.
	Input any
}

// Raw is argument text that is sent exactly as it is, valid JSON or not. It has
// no templates.
type Raw string

// Text returns an answer of one text block.
func Text(text string) Answer { return Answer{Text: text} }

// Calls returns an answer of tool calls.
func Calls(tools ...Tool) Answer { return Answer{Tools: tools} }

// Call returns a tool call; see [Tool] for input.
func Call(name string, input any) Tool { return Tool{Name: name, Input: input} }

// Fail returns an answer that always fails.
func Fail(failure messages.Failure) Answer { return Answer{Error: Fault{Failure: failure}} }

// FailTimes returns the answer preceded by failed attempts: the request must be
// retried as many times before it succeeds.
func FailTimes(times int, failure messages.Failure, then Answer) Answer {
	then.Error = Fault{Failure: failure, Times: times}
	return then
}

// Hang returns an answer that never comes: it ends with the request's context.
func Hang() Answer { return Answer{Hang: true} }

// Then says what follows the last answer of a script.
type Then string

// What can follow.
const (
	ThenStop       Then = "stop"        // a text that says that the script has ended
	ThenRepeatLast Then = "repeat-last" // the answer that was given last
	ThenLoop       Then = "loop"        // the first answer, and so on
)

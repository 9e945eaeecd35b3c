package outcome

import (
	"maps"

	"github.com/dsh-actor/dsh-actor/messages"
)

// Turn is what the events of one turn say about it. The zero value is a turn of
// which nothing is known. It is not safe for concurrent use.
type Turn struct {
	Number  int
	Started int64 // ms since the Unix epoch
	Ended   int64
	// Reason is how the turn ended; its Kind is empty while the turn is open, and
	// if there never was one.
	Reason messages.EndReason
	// Requests counts the model requests, failed ones included.
	Requests int
	// RequestMillis is the time from the beginning of each request's step to its
	// answer, or to the step's end if there was none.
	RequestMillis int64
	// Inputs counts what was put before the model after the prompt: results of
	// tools and steering.
	Inputs int
	// ToolCalls counts the calls.
	ToolCalls int
	// Text is that of the last answer.
	Text string
	// InTools says that the last answer asked for tools.
	InTools bool
	// Usage is the sum over all answers; ByModel has it by the model's name.
	Usage   messages.Usage
	ByModel map[string]messages.Usage

	asked int64 // when the request that is not answered yet was begun, 0 if none
}

// Add takes the session's next event. A turn/start begins a new turn: everything
// known of the last one is forgotten.
func (t *Turn) Add(e messages.Event) {
	switch d := e.Data.(type) {
	case messages.TurnStart:
		*t = Turn{Number: d.Turn, Started: e.Time, Ended: e.Time}
	case messages.StepStart:
		t.Requests++
		t.InTools = false
		t.asked = e.Time
	case messages.AssistantMessage:
		t.answered(e.Time)
		t.Text = d.Content.Text()
		t.InTools = len(d.Content.ToolCalls()) > 0
		t.count(d.Provenance.Model, d.Usage)
	case messages.ToolCall:
		t.ToolCalls++
	case messages.ToolResult, messages.SteeringMessage:
		t.Inputs++
	case messages.StepEnd:
		t.answered(e.Time)
	case messages.TurnEnd:
		t.Ended = e.Time
		t.Reason = d.Reason
	}
}

func (t *Turn) answered(at int64) {
	if t.asked != 0 {
		t.RequestMillis += max(at-t.asked, 0)
		t.asked = 0
	}
}

func (t *Turn) count(model string, u messages.Usage) {
	t.Usage = t.Usage.Add(u)
	byModel := maps.Clone(t.ByModel)
	if byModel == nil {
		byModel = map[string]messages.Usage{}
	}
	byModel[model] = byModel[model].Add(u)
	t.ByModel = byModel
}

// Over reports whether the turn has ended.
func (t *Turn) Over() bool { return t.Reason.Kind != "" }

// Millis is how long the turn took.
func (t *Turn) Millis() int64 { return max(t.Ended-t.Started, 0) }

// Turns is what the field num_turns counts: nothing for a turn in which the model
// was not asked, otherwise 1 and one more for each result of a tool and each
// steering message. This is how the real program counts, where every one of them
// is a user message.
func (t *Turn) Turns() int {
	if t.Requests == 0 {
		return 0
	}
	return 1 + t.Inputs
}
